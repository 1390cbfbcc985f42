"""The table below pytest-benchmark's: the same benchmarks, in the order of the tests, with zcser's columns.

A row of a saved run holds what pytest-benchmark's comparison carries over, which is the ``stats`` of its JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from zcser.core.units import bytes_text, duration_text, number_text
from zcser.measure.allocations import METHODS
from zcser.pytest_plugin.figures import Figures, columns

__all__ = ["table_lines"]


def _time(seconds: float) -> str:
    return duration_text(seconds * 1e9) if seconds else "0 ns"


class _Column(NamedTuple):
    head: str
    key: str
    text: Callable[[float], str]


_COLUMNS = (
    _Column("p10", "p10", _time),
    _Column("p50", "p50", _time),
    _Column("p90", "p90", _time),
    _Column("p99", "p99", _time),
    _Column("p99.9", "p999", _time),
    _Column("allocs", "python_allocations", number_text),
    _Column("bytes", "python_bytes", bytes_text),
    _Column("native allocs", "native_allocations", number_text),
    _Column("native bytes", "native_bytes", bytes_text),
    _Column("peak", "peak_bytes", bytes_text),
    _Column("blocks", "result_blocks", number_text),
    _Column("GC", "gc_collections", number_text),
    _Column("longest GC", "gc_pause_max", _time),
    _Column("GC if kept", "gc_kept_share", "{:.1%}".format),
)


def table_lines(rows: Sequence[Mapping[str, Any]], found: Mapping[str, Figures]) -> list[str]:
    """The table and its legend; columns that nobody has a figure for are left out.

    Parameters
    ----------
    rows
        The rows of pytest-benchmark's table, flat, as its grouping hook gets them.
    found
        The figures of this session, by the full name of the benchmark.
    """
    shown = [(row, stats, figures) for row, stats, figures in _stats(rows, found) if stats]
    used = [column for column in _COLUMNS if any(stats.get(column.key) is not None for _, stats, _ in shown)]
    body = [
        [_name(row), *(_text(column, stats, figures) for column in used), _where(figures)]
        for row, stats, figures in shown
    ]
    cells = [["name", *(column.head for column in used), "measured in"], *body]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(_aligned(line, widths)).rstrip() for line in cells]
    return [*lines, "", *_legend(found.values())]


def _stats(
    rows: Sequence[Mapping[str, Any]], found: Mapping[str, Figures]
) -> Iterator[tuple[Mapping[str, Any], dict[str, float | None], Figures | None]]:
    """Each row with what it has for our columns."""
    for row in rows:
        now = row.get("source") in (None, False, "NOW")
        figures = found.get(row["fullname"]) if now else None
        if figures is not None:
            yield row, columns(figures), figures
        else:
            yield row, {column.key: row[column.key] for column in _COLUMNS if column.key in row}, None


def _name(row: Mapping[str, Any]) -> str:
    return f"{row['name']} ({row['source']})" if row.get("source") else str(row["name"])


def _text(column: _Column, stats: Mapping[str, Any], figures: Figures | None) -> str:
    value = stats.get(column.key)
    if value is None:
        return "-"
    doubt = "?" if figures is not None and column.key in figures.latency.uncertain else ""
    return column.text(value) + doubt


def _where(figures: Figures | None) -> str:
    if figures is None:
        return ""
    if figures.where == "in-process":
        return "in-process"
    return f"{len(figures.cost.counted_ns)} workers"


def _aligned(line: Sequence[str], widths: Sequence[int]) -> list[str]:
    first, *middle, last = (
        text.ljust(width) if place in (0, len(line) - 1) else text.rjust(width)
        for place, (text, width) in enumerate(zip(line, widths, strict=True))
    )
    return [first, *middle, last]


def _legend(found: Iterable[Figures]) -> list[str]:
    figures = list(found)
    methods = sorted({one.allocations.method for one in figures if one.allocations})
    reasons = sorted({one.reason for one in figures if one.reason})
    return [
        "p10: cost of a call, p10 of clean batches, median over processes. p50 to p99.9: single calls.",
        "GC: collections while single calls were timed, results dropped. GC if kept: share of time where results are kept.",
        "-: not taken, or too few samples. ?: fewer than 100 samples above.",
        *(f"memory: {METHODS.get(method, method)} ({method})" for method in methods),
        *(f"in-process: measured in the process of the tests, because {reason}" for reason in reasons),
    ]
