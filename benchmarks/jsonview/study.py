"""All of it: groups of arms in fresh processes, their ratios, and the document."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.flat.arms import Cost, Effort, time_arms
from benchmarks.jsonview.arms import GROUPS, NUMBERS, documents
from benchmarks.support.command import Progress
from benchmarks.support.document import Begin, document
from benchmarks.support.figures import Figure, Goal, markdown, not_measured, spread_of
from benchmarks.support.fresh import in_fresh_process

__all__ = ["EFFORTS", "ROWS", "Row", "costs_table", "ratio", "study", "time_group"]

EFFORTS: dict[str, Effort] = {
    "field": Effort(processes=6, batches=40),
    "whole": Effort(processes=6, batches=12),
    "numbers": Effort(processes=6, batches=60),
}
"""By group."""


@dataclass(frozen=True, slots=True)
class Row:
    """One subject of an operation divided by another; `limit` is the goal, None where the ratio is only shown."""

    operation: str
    subject: str
    against: str
    limit: float | None = None

    @property
    def name(self) -> str:
        """First column."""
        return f"{self.operation}: {self.subject} / {self.against}"


ROWS = (
    Row("one field", "pointer", "orjson", 0.25),
    Row("one field", "view", "orjson", 0.25),
    Row("one field", "pointer", "pysimdjson", 1.05),
    Row("one field", "view", "pysimdjson, steps", 1.05),
    *(Row(name, "view", "orjson", 0.45) for name in NUMBERS),
    *(Row(name, "view", "pysimdjson", 1.05) for name in NUMBERS),
    Row("all fields", "load", "pysimdjson", 1.05),
    Row("all fields", "view", "decode"),
    Row("all fields", "view", "orjson"),
    Row("all fields", "decode", "orjson codec, decode"),
    Row("all fields", "pysimdjson", "orjson"),
)


def time_group(name: str, effort: Effort, seed: int) -> list[Cost]:
    """In this process: make the arms of a group, and time them."""
    return time_arms(GROUPS[name](effort), seed)


def study(efforts: Mapping[str, Effort], progress: Progress) -> tuple[str, dict[str, Any]]:
    """Take all figures; the tables, and the raw result."""
    begin = Begin()
    parts = [(seed, name) for name, effort in efforts.items() for seed in range(effort.processes)]
    parts.sort()
    processes = []
    for number, (seed, name) in enumerate(parts, start=1):
        progress(number, len(parts), name)
        processes.append((seed, name, in_fresh_process(time_group, name, efforts[name], seed)))
    costs = [found for _, _, found in processes]
    figures = [ratio(row, costs) for row in ROWS]
    sizes = [min(map(len, documents())), max(map(len, documents()))]
    found = document(
        begin,
        ("simdjson", "orjson"),
        efforts={name: asdict(effort) for name, effort in efforts.items()},
        document_bytes=sizes,
        figures=[asdict(figure) | {"met": figure.met} for figure in figures],
        raw=[
            {"group": name, "seed": seed, "costs": [asdict(cost) for cost in of_process]}
            for seed, name, of_process in processes
        ],
    )
    tables = (
        f"{_NOTES}\n{markdown(figures)}\nMicroseconds of a call: the median over processes of the p10 of clean batches.\n\n"
        f"{costs_table(costs)}\nA document has {sizes[0]:,} to {sizes[1]:,} bytes.\n"
    )
    return tables, found


def ratio(row: Row, processes: Iterable[Sequence[Cost]]) -> Figure:
    """The figure of a row."""
    found = []
    for process in processes:
        by_arm = {(cost.operation, cost.subject): cost.p10_ns for cost in process}
        ours, theirs = (by_arm.get((row.operation, subject)) for subject in (row.subject, row.against))
        if ours is not None and theirs is not None:
            found.append(ours / theirs)
    goal = None if row.limit is None else Goal("<=", row.limit)
    if not found:
        return not_measured(row.name, "no process has both arms", goal, "x")
    return spread_of(row.name, "x", found, f"over {len(found)} processes", goal)


def costs_table(processes: Iterable[Sequence[Cost]]) -> str:
    """A row of microseconds for each arm, with the least and the greatest of a process."""
    costs = sorted(itertools.chain.from_iterable(processes), key=lambda cost: cost.operation)
    lines = ["| operation | who | µs |", "|:---|:---|---:|"]
    for operation, subject in dict.fromkeys((cost.operation, cost.subject) for cost in costs):
        found = [cost.p10_ns / 1e3 for cost in costs if (cost.operation, cost.subject) == (operation, subject)]
        middle, low, high = statistics.median(found), min(found), max(found)
        lines.append(f"| {operation} | {subject} | {middle:,.0f} ({low:,.0f} to {high:,.0f}) |")
    return "\n".join(lines) + "\n"


_NOTES = """Time of the first ÷ time of the second; less is better.

- *pointer* and *view* are the codec `simdjson` with its guard on; *pointer* is `codec.pointer(PATH)(data)`, *view* goes step
  by step or, for numbers, is `numpy.asarray(codec.view(data))`. *pysimdjson* uses one parser again and again: `at_pointer`,
  or `as_buffer`, which flattens arrays in arrays and rounds integers, and the codec's array does neither.
- *orjson* is `orjson.loads` and an index, or `numpy.array` of it.
- *all fields: view* reads each field of each record through the view. That is what views are not for: decode.
- *load* is the codec's way to builtins without a schema's checks.
"""
