"""All of it: the rows with their goals, memory, and the document."""

from __future__ import annotations

import contextlib
import itertools
import os
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.flat.arms import Cost, Effort
from benchmarks.protowire import subjects
from benchmarks.protowire.arms import BY_HAND, SIZES, time_size
from benchmarks.protowire.memory import TURNS, growth_bytes
from benchmarks.support.command import Progress
from benchmarks.support.document import Begin, document
from benchmarks.support.figures import Figure, Goal, markdown, not_measured, spread_of
from benchmarks.support.fresh import MeasuringError, in_fresh_process

__all__ = ["ROWS", "STATES", "Row", "study"]

STATES = {
    "kept": {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 32)},
    "mapped": {"MALLOC_MMAP_THRESHOLD_": str(1 << 17), "MALLOC_TRIM_THRESHOLD_": str(1 << 17)},
}
"""malloc's states, by what sets them in the environment."""

_CELLS = [("kept", size) for size in SIZES] + [("mapped", "64 KB"), ("mapped", "1 MB")]
"""States and sizes that are timed: in the other state 16 MB take too long, and 4 KB are no large block."""

_WRITE, _READ = "build and SerializeToString", "FromString and numpy"
_FLAT_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Row:
    """An operation over one by hand, and by size the upper limit of their ratio: of each walk, or of one."""

    operation: str
    base: str
    goals: dict[str, float] = field(default_factory=dict)
    pure_goals: dict[str, float] = field(default_factory=dict)


ROWS = (
    Row("encode", _WRITE, {"1 MB": 0.35}, {"1 MB": 0.35}),
    Row("encode_segments", _WRITE, {"1 MB": 0.08, "16 MB": 0.01}, {"1 MB": 0.08, "16 MB": 0.01}),
    Row("encode_into", _WRITE),
    Row("encode_into", "memcpy"),
    Row("view and tensor, verified", _READ, {"64 KB": 0.65, "1 MB": 0.07}, {"1 MB": 0.20}),
    Row("view and tensor", _READ, {"64 KB": 0.65, "1 MB": 0.07}, {"1 MB": 0.20}),
    Row("decode(copy=False)", _READ, {"64 KB": 0.65, "1 MB": 0.07}, {"1 MB": 0.20}),
    Row("decode", _READ),
)

Process = tuple[str, str, Sequence[Cost]]
"""A state, a size, and what was found there."""


def study(effort: Effort, progress: Progress) -> tuple[str, dict[str, Any]]:
    """Take all figures; the tables, and the raw result."""
    begin = Begin()
    parts = [*itertools.product(range(effort.processes), _CELLS)]
    processes: list[Process] = []
    for number, (seed, (state, size)) in enumerate(parts, start=1):
        progress(number, len(parts) + len(subjects.WALKS), f"{size}, {state}")
        with _environment(STATES[state]):
            processes.append((state, size, in_fresh_process(time_size, size, effort, seed)))
    grown = []
    for number, walk in enumerate(subjects.WALKS, start=len(parts) + 1):
        progress(number, len(parts) + len(subjects.WALKS), f"memory, {walk}")
        grown.append(_memory(walk))
    ratios = [*_ratios(processes)]
    found = document(
        begin,
        ("protobuf",),
        effort=asdict(effort),
        figures=[asdict(one) | {"met": one.met} for one in (*ratios, *grown)],
        raw=[
            {"state": state, "size": size, "costs": [asdict(cost) for cost in costs]}
            for state, size, costs in processes
        ],
    )
    return _tables(ratios, grown, processes), found


@contextlib.contextmanager
def _environment(changed: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(changed)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _memory(walk: subjects.Walk) -> Figure:
    name, goal = (
        f"{TURNS[walk]:,} encodes, decodes and views, {walk}: bytes that memory grows by",
        Goal("<=", _FLAT_BYTES),
    )
    if walk == "native" and not subjects.has_native():
        return not_measured(name, "the C extension was not built", goal)
    try:
        grown = in_fresh_process(growth_bytes, walk, TURNS[walk])
    except MeasuringError as error:
        return not_measured(name, str(error), goal)
    return Figure(name, "", grown, grown, grown, "resident", goal)


def _ratios(processes: Sequence[Process]) -> Iterator[Figure]:
    for row, walk, (state, size) in itertools.product(ROWS, subjects.WALKS, _CELLS):
        found = []
        for of_state, of_size, costs in processes:
            if (of_state, of_size) == (state, size):
                by_arm = {(cost.operation, cost.subject): cost.p10_ns for cost in costs}
                ours, base = by_arm.get((row.operation, walk)), by_arm[row.base, BY_HAND]
                if ours is not None:
                    found.append(ours / base)
        if found:
            limit = (row.goals if walk == "native" else row.pure_goals).get(size) if state == "kept" else None
            goal = None if limit is None else Goal("<=", limit)
            name = f"{row.operation} / {row.base}: {walk}, {size}, {state}"
            yield spread_of(name, "x", found, f"over {len(found)} processes", goal)


def _tables(ratios: Sequence[Figure], grown: Sequence[Figure], processes: Sequence[Process]) -> str:
    kept = [one for one in ratios if one.name.endswith(", kept")]
    goals = [one for one in kept if one.goal is not None]
    others = [one for one in ratios if one.goal is None]
    return (
        "Time of the codec ÷ time of protobuf by hand; less is better. *native* and *pure* are the walk that finds "
        "payloads. The message: metadata, six parameters, and one tensor of the size.\n\n"
        f"{markdown([*goals, *grown])}\n"
        "The same without goals, and in the other state of malloc.\n\n"
        f"{markdown(others)}\n"
        "Microseconds of a call: the median over processes of the p10 of clean batches.\n\n"
        f"{_costs(processes)}\n"
        f"{_NOTES}"
    )


def _costs(processes: Sequence[Process]) -> str:
    rows = [
        f"| operation | who | {' | '.join(f'{size}, {state}' for state, size in _CELLS)} |",
        f"|:---|:---|{'---:|' * len(_CELLS)}",
    ]
    arms = {(cost.operation, cost.subject): None for _, _, costs in processes for cost in costs}
    for arm in arms:
        cells = []
        for column in _CELLS:
            times = [
                cost.p10_ns / 1000
                for state, size, costs in processes
                if (state, size) == column
                for cost in costs
                if (cost.operation, cost.subject) == arm
            ]
            cells.append(f"{statistics.median(times):,.1f}")
        rows.append(f"| {arm[0]} | {arm[1]} | {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


_NOTES = """What the ratios leave out:

- Values and messages rotate and are warm; tensors of 16 MB are in no cache.
- *view and tensor* without *verified* trusts the sizes of tensors until they are read, and checks each then.
- What aliases costs nothing until it is read: whoever goes over a tensor pays for its bytes either way, and more where its
  address does not fit its dtype.
"""
