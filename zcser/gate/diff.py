"""A whole diff: two results, some rules, and a verdict on every cell that both measured.

1. A cell is judged where both files measured it. Differences of other cells, and operations that are only another name
   of a measured one, are not: each would be judged twice.
2. The baselines are no cells of a diff; they show the machine's drift.
3. Exit codes: 1 where a rule was broken; else 2 where a rule could be applied to nothing, since nothing of what it is
   about is comparable; else 0. What cannot be told breaks no rule.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from zcser.core.errors import ZcserError
from zcser.gate.comparable import Files, compare_files
from zcser.gate.judge import FLOOR, MIN_PROCESSES, Judgement, Tested, Verdict, judge, judge_times, process_figures_ns
from zcser.gate.rules import Rule
from zcser.gate.stats import trimmed_mean
from zcser.measure.baseline import CODEC as BASELINE
from zcser.measure.result import Cell, Result

__all__ = ["Diff", "GateError", "Key", "diff"]

Key = tuple[str, str, str]
"""Payload, codec, operation."""


class GateError(ZcserError, ValueError):
    """Two results, or all that a rule is about, cannot be compared; the message says why."""


@dataclass(frozen=True)
class Diff:
    """The verdicts.

    Attributes
    ----------
    judgements
        Of each rule on each cell that it applies to, in the order of the new file, rule by rule.
    gone, added
        Cells that only the old, only the new file measured, with the reason that the other file gives.
    drift
        How many times slower the machine's own baselines were in the new file; None: they do not tell.
    notices
        What a reader must know first.
    """

    rules: tuple[Rule, ...]
    judgements: tuple[Judgement, ...]
    gone: tuple[tuple[Key, str], ...]
    added: tuple[tuple[Key, str], ...]
    drift: float | None
    notices: tuple[str, ...]

    def of(self, *verdicts: Verdict) -> tuple[Judgement, ...]:
        """The judgements with one of these verdicts."""
        return tuple(one for one in self.judgements if one.verdict in verdicts)

    @cached_property
    def inapplicable(self) -> dict[str, str]:
        """Rules for which every figure was refused, by their text, each with the first reason."""
        found = {}
        for rule in self.rules:
            of_rule = [one for one in self.judgements if one.rule == rule]
            if of_rule and all(one.verdict == "refused" for one in of_rule):
                found[rule.text] = of_rule[0].reason or ""
        return found

    @property
    def exit_code(self) -> int:
        """0, 1 or 2; see the module's head."""
        return 1 if self.of("regressed") else 2 if self.inapplicable else 0


def diff(old: Result, new: Result, rules: Sequence[Rule]) -> Diff:
    """Judge a new result by an old one.

    Raises
    ------
    GateError
        Nothing of the two can be compared: another Python, preset or settings, or no cell that both measured.
    """
    files = compare_files(old, new)
    if files.refused is not None:
        raise GateError(f"the two results cannot be compared: {files.refused}")
    before, after = _measured(old), _measured(new)
    common = dict.fromkeys(key for key in after if key in before)
    if not common:
        raise GateError("the two results cannot be compared: no cell was measured in both")
    judged = [key for key in common if not any((*key[:2], name) in common for name in _same_as(after[key]))]
    refusals = {key: files.cell_refused(before[key], after[key]) for key in judged}
    found = [
        _first_look(rule, before[key], after[key], refusals[key] or _refused(files, rule))
        for rule in rules
        for key in judged
    ]
    drift = None if files.times_refused is not None else _drift(old, new)
    return Diff(
        rules=tuple(rules),
        judgements=tuple(_corrected([one for one in found if one is not None], drift or 0.0)),
        gone=tuple((key, _why(new, key)) for key in before if key not in after),
        added=tuple((key, _why(old, key)) for key in after if key not in before),
        drift=None if drift is None else math.exp(drift),
        notices=(*files.notices, *_raised(rules)),
    )


def _measured(result: Result) -> dict[Key, Cell]:
    """Cells with figures of their own, by their names."""
    return {
        (cell.payload, cell.codec, cell.operation): cell
        for cell in result.cells
        if cell.status == "ok" and cell.codec != BASELINE and "derived" not in cell.flags
    }


def _same_as(cell: Cell) -> list[str]:
    return [flag.removeprefix("same-as:") for flag in cell.flags if flag.startswith("same-as:")]


def _raised(rules: Sequence[Rule]) -> list[str]:
    """Rules that ask for less than can be told."""
    return [
        f"{rule.text} is applied as {rule.metric.name}>{100 * FLOOR:g}%: smaller changes come and go by themselves"
        for rule in rules
        if rule.metric.kind == "time" and rule.percent and rule.limit < 100 * FLOOR
    ]


def _refused(files: Files, rule: Rule) -> str | None:
    """Why a rule can be applied to no cell at all."""
    return {"time": files.times_refused, "collections": files.collections_refused}.get(rule.metric.kind)


def _first_look(rule: Rule, old: Cell, new: Cell, refused: str | None) -> Tested | Judgement | None:
    if refused is None:
        return judge(rule, old, new)
    if rule.metric.kind == "size" and old.size is None and new.size is None:
        return None
    return Judgement(rule, new, "refused", reason=refused)


def _corrected(found: Sequence[Tested | Judgement], drift: float) -> list[Judgement]:
    """The same, each test replaced by its verdict."""
    verdicts = iter(judge_times([one for one in found if isinstance(one, Tested)], drift))
    return [next(verdicts) if isinstance(one, Tested) else one for one in found]


def _drift(old: Result, new: Result) -> float | None:
    """Logarithm of the median ratio of the baselines that both files measured in enough processes."""
    before, after = (
        {
            cell.operation: [math.log(figure) for figure in process_figures_ns(cell, "p10") or () if figure > 0]
            for cell in result.cells
            if cell.codec == BASELINE and cell.status == "ok"
        }
        for result in (old, new)
    )
    shifts = [
        trimmed_mean(after[name]) - trimmed_mean(before[name])
        for name in before.keys() & after.keys()
        if min(len(before[name]), len(after[name])) >= MIN_PROCESSES
    ]
    return statistics.median(shifts) if shifts else None


def _why(result: Result, key: Key) -> str:
    """Why a result has no figure for these names."""
    cell = result.cell(*key)
    if cell is None:
        return "not in the other file"
    return cell.status if cell.reason is None else f"{cell.status}: {cell.reason}"
