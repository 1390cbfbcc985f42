"""How far the reading of a source is, on stderr.

1. Nothing is written about what is read in a second, unless a file is so large that more than that is certain.
2. On a terminal it is one line that is written over; elsewhere a plain line every few seconds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

from zcser.cli.line import Line
from zcser.core.units import bytes_text
from zcser.report.model import one_line

__all__ = ["Reading"]

LARGE_BYTES = 64 << 20
_QUIET_S = 1.0
_EVERY_S = 5.0


class Reading:
    """Called as a source is read: see `zcser.payloads.source.Watch`.

    Parameters
    ----------
    name
        Of the source.
    stream
        stderr where None.
    clock
        Seconds.
    """

    def __init__(self, name: str, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._name = one_line(name)
        self._clock = clock
        self._line = Line(sys.stderr if stream is None else stream)
        self._next_s = clock() + _QUIET_S

    def __call__(self, messages: int, done_bytes: int, total_bytes: int) -> None:
        """Tell how far it is."""
        large = not messages and total_bytes >= LARGE_BYTES
        now = self._clock()
        if not large and now < self._next_s:
            return
        self._next_s = now + (_QUIET_S if self._line.over else _EVERY_S)
        so_far = f": {messages:,} messages so far, {bytes_text(done_bytes)}" if messages else ""
        self._line.show(f"reading {self._name} ({bytes_text(total_bytes)}){so_far}")

    def clear(self) -> None:
        """Take the line that is written over away."""
        self._line.clear()
