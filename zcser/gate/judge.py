"""One rule on one cell: regressed, improved, same, or why that cannot be said.

1. Times are tested by processes (`zcser.gate.stats`), and never told apart with fewer than `MIN_PROCESSES` a side.
2. A time regressed where Holm's p value over all tested times of the diff is at most `ALPHA`, and the change exceeds
   both the rule and `FLOOR`: below it, what differs between two runs of the same code is the machine.
3. The machine's own drift is taken off first: the baselines (an empty call, struct, memcpy) run no code that a change
   could have touched. What got slower must exceed how much slower they got, and the same for faster.
4. Improvements are judged as regressions with the files swapped.
5. Memory is compared exactly, with zero tolerance, where both files carry the same exact counter over the same calls.
   So are sizes over the same number of values. Collections count with the uncertainty of where a run begins and ends.
6. Whatever stands in the way is a reason, never a guess.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from zcser.gate.rules import Rule
from zcser.gate.stats import Shift, holm, trimmed_mean, welch
from zcser.measure.allocations import EXACT, EXACT_PYTHON
from zcser.measure.result import Allocations, Cell

__all__ = ["ALPHA", "FLOOR", "MIN_PROCESSES", "Judgement", "Verdict", "judge", "judge_times", "process_figures_ns"]

MIN_PROCESSES = 8
FLOOR = 0.03
ALPHA = 0.025
"""Chance of one or more false regressions in a whole diff; the same again for improvements."""

NOISE = "beyond the rule, but within what the processes vary by"

Verdict = Literal["regressed", "improved", "same", "unknown", "refused"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of one rule on one cell.

    Attributes
    ----------
    cell
        The new cell; the old one has the same names.
    verdict
        "unknown": cannot be told; "refused": the two figures are not of the same kind; `reason` says why for both.
    old, new
        The figures in the metric's unit: trimmed geometric means over processes for times. None where one is missing.
    low, high
        95 % interval of the ratio of new to old, of this cell alone; None for what is counted.
    p
        Holm's adjusted p value of the verdict's direction; None for what is counted.
    """

    rule: Rule
    cell: Cell
    verdict: Verdict
    old: float | None = None
    new: float | None = None
    reason: str | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """Payload, codec, operation."""
        return self.cell.payload, self.cell.codec, self.cell.operation


@dataclass(frozen=True, slots=True)
class Tested:
    """A time that both files have in enough processes, before the correction over all of them.

    Attributes
    ----------
    old_ns, new_ns
        Trimmed geometric means over processes.
    shift
        From old to new, of logarithms.
    """

    rule: Rule
    cell: Cell
    old_ns: float
    new_ns: float
    shift: Shift


def process_figures_ns(cell: Cell, metric: str) -> tuple[float, ...] | None:
    """A time of each process that has it; None where the result does not keep it by process.

    Latency percentiles of all processes together are one figure, whose chance variation is unknown.
    """
    if metric == "p10":
        return () if cell.cost is None else cell.cost.counted_ns
    by_process = getattr(cell.latency, f"process_{metric}_ns", ())
    return tuple(figure for figure in by_process if figure is not None) if by_process else None


def prepare_time(rule: Rule, old: Cell, new: Cell) -> Tested | Judgement:
    """The two samples of a time as a shift of logarithms, or why there is none."""
    unknown = Judgement(rule, new, "unknown")
    before, after = (process_figures_ns(cell, rule.metric.name) for cell in (old, new))
    if before is None or after is None:
        return replace(unknown, reason="the result keeps no such percentile by process")
    if min(len(before), len(after)) < MIN_PROCESSES:
        # A percentile takes so many samples of one process that some processes may not have it.
        having = "" if rule.metric.name == "p10" else f" have a {rule.metric.name}"
        reason = (
            f"{len(before)} and {len(after)} processes{having}; {MIN_PROCESSES} a side are needed (use the preset full)"
        )
        return replace(unknown, reason=reason)
    if min(*before, *after) <= 0:
        return replace(unknown, reason="a time of zero or below: under the timer's resolution")
    logs = [[math.log(figure) for figure in side] for side in (before, after)]
    old_ns, new_ns = (math.exp(trimmed_mean(side)) for side in logs)
    return Tested(rule, new, old_ns, new_ns, welch(*logs))


def judge_times(tested: Sequence[Tested], drift: float) -> list[Judgement]:
    """Verdicts on all times of a diff, corrected for their number.

    Parameters
    ----------
    tested
        All that was tested, whatever its rule.
    drift
        Logarithm of how much slower the machine itself was in the new file.
    """
    slower = holm([one.shift.p_above(max(0.0, drift)) for one in tested])
    faster = holm([_swapped(one.shift).p_above(max(0.0, -drift)) for one in tested])
    return [_verdict(*one) for one in zip(tested, [drift] * len(tested), slower, faster, strict=True)]


