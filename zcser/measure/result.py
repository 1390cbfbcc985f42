"""The result file: what one run of the bake-off measured, and the one source of every table and figure.

1. One JSON document, `SCHEMA_VERSION` at its head. Reading checks it strictly (types, finite numbers, required keys) and
   names the JSON path at fault; unknown further keys are ignored.
2. Every time is in nanoseconds per operation. A figure that was not taken is null, never 0.
3. Cost and latency are two estimators and are never mixed: cost is the p10 of clean batches, latency is every sample.
4. Raw samples are not in the document: a histogram is (`zcser.measure.histogram`), exact percentiles beside it.
5. `Result.save` replaces the file in one step, so that a reader sees the old document or the new one.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from zcser.core.errors import ZcserError
from zcser.measure.context import (
    CodecRecord,
    Environment,
    Method,
    PayloadRecord,
    ProcessNoise,
    Settings,
    Tool,
    Unavailable,
)
from zcser.measure.jsonform import FormError, from_json, to_json

__all__ = [
    "SCHEMA_VERSION",
    "Allocations",
    "Cell",
    "CodecRecord",
    "Collections",
    "Cost",
    "Environment",
    "Latency",
    "Method",
    "PayloadRecord",
    "ProcessNoise",
    "Result",
    "ResultError",
    "Settings",
    "Size",
    "Status",
    "Tool",
    "Unavailable",
    "load_result",
]

SCHEMA_VERSION = 1

Status = Literal["ok", "refused", "failed", "unsupported"]
"""Measured; the codec cannot carry it; it gave a wrong result or broke; the codec has no such operation."""


class ResultError(ZcserError, ValueError):
    """A result file cannot be read or written, or is not one; the message names the place in the document."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one operation costs when nothing disturbs it.

    Attributes
    ----------
    process_p10_ns
        Per process: the tenth percentile of the mean time per operation of its clean batches.
    p10_ns, low_ns, high_ns
        Median, smallest and largest of these.
    batches, dirty_batches
        All batches, and those left out because the thread was preempted inside.
    operations
        Calls inside all batches; 0 where the cost was derived from other cells.
    """

    process_p10_ns: tuple[float, ...]
    p10_ns: float
    low_ns: float
    high_ns: float
    batches: int
    dirty_batches: int
    operations: int


@dataclass(frozen=True, slots=True)
class Latency:
    """What single operations took, all samples of all processes.

    Attributes
    ----------
    n
        Samples.
    p50_ns, p90_ns, p99_ns, p999_ns
        Percentiles; None where fewer than 10 samples lie above.
    max_ns
        The slowest.
    uncertain
        Names of the percentiles with fewer than 100 samples above them.
    histogram
        (smallest whole nanosecond of the bucket, samples) of each bucket that is not empty, ascending.
    """

    n: int
    p50_ns: float | None
    p90_ns: float | None
    p99_ns: float | None
    p999_ns: float | None
    max_ns: float
    uncertain: tuple[str, ...]
    histogram: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Collections:
    """Garbage collections while the latency samples were taken, with results discarded.

    Attributes
    ----------
    collections
        Per generation, youngest first.
    pause_ns, pause_max_ns
        All pauses together, and the longest.
    operations
        Calls that they fell into.
    """

    collections: tuple[int, int, int]
    pause_ns: int
    pause_max_ns: int
    operations: int


@dataclass(frozen=True, slots=True)
class Allocations:
    """Memory that one operation asks for.

    Attributes
    ----------
    method
        How it was counted; different methods are not comparable.
    peak_bytes
        Python memory at its highest during the call, above what was there before; median.
    result_blocks
        Small-object blocks that a kept result holds; median.
    native
        Allocations outside Python's allocators; None: this method cannot see them.
    blind
        Whether the codec's library is known to allocate there, so that `peak_bytes` is only a lower bound.
    """

    method: str
    peak_bytes: int | None
    result_blocks: int | None
    native: int | None
    blind: bool


@dataclass(frozen=True, slots=True)
class Size:
    """Encoded bytes over the values of the cell: median, smallest, largest."""

    wire_bytes: int
    min: int
    max: int


@dataclass(frozen=True, slots=True)
class Cell:
    """One operation of one codec on one payload.

    Attributes
    ----------
    payload, codec, operation
        Names; payload "-" and codec "baseline" for the rows that need neither.
    status, reason
        See `Status`; `reason` is one line wherever the status is not "ok".
    flags
        "capped": met its time bound; "few-samples": too few for a p90; "few-processes": fewer than planned;
        "all-dirty": a process had no batch free of preemptions, so all were used; "unstable": its processes lie more
        than a quarter apart; "hot": the payload has fewer than 64 distinct
        values; "unvalidated": measured without guard or verification; "derived": a difference of two other cells;
        "same-as:OPERATION": for this codec the two operations are one, and that one was measured.
    values
        Distinct values that it rotated.
    encoded_by
        The codec that wrote the bytes which were read, where it is another one.
    """

    payload: str
    codec: str
    operation: str
    status: Status
    reason: str | None = None
    flags: tuple[str, ...] = ()
    values: int | None = None
    encoded_by: str | None = None
    cost: Cost | None = None
    latency: Latency | None = None
    gc: Collections | None = None
    allocations: Allocations | None = None
    size: Size | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """One run. `complete` is False where it was interrupted; what was measured until then is there."""

    tool: Tool
    created: str
    command: tuple[str, ...]
    preset: Literal["quick", "full"]
    settings: Settings
    complete: bool
    measuring_s: float
    wall_s: float
    method: Method
    environment: Environment
    noise: tuple[ProcessNoise, ...]
    payloads: tuple[PayloadRecord, ...]
    codecs: tuple[CodecRecord, ...]
    unavailable: tuple[Unavailable, ...]
    cells: tuple[Cell, ...]
    schema_version: int = field(default=SCHEMA_VERSION, kw_only=True)

    def cell(self, payload: str, codec: str, operation: str) -> Cell | None:
        """The cell of these names, None where the run had no such cell."""
        wanted = (payload, codec, operation)
        return next((cell for cell in self.cells if (cell.payload, cell.codec, cell.operation) == wanted), None)

    def to_json(self) -> dict[str, Any]:
        """The document, its version first."""
        document: dict[str, Any] = to_json(self)
        return {"schema_version": document.pop("schema_version"), **document}

    @classmethod
    def from_json(cls, document: Any) -> Result:
        """Check a parsed document.

        Raises
        ------
        ResultError
            It is not a result of this version; the message names the JSON path.
        """
        if not isinstance(document, dict) or "schema_version" not in document:
            raise ResultError("not a zcser result: it has no schema_version")
        version = document["schema_version"]
        if type(version) is not int or version != SCHEMA_VERSION:
            raise ResultError(
                f"schema_version {version!r} is not {SCHEMA_VERSION}, the one that this zcser reads; "
                "measure again, or read it with the zcser that wrote it"
            )
        try:
            return from_json(cls, document)
        except FormError as error:
            raise ResultError(f"not a valid zcser result: {error}") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the document, replacing `path` in one step.

        Raises
        ------
        ResultError
            `path` cannot be written; what was there is unchanged.
        """
        target = Path(path)
        text = json.dumps(self.to_json(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        # Beside the target, since a rename does not cross file systems.
        spare = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            spare.write_text(text + "\n", encoding="utf-8")
            spare.replace(target)
        except OSError as error:
            with contextlib.suppress(OSError):
                spare.unlink()
            raise ResultError(f"cannot write {target}: {error.strerror or error}") from None


def load_result(path: str | os.PathLike[str]) -> Result:
    """Read a result file.

    Raises
    ------
    ResultError
        The file cannot be read, is no JSON, or no result of this version.
    """
    try:
        text = Path(path).read_bytes().decode()
    except OSError as error:
        raise ResultError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise ResultError(f"{path} is not a result: not UTF-8 at byte {error.start}") from None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ResultError(f"{path} is not a result: not JSON ({error})") from None
    try:
        return Result.from_json(document)
    except ResultError as error:
        raise ResultError(f"{path}: {error}") from None
