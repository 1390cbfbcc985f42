"""Garbage collections, seen from inside: how many of which generation, and how long each stopped the program.

The collector stays enabled while timing, because it does in service. Before timing, what the process has loaded and
prepared is frozen, so that collections cost what the operation's own objects make them cost.
"""

from __future__ import annotations

import gc
from array import array
from types import TracebackType
from typing import Any, Self

from zcser.measure.clock import now_ns

__all__ = ["GcRecorder", "freeze"]


def freeze() -> None:
    """Collect what is dead, and take what lives out of the collector's sight."""
    gc.collect()
    gc.freeze()


class GcRecorder:
    """Records collections while it is entered. About 1.5 us per collection; nothing where there is none.

    Attributes
    ----------
    counts
        Collections per generation, youngest first.
    pause_ns, pause_max_ns
        All pauses together, and the longest.
    """

    __slots__ = ("_begin_ns", "_counts", "_pauses_ns")

    def __init__(self) -> None:
        # Arrays written in place: a recorder that makes objects would bring on the collections that it counts.
        self._counts = array("q", [0, 0, 0])
        self._pauses_ns = array("q", [0, 0])
        self._begin_ns = 0

    def __call__(self, phase: str, info: dict[str, Any]) -> None:
        """Take one event of `gc.callbacks`."""
        if phase == "start":
            self._begin_ns = now_ns()
            return
        pause_ns = now_ns() - self._begin_ns
        self._counts[info["generation"]] += 1
        self._pauses_ns[0] += pause_ns
        self._pauses_ns[1] = max(self._pauses_ns[1], pause_ns)

    @property
    def counts(self) -> tuple[int, int, int]:
        """See the class."""
        return self._counts[0], self._counts[1], self._counts[2]

    @property
    def pause_ns(self) -> int:
        """See the class."""
        return self._pauses_ns[0]

    @property
    def pause_max_ns(self) -> int:
        """See the class."""
        return self._pauses_ns[1]

    def __enter__(self) -> Self:
        gc.callbacks.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        gc.callbacks.remove(self)
