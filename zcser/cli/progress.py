"""How far a run is, and before it the reading of a long file, on stderr.

1. Something is written between two workers only: while one times, nothing else of ours runs.
2. On a terminal it is one line that is written over, without escape codes; elsewhere a plain line per round.
3. What went wrong with a worker stays on a line of its own.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from typing import TextIO

from zcser.measure.runner import Event
from zcser.report.model import one_line

__all__ = ["Progress", "Reading"]


class _Line:
    """A line that is written over, on a terminal.

    Parameters
    ----------
    stream
        stderr where None.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._over = self._stream.isatty()
        self._shown = 0

    def clear(self) -> None:
        """Take the line that is written over away."""
        if self._shown:
            self._stream.write(f"\r{' ' * self._shown}\r")
            self._shown = 0

    def _write_over(self, text: str) -> None:
        text = text[: shutil.get_terminal_size().columns - 1]
        self._stream.write(f"\r{text.ljust(self._shown)}")
        self._shown = len(text)


class Progress(_Line):
    """Called with each event of a run."""

    def __init__(self, stream: TextIO | None = None) -> None:
        super().__init__(stream)
        self._round = 0

    def __call__(self, event: Event) -> None:
        """Tell one event."""
        if event.trouble is not None:
            self.clear()
            self._stream.write(f"zcser: {one_line(event.trouble)}\n")
        if event.codec is None:
            self.clear()
        elif self._over:
            self._write_over(
                f"round {event.round} of {event.rounds}, worker {event.done + 1} of {event.workers}: "
                f"{one_line(event.codec)} ({event.elapsed_s:.0f} s so far)"
            )
        elif event.round != self._round:
            self._stream.write(
                f"zcser: round {event.round} of {event.rounds}, {event.workers} workers in all, "
                f"{event.elapsed_s:.0f} s so far\n"
            )
        self._round = event.round
        self._stream.flush()


class Reading(_Line):
    """Called with how many bytes of a file were read, and how many there are: silent for a second, then now and then.

    Parameters
    ----------
    name
        Of the file.
    stream
        stderr where None.
    clock
        Seconds.
    """

    def __init__(self, name: str, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(stream)
        self._name = one_line(name)
        self._clock = clock
        self._pause_s = 0.2 if self._over else 10.0
        self._next_s = clock() + 1.0

    def __call__(self, done: int, total: int) -> None:
        """Tell how far it is."""
        now = self._clock()
        if now < self._next_s:
            return
        self._next_s = now + self._pause_s
        text = f"reading {self._name}: {done // 1_000_000:,} of {total // 1_000_000:,} MB"
        if self._over:
            self._write_over(text)
        else:
            self._stream.write(f"zcser: {text}\n")
        self._stream.flush()
