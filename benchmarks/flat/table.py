"""Both tables as Markdown: ratios, and nanoseconds."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.flat.arms import Cost
from benchmarks.flat.forms import FORMS, Form
from benchmarks.flat.rows import Goals, Row, median_ns, ratio
from benchmarks.flat.subjects import ENGINES, Which
from benchmarks.support.figures import Figure

__all__ = ["costs_table", "ratio_text", "ratios_table"]

_COLUMNS: dict[Which, tuple[Form, ...]] = {"native": ("class", "dict", "struct"), "pure": ("class", "dict")}
_MET = {True: "yes", False: "**no**"}


def ratio_text(value: float, *, as_part: bool) -> str:
    """``"1/25.0"`` for 0.04 as a part, and for whatever is so small; else ``"0.30"``."""
    return f"1/{1 / value:.1f}" if value < (0.5 if as_part else 0.05) else f"{value:.2f}"


def ratios_table(rows: Sequence[Row], processes: Sequence[Sequence[Cost]]) -> str:
    """A row of ours ÷ theirs: each engine with its goals, and with the forms of values beside each other."""
    lines = [
        "| operation | against | native goal | native | native, dict | native, Struct | pure goal | pure | pure, dict |",
        "|:---|:---|---:|:---|:---|:---|---:|:---|:---|",
    ]
    for row in rows:
        cells = [row.label, row.other]
        for which in ENGINES:
            cells.append(_goals(row.native if which == "native" else row.pure, as_part=row.as_part))
            cells += [_cell(ratio(row, processes, which, form), form, as_part=row.as_part) for form in _COLUMNS[which]]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _goals(limits: Goals, *, as_part: bool) -> str:
    texts = [ratio_text(limit, as_part=as_part) for limit in limits]
    # Limits are parts of a whole number, or have two decimals at most.
    shown = [text.removesuffix(".0") if "/" in text else f"{float(text):g}" for text in texts]
    return f"<= {', then '.join(shown)}" if shown else ""


def _cell(figures: Sequence[Figure], form: Form, *, as_part: bool) -> str:
    if not figures:
        return "not measured" if form == "class" else ""
    first = figures[0]
    values = [value for value in (first.value, first.low, first.high) if value is not None]
    middle, low, high = (ratio_text(value, as_part=as_part) for value in values)
    met = ", then ".join(_MET[one.met] for one in figures if one.met is not None)
    return f"{middle} ({low} to {high}){f': {met}' if met else ''}"


def costs_table(processes: Sequence[Sequence[Cost]]) -> str:
    """A row of nanoseconds for each arm: the median of the processes' p10, and the least and the greatest."""
    lines = ["| operation | who | ns | ns, dict | ns, Struct | dirty batches |", "|:---|:---|---:|---:|---:|---:|"]
    arms = dict.fromkeys((cost.operation, cost.subject) for process in processes for cost in process)
    for operation, subject in sorted(arms, key=lambda arm: [one for one, _ in arms].index(arm[0])):
        found = [
            cost for process in processes for cost in process if (cost.operation, cost.subject) == (operation, subject)
        ]
        dirty = sum(cost.dirty_batches for cost in found) / sum(cost.batches for cost in found)
        texts = [_ns(median_ns(processes, operation, subject, form)) for form in FORMS]
        lines.append(f"| {operation} | {subject} | {' | '.join(texts)} | {dirty:.0%} |")
    return "\n".join(lines) + "\n"


def _ns(values: Sequence[float]) -> str:
    if not values:
        return ""
    middle, low, high = (f"{value:,.0f}" if value >= 100 else f"{value:.1f}" for value in values)
    return f"{middle} ({low} to {high})"
