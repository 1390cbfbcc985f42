"""What the recorder of collections costs where there is none, and for each one that there is."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable
from statistics import median
from typing import Any

from benchmarks.measuring.effort import Effort
from benchmarks.measuring.operations import OPERATIONS, prepare
from benchmarks.support.batches import batch_of
from benchmarks.support.figures import Figure, Goal, geometric_mean, spread_of
from benchmarks.support.fresh import in_fresh_process
from zcser.measure.collector import GcRecorder, freeze
from zcser.measure.timer import loops

__all__ = ["callback", "callback_costs"]

_COLLECTIONS = 500


def callback_costs(batches: int, batch_ns: int) -> dict[str, Any]:
    """In this process: per operation the ratio with ÷ without, and nanoseconds that a collection takes longer.

    Batches take turns. A pair inside which the collector ran does not count; an operation without any pair has no ratio.
    """
    recorder = GcRecorder()
    ratios = {}
    for name in OPERATIONS:
        call, argument = prepare(name)
        values = batch_of(call, argument, batch_ns)
        pairs = [_pair(recorder, call, values, installed_first=number % 2 == 0) for number in range(batches)]
        clean = [installed_ns / plain_ns for installed_ns, plain_ns, collections in pairs if collections == 0]
        if clean:
            ratios[name] = median(clean)
    freeze()
    values = [0] * _COLLECTIONS
    pairs = [_pair(recorder, gc.collect, values, installed_first=number % 2 == 0) for number in range(batches)]
    extra_ns = median(installed_ns - plain_ns for installed_ns, plain_ns, _ in pairs) / _COLLECTIONS
    return {"ratios": ratios, "collection_ns": extra_ns}


def _pair(
    recorder: GcRecorder, call: Callable[[Any], Any], values: list[Any], *, installed_first: bool
) -> tuple[int, int, int]:
    """Nanoseconds of a batch with the recorder and of one without it, and collections inside both."""
    took_ns = {}
    before = _collections()
    for installed in (installed_first, not installed_first):
        with recorder if installed else contextlib.nullcontext():
            took_ns[installed] = loops().time_batch(call, values)
    return took_ns[True], took_ns[False], _collections() - before


def _collections() -> int:
    return sum(generation["collections"] for generation in gc.get_stats())


def callback(effort: Effort) -> tuple[list[Figure], dict[str, Any]]:
    """Both figures over fresh processes."""
    processes = [in_fresh_process(callback_costs, effort.rounds, effort.batch_ns // 2) for _ in range(effort.processes)]
    ratios = [geometric_mean(process["ratios"].values()) for process in processes]
    fewest = min(len(process["ratios"]) for process in processes)
    over = f"over {len(processes)} processes"
    return [
        spread_of(
            f"GC callback, operations without collections (geometric mean of {fewest})",
            "x",
            ratios,
            over,
            Goal("<=", 1.02),
        ),
        spread_of(
            "GC callback, for each collection", "µs", [process["collection_ns"] / 1000 for process in processes], over
        ),
    ], {"processes": processes}
