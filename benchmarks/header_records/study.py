"""All of it: the rows with their goals, the processes, and the document."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from benchmarks.flat.arms import Cost, Effort, time_arms
from benchmarks.flat.rows import Row, ratio
from benchmarks.flat.table import costs_table
from benchmarks.header_records.arms import arms
from benchmarks.header_records.subjects import ENGINES
from benchmarks.support.command import Progress
from benchmarks.support.document import Begin, document
from benchmarks.support.figures import Figure, Goal, markdown, not_measured
from benchmarks.support.fresh import in_fresh_process

__all__ = ["ROWS", "study", "time_all"]

ROWS = (
    Row("whole record of bytes", "struct", native=(1.05,)),
    Row("whole record of memoryview", "struct", native=(1.05,)),
    Row("whole record as a dataclass", "struct", "whole record of bytes"),
    Row("field", "struct", native=(0.65,)),
    Row("field", "ctypes"),
    Row("field", "numpy"),
    Row("open and field", "struct", "field"),
    Row("open and field", "ctypes"),
    Row("write a field", "struct"),
    Row("write a field", "ctypes"),
    Row("pack", "struct"),
    Row("rows as an array", "numpy"),
)


def time_all(effort: Effort, seed: int) -> list[Cost]:
    """In this process: make all arms, and time them."""
    return time_arms(arms(effort), seed)


def study(effort: Effort, progress: Progress) -> tuple[str, dict[str, Any]]:
    """Take all figures; the tables, and the raw result."""
    begin = Begin()
    processes = []
    for seed in range(effort.processes):
        progress(seed + 1, effort.processes, "a process")
        processes.append(in_fresh_process(time_all, effort, seed))
    figures = [figure for which in ENGINES for row in ROWS for figure in _figures(row, processes, which)]
    found = document(
        begin,
        ("header",),
        effort=asdict(effort),
        figures=[asdict(one) | {"met": one.met} for one in figures],
        raw={
            "processes": [{"seed": seed, "costs": [asdict(cost) for cost in one]} for seed, one in enumerate(processes)]
        },
    )
    tables = (
        "Time of ours ÷ time of the other; less is better. The least and the greatest ratio of a process stand beside it.\n\n"
        f"{markdown(figures)}\n"
        "Nanoseconds of a call: the median over processes of the p10 of clean batches.\n\n"
        f"{costs_table(processes)}\n{_NOTES}"
    )
    return tables, found


def _figures(row: Row, processes: list[list[Cost]], which: Any) -> list[Figure]:
    found = ratio(row, processes, which, "class")
    if found or which == "pure":
        return list(found)
    goal = Goal("<=", row.native[0]) if row.native else None
    return [not_measured(f"{row.label} / {row.other}: {which}", "the C extension was not built", goal, "x")]


_NOTES = """What the ratios leave out:

- struct gives a tuple and knows no names; ours is a namedtuple, and a dataclass where a row says so, whose own `__init__`
  in Python is then most of the time.
- The engine in Python goes through namedtuple and properties: from about two fields on, its whole record is the faster way.
- struct checks neither that an offset is not negative nor, when it writes, that bytes have their size: ours do.
"""
