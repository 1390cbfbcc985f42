"""Memory that one operation asks for, by what every Python has: tracemalloc and `sys.getallocatedblocks`.

1. This is the fallback method. It sees Python's own allocators alone: a library that calls malloc itself is *blind* here,
   and its figure is a lower bound. It counts bytes at the peak, not allocations.
2. It runs in a pass of its own: tracemalloc makes a call 3 to 22 times as slow, so no time is taken under it.
3. Calls are made first until free lists and caches are filled: a first call pays for what later ones reuse.
"""

from __future__ import annotations

import statistics
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

from zcser.measure.clock import now_ns
from zcser.measure.result import Allocations

__all__ = ["METHOD", "WARM_CALLS", "allocations_of"]

METHOD = "tracemalloc peak + sys.getallocatedblocks (fallback method: Python's allocators only)"
WARM_CALLS = 64
PEAK_CALLS = 32
KEPT_CALLS = 256
"""Past the longest free list (80 dicts): from there on each kept result shows all of its blocks."""


def allocations_of(
    call: Callable[[Any], Any],
    take: Callable[[int], Sequence[Any]],
    *,
    op_ns: int,
    budget_ns: int,
    warm_calls: int,
    blind: bool,
) -> Allocations:
    """Measure the memory of an operation.

    Parameters
    ----------
    call
        The operation.
    take
        Gives so many arguments, of the same values each time; each argument is used for one call.
    op_ns
        What a call takes, about.
    budget_ns
        Bound on the time of each pass; one call at least is made in each.
    warm_calls
        Calls to make first, as far as the time allows.
    blind
        Whether the library below allocates outside Python's allocators.
    """
    affordable = budget_ns // op_ns
    for value in take(min(warm_calls, affordable)):
        call(value)
    return Allocations(
        method=METHOD,
        peak_bytes=_peak_bytes(call, take(max(1, min(PEAK_CALLS, affordable))), budget_ns),
        result_blocks=_result_blocks(call, take(max(1, min(KEPT_CALLS, affordable))), budget_ns),
        native=None,
        blind=blind,
    )


def _peak_bytes(call: Callable[[Any], Any], values: Sequence[Any], budget_ns: int) -> int:
    deadline_ns = now_ns() + budget_ns
    peaks = []
    tracemalloc.start()
    try:
        for value in values:
            before, _ = tracemalloc.get_traced_memory()
            tracemalloc.reset_peak()
            call(value)
            _, peak = tracemalloc.get_traced_memory()
            peaks.append(max(0, peak - before))
            if now_ns() > deadline_ns:
                break
    finally:
        tracemalloc.stop()
    return int(statistics.median_low(peaks))


def _result_blocks(call: Callable[[Any], Any], values: Sequence[Any], budget_ns: int) -> int:
    # Counting makes blocks of its own (the counter's own int); a call that makes nothing shows how many.
    own = _blocks(_same, values, budget_ns)
    return max(0, _blocks(call, values, budget_ns) - own)


def _same(value: Any) -> Any:
    return value


def _blocks(call: Callable[[Any], Any], values: Sequence[Any], budget_ns: int) -> int:
    deadline_ns = now_ns() + budget_ns
    kept: list[Any] = [None] * len(values)
    counts = [0] * len(values)
    done = 0
    for done, value in enumerate(values, start=1):
        before = sys.getallocatedblocks()
        # Kept, so that free lists run dry and each result shows its own blocks.
        kept[done - 1] = call(value)
        counts[done - 1] = sys.getallocatedblocks() - before
        if now_ns() > deadline_ns:
            break
    return int(statistics.median_low(counts[:done]))
