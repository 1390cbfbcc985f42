"""Garbage collections, seen from inside: how many of which generation, how long each stopped the program, and whom.

1. The collector stays enabled while timing, because it does in service. Before timing, what the process has loaded and
   prepared is frozen, so that collections cost what the operation's own objects make them cost.
2. A live heap, where asked for, is made after the freezing, so that exactly its objects are scanned with the operation's.
3. A pause belongs to the call in whose window it began.
"""

from __future__ import annotations

import contextlib
import gc
from array import array
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from zcser.measure.clock import now_ns
from zcser.measure.latency import Windows

__all__ = ["GcRecorder", "freeze", "live_heap"]

_CAPACITY = 1 << 15


def freeze() -> None:
    """Collect what is dead, and take what lives out of the collector's sight."""
    gc.collect()
    gc.freeze()


@contextlib.contextmanager
def live_heap(objects: int) -> Iterator[None]:
    """Hold so many objects of the collector's (lists of two items) in its oldest generation."""
    if objects:
        heap = [[number, None] for number in range(objects - 1)]
        # Two things in one: they grow old at once, and the counters that trigger collections start from 0.
        gc.collect()
        yield
        heap.clear()
    else:
        yield


class GcRecorder:
    """Records collections while it is entered. Some 1.5 to 3 us per collection; nothing where there is none.

    Attributes
    ----------
    counts
        Collections per generation, youngest first.
    pause_ns, pause_max_ns
        All pauses together, and the longest.
    """

    __slots__ = ("_begins_ns", "_counts", "_pauses_ns")

    def __init__(self) -> None:
        # Arrays written in place: a recorder that makes objects would bring on the collections that it counts.
        self._counts = array("q", [0, 0, 0])
        self._pauses_ns = array("q", [0, 0])
        # The last place is that of all pauses for which there is no other.
        self._begins_ns = array("Q", bytes(8 * (_CAPACITY + 1)))

    def __call__(self, phase: str, info: dict[str, Any]) -> None:
        """Take one event of `gc.callbacks`."""
        counts = self._counts
        place = min(counts[0] + counts[1] + counts[2], _CAPACITY)
        if phase == "start":
            self._begins_ns[place] = now_ns()
            return
        pause_ns = now_ns() - self._begins_ns[place]
        counts[info["generation"]] += 1
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

    def struck(self, windows: Windows) -> npt.NDArray[np.uint32] | None:
        """Which of the calls a pause began in, ascending; None where there were more pauses than places to record."""
        count = sum(self._counts)
        if count > _CAPACITY:
            return None
        begins_ns = np.frombuffer(self._begins_ns, np.uint64)[:count]
        calls = np.searchsorted(windows.begin_ns, begins_ns, side="right").astype(np.int64) - 1
        found = calls[calls >= 0]
        inside = begins_ns[calls >= 0] <= windows.begin_ns[found] + windows.took_ns[found]
        return np.unique(found[inside]).astype(np.uint32)

    def __enter__(self) -> Self:
        gc.callbacks.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        gc.callbacks.remove(self)
