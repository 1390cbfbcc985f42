"""The rules of ``--zcser-fail``: this session's figures against those of a baseline.

1. Rules and verdicts are those of ``zcser diff`` (`zcser.gate`), with all times of the session corrected together.
2. Figures taken in other ways (preset, timer, Python, in a worker or not) are not compared.
3. The machine's own drift is not taken off: a session has no rows that no change can touch.
4. Only "regressed" fails a session; what cannot be told is said.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from zcser.core.errors import ZcserError
from zcser.core.units import duration_text, number_text
from zcser.gate.judge import Judgement, Tested, judge, judge_times
from zcser.gate.rules import METRICS, Rule, RuleError, parse_rules
from zcser.measure.env import python_name
from zcser.measure.result import Cell, Result, ResultError
from zcser.pytest_plugin.figures import Figures, FiguresError

__all__ = ["BaselineError", "Judge", "Verdict", "make_judge"]


class BaselineError(ZcserError, ValueError):
    """A baseline cannot be read, or holds no figures of zcser."""


class Verdict(NamedTuple):
    """What became of one rule on one benchmark; its text is a line for people."""

    benchmark: str
    judgement: Judgement

    @property
    def regressed(self) -> bool:
        """Whether it fails the session."""
        return self.judgement.verdict == "regressed"

    def __str__(self) -> str:
        found = self.judgement
        text = duration_text if found.rule.metric.kind == "time" else number_text
        details = [] if found.old is None or found.new is None else [f"{text(found.old)} -> {text(found.new)}"]
        details += [] if found.reason is None else [found.reason]
        return f"{found.verdict}: {self.benchmark}: {found.rule.text}: {'; '.join(details)}"


class _Side(NamedTuple):
    """Figures of one benchmark, old or new, and the way in which its times were taken."""

    way: tuple[str, ...]
    python: str
    cell: Cell


@dataclass(frozen=True, slots=True)
class Judge:
    """Rules and a baseline. The old figures stand by name of the benchmark, or by cell."""

    rules: tuple[Rule, ...]
    by_name: Mapping[str, _Side]
    by_cell: Mapping[tuple[str, str, str], _Side]

    def judge(self, found: Mapping[str, Figures]) -> list[Verdict]:
        """A verdict for each rule on each benchmark of this session, by its name."""
        judged = [(name, self._judge(rule, name, figures)) for name, figures in found.items() for rule in self.rules]
        times = iter(judge_times([one for _, one in judged if isinstance(one, Tested)], drift=0.0))
        return [Verdict(name, next(times) if isinstance(one, Tested) else one) for name, one in judged]

    def _judge(self, rule: Rule, name: str, figures: Figures) -> Tested | Judgement:
        new = _side(figures)
        old = self.by_name.get(name)
        if old is None and figures.cell is not None:
            old = self.by_cell.get(figures.cell)
        if old is None:
            return Judgement(rule, new.cell, "unknown", reason="the baseline does not have it")
        if rule.metric.kind == "time" and old.way != new.way:
            return Judgement(rule, new.cell, "refused", reason=_difference(old.way, new.way))
        if old.python != new.python:
            return Judgement(rule, new.cell, "refused", reason=_difference((old.python,), (new.python,)))
        return judge(rule, old.cell, new.cell) or Judgement(rule, new.cell, "unknown", reason="it has no such figure")


def _difference(old: Sequence[str], new: Sequence[str]) -> str:
    parts = [f"{before} then, {after} now" for before, after in zip(old, new, strict=True) if before != after]
    return f"measured in other ways: {'; '.join(parts)}"


def make_judge(rules: Sequence[str], baseline: str) -> Judge:
    """Read rules and their baseline.

    Parameters
    ----------
    rules
        As for ``zcser diff``; one at least.
    baseline
        A JSON file of pytest-benchmark, or a result of ``zcser compare``.

    Raises
    ------
    RuleError, BaselineError
        As they say.
    """
    parsed = parse_rules(rules)
    for rule in parsed:
        if rule.metric.kind == "size":
            have = ", ".join(name for name in METRICS if name != rule.metric.name)
            raise RuleError(f"{rule.text}: benchmarks have no {rule.metric.name}; they have {have}")
    document = _read(baseline)
    if isinstance(document, dict) and "schema_version" in document:
        return Judge(parsed, {}, _cells(document, baseline))
    return Judge(parsed, _benchmarks(document, baseline), {})


def _read(path: str) -> Any:
    try:
        return json.loads(Path(path).read_bytes())
    except OSError as error:
        raise BaselineError(f"cannot read the baseline {path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"the baseline {path} is not JSON: {error}") from None


def _benchmarks(document: Any, path: str) -> dict[str, _Side]:
    try:
        entries = [(str(entry["fullname"]), entry["extra_info"].get("zcser")) for entry in document["benchmarks"]]
    except (KeyError, TypeError, AttributeError):
        raise BaselineError(
            f"the baseline {path} is neither a JSON file of pytest-benchmark nor a result of zcser compare"
        ) from None
    try:
        sides = {name: _side(Figures.from_json(figures)) for name, figures in entries if figures is not None}
    except FiguresError as error:
        raise BaselineError(f"the baseline {path}: {error}") from None
    if not sides:
        raise BaselineError(
            f"the baseline {path} holds no figures of zbench; record it with tests that use the fixture"
        )
    return sides


def _cells(document: Any, path: str) -> dict[tuple[str, str, str], _Side]:
    try:
        result = Result.from_json(document)
    except ResultError as error:
        raise BaselineError(f"the baseline {path}: {error}") from None
    return {
        (cell.payload, cell.codec, cell.operation): _side_of_cell(cell, result) for cell in result.cells if cell.cost
    }


def _side(figures: Figures) -> _Side:
    return _Side(
        way=(figures.where, figures.preset, figures.timer),
        python=figures.python,
        cell=Cell(
            *(figures.cell or ("-", "callable", "call")),
            status="ok",
            values=figures.values,
            cost=figures.cost,
            latency=figures.latency,
            gc=figures.gc,
            allocations=figures.allocations,
        ),
    )


def _side_of_cell(cell: Cell, result: Result) -> _Side:
    return _Side(
        way=("workers", result.preset, result.method.timer), python=python_name(result.environment.python), cell=cell
    )
