"""The result file: what one run of the bake-off measured, and the one source of every table and figure.

1. One JSON document, `SCHEMA_VERSION` at its head. Reading checks it strictly (types, finite numbers, required keys) and
   names the JSON path at fault; unknown further keys are ignored.
2. Every time is in nanoseconds per operation. A figure that was not taken is null, never 0.
3. Cost and latency are two estimators and are never mixed: cost is the p10 of clean batches, latency is every sample.
4. Raw samples are not in the document: a histogram is (`zcser.measure.histogram`), exact percentiles beside it, of all
   processes together and of each by itself.
5. `Result.save` replaces a file in one step, so that a reader sees the old document or the new one.
6. The document is the dataclasses of this module, of `zcser.measure.figures` and of `zcser.measure.context` as JSON; they
   are its documentation. An older version is brought into this form when it is read (`zcser.measure.upgrade`), and what
   it did not take is null; a newer one is refused.

Versions: 1 (zcser 0.1) had Python's timer and tracemalloc. 2 has exact allocations (``allocations``), the calls that the
collector struck (``gc.struck`` and what follows it) and results kept (``retained``), ``copies``, ``fresh_cost``,
``settings.live_objects``, latency percentiles by process (``latency.process_p50_ns`` and its like, empty where they are
not kept), ``payloads[].data_fingerprint``,
``environment.python.free_threaded``, and the preset "tails". 3 has the partial reads, composite tasks and where they look
(``payloads[].leaves``, ``reads`` and ``changed``), the memory of decoded values (``deep_size``) and compressed sizes
(``size.plain_bytes``).
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zcser.core.errors import ZcserError
from zcser.measure.context import (
    CodecRecord,
    Environment,
    Method,
    PartialRead,
    PayloadRecord,
    PresetName,
    ProcessNoise,
    Settings,
    Tool,
    Unavailable,
)
from zcser.measure.figures import Allocations, Collections, Copies, Cost, DeepSize, Latency, Retained, Size, Status
from zcser.measure.jsonform import FormError, from_json, to_json
from zcser.measure.upgrade import UPGRADES
from zcser.measure.writing import write_whole

__all__ = [
    "SCHEMA_VERSION",
    "Allocations",
    "Cell",
    "CodecRecord",
    "Collections",
    "Copies",
    "Cost",
    "DeepSize",
    "Environment",
    "Latency",
    "Method",
    "PartialRead",
    "PayloadRecord",
    "ProcessNoise",
    "Result",
    "ResultError",
    "Retained",
    "Settings",
    "Size",
    "Status",
    "Tool",
    "Unavailable",
    "load_result",
]

SCHEMA_VERSION = 3


class ResultError(ZcserError, ValueError):
    """A result file cannot be read or written, or is not one; the message names the place in the document."""


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
        "capped": met its time bound; "few-samples": too few for a p90; "few-processes": fewer than planned
        have a cost; "all-dirty": every batch of every process was preempted or below full speed, so all were used;
        "unstable": its processes lie more than a quarter apart; "hot": the payload has fewer than 64 distinct values;
        "unvalidated": measured without guard or verification; "derived": a difference of two other cells;
        "walked": leaves are read by a generic walk, since they are too many to be named or differ from value to value;
        "in-place": the message was changed in place, not decoded and encoded again;
        "same-as:OPERATION": for this codec the two operations are one, and that one was measured.
    values
        Distinct values that it rotated.
    encoded_by
        The codec that wrote the bytes which were read, where it is another one.
    cost, latency, gc, retained, allocations, copies, size, deep_size
        See `zcser.measure.figures`.
    fresh_cost
        The cost where malloc maps each block of 128 KiB and more anew; all other figures are where it serves blocks up to
        31 MiB from what was freed. Taken of messages of 1 MB and more in the preset "full".
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
    fresh_cost: Cost | None = None
    latency: Latency | None = None
    gc: Collections | None = None
    retained: Retained | None = None
    allocations: Allocations | None = None
    copies: Copies | None = None
    size: Size | None = None
    deep_size: DeepSize | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """One run. `complete` is False where it was interrupted; what was measured until then is there."""

    tool: Tool
    created: str
    command: tuple[str, ...]
    preset: PresetName
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
            It is no result, or of a newer version; the message names the JSON path or the version.
        """
        if not isinstance(document, dict) or "schema_version" not in document:
            raise ResultError("not a zcser result: it has no schema_version")
        version = document["schema_version"]
        if type(version) is not int or version < 1:
            raise ResultError(f"schema_version {version!r} is none that zcser has ever written")
        if version > SCHEMA_VERSION:
            raise ResultError(
                f"schema_version {version} is newer than {SCHEMA_VERSION}, the newest that this zcser reads; upgrade zcser"
            )
        for older in range(version, SCHEMA_VERSION):
            document = UPGRADES[older](document)
        try:
            return from_json(cls, document)
        except FormError as error:
            raise ResultError(f"not a valid zcser result: {error}") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the document, replacing a file at `path` in one step; a pipe or a device is written to as it is.

        Raises
        ------
        ResultError
            `path` cannot be written; a file that was there is unchanged.
        """
        text = json.dumps(self.to_json(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        try:
            write_whole(Path(path), text + "\n")
        except OSError as error:
            raise ResultError(f"cannot write {path}: {error.strerror or error}") from None


def load_result(path: str | os.PathLike[str]) -> Result:
    """Read a result file.

    Raises
    ------
    ResultError
        The file cannot be read, is no JSON, no result, or of a newer version.
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
