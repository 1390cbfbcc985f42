"""A diff in one sentence: what regressed, what improved, and what could not be told."""

from __future__ import annotations

from collections.abc import Sequence

from zcser.gate.diff import Diff
from zcser.gate.judge import Judgement

__all__ = ["change_text", "sentence"]

_NAMED = 3
"""Cells that are named; of more there is the number."""


def change_text(judgement: Judgement) -> str:
    """By how much a figure changed: ``"+6.2%"``; empty where one of the figures is missing or the old one is 0."""
    if judgement.old is None or judgement.new is None or judgement.old == 0:
        return ""
    percent = 100 * (judgement.new / judgement.old - 1)
    return f"{percent:+.1f}%" if abs(percent) < 1000 else f"{percent:+.3g}%"


def sentence(diff: Diff) -> str:
    """The last line of a report, for somebody who reads nothing else."""
    clauses = [
        _clause(diff.of("regressed"), "regressed"),
        _clause(diff.of("improved"), "improved"),
        _count(len(diff.of("unknown")), "could not be told"),
        _count(len(diff.of("refused")), "not comparable"),
        _count(len(diff.gone), "gone"),
        _count(len(diff.added), "new"),
    ]
    held = _count(len(diff.of("same")), "held")
    if diff.of("regressed"):
        start = "Regression"
    else:
        start = "No regression shown" if diff.of("same", "improved") else "Nothing could be told"
    return f"{start}: {'; '.join(filter(None, [*clauses, held]))}."


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number else ""


def _clause(found: Sequence[Judgement], what: str) -> str:
    if not found:
        return ""
    # The largest first: whoever reads three of twenty wants those.
    order = sorted(found, key=_size, reverse=True)
    named = [f"{one.cell.codec} {one.cell.operation} on {one.cell.payload} ({_figure(one)})" for one in order[:_NAMED]]
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return f"{len(found)} {what}: {', '.join(named)}{more}"


def _size(judgement: Judgement) -> float:
    old, new = judgement.old or 0.0, judgement.new or 0.0
    return max(old, new) / min(old, new) if min(old, new) > 0 else float("inf")


def _figure(judgement: Judgement) -> str:
    return f"{judgement.rule.metric.name} {change_text(judgement) or 'from 0'}"
