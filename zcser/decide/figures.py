"""What a decision is made from: per payload and codec, the figures of a result that a profile can ask for.

1. A figure that was not taken, or makes no sense, is not there, and `Candidate.missing` says why; it is never 0.
2. A task is what a profile asks of a codec: an operation's name, or a number of fields to read (``"1"``, ``"2"``, ``"10%"``,
   ``"all"``). `Figures.operations` says which operations do it.
3. A codec that only reads is scored with the codec that wrote its messages (`Candidate.writer`), since the two can be used
   together; one that cannot be paired lacks what it lacks.
4. A step is unvalidated where its cell says so, and also where the codec can run code of the sender.
"""

from __future__ import annotations

import functools
import math
import re
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from zcser.decide.interval import Interval, interval_of
from zcser.measure.baseline import CODEC as BASELINE
from zcser.measure.result import Cell, PayloadRecord, Result

__all__ = ["COMPRESSIONS", "Candidate", "Figures", "Step", "figures_of", "payloads_of"]

COMPRESSIONS = ("zlib", "lz4", "zstd")
"""What messages can be compressed by; the operations are ``compress-NAME`` and ``decompress-NAME``."""

_FIELDS = re.compile(r"[1-9][0-9]{0,8}|(100|[1-9]?[0-9])%|all")
_WRITING = ("encode", "compress", "decompress")
_TRUST = ("-unverified", "-unguarded")


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of a codec, as measured.

    Attributes
    ----------
    operation
        As in cells.
    cost
        In ns.
    processes
        How many processes it comes from.
    p99_ns, p999_ns
        Latency of single calls; None where too few samples lie above.
    allocated_bytes
        Python's and native together, per call; a lower bound where the library allocates out of sight.
    gc_share
        Share of the time that the collector took, 0 to 1, with results kept where that was measured.
    unvalidated
        Whether it takes bytes or value on trust.
    aliases
        ``"alias"`` or ``"copy"``: whether arrays and bytes of the result lie in the memory that went in.
    """

    operation: str
    cost: Interval
    processes: int = 1
    p99_ns: float | None = None
    p999_ns: float | None = None
    allocated_bytes: float | None = None
    gc_share: float | None = None
    unvalidated: bool = False
    aliases: str | None = None

    @property
    def flags(self) -> tuple[str, ...]:
        """What to know of the figure: "unvalidated", "alias" or "copy", and "reuse" where the caller's buffer is written again."""
        words = ("unvalidated" if self.unvalidated else None, self.aliases)
        reuse = "reuse" if self.operation.startswith("encode-into") else None
        return tuple(word for word in (*words, reuse) if word is not None)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One codec on one payload.

    Attributes
    ----------
    codec
        Its name.
    writer
        The codec that writes the messages which this one reads; None where it writes its own.
    wire_bytes
        Median size of a message; None where unknown.
    packed_bytes
        The same after compression, by its name.
    steps
        By operation.
    missing
        Why an operation has no step, by operation.
    """

    codec: str
    writer: str | None
    wire_bytes: float | None
    packed_bytes: Mapping[str, float]
    steps: Mapping[str, Step]
    missing: Mapping[str, str]

    def reason(self, operations: Iterable[str]) -> str:
        """Why none of these operations has a step."""
        names = tuple(operations)
        known = (self.missing[name] for name in names if name in self.missing)
        return next(known, f"{names[0]} was not measured")


@dataclass(frozen=True, slots=True)
class Figures:
    """All codecs on one payload.

    Attributes
    ----------
    payload
        Its name.
    message_bytes
        Median over codecs of their wire sizes: how large the payload is, whatever the format; None where none is known.
    named_fields
        How many fields the operation ``read-field`` reads.
    leaves
        How many fields each operation reads that reads part of a message or all of its fields, where that is known.
    measured
        Every operation that some candidate has a step of.
    candidates
        In the order of the result.
    """

    payload: str
    message_bytes: float | None
    named_fields: int
    leaves: Mapping[str, int]
    measured: frozenset[str]
    candidates: tuple[Candidate, ...]

    def candidate(self, codec: str) -> Candidate | None:
        """The codec of a name; None where the result has none on this payload."""
        return next((one for one in self.candidates if one.codec == codec), None)

    def operations(self, task: str) -> tuple[str, ...]:
        """The operations that do a task, the first measured one of which counts.

        A number of fields that no codec was measured at is stood for by the payload's named fields (`stand_in`).
        """
        names = _operations(task, self.named_fields)
        return names if self._measured(names) else (self.stand_in(task) or names[0],)

    def stand_in(self, task: str) -> str | None:
        """``read-field`` where it stands for another number of fields that was not measured; None where nothing does."""
        if not _FIELDS.fullmatch(task) or task == "all" or self._measured(_operations(task, self.named_fields)):
            return None
        return "read-field" if self._measured(("read-field",)) else None

    def _measured(self, operations: tuple[str, ...]) -> bool:
        return any(name in self.measured for name in operations)

    def step(self, candidate: Candidate, task: str, *, unvalidated: bool = False) -> Step | None:
        """How a codec does a task; None where it does not.

        Parameters
        ----------
        candidate
            One of `candidates`.
        task
            What is asked.
        unvalidated
            Whether steps that take their input on trust count too; the cheapest is then taken.
        """
        operations = self.operations(task)
        if not unvalidated:
            found = (candidate.steps[name] for name in operations if name in candidate.steps)
            return next((step for step in found if not step.unvalidated), None)
        trusting = [f"{name}{suffix}" for name in operations for suffix in ("", *_TRUST)]
        steps = [candidate.steps[name] for name in trusting if name in candidate.steps]
        return min(steps, key=lambda step: step.cost.value, default=None)

    def tasks(self) -> tuple[str, ...]:
        """Every task that some codec was measured at."""
        operations = dict.fromkeys(name for one in self.candidates for name in one.steps if not name.endswith(_TRUST))
        counts = {name: name.removeprefix("read-") for name in operations if name.startswith("read-")}
        counts = {name: count for name, count in counts.items() if _FIELDS.fullmatch(count)}
        named = [str(self.named_fields)] if "read-field" in operations else []
        whole = ["all"] if "touch-all" in operations else []
        others = (name for name in operations if name not in counts)
        return tuple(dict.fromkeys([*named, *counts.values(), *whole, *others]))


@functools.cache
def _operations(task: str, named_fields: int) -> tuple[str, ...]:
    if not _FIELDS.fullmatch(task):
        return (task,)
    same = ("read-field",) if task == str(named_fields) else ("touch-all",) if task == "all" else ()
    return (f"read-{task}", *same)


def payloads_of(result: Result) -> tuple[str, ...]:
    """The names of the payloads that some codec was measured on."""
    return tuple(dict.fromkeys(cell.payload for cell in result.cells if cell.codec != BASELINE))


def figures_of(result: Result, payload: str) -> Figures:
    """The figures of a payload; without candidates where the result has none of this name."""
    cells: dict[str, dict[str, Cell]] = {}
    for cell in result.cells:
        if cell.payload == payload and cell.codec != BASELINE:
            cells.setdefault(cell.codec, {})[cell.operation] = cell
    trusting = {record.name for record in result.codecs if record.trusted_only}
    alone = {codec: _candidate(codec, of_codec, codec in trusting) for codec, of_codec in cells.items()}
    writers = {codec: _writer(of_codec, alone) for codec, of_codec in cells.items()}
    paired = [_paired(one, alone[writer] if (writer := writers[one.codec]) else None) for one in alone.values()]
    sizes = [one.wire_bytes for one in paired if one.wire_bytes is not None]
    record = next((record for record in result.payloads if record.name == payload), None)
    fields = 1 if record is None else max(1, len(record.fields))
    measured = frozenset(name for one in paired for name in one.steps)
    message_bytes = statistics.median(sizes) if sizes else None
    return Figures(payload, message_bytes, fields, _leaves(measured, record, fields), measured, tuple(paired))


def _leaves(operations: Iterable[str], record: PayloadRecord | None, named_fields: int) -> dict[str, int]:
    """How many fields the partial reads read: as their names say, or as the record does of a share and of all."""
    counted = {name: int(name[5:]) for name in operations if _FIELDS.fullmatch(name[5:]) and name[5:].isdigit()}
    reads = {} if record is None else getattr(record, "reads", {})
    noted = {name: read.leaves for name, read in reads.items()}
    total = None if record is None else getattr(record, "leaves", None)
    whole = {} if total is None else {"read-all": total, "touch-all": total}
    return {**whole, **counted, **noted, "read-field": named_fields}


def _candidate(codec: str, cells: Mapping[str, Cell], trusted_only: bool) -> Candidate:
    steps, missing, packed = {}, {}, {}
    for name, cell in cells.items():
        cost = None if cell.status != "ok" or cell.cost is None else interval_of(cell.cost)
        if cost is None:
            missing[name] = _why_not(cell)
        else:
            steps[name] = _step(cell, cost, trusted_only and not name.startswith(_WRITING))
    for name in COMPRESSIONS:
        size = _size(cells.get(f"compress-{name}"))
        if size is not None:
            packed[name] = size
    return Candidate(codec, None, _size(cells.get("encode")), packed, steps, missing)


def _why_not(cell: Cell) -> str:
    if cell.status != "ok":
        word = f"no {cell.operation}" if cell.status == "unsupported" else f"{cell.operation} {cell.status}"
        return f"{word} ({cell.reason})" if cell.reason else word
    return f"{cell.operation} has no cost" if cell.cost is None else f"the cost of {cell.operation} is not above zero"


def _step(cell: Cell, cost: Interval, runs_code: bool) -> Step:
    latency, collections, allocations = cell.latency, cell.gc, cell.allocations
    if cell.retained is not None:
        collections = cell.retained.gc
    allocated = None
    if allocations is not None and allocations.python_bytes is not None:
        allocated = allocations.python_bytes + (allocations.native_bytes or 0)
    return Step(
        cell.operation,
        cost,
        processes=1 if cell.cost is None else len(cell.cost.counted_ns),
        p99_ns=None if latency is None else _positive(latency.p99_ns),
        p999_ns=None if latency is None else _positive(latency.p999_ns),
        allocated_bytes=allocated,
        gc_share=None if collections is None else collections.time_share,
        unvalidated=runs_code or "unvalidated" in cell.flags,
        aliases=None if cell.copies is None else cell.copies.aliases,
    )


def _positive(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) and value > 0 else None


def _size(cell: Cell | None) -> float | None:
    if cell is None or cell.status != "ok" or cell.size is None:
        return None
    return _positive(float(cell.size.wire_bytes))


def _writer(cells: Mapping[str, Cell], known: Mapping[str, Candidate]) -> str | None:
    """The codec whose messages this one was measured on, where it writes none itself."""
    encode = cells.get("encode")
    if encode is not None and encode.status == "ok":
        return None
    names = (cell.encoded_by for cell in cells.values() if cell.status == "ok")
    return next((name for name in names if name is not None and name in known), None)


def _paired(reader: Candidate, writer: Candidate | None) -> Candidate:
    if writer is None:
        return reader
    written = {name: step for name, step in writer.steps.items() if name.startswith(_WRITING)}
    why_not = {name: why for name, why in writer.missing.items() if name.startswith(_WRITING)}
    return replace(
        reader,
        writer=writer.codec,
        wire_bytes=writer.wire_bytes,
        packed_bytes=writer.packed_bytes,
        steps={**written, **reader.steps},
        missing={**reader.missing, **why_not},
    )
