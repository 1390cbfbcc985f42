"""A worker process, from the runner's side.

1. The worker is started fresh, with the runner's import path, so that it finds the user's modules.
2. A worker that dies or falls silent ends its messages with `WorkerLostError`, which says how, in one line.
3. However the runner leaves, the worker is gone.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping
from contextlib import closing
from pathlib import Path
from typing import IO, Any

from zcser.measure import job
from zcser.measure.job import Finished, Job, Message
from zcser.measure.pinning import Pin, pinned
from zcser.native.zcount import preload_environment

__all__ = ["FRESH_MALLOC", "WorkerLostError", "answers", "run_job", "worker_environment"]

FRESH_MALLOC = {"MALLOC_MMAP_THRESHOLD_": "131072"}
"""Of glibc: a threshold that was set does not move, so that each block above it is mapped anew (mallopt(3))."""

_DYING_S = 5
_LINE_LENGTH = 200


class WorkerLostError(Exception):
    """The worker died or hung; the message says how. `hung` tells the two apart."""

    def __init__(self, message: str, *, hung: bool = False) -> None:
        super().__init__(message)
        self.hung = hung


def run_job(todo: Job, silence_s: float, pin: Pin | None = None) -> Generator[Message, None, None]:
    """Run a job in a process of its own.

    Parameters
    ----------
    todo
        The job.
    silence_s
        How long the worker may say nothing.
    pin
        Where it runs.

    Yields
    ------
    Message
        As they come; `Finished` is the last.

    Raises
    ------
    WorkerLostError
        There is no `Finished`.
    """
    # Only where nothing is timed: a counted malloc is slower.
    environment = worker_environment(counting=todo.check, fresh=todo.fresh)
    with closing(answers("zcser.measure.worker", todo, silence_s, environment, pin)) as said:
        for message in said:
            yield message
            if isinstance(message, Finished):
                return


def worker_environment(*, counting: bool, fresh: bool = False) -> dict[str, str]:
    """Environment variables of a worker: the runner's own, with its import path.

    Parameters
    ----------
    counting
        Whether calls of malloc are counted, where the C helper is there.
    fresh
        Whether malloc maps each large block anew, see `FRESH_MALLOC`.
    """
    path = [entry or str(Path.cwd()) for entry in sys.path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path), **(FRESH_MALLOC if fresh else {})}
    return preload_environment(environment) if counting else environment


def answers(
    module: str, order: Any, silence_s: float, environment: Mapping[str, str], pin: Pin | None = None
) -> Generator[Any, None, None]:
    """Give a fresh process its order, and get what it writes back until the generator is closed.

    Parameters
    ----------
    module
        What the process runs, by `zcser.measure.worker.take_order`.
    order
        Anything that can be pickled.
    silence_s
        How long the process may write nothing.
    environment, pin
        Its environment variables, and where it runs.

    Yields
    ------
    Any
        As `zcser.measure.job.write` wrote it there.

    Raises
    ------
    WorkerLostError
        It ended, or wrote nothing for so long.
    """
    with tempfile.TemporaryFile() as errors:
        with pinned(pin):
            worker = subprocess.Popen(
                # -P: the current folder's modules shadow nothing unless they are on the runner's path too.
                [sys.executable, "-P", "-m", module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                # Unbuffered: what waits in the pipe is all that waits, so that a selector sees it.
                bufsize=0,
                env=environment,
            )
        try:
            yield from _messages(worker, order, silence_s)
        except (EOFError, BrokenPipeError):
            raise WorkerLostError(_last_words(worker, errors)) from None
        finally:
            worker.kill()
            worker.communicate()


def _messages(worker: subprocess.Popen[bytes], order: Any, silence_s: float) -> Generator[Any, None, None]:
    assert worker.stdin is not None  # noqa: S101 - Popen made both pipes
    assert worker.stdout is not None  # noqa: S101
    job.write(worker.stdin, order)
    with selectors.DefaultSelector() as selector:
        selector.register(worker.stdout, selectors.EVENT_READ)
        while True:
            if not selector.select(silence_s):
                raise WorkerLostError(f"worker hung: it said nothing for {silence_s:g} s", hung=True)
            yield job.read(worker.stdout)


def _last_words(worker: subprocess.Popen[bytes], errors: IO[bytes]) -> str:
    """How a worker died, and the last line that it wrote to standard error."""
    try:
        code = worker.wait(_DYING_S)
    except subprocess.TimeoutExpired:
        how = "closed its pipe"
    else:
        how = f"signal {-code} ({_signal_name(-code)})" if code < 0 else f"exit code {code}"
    errors.seek(0)
    lines = errors.read().decode(errors="replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f"worker died: {how}" + (f"; its last words: {last[:_LINE_LENGTH]}" if last else "")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
