"""From samples to figures.

1. A percentile is shown where at least 10 samples lie above it, and is uncertain where fewer than 100 do.
2. It is the smallest sample that at least q of all samples do not exceed: a time that really occurred, never a mean of two.
3. The process is the unit of the cost: one p10 per process, and the median of these. A process with few clean batches
   does not count, unless all are such (`ProcessCost.undisturbed`).
4. Two costs differ only where no process of one overlaps the other's and the medians differ by more than 3%; anything
   less is a tie. With a handful of processes this is a rule of caution, not a test of significance.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from zcser.measure.figures import Collections, Cost, Latency, Retained
from zcser.measure.histogram import histogram

__all__ = [
    "ENOUGH_CLEAN",
    "MIN_ABOVE",
    "MIN_RATIO",
    "SURE_ABOVE",
    "ProcessCost",
    "Timed",
    "collections_of",
    "compare",
    "cost_difference",
    "cost_of",
    "joined",
    "latency_of",
    "percentile",
    "reach",
    "retained_of",
]

MIN_ABOVE = 10
SURE_ABOVE = 100
SLOWEST = 40
MIN_RATIO = 1.03
UNSTABLE = 0.25
"""Processes that lie further apart than this share of their median are flagged."""
ENOUGH_CLEAN = 3
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

    @property
    def undisturbed(self) -> bool:
        """Whether `ENOUGH_CLEAN` batches are clean, or half of few.

        Of 24 processes those with three to eight clean batches of eight differed by 1% to 4%, a mean over ten operations; those
        with one or two by up to 43%: what disturbed the others had reached into them.
        """
        return 2 * (self.batches - self.dirty_batches) >= min(self.batches, 2 * ENOUGH_CLEAN)


@dataclass(frozen=True, slots=True)
class Timed:
    """Single calls of one process, and the collections meanwhile.

    Attributes
    ----------
    latencies_ns
        Every call, in order.
    collections, pause_ns, pause_max_ns
        As in `Collections`.
    struck
        Places of the calls that a pause began in; None where that is not known.
    """

    latencies_ns: npt.NDArray[np.integer]
    collections: tuple[int, int, int]
    pause_ns: int
    pause_max_ns: int
    struck: npt.NDArray[np.integer] | None


def joined(parts: Sequence[Timed]) -> Timed:
    """Calls that were timed in several parts, one after the other, as one."""
    lengths = [len(part.latencies_ns) for part in parts]
    starts = [sum(lengths[:number]) for number in range(len(parts))]
    struck = [
        part.struck.astype(np.int64) + start
        for part, start in zip(parts, starts, strict=True)
        if part.struck is not None
    ]
    first, second, third = (sum(part.collections[generation] for part in parts) for generation in range(3))
    return Timed(
        np.concatenate([part.latencies_ns for part in parts]),
        (first, second, third),
        sum(part.pause_ns for part in parts),
        max(part.pause_max_ns for part in parts),
        np.concatenate(struck) if len(struck) == len(parts) else None,
    )


def percentile(ordered: npt.NDArray[np.integer], permille: int) -> float | None:
    """A percentile of ascending samples; None where fewer than `MIN_ABOVE` lie above."""
    count = len(ordered)
    # In integers: 100 * (1 - 0.9) is less than 10 in floats.
    if count * (1000 - permille) < MIN_ABOVE * 1000:
        return None
    return float(ordered[-(-count * permille // 1000) - 1])


def latency_of(processes_ns: Sequence[npt.NDArray[np.integer]]) -> Latency:
    """Latency of all samples together, and percentiles of each process by itself.

    Parameters
    ----------
    processes_ns
        The samples of each process, at least one, in whole nanoseconds and any order.
    """
    each = [np.sort(samples_ns) for samples_ns in processes_ns]
    ordered = np.sort(np.concatenate(each))
    count = len(ordered)
    shown = {name: percentile(ordered, permille) for name, permille in _PERMILLE.items()}
    by_process = [tuple(percentile(samples_ns, permille) for samples_ns in each) for permille in _PERMILLE.values()]
    unsure = [name for name in shown if count * (1000 - _PERMILLE[name]) < SURE_ABOVE * 1000]
    p50_ns, p90_ns, p99_ns, p999_ns = shown.values()
    process_p50_ns, process_p90_ns, process_p99_ns, process_p999_ns = by_process
    return Latency(
        n=count,
        p50_ns=p50_ns,
        p90_ns=p90_ns,
        p99_ns=p99_ns,
        p999_ns=p999_ns,
        max_ns=float(ordered[-1]),
        uncertain=tuple(name.removesuffix("_ns") for name in unsure if shown[name] is not None),
        histogram=histogram(ordered),
        process_p50_ns=process_p50_ns,
        process_p90_ns=process_p90_ns,
        process_p99_ns=process_p99_ns,
        process_p999_ns=process_p999_ns,
    )


def collections_of(processes: Sequence[Timed]) -> Collections:
    """Collections of all processes together; at least one."""
    young, middle, old = (sum(counts) for counts in zip(*(one.collections for one in processes), strict=True))
    pause_ns = sum(one.pause_ns for one in processes)
    found = Collections(
        (young, middle, old),
        pause_ns=pause_ns,
        pause_max_ns=max(one.pause_max_ns for one in processes),
        operations=sum(len(one.latencies_ns) for one in processes),
    )
    marks = [_marks(one) for one in processes]
    if any(mark is None for mark in marks):
        return found
    struck = np.concatenate([mark for mark in marks if mark is not None])
    latencies_ns = np.concatenate([one.latencies_ns for one in processes])
    free = np.sort(latencies_ns[~struck])
    slowest = np.argsort(latencies_ns)[-SLOWEST:]
    return replace(
        found,
        struck=int(struck.sum()),
        time_share=min(1.0, pause_ns / max(1, int(latencies_ns.sum(dtype=np.int64)))),
        slowest_struck=int(struck[slowest].sum()) if len(struck) >= 10 * SLOWEST else None,
        free_p99_ns=percentile(free, 990),
        free_p999_ns=percentile(free, 999),
    )


def _marks(process: Timed) -> npt.NDArray[np.bool_] | None:
    if process.struck is None:
        return None
    marks = np.zeros(len(process.latencies_ns), np.bool_)
    marks[process.struck] = True
    return marks


def retained_of(processes: Sequence[Timed]) -> Retained | None:
    """Latency and collections with results kept; None where no process took them."""
    if not processes:
        return None
    return Retained(latency_of([one.latencies_ns for one in processes]), collections_of(processes))


def cost_of(processes: Sequence[ProcessCost]) -> Cost:
    """Cost over processes; at least one."""
    return _cost(
        [process.p10_ns for process in processes],
        [process.undisturbed for process in processes],
        batches=sum(process.batches for process in processes),
        dirty_batches=sum(process.dirty_batches for process in processes),
        operations=sum(process.operations for process in processes),
    )


def cost_difference(left_ns: Sequence[float], right_ns: Sequence[float]) -> Cost:
    """What `left` costs more than `right`, process by process; negative where it costs less."""
    return _cost(
        [left - right for left, right in zip(left_ns, right_ns, strict=True)],
        [],
        batches=0,
        dirty_batches=0,
        operations=0,
    )


def _cost(
    p10_ns: Sequence[float], undisturbed: Sequence[bool], *, batches: int, dirty_batches: int, operations: int
) -> Cost:
    counted_ns = list(itertools.compress(p10_ns, undisturbed)) or p10_ns
    return Cost(
        process_p10_ns=tuple(p10_ns),
        p10_ns=statistics.median(counted_ns),
        low_ns=min(counted_ns),
        high_ns=max(counted_ns),
        batches=batches,
        dirty_batches=dirty_batches,
        operations=operations,
        undisturbed=tuple(undisturbed),
    )


def compare(left: Cost, right: Cost) -> Literal["less", "more", "tie"]:
    """Whether `left` costs less than `right`, more, or no difference can be claimed."""
    left_low, left_high = reach(left)
    right_low, right_high = reach(right)
    if left_high < right_low and right.p10_ns > left.p10_ns * MIN_RATIO:
        return "less"
    if right_high < left_low and left.p10_ns > right.p10_ns * MIN_RATIO:
        return "more"
    return "tie"


def reach(cost: Cost) -> tuple[float, float]:
    """What a cost is compared by: its lowest and highest process, or a wide margin about a single one."""
    if len(cost.counted_ns) > 1:
        return cost.low_ns, cost.high_ns
    margin = abs(cost.p10_ns) * LONE_PROCESS
    return cost.p10_ns - margin, cost.p10_ns + margin
