"""What the runner and a worker say to each other.

1. The runner writes one `Job` to the worker's standard input, and holds it open: its end is the worker's sign to go.
2. The worker writes messages to its standard output, one after each cell, so that what was measured outlives it. `Began`
   comes before each cell, so that the runner knows which one killed it.
3. A message is eight bytes of length and a pickle. Both ends are the same program on the same machine.
"""

from __future__ import annotations

import pickle
import struct
from dataclasses import dataclass
from typing import IO, Any

from zcser.measure.noise import Disturbance
from zcser.measure.result import Allocations, Size, Status
from zcser.measure.sample import Sample, Slot

__all__ = ["Began", "Counted", "Ended", "Finished", "Job", "Load", "Measured", "Message", "read", "write"]

_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class Load:
    """One payload's part of a job: the pickled payload, and per operation the time of its cell."""

    payload: str
    pickled: bytes
    cells_ns: dict[str, int]


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker does: one codec, in one round.

    Attributes
    ----------
    codec, writers
        The codec, and codecs that write its wire where it does not; codec "baseline" is `zcser.measure.baseline`.
    loads
        Payloads and their cells, in the order in which they are measured.
    slot
        How a cell's time is divided.
    rotation, prepare_ns, verify_ns, allocations_ns, allocations_op_ns
        See `zcser.measure.plan.Preset`.
    first
        Whether results are checked and allocations counted: once per run is enough.
    """

    codec: str
    writers: tuple[str, ...]
    loads: tuple[Load, ...]
    slot: Slot
    rotation: int
    prepare_ns: int
    verify_ns: int
    allocations_ns: int
    allocations_op_ns: int
    first: bool


@dataclass(frozen=True, slots=True)
class Began:
    """A cell begins, or the preparation of a payload (`operation` None)."""

    payload: str
    operation: str | None


@dataclass(frozen=True, slots=True)
class Measured:
    """A cell was timed."""

    payload: str
    operation: str
    sample: Sample
    encoded_by: str | None
    size: Size | None


@dataclass(frozen=True, slots=True)
class Counted:
    """A cell's allocations."""

    payload: str
    operation: str
    allocations: Allocations
    spent_ns: int


@dataclass(frozen=True, slots=True)
class Ended:
    """A cell, or all cells of a payload (`operation` None), will have no time."""

    payload: str
    operation: str | None
    status: Status
    reason: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The last message."""

    disturbance: Disturbance


Message = Began | Measured | Counted | Ended | Finished


def write(stream: IO[bytes], item: Any) -> None:
    """Write one object and flush."""
    data = pickle.dumps(item, pickle.HIGHEST_PROTOCOL)
    rest = memoryview(_LENGTH.pack(len(data)) + data)
    while rest:
        # An unbuffered pipe takes what it has room for.
        rest = rest[stream.write(rest) :]
    stream.flush()


def read(stream: IO[bytes]) -> Any:
    """Read one object.

    Raises
    ------
    EOFError
        The stream ends before or inside it.
    """
    return pickle.loads(_exactly(stream, _LENGTH.unpack(_exactly(stream, _LENGTH.size))[0]))


def _exactly(stream: IO[bytes], count: int) -> bytes:
    parts = []
    while count:
        part = stream.read(count)
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
