"""The loops that time: in C where the helper was built, in Python elsewhere; a result says which.

1. Both read the same clock, CLOCK_MONOTONIC in whole nanoseconds, which is `time.perf_counter_ns` on Linux: begins of
   calls and of the collector's pauses can be joined. Elsewhere the two clocks differ, and Python's loop is taken.
2. A call's result is dropped inside its window, or handed over where it is to be kept.
3. The C loop adds some 3 ns to a call, Python's some 60 ns and 0.75 allocations: never compared as if the same.
"""

from __future__ import annotations

import functools
import sys
from array import array
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from zcser.measure.clock import now_ns
from zcser.native import zcount

__all__ = ["Loops", "PythonLoops", "loops", "timer_name"]


class Loops(Protocol):
    """What times calls; see `zcser.native.zcount.Library` for the parameters."""

    def time_batch(self, call: Callable[[Any], Any], values: Sequence[Any]) -> int:
        """Nanoseconds of one call per value, the dropping of results included."""
        ...

    def time_each(
        self,
        call: Callable[[Any], Any],
        values: Sequence[Any],
        begin_ns: array[int],
        took_ns: array[int],
        deadline_ns: int,
        *,
        keep: bool = False,
    ) -> tuple[int, list[Any]]:
        """Time each of one call per value; calls made, and the results where kept."""
        ...

    def time_empty(self, begin_ns: array[int], took_ns: array[int]) -> None:
        """Fill the arrays with windows that hold no call."""
        ...


class PythonLoops:
    """`Loops` for where there is no C helper."""

    def time_batch(self, call: Callable[[Any], Any], values: Sequence[Any]) -> int:
        """See `Loops`."""
        begin = now_ns()
        for value in values:
            call(value)
        return now_ns() - begin

    def time_each(
        self,
        call: Callable[[Any], Any],
        values: Sequence[Any],
        begin_ns: array[int],
        took_ns: array[int],
        deadline_ns: int,
        *,
        keep: bool = False,
    ) -> tuple[int, list[Any]]:
        """See `Loops`."""
        kept: list[Any] = [None] * len(values) if keep else []
        done = 0
        for value in values:
            begin = now_ns()
            if keep:
                kept[done] = call(value)
            else:
                call(value)
            end = now_ns()
            begin_ns[done], took_ns[done] = begin, end - begin
            done += 1
            if end > deadline_ns:
                break
        return done, kept[:done]

    def time_empty(self, begin_ns: array[int], took_ns: array[int]) -> None:
        """See `Loops`."""
        for number in range(len(took_ns)):
            begin = now_ns()
            end = now_ns()
            begin_ns[number], took_ns[number] = begin, end - begin


@functools.cache
def loops() -> Loops:
    """The loops of this process."""
    library = zcount.load() if sys.platform.startswith("linux") else None
    return PythonLoops() if library is None else library


def timer_name() -> str:
    """What times, in the words of `Method.timer`."""
    return (
        "python loop, perf_counter_ns" if isinstance(loops(), PythonLoops) else "C loop, clock_gettime(CLOCK_MONOTONIC)"
    )
