"""Memory that one operation asks for, by the best method that this process has.

1. Exact, where the C helper was built: every allocation through Python's domains, and, in a process that was started with
   the helper preloaded, every call of malloc and its family; only the outermost layer counts. The loop is C, so that
   nothing but the operation is counted.
2. Else the fallback, of what every Python has: tracemalloc's peak and `sys.getallocatedblocks`, bytes and not counts.
3. It runs in a pass of its own, and where malloc is counted in a process of its own, in which nothing is timed.
4. Calls are made first until free lists and caches are filled: a first call pays for what later ones reuse. Then they
   are counted until two passes agree, with nothing but the operation between them, so that every process gives the same
   counts.
5. The collector is off: a collection empties free lists, and would make the counts depend on when it comes.
6. What a method cannot see is None, never 0; what a library is known to do out of its sight is said.
"""

from __future__ import annotations

import contextlib
import gc
import statistics
import sys
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from zcser.measure.clock import now_ns
from zcser.measure.figures import Allocations
from zcser.native import zcount

__all__ = [
    "EXACT",
    "EXACT_PYTHON",
    "FALLBACK",
    "METHODS",
    "WARM_CALLS",
    "allocations_of",
    "best_method",
    "blind_spot",
    "count_allocations",
]

EXACT = "exact: Python domains + malloc preload"
EXACT_PYTHON = "exact: Python domains"
FALLBACK = "tracemalloc + getallocatedblocks"

METHODS = {
    EXACT: "outermost allocations of the calling thread through Python's allocators and, besides those, through malloc and "
    "its family; bytes as asked for",
    EXACT_PYTHON: "outermost allocations of the calling thread through Python's allocators alone; bytes as asked for",
    FALLBACK: "bytes of Python's allocators at the peak of a call, and small-object blocks that a kept result holds; no "
    "counts",
}
"""Methods of counting, best first, and what each one's figures are."""

WARM_CALLS = 96
"""Past the longest free list of CPython, 80 lists or dicts."""
COUNTED_CALLS = (64, 16, 4, 1)
"""As many as the time allows of these: a few steps, so that the same calls are counted in the next run too."""
MOST_PASSES = 4
"""Counting is repeated until two passes agree: what stood in the free lists before shows once, the operation each time."""
PEAK_CALLS = 32
KEPT_CALLS = 256
"""Past the longest free list (80 dicts): from there on each kept result shows all of its blocks."""

_NATIVE = {
    "protobuf": "upb takes its arenas from malloc",
    "pysimdjson": "simdjson takes its buffers from C++ new, which is malloc",
}
"""Libraries known to allocate through malloc, which Python's domains do not show."""

_BYPASS = {"pyarrow": "its allocator (mimalloc or jemalloc) maps memory by itself, past malloc"}
"""Libraries known to allocate past malloc, or in other threads."""


def best_method(*, preloaded: bool | None = None) -> str:
    """The method of this process, or of one that is preloaded where that can be."""
    library = zcount.load()
    if library is None:
        return FALLBACK
    if preloaded is None:
        preloaded = library.preloaded
    return EXACT if preloaded and sys.platform.startswith("linux") else EXACT_PYTHON


def blind_spot(library: str, method: str) -> str | None:
    """What a library is known to do out of a method's sight; None: nothing."""
    return _BYPASS.get(library) or (None if method == EXACT else _NATIVE.get(library))


def count_allocations(function: Callable[..., Any], /, *args: Any, calls: int = 64) -> Allocations:
    """Count what a call of a function allocates, in this process.

    Parameters
    ----------
    function, args
        What to call. With exactly one argument it is called straight from C; else a Python function stands between, which
        allocates nothing itself.
    calls
        How many calls to count, after 96 that are not counted.

    Returns
    -------
    Allocations
        Per call, and the method. Native figures are None unless this process was started with the environment of
        `zcser.native.zcount.preload_environment`.

    Raises
    ------
    ValueError
        `calls` is less than 1.

    Examples
    --------
    >>> found = count_allocations(bytes, 1000)
    >>> found.python_allocations, found.python_bytes  # 1000, and the 33 of an empty bytes object
    (1.0, 1033.0)
    """
    if calls < 1:
        raise ValueError(f"calls is {calls}; one at least is needed")
    if len(args) == 1:
        call, argument = function, args[0]
    else:
        call, argument = (lambda _: function(*args)), None
    return _measured(call, lambda count: [argument] * count, calls, sys.maxsize, sys.maxsize)


def allocations_of(
    call: Callable[[Any], Any],
    take: Callable[[int], Sequence[Any]],
    *,
    distinct: int,
    op_ns: int,
    budget_ns: int,
    library: str,
) -> Allocations:
    """Count what an operation allocates.

    Parameters
    ----------
    call
        The operation.
    take
        Gives so many arguments, of the same values each time; each argument is used for one call.
    distinct
        How many distinct values `take` rotates.
    op_ns
        What a call takes, about.
    budget_ns
        Bound on the time of each pass; one call at least is counted.
    library
        The library that works below, as `CodecInfo.library` names it.
    """
    affordable = budget_ns // op_ns
    calls = next((count for count in COUNTED_CALLS if count <= affordable), 1)
    found = _measured(call, take, calls, affordable, budget_ns)
    return replace(found, values=min(distinct, calls), blind=blind_spot(library, found.method))


def _measured(
    call: Callable[[Any], Any], take: Callable[[int], Sequence[Any]], calls: int, affordable: int, budget_ns: int
) -> Allocations:
    library = zcount.load()
    peak_calls, kept_calls = (max(1, min(count, affordable)) for count in (PEAK_CALLS, KEPT_CALLS))
    # All lists are made before the warm-up, since each takes something off a free list.
    warm = take(min(WARM_CALLS, affordable))
    exact = [calls] * (MOST_PASSES if calls > 1 else 1)
    passes = [take(count) for count in (exact if library is not None else (peak_calls, kept_calls))]
    with _not_collecting():
        if library is not None:
            return _counted(library.count(call, passes, warm=warm), library)
        for value in warm:
            call(value)
        return Allocations(
            FALLBACK,
            peak_calls,
            values=1,
            peak_bytes=_peak_bytes(call, passes[0], budget_ns),
            result_blocks=_result_blocks(call, passes[1], budget_ns),
        )


def _counted(counts: zcount.Counts, library: zcount.Library) -> Allocations:
    calls = counts.calls
    return Allocations(
        EXACT if library.preloaded else EXACT_PYTHON,
        calls,
        values=1,
        python_allocations=counts.python_allocations / calls,
        python_bytes=counts.python_bytes / calls,
        native_allocations=None if counts.native_allocations is None else counts.native_allocations / calls,
        native_bytes=None if counts.native_bytes is None else counts.native_bytes / calls,
        frees=counts.frees / calls,
        reallocations=counts.reallocations / calls,
        native_peak_bytes=counts.native_peak_bytes,
    )


@contextlib.contextmanager
def _not_collecting() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


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
