"""Big tensors and bytes of a MessagePack message without a copy: spliced in on writing, lifted out on reading.

1. No library of this wire takes memory as it is, or gives it. So it never sees what is big: a short bin stands in for
   it, which holds a nonce and a number. On writing, the stand-ins are then found in the library's bytes and what they
   stand for is put in their places; on reading, stand-ins are put in first, and the memory is looked up afterwards.
2. The nonce is drawn for each process and leaves it in no message, as the boundary of a multipart message is drawn.
   A message that holds it all the same can only be read as one with other parts of itself in its place.
3. A spliced tensor is the same map as any other (`zcser.tree.form`). Its data begins at a multiple of 8 bytes from the
   message's start: the keys' lengths are written as wide as it takes, which every reader of the wire accepts.
"""

from __future__ import annotations

import functools
import os
import struct
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy.typing as npt

from zcser.core.dtypes import dtype_name, tensor_bytes
from zcser.tree.form import BIG

__all__ = ["BIG", "NONCE", "Blob", "bytes_blob", "lift", "lifted", "splice", "tensor_blob", "unsplice"]

NONCE = os.urandom(16)

_ALIGNMENT = 8
"""The most that a dtype of the table asks for."""
_INDEX = struct.Struct("<I")
_BIN32 = struct.Struct(">BI")
_STAND_IN_SIZE = len(NONCE) + _INDEX.size
_BIN8 = bytes((0xC4, _STAND_IN_SIZE))
_MOST = 0xFFFF_FFFF


class Blob(NamedTuple):
    """Something big.

    Attributes
    ----------
    dtype, shape
        Of a tensor; an empty dtype is that of bytes.
    data
        Its bytes, aliased.
    """

    dtype: str
    shape: tuple[int, ...]
    data: memoryview


@functools.lru_cache(maxsize=1024)
def _head(dtype: str, shape: tuple[int, ...], size: int, phase: int) -> bytes:
    """What is written before `size` bytes of data, from an offset of the message that is `phase` over a multiple of 8."""
    bin32 = _BIN32.pack(0xC6, size)
    if not dtype:
        return bin32
    name, extents = dtype.encode(), b"".join(map(_unsigned, shape))
    rank = len(shape)
    ranked = bytes((0x90 | rank,)) if rank < 16 else struct.pack(">BH", 0xDC, rank)
    # The map, three keys of at least a byte of length, the name's length, the bin's header.
    least = 1 + 6 + 1 + len(name) + 6 + len(ranked) + len(extents) + 5 + len(bin32)
    gap = -(phase + least) % _ALIGNMENT
    dtype_key, shape_key, data_key = _key(b"dtype", gap & 1), _key(b"shape", gap & 2), _key(b"data", gap & 4)
    return b"".join((b"\x83", dtype_key, bytes((0xA0 | len(name),)), name, shape_key, ranked, extents, data_key, bin32))


def _key(text: bytes, extra: int) -> bytes:
    """A str whose header takes `extra` bytes more than it must: 0, 1, 2 or 4."""
    size = len(text)
    match extra:
        case 0:
            return bytes((0xA0 | size,)) + text
        case 1:
            return bytes((0xD9, size)) + text
        case 2:
            return struct.pack(">BH", 0xDA, size) + text
    return struct.pack(">BI", 0xDB, size) + text


def _unsigned(number: int) -> bytes:
    if number < 0x80:
        return bytes((number,))
    if number <= 0xFFFF:
        return struct.pack(">BH", 0xCD, number)
    return struct.pack(">BI", 0xCE, number) if number <= _MOST else struct.pack(">BQ", 0xCF, number)


def tensor_blob(array: npt.NDArray[Any], blobs: list[Blob]) -> bytes:
    """Note a normal array of `BIG` bytes or more; what stands in for its tree."""
    return _noted(Blob(dtype_name(array.dtype) or "", array.shape, tensor_bytes(array)), blobs)


def bytes_blob(data: bytes, blobs: list[Blob]) -> bytes:
    """Note bytes, `BIG` or more of them; what stands in for them."""
    return _noted(Blob("", (), memoryview(data)), blobs)


def _noted(blob: Blob, blobs: list[Blob]) -> bytes:
    if len(blob.data) > _MOST:
        raise ValueError(f"{len(blob.data)} bytes are more than a bin of MessagePack can hold")
    blobs.append(blob)
    return NONCE + _INDEX.pack(len(blobs) - 1)


def splice(message: bytes, blobs: Sequence[Blob]) -> list[bytes | memoryview]:
    """A message in parts: what the library wrote, and in between the memory that it never saw.

    Parameters
    ----------
    message
        With stand-ins, in the order of `blobs`.
    blobs
        What they stand for.

    Returns
    -------
    list
        An odd number of parts, every second one the data of a blob; joined, they are the message.
    """
    parts: list[bytes | memoryview] = []
    at = size = 0
    for number, blob in enumerate(blobs):
        stand_in = _BIN8 + NONCE + _INDEX.pack(number)
        place = message.index(stand_in, at)
        size += place - at
        dtype, shape, data = blob
        head = _head(dtype, shape, len(data), size % _ALIGNMENT)
        parts += (message[at:place] + head, data)
        size += len(head) + len(data)
        at = place + len(stand_in)
    parts.append(message[at:])
    return parts


def lift(message: Any, spans: Iterable[tuple[int, int, int]]) -> tuple[bytes, list[memoryview]]:
    """The inverse of `splice` for a message in one piece.

    Parameters
    ----------
    message
        bytes or a flat memoryview.
    spans
        See `zcser.tree.spans`.

    Returns
    -------
    tuple
        The message with stand-ins, and read-only views of what they stand for.
    """
    view = memoryview(message).toreadonly()
    parts: list[bytes | memoryview] = []
    blobs: list[memoryview] = []
    at = 0
    for begin, start, stop in spans:
        parts += (view[at:begin], _BIN8, NONCE, _INDEX.pack(len(blobs)))
        blobs.append(view[start:stop])
        at = stop
    parts.append(view[at:])
    return b"".join(parts), blobs


def unsplice(parts: Sequence[memoryview]) -> tuple[bytes, list[memoryview]] | None:
    """The inverse of `splice` for its parts; None where they are not such ones."""
    if len(parts) % 2 == 0:
        return None
    heads: list[bytes | memoryview] = []
    blobs: list[memoryview] = []
    for head, data in zip(parts[::2], parts[1::2], strict=False):
        if head[-_BIN32.size :] != _BIN32.pack(0xC6, len(data)):
            return None
        heads += (head[: -_BIN32.size], _BIN8, NONCE, _INDEX.pack(len(blobs)))
        blobs.append(data.toreadonly())
    heads.append(parts[-1])
    return b"".join(heads), blobs


def lifted(data: Any, blobs: Sequence[memoryview]) -> Any:
    """What a leaf of bytes stands for: itself, unless it is a stand-in."""
    if data.__class__ is bytes and len(data) == _STAND_IN_SIZE and data.startswith(NONCE):
        return blobs[_INDEX.unpack_from(data, len(NONCE))[0]]
    return data