def _swapped(shift: Shift) -> Shift:
    return replace(shift, mean=-shift.mean)


def _verdict(tested: Tested, drift: float, p_slower: float, p_faster: float) -> Judgement:
    slower = tested.new_ns > tested.old_ns
    low_ns, high_ns = sorted((tested.old_ns, tested.new_ns))
    # Without what the machine explains.
    high_ns *= math.exp(-max(0.0, drift if slower else -drift))
    p = p_slower if slower else p_faster
    found = Judgement(tested.rule, tested.cell, "same", tested.old_ns, tested.new_ns, p=p)
    if high_ns <= low_ns * (1 + FLOOR) or not tested.rule.exceeded(low_ns, high_ns):
        return found
    low, high = (math.exp(end) for end in tested.shift.interval(ALPHA))
    found = replace(found, low=low, high=high)
    if p > ALPHA:
        return replace(found, verdict="unknown", reason=NOISE)
    return replace(found, verdict="regressed" if slower else "improved")


def judge(rule: Rule, old: Cell, new: Cell) -> Tested | Judgement | None:
    """One rule on two comparable cells: a verdict where it is exact, a test where it is a time.

    Returns
    -------
    Tested, Judgement or None
        None where the metric does not apply: an operation that writes nothing has no size.
    """
    match rule.metric.kind:
        case "time":
            return prepare_time(rule, old, new)
        case "memory":
            return _judge_memory(rule, old, new)
        case "collections":
            return _judge_collections(rule, old, new)
        case "size":
            return _judge_size(rule, old, new)


def _exact(blank: Judgement, old: float, new: float) -> Judgement:
    verdict: Verdict = "same"
    if blank.rule.exceeded(old, new):
        verdict = "regressed"
    elif blank.rule.exceeded(new, old):
        verdict = "improved"
    return replace(blank, verdict=verdict, old=old, new=new)


def _judge_memory(rule: Rule, old: Cell, new: Cell) -> Judgement:
    unknown = Judgement(rule, new, "unknown")
    before, after = old.allocations, new.allocations
    if before is None or after is None:
        return replace(unknown, reason="not counted")
    if before.method != after.method:
        return replace(unknown, reason=f"counted in different ways: {before.method} against {after.method}")
    if before.method not in {EXACT, EXACT_PYTHON}:
        return replace(unknown, reason=f"not counted exactly: {before.method}")
    if before.blind != after.blind:
        return replace(unknown, reason="the counter is blind to different things")
    if (before.calls, before.values) != (after.calls, after.values):
        return replace(unknown, reason="not the same calls were counted; measure both on a quiet machine")
    old_count, new_count = (_counted(one, rule.metric.name) for one in (before, after))
    if old_count is None or new_count is None:
        return replace(unknown, reason="not counted")
    return _exact(unknown, old_count, new_count)


def _counted(allocations: Allocations, metric: str) -> float | None:
    """Python's and native ones together: numpy's data moves between the two with its version."""
    if metric == "allocs":
        python, native = allocations.python_allocations, allocations.native_allocations
    else:
        python, native = allocations.python_bytes, allocations.native_bytes
    return None if python is None else python + (native or 0.0)


def _judge_size(rule: Rule, old: Cell, new: Cell) -> Judgement | None:
    unknown = Judgement(rule, new, "unknown")
    if old.size is None and new.size is None:
        return None
    if old.size is None or new.size is None:
        return replace(unknown, reason="one of the files has no size")
    if old.values != new.values:
        return replace(unknown, reason="sizes of different numbers of values")
    return _exact(unknown, old.size.wire_bytes, new.size.wire_bytes)


def _judge_collections(rule: Rule, old: Cell, new: Cell) -> Judgement:
    unknown = Judgement(rule, new, "unknown")
    rates = [_collection_rate(cell) for cell in (old, new)]
    if rates[0] is None or rates[1] is None:
        return replace(unknown, reason="no collections were recorded")
    (before, unsure_before), (after, unsure_after) = rates[0], rates[1]
    found = _exact(unknown, before, after)
    if found.verdict != "same" and abs(after - before) <= unsure_before + unsure_after:
        return replace(found, verdict="unknown", reason="too few collections to tell a change of their rate")
    return found


def _collection_rate(cell: Cell) -> tuple[float, float] | None:
    """Collections per 1000 operations, and by how much that may be off.

    A collection comes when a counter has filled: a process may have one more or less than its share, and a last turn
    through the values that was not completed may shift the mean by the rate over one turn.
    """
    if cell.gc is None or cell.cost is None or cell.gc.operations <= 0:
        return None
    operations, processes = cell.gc.operations, len(cell.cost.process_p10_ns)
    rate = 1000 * sum(cell.gc.collections) / operations
    turn = min(1.0, (cell.values or 1) * processes / operations)
    return rate, 1000 * processes / operations + rate * turn
