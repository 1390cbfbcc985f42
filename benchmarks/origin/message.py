"""One million messages of each arm: time, collections, allocations.

1. Each arm and operation runs in fresh processes of its own, with the collector as Python sets it; results are dropped.
2. An arm that would take longer than `BUDGET_S` makes fewer calls, and its time and collections are given for a million by
   the rule of three; the raw result says how many it made.
3. Allocations are counted exactly, in another process: what a call takes out of Python's allocators and malloc.
"""

from __future__ import annotations

import gc
import statistics
import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.origin.frame import ARMS, frame
from benchmarks.support.command import Progress
from benchmarks.support.document import Begin, document
from benchmarks.support.fresh import MeasuringError, in_fresh_process
from zcser.measure.allocations import EXACT, count_allocations

__all__ = ["CALLS", "Run", "prove", "study", "time_arm"]

CALLS = 1_000_000
BUDGET_S = 12.0
PROCESSES = 3

_VALUES = 64
_PROBES = 2000


@dataclass(frozen=True, slots=True)
class Run:
    """One process of one arm.

    Attributes
    ----------
    seconds, calls, collections
        Time of all calls, how many they were, and collections of all generations meanwhile.
    """

    seconds: float
    calls: int
    collections: int

    @property
    def per_million(self) -> tuple[float, float]:
        """Milliseconds and collections of a million calls."""
        share = CALLS / self.calls
        return 1000 * self.seconds * share, self.collections * share


def prove(place: int) -> None:
    """Check that an arm reads what it wrote.

    Raises
    ------
    MeasuringError
        It does not.
    """
    write, read = ARMS[place].make()
    for number in range(4):
        value = frame(number)
        sequence, priority, data = read(bytes(write(value)))
        if (sequence, priority) != (value.sequence, value.priority) or not np.array_equal(data, value.data):
            raise MeasuringError(f"{ARMS[place].name} does not read what it wrote")


def _call(place: int, operation: str) -> tuple[Any, list[Any]]:
    prove(place)
    write, read = ARMS[place].make()
    values = [frame(number) for number in range(_VALUES)]
    return (write, values) if operation == "write" else (read, [bytes(write(value)) for value in values])


def time_arm(place: int, operation: str, calls: int = CALLS, budget_s: float = BUDGET_S) -> Run:
    """In this process."""
    call, arguments = _call(place, operation)
    begin = time.perf_counter()
    for number in range(_PROBES):
        call(arguments[number % _VALUES])
    each_s = (time.perf_counter() - begin) / _PROBES
    rounds = max(1, min(calls, int(budget_s / each_s)) // _VALUES)
    gc.collect()
    before = sum(one["collections"] for one in gc.get_stats())
    begin = time.perf_counter()
    for _ in range(rounds):
        for argument in arguments:
            call(argument)
    seconds = time.perf_counter() - begin
    return Run(seconds, rounds * _VALUES, sum(one["collections"] for one in gc.get_stats()) - before)


def count_arm(place: int, operation: str) -> dict[str, float | None]:
    """In this process: allocations of one call, and their bytes; None where they could not all be counted."""
    call, arguments = _call(place, operation)
    counted = count_allocations(call, arguments[0])
    native = counted.native_allocations, counted.native_bytes
    if counted.method != EXACT or None in native:
        return {"allocations": None, "bytes": None}
    return {
        "allocations": (counted.python_allocations or 0) + (native[0] or 0),
        "bytes": (counted.python_bytes or 0) + (native[1] or 0),
    }


def study(progress: Progress) -> tuple[str, dict[str, Any]]:
    """The table, and the raw result."""
    begin = Begin()
    rows, raw = [], {}
    tasks = [(operation, place) for operation in ("write", "read") for place in range(len(ARMS))]
    for number, (operation, place) in enumerate(tasks, start=1):
        name = ARMS[place].name
        progress(number, len(tasks), f"{operation}, {name}")
        runs = [in_fresh_process(time_arm, place, operation) for _ in range(PROCESSES)]
        counted = in_fresh_process(count_arm, place, operation, preload=True)
        raw[f"{operation}, {name}"] = {"runs": [asdict(run) for run in runs], **counted}
        rows.append(_row(operation, name, runs, counted))
    return "\n".join([*_HEAD, *rows, *_ORIGINAL, "", _WORDS, ""]), document(
        begin, ("protobuf", "flatbuffers"), arms=raw
    )


def _row(operation: str, name: str, runs: list[Run], counted: dict[str, float | None]) -> str:
    times = sorted(run.per_million[0] for run in runs)
    collections = statistics.median(run.per_million[1] for run in runs)
    fewer = "" if runs[0].calls >= CALLS - _VALUES else f" (of {min(run.calls for run in runs):,} calls)"
    allocations, size = ("not counted" if figure is None else f"{figure:,.1f}" for figure in counted.values())
    return (
        f"| {operation} | {name} | {statistics.median(times):,.0f} ms{fewer} | {times[0]:,.0f} to {times[-1]:,.0f} "
        f"| {collections:,.0f} | {size} | {allocations} |"
    )


_HEAD = (
    "| operation | arm | a million | spread of 3 processes | collections | bytes allocated, each | allocations, each |",
    "|:---|:---|---:|:---|---:|---:|---:|",
)
_ORIGINAL = (
    "| write | *original, another language:* protobuf as usual | 428 ms | | 1000k | 1280 | |",
    "| write | *original, another language:* protobuf, spliced into a reused buffer | 136 ms | | 2 | 0 | |",
)
_WORDS = """\
Write: from an instance of a class to its bytes in memory. Read: from bytes to two scalars and the tensor as an array.

Reproduced in Python: FlatBuffers and the header write into a reused buffer without allocating memory of the message's
size, in less time than protobuf as usual, and nothing is collected. Zero bytes allocated are not reached, since a call
makes Python objects: ints, a view.

Not reproduced: protobuf spliced into a reused buffer is slower here than protobuf as usual, since a message of 1 KB is too
small for it: the codec checks and walks in Python what a constructor of protobuf does in one call of C, and the payload
that it saves copying is 960 bytes. The collections of the original are not reproduced either: CPython frees a message at
once by its reference count, and its collector counts containers alone, so that no arm causes any."""
