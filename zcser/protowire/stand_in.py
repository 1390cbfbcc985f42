"""Stand-ins: what a message holds instead of a payload, the bytes or tensor data that are kept out of upb.

1. upb would copy a payload into each message that it makes, and once more at each read. A stand-in takes its place: it
   says which of several buffers holds the payload, and where in it. All that protobuf does with fields (the last of
   several wins, split messages merge, a oneof has one member) it does with stand-ins.
2. A stand-in has `STAND_IN_SIZE` bytes. Where payloads below some size are left in the message, one of just that size
   is replaced none the less: what has the size of a stand-in is one, whatever a sender wrote.
3. Numbers have 32 bits, as a message of protobuf has less than 2 GiB.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from zcser.core.dtypes import tensor_bytes
from zcser.core.errors import EncodeError

__all__ = [
    "MOST_BYTES",
    "STAND_IN_SIZE",
    "Parts",
    "hold_array",
    "hold_bytes",
    "part_of",
    "payload_size",
    "place_of",
    "stand_in",
    "taken",
    "taken_copy",
]

_STAND_IN = struct.Struct("<III")

STAND_IN_SIZE = 12
"""Bytes of a stand-in: number of the buffer, first byte in it, size; little-endian."""

MOST_BYTES = 2**31 - 1
"""Size of the largest message that protobuf's own parsers accept."""

Parts = Sequence[memoryview | bytes]
"""The buffers that stand-ins of one message speak of, each as `part_of` gives it."""

stand_in = _STAND_IN.pack
"""The stand-in of a payload."""

place_of = _STAND_IN.unpack
"""Number of the buffer, first byte and size of the payload that a stand-in speaks of."""


def part_of(data: memoryview | bytes) -> memoryview | bytes:
    """The same bytes so that an array over them cannot be made writable, as one over a memoryview of a bytearray can."""
    if type(data) is bytes:
        return data
    view = memoryview(data).toreadonly()
    return view if type(view.obj) is bytes or not view.nbytes else np.frombuffer(view, np.uint8).data


def hold_bytes(payloads: list[memoryview], data: bytes) -> bytes:
    """Add a payload to those of a message that is written; its stand-in."""
    return _hold(payloads, memoryview(data))


def hold_array(payloads: list[memoryview], array: npt.NDArray[np.generic]) -> bytes:
    """The same for the data of a little-endian array; an array that is not C-contiguous is copied."""
    try:
        data = memoryview(array).cast("B")  # type: ignore[arg-type]
    except (
        TypeError,
        ValueError,
    ):  # a dtype that the buffer protocol has no letter for, or one without memoryview's cast
        data = tensor_bytes(array) if array.flags.c_contiguous else memoryview(array.tobytes())
    return _hold(payloads, data)


def _hold(payloads: list[memoryview], data: memoryview) -> bytes:
    size = len(data)
    if size > MOST_BYTES:
        raise EncodeError(f"{size} bytes in one field are more than a protobuf message holds", codec="protobuf")
    payloads.append(data)
    return stand_in(len(payloads) - 1, 0, size)


def payload_size(data: bytes) -> int:
    """Bytes of the payload that a field of bytes holds, itself or by its stand-in."""
    return len(data) if len(data) != STAND_IN_SIZE else place_of(data)[2]


def taken(data: bytes, parts: Parts) -> memoryview:
    """The payload of a field of bytes, read-only.

    Notes
    -----
    Copies: none. Lifetime: keeps its buffer alive.
    """
    if len(data) != STAND_IN_SIZE:
        return memoryview(data)
    part, start, size = place_of(data)
    return memoryview(parts[part])[start : start + size]


def taken_copy(data: bytes, parts: Parts) -> bytes:
    """The same as bytes of its own."""
    if len(data) != STAND_IN_SIZE:
        return data
    part, start, size = place_of(data)
    return bytes(parts[part][start : start + size])
