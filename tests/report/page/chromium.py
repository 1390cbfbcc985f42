"""A headless Chromium, driven over its DevTools pipe: messages of JSON, each ended by a zero byte."""

import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import time

PATH = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
)


class Chromium:
    """One browser with one page; `events` are all that it told."""

    def __init__(self, folder, seconds=60):
        self.deadline = time.monotonic() + seconds
        ends = [*os.pipe(), *os.pipe()]
        # Above the places that the browser looks for its pipe at.
        theirs_in, self.out, self.into, theirs_out = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 20) for end in ends)
        for end in ends:
            os.close(end)
        actions = [(os.POSIX_SPAWN_OPEN, place, os.devnull, os.O_RDWR, 0) for place in (0, 1, 2)]
        actions += [(os.POSIX_SPAWN_DUP2, theirs_in, 3), (os.POSIX_SPAWN_DUP2, theirs_out, 4)]
        command = [PATH, *FLAGS, f"--user-data-dir={folder}"]
        self.process = os.posix_spawn(PATH, command, dict(os.environ), file_actions=actions, setsid=True)
        os.close(theirs_in)
        os.close(theirs_out)
        self.events, self.count, self.rest, self.session = [], 0, b"", None

    def call(self, method, **parameters):
        """One command; its result."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self.count:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def _next(self):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.into], [], [], max(0, self.deadline - time.monotonic()))
            assert ready, "the browser did not answer in time"
            piece = os.read(self.into, 1 << 16)
            assert piece, "the browser ended"
            self.rest += piece
        text, _, self.rest = self.rest.partition(b"\0")
        return json.loads(text)

    def open(self, address, width=1280, dark=False):
        """Load a page whole, its events from before the first byte on."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=address)
        while not self.told("Page.loadEventFired"):
            self.events.append(self._next())

    def told(self, *methods):
        return [event["params"] for event in self.events if event.get("method") in methods]

    def evaluate(self, script):
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def close(self):
        for end in (self.out, self.into):
            os.close(end)
        # The group that it leads: it is ours, and has helpers of its own.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
