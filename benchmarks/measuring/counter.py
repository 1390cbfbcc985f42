"""The exact counter: what it costs while it counts, and whether every process counts the same.

The time is that of the loop which times batches, called from inside the loop which counts: hooks and preload are in place
and counting in one process of a pair, and absent in the other.
"""

from __future__ import annotations

import functools
import gc
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.measuring.effort import Effort
from benchmarks.measuring.operations import OPERATIONS, prepare
from benchmarks.support.batches import batch_of
from benchmarks.support.figures import Figure, Goal, bootstrapped, geometric_mean, not_measured, spread_of
from benchmarks.support.fresh import MeasuringError, in_fresh_process
from zcser.measure.allocations import EXACT, count_allocations
from zcser.measure.cost import process_cost, time_batches
from zcser.native import zcount

__all__ = ["NO_HELPER", "count_operations", "identity", "overhead", "time_operations"]

NO_HELPER = "the C helper was not built"

_OVERHEAD = "counter overhead, geometric mean of ten operations"
_OVERHEAD_GOAL = Goal("<=", 1.10)
_IDENTITY = "counts that differ between processes, of operations x figures"
_IDENTITY_GOAL = Goal("<=", 0)

_COUNTED = (
    "python_allocations",
    "python_bytes",
    "native_allocations",
    "native_bytes",
    "frees",
    "reallocations",
)
"""The figures of `Allocations` that are promised to be equal; the peak is of usable sizes, which depend on the heap."""


def time_operations(batches: int, batch_ns: int, *, counting: bool) -> dict[str, float]:
    """In this process, each operation's p10 of clean batches in nanoseconds, while its allocations are counted or not.

    Raises
    ------
    MeasuringError
        Counting was asked for, and not everything was counted.
    """
    library = zcount.load()
    gc.disable()
    found = {}
    for name in OPERATIONS:
        call, argument = prepare(name)
        values = batch_of(call, argument, batch_ns)
        calls = batches * len(values)
        timed: list[tuple[list[float], list[bool]]] = []
        run = functools.partial(_time, call, [values] * batches, timed)
        if counting:
            counts = library.count(run, [[None]]) if library is not None else None
            if counts is None or counts.native_allocations is None or counts.frees < calls:
                raise MeasuringError(f"{name} was not counted")
        else:
            run(None)
        found[name] = process_cost(*timed[0], calls).p10_ns
    return found


def _time(
    call: Callable[[Any], Any], batches: Sequence[Sequence[Any]], into: list[tuple[list[float], list[bool]]], _: None
) -> None:
    patience_ns = 60_000_000_000
    into.append(time_batches(call, batches, patience_ns))


def overhead(effort: Effort) -> tuple[list[Figure], dict[str, Any]]:
    """Time with the counter ÷ without it, by pairs of fresh processes in alternating order."""
    if zcount.load() is None:
        return [not_measured(_OVERHEAD, NO_HELPER, _OVERHEAD_GOAL, "x")], {}
    sides: dict[bool, list[dict[str, float]]] = {True: [], False: []}
    for number in range(effort.pairs):
        for counting in (True, False) if number % 2 else (False, True):
            task = functools.partial(time_operations, counting=counting)
            sides[counting].append(in_fresh_process(task, effort.batches, effort.batch_ns, preload=counting))
    pairs = [
        {name: counted[name] / plain[name] for name in OPERATIONS}
        for counted, plain in zip(sides[True], sides[False], strict=True)
    ]
    ratios = _medians(pairs)
    dearest = max(ratios, key=ratios.__getitem__)
    figures = [
        bootstrapped(
            _OVERHEAD,
            "x",
            pairs,
            f"in 95% of resamples of {len(pairs)} pairs of processes",
            _OVERHEAD_GOAL,
            figure=lambda drawn: geometric_mean(_medians(drawn).values()),
        ),
        spread_of("counter overhead, by operation", "x", list(ratios.values()), f"over operations, most: {dearest}"),
    ]
    return figures, {"counting_ns": sides[True], "plain_ns": sides[False], "ratios": ratios}


def _medians(pairs: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: statistics.median(pair[name] for pair in pairs) for name in OPERATIONS}


def count_operations() -> dict[str, dict[str, Any]]:
    """Allocations of each operation in this process, figure by figure."""
    found = {}
    for name in OPERATIONS:
        call, argument = prepare(name)
        allocations = asdict(count_allocations(call, argument))
        if allocations["method"] != EXACT:
            raise MeasuringError(f"{name} was counted by {allocations['method']}")
        found[name] = {figure: allocations[figure] for figure in _COUNTED}
    return found


def identity(effort: Effort) -> tuple[list[Figure], dict[str, Any]]:
    """How many counts are not the same in all fresh processes, each with a hash seed of its own."""
    if zcount.load() is None:
        return [not_measured(_IDENTITY, NO_HELPER, _IDENTITY_GOAL)], {}
    counts = [in_fresh_process(count_operations, preload=True) for _ in range(effort.counting_processes)]
    differing = [
        f"{name}: {figure}"
        for name in OPERATIONS
        for figure in _COUNTED
        if len({process[name][figure] for process in counts}) > 1
    ]
    total = len(OPERATIONS) * len(_COUNTED)
    value = float(len(differing))
    figure = Figure(_IDENTITY, "", value, value, value, f"of {total} in {len(counts)} processes", _IDENTITY_GOAL)
    return [figure], {"counts": counts[0], "differing": differing}
