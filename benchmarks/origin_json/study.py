"""The arms, what is counted of each, and the table."""

from __future__ import annotations

import functools
import json
import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import orjson
import simdjson

import zcser
from benchmarks.flat.arms import Effort, prove, rotating, time_arms
from benchmarks.support.command import Progress
from benchmarks.support.document import Begin, document
from benchmarks.support.fresh import MeasuringError, in_fresh_process
from zcser.measure.allocations import EXACT, count_allocations
from zcser.measure.collector import GcRecorder, freeze
from zcser.native import zcount
from zcser.payloads import get
from zcser.payloads.messages import Record

__all__ = ["ARMS", "Row", "calls", "collections", "memory", "study", "table", "text", "times"]

TEXTS = 20
"""Read for the count of collections."""

ARMS = {
    "json": "`json.loads`",
    "orjson": "`orjson.loads`",
    "simdjson, full": "pysimdjson, made builtins",
    "view, one": "codec `simdjson`: open, one field of one element",
    "view, 100": "codec `simdjson`: open, one field of 100 elements",
    "view, all": "codec `simdjson`: open, one field of each element",
}
"""What each arm does."""


@functools.cache
def text() -> bytes:
    """An array of 10,000 objects, about 1.1 MB."""
    encode = zcser.codec("orjson", list[Record]).encode
    return encode(get("records-10k").make(0).records)


def calls() -> dict[str, Callable[[bytes], Any]]:
    """What is measured, by arm."""
    codec = zcser.codec("simdjson", list[Record])
    one = codec.pointer("/5000/label")
    parse = simdjson.Parser().parse
    return {
        "json": json.loads,
        "orjson": orjson.loads,
        "simdjson, full": lambda data: parse(data, True),
        "view, one": one,
        "view, 100": lambda data: [element["label"] for element in codec.view(data)[:100]],
        "view, all": lambda data: [element["label"] for element in codec.view(data)],
    }


def times(effort: Effort, seed: int) -> dict[str, float]:
    """In this process: nanoseconds of a call, by arm."""
    made = calls()
    labels = [item["label"] for item in json.loads(text())]
    prove(
        "views", [made[f"view, {part}"](text()) for part in ("one", "100", "all")], [labels[5000], labels[:100], labels]
    )
    prove("builtins", [made["orjson"](text()), made["simdjson, full"](text())], [made["json"](text())] * 2)
    costs = time_arms([rotating(effort, "read", name, call, [text()]) for name, call in made.items()], seed)
    return {cost.subject: cost.p10_ns for cost in costs}


def memory() -> dict[str, tuple[float, float]]:
    """In this process, which is preloaded: allocations and bytes of a call, by arm.

    Raises
    ------
    MeasuringError
        Not everything was counted.
    """
    found = {}
    for name, call in calls().items():
        counted = count_allocations(call, text(), calls=4)
        if counted.method != EXACT or counted.python_bytes is None or counted.native_bytes is None:
            raise MeasuringError(f"{name} was counted by {counted.method}")
        number = (counted.python_allocations or 0) + (counted.native_allocations or 0)
        found[name] = number, counted.python_bytes + counted.native_bytes
    return found


def collections() -> dict[str, tuple[float, float]]:
    """In this process: collections for each text, by arm, with results dropped and with results kept."""
    return {name: (_collections(call, keep=False), _collections(call, keep=True)) for name, call in calls().items()}


def _collections(call: Callable[[bytes], Any], *, keep: bool) -> float:
    kept = []
    call(text())
    freeze()
    with GcRecorder() as recorder:
        for _ in range(TEXTS):
            result = call(text())
            if keep:
                kept.append(result)
    return sum(recorder.counts) / TEXTS


@dataclass(frozen=True, slots=True)
class Row:
    """One row; None where the C helper that counts was not built."""

    arm: str
    time_ns: float
    low_ns: float
    high_ns: float
    allocations: float | None
    allocated_bytes: float | None
    collections: float
    collections_kept: float


def study(effort: Effort, progress: Progress) -> tuple[str, dict[str, Any]]:
    """Take all figures; the table with its words, and the raw result."""
    begin = Begin()
    timed = []
    for seed in range(effort.processes):
        progress(seed + 1, effort.processes + 2, "time")
        timed.append(in_fresh_process(times, effort, seed))
    progress(effort.processes + 1, effort.processes + 2, "allocations")
    allocated = in_fresh_process(memory, preload=True) if zcount.load() is not None else {}
    progress(effort.processes + 2, effort.processes + 2, "collections")
    collected = in_fresh_process(collections)
    rows = []
    for arm in ARMS:
        of_arm = [process[arm] for process in timed]
        number, size = allocated.get(arm, (None, None))
        rows.append(Row(arm, statistics.median(of_arm), min(of_arm), max(of_arm), number, size, *collected[arm]))
    found = document(
        begin,
        ("json", "orjson", "simdjson"),
        effort=asdict(effort),
        text_bytes=len(text()),
        rows=[asdict(row) for row in rows],
        raw={"time_ns": timed},
    )
    return f"{table(rows)}\nThe text has {len(text()):,} bytes.\n\n{_WORDS}", found


def table(rows: list[Row]) -> str:
    """The rows, and the original's below."""
    lines = [
        "| | time, ms | allocations | MB allocated | collections | collections, results kept |",
        "|:---|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        number = "-" if row.allocations is None else f"{row.allocations:,.0f}"
        size = "-" if row.allocated_bytes is None else f"{row.allocated_bytes / 1e6:.3f}"
        spread = f"{row.time_ns / 1e6:.2f} ({row.low_ns / 1e6:.2f} to {row.high_ns / 1e6:.2f})"
        lines.append(
            f"| {ARMS[row.arm]} | {spread} | {number} | {size} | {row.collections:.1f} | {row.collections_kept:.1f} |"
        )
    lines += [
        "| *the original, another language: parsed to objects* | 12.8 | | 3.2 | 4 | |",
        "| *the original, another language: as views* | 2.1 | | 0.05 | 0 | |",
    ]
    return "\n".join(lines) + "\n"


_WORDS = """MB are all that a call asks for, through Python's allocators and malloc, freed or not; a parser that is used again
asks for none. Collections are of all generations, per text.

Reproduced in Python: reading a few elements through a view takes a small part of the time of a full parse, allocates next to
nothing, and runs no collection, since no container is made that the collector follows; the ratio of time between a full
parse and views is of the original's kind, and larger against parsers that make Python's objects.

Not reproduced: going through all 10,000 elements. A view of an element is a Python object, made and dropped for each, in a
loop of the interpreter; there the view's time comes near that of a full parse or above it, and its allocations are as many as
the elements, although each is freed before the next and the memory in use stays small. A compiler of another language removes
such objects. Whoever needs all elements decodes; whoever needs one column of numbers has `numpy.asarray`, which makes no
object per number. Absolute figures depend on the language, the machine and the document, and are not to be compared.
"""
