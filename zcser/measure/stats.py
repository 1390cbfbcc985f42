"""From samples to figures.

1. A percentile is shown where at least 10 samples lie above it, and is uncertain where fewer than 100 do.
2. It is the smallest sample that at least q of all samples do not exceed: a time that really occurred, never a mean of two.
3. The process is the unit of the cost: one p10 per process, and the median of these.
4. Two costs differ only where no process of one overlaps the other's and the medians differ by more than 3%; anything
   less is a tie. With a handful of processes this is a rule of caution, not a test of significance.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from zcser.measure.histogram import histogram
from zcser.measure.result import Cost, Latency

__all__ = [
    "MIN_ABOVE",
    "SURE_ABOVE",
    "ProcessCost",
    "compare",
    "cost_difference",
    "cost_of",
    "latency_of",
    "percentile",
]

MIN_ABOVE = 10
SURE_ABOVE = 100
MIN_RATIO = 1.03
UNSTABLE = 0.25
"""Processes that lie further apart than this share of their median are flagged."""
LONE_PROCESS = 0.25
"""How far either way a cost from a single process is taken to reach, since its spread is unknown."""

_PERMILLE = {"p50_ns": 500, "p90_ns": 900, "p99_ns": 990, "p999_ns": 999}


@dataclass(frozen=True, slots=True)
class ProcessCost:
    """The batches of one process: p10 of the clean ones (of all, where none was clean), and their numbers."""

    p10_ns: float
    batches: int
    dirty_batches: int
    operations: int


def percentile(ordered: npt.NDArray[np.integer], permille: int) -> float | None:
    """A percentile of ascending samples; None where fewer than `MIN_ABOVE` lie above."""
    count = len(ordered)
    # In integers: 100 * (1 - 0.9) is less than 10 in floats.
    if count * (1000 - permille) < MIN_ABOVE * 1000:
        return None
    return float(ordered[-(-count * permille // 1000) - 1])


def latency_of(samples_ns: npt.NDArray[np.integer]) -> Latency:
    """Latency of all samples together.

    Parameters
    ----------
    samples_ns
        Whole nanoseconds, in any order; at least one.
    """
    ordered = np.sort(samples_ns)
    count = len(ordered)
    shown = {name: percentile(ordered, permille) for name, permille in _PERMILLE.items()}
    unsure = [name for name in shown if count * (1000 - _PERMILLE[name]) < SURE_ABOVE * 1000]
    return Latency(
        n=count,
        **shown,
        max_ns=float(ordered[-1]),
        uncertain=tuple(name.removesuffix("_ns") for name in unsure if shown[name] is not None),
        histogram=histogram(ordered),
    )


def cost_of(processes: Sequence[ProcessCost]) -> Cost:
    """Cost over processes; at least one."""
    return _cost(
        [process.p10_ns for process in processes],
        batches=sum(process.batches for process in processes),
        dirty_batches=sum(process.dirty_batches for process in processes),
        operations=sum(process.operations for process in processes),
    )


def cost_difference(left_ns: Sequence[float], right_ns: Sequence[float]) -> Cost:
    """What `left` costs more than `right`, process by process; negative where it costs less."""
    return _cost(
        [left - right for left, right in zip(left_ns, right_ns, strict=True)],
        batches=0,
        dirty_batches=0,
        operations=0,
    )


def _cost(p10_ns: Sequence[float], *, batches: int, dirty_batches: int, operations: int) -> Cost:
    return Cost(
        process_p10_ns=tuple(p10_ns),
        p10_ns=statistics.median(p10_ns),
        low_ns=min(p10_ns),
        high_ns=max(p10_ns),
        batches=batches,
        dirty_batches=dirty_batches,
        operations=operations,
    )


def compare(left: Cost, right: Cost) -> Literal["less", "more", "tie"]:
    """Whether `left` costs less than `right`, more, or no difference can be claimed."""
    left_low, left_high = _reach(left)
    right_low, right_high = _reach(right)
    if left_high < right_low and right.p10_ns > left.p10_ns * MIN_RATIO:
        return "less"
    if right_high < left_low and left.p10_ns > right.p10_ns * MIN_RATIO:
        return "more"
    return "tie"


def _reach(cost: Cost) -> tuple[float, float]:
    if len(cost.process_p10_ns) > 1:
        return cost.low_ns, cost.high_ns
    margin = abs(cost.p10_ns) * LONE_PROCESS
    return cost.p10_ns - margin, cost.p10_ns + margin
