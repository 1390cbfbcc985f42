"""What the runner and a worker say to each other.

1. The runner writes one `Job` to the worker's standard input, and holds it open: its end is the worker's sign to go.
2. The worker writes messages to its standard output, one after each cell, so that what was measured outlives it. `Began`
   comes before each cell, so that the runner knows which one killed it.
3. A message is eight bytes of length and a pickle. Both ends are the same program on the same machine.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import IO, Any

from zcser.measure.figures import Allocations, Copies, DeepSize, Size, Status
from zcser.measure.noise import Disturbance
from zcser.measure.sample import Sample, Slot
from zcser.registry import Place

__all__ = ["Began", "Checked", "Ended", "Finished", "Job", "Load", "Measured", "Message", "read", "write"]

_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class Load:
    """One payload's part of a job.

    Attributes
    ----------
    payload, pickled
        Its name, and itself.
    cells_ns
        Per operation, the time of its cell.
    most_kept
        Per operation, how many of its results may live at a time; none where it says nothing.
    """

    payload: str
    pickled: bytes
    cells_ns: dict[str, int]
    most_kept: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker does: one codec, checked or in one round of timing.

    Attributes
    ----------
    codec, writers
        The codec, and codecs that write its wire where it does not; codec "baseline" is `zcser.measure.baseline`.
    loads
        Payloads and their cells, in the order in which they are measured.
    slot
        How a cell's time is divided.
    rotation, prepare_ns, verify_ns, allocations_ns, allocations_op_ns
        See `zcser.measure.presets.Preset`.
    check
        Whether results are checked and allocations counted, and nothing is timed; else cells are timed and nothing else.
    deep
        Whether a check also finds the memory of decoded values, which takes longer than decoding them.
    live_objects
        Objects that the collector has to scan besides an operation's own, while it is timed.
    fresh
        Whether malloc maps each large block anew, instead of reusing what was freed.
    yardstick_ns, wait_ns
        See `zcser.measure.pace.Pace`.
    directory
        Where the codecs are, see `zcser.registry.directory`; empty: the worker looks for them.
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
    check: bool
    deep: bool = False
    live_objects: int = 0
    fresh: bool = False
    yardstick_ns: int = 0
    wait_ns: int = 0
    directory: Mapping[str, Place] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Began:
    """A cell begins, or the preparation of a payload (`operation` None)."""

    payload: str
    operation: str | None


@dataclass(frozen=True, slots=True)
class Checked:
    """A cell gives the right result.

    Attributes
    ----------
    size, deep_size
        None where the operation has none.
    allocations
        None where a call takes too long to be made again and again.
    copies
        None where it neither reads nor writes.
    wire_bytes
        Of the payload's first value, encoded.
    spent_ns
        Time spent in calls.
    """

    payload: str
    operation: str
    encoded_by: str | None
    size: Size | None
    deep_size: DeepSize | None
    allocations: Allocations | None
    copies: Copies | None
    wire_bytes: int
    spent_ns: int


@dataclass(frozen=True, slots=True)
class Measured:
    """A cell was timed."""

    payload: str
    operation: str
    sample: Sample


@dataclass(frozen=True, slots=True)
class Ended:
    """A cell, or all cells of a payload (`operation` None), will have no time."""

    payload: str
    operation: str | None
    status: Status
    reason: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The last message.

    Attributes
    ----------
    yardstick_ns, waited_ns, slow_share
        The fastest time of the pace's work, the time spent on waiting for full speed, and the share of readings below it
        (None where there was no reading).
    """

    disturbance: Disturbance
    yardstick_ns: int = 0
    waited_ns: int = 0
    slow_share: float | None = None


Message = Began | Checked | Measured | Ended | Finished


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
