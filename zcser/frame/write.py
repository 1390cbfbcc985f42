"""Frames made of messages: pieces that stand one after the other, none of them a copy of the payload."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import TypeVar

from zcser.core.codec import Codec
from zcser.core.errors import EncodeError
from zcser.frame.checksum import Checksum, digest, number_of_checksum
from zcser.frame.layout import (
    APART,
    HEAD,
    HEAD_SIZE,
    LARGEST_ALIGNMENT,
    MAGIC,
    MAX_BYTES,
    MAX_SEGMENTS,
    VERSION,
    WIRE_SIZE,
    extent,
    padding,
    table_size,
)

__all__ = ["frame_segments"]

T = TypeVar("T")

_ZEROS = memoryview(bytes(LARGEST_ALIGNMENT))


def frame_segments(
    codec: Codec[T],
    value: T,
    *,
    checksum: Checksum | None = "crc32",
    alignment: int = 64,
    join: bool | None = None,
    max_bytes: int = MAX_BYTES,
) -> list[memoryview]:
    """A value as a frame, in pieces that a socket or file takes one after the other.

    Parameters
    ----------
    codec
        Encodes the value: by ``encode_segments`` where it has it, else by ``encode``.
    value
        What to encode.
    checksum
        Of all that follows the head: ``"crc32"``, ``"xxh3"`` (faster; needs the extra ``frame`` on both sides), or None.
    alignment
        Bytes at whose multiples, counted from the frame's first, segments begin: a power of 2 up to 4096. The frame's
        own size is such a multiple too.
    join
        True: the segments follow each other without gaps, and are one message to the reader, for whom tensors are aligned
        only as the codec does it. False: they are kept apart, each aligned, for a reader with ``decode_segments`` or
        ``view_segments``. None: apart where the codec has ``view_segments``, or where its segments cannot be joined.
    max_bytes
        Bound on the whole frame: what the receiver accepts (gRPC, by default, 4 MiB).

    Returns
    -------
    list of memoryview
        Their bytes, joined, are the frame; `zcser.frame.layout` is its layout.

    Raises
    ------
    EncodeError
        As `Codec.encode`, or the frame would be larger than `max_bytes`.
    CodecUnavailableError
        The checksum's library is not installed.

    Notes
    -----
    Copies: none of what ``encode_segments`` does not copy. Lifetime: do not change the value's tensors before the pieces
    are sent.
    """
    algorithm = number_of_checksum(checksum)
    if type(alignment) is not int or not 1 <= alignment <= LARGEST_ALIGNMENT or alignment & (alignment - 1):
        raise ValueError(f"alignment must be a power of 2 from 1 to {LARGEST_ALIGNMENT}, not {alignment!r}")
    payload, is_apart = _payload(codec, value, join)
    lengths = [piece.nbytes for piece in payload] if is_apart else [sum(piece.nbytes for piece in payload)]
    if len(lengths) > MAX_SEGMENTS:
        raise EncodeError(f"{len(lengths)} segments are more than a frame may have ({MAX_SEGMENTS})", codec=codec.name)
    position = HEAD_SIZE + table_size(len(lengths))
    size = extent(lengths, alignment, position)
    if size > max_bytes:
        raise EncodeError(f"a frame of {size} bytes, where max_bytes is {max_bytes}", codec=codec.name)
    pieces = [] if len(lengths) == 1 else [memoryview(_table(lengths))]
    for number, piece in enumerate(payload):
        if is_apart or number == 0:
            position = _pad(pieces, position, alignment)
        pieces.append(piece)
        position += piece.nbytes
    _pad(pieces, position, alignment)
    kind = MAGIC + bytes((VERSION, algorithm, alignment.bit_length() - 1, APART * is_apart))
    head = HEAD.pack(
        kind,
        sum(lengths),
        bytes.fromhex(codec.schema.fingerprint),
        digest(algorithm, pieces),
        _wire(codec),
        len(lengths),
        0,
    )[:-4]
    return [memoryview(head + struct.pack("<I", zlib.crc32(head))), *pieces]


def _payload(codec: Codec[T], value: T, join: bool | None) -> tuple[list[memoryview], bool]:
    """The message's pieces, and whether they are to be kept apart."""
    info = codec.describe()
    if "encode_segments" not in info.operations:
        return [memoryview(codec.encode(value))], False
    if join is None:
        join = info.joinable and "view_segments" not in info.operations
    elif join and not info.joinable:
        raise EncodeError("the segments of this codec cannot be joined: leave join out", codec=codec.name)
    return codec.encode_segments(value), not join


def _table(lengths: Sequence[int]) -> bytes:
    table = struct.pack(f"<{len(lengths)}Q", *lengths)
    return table + struct.pack("<I", zlib.crc32(table))


def _pad(pieces: list[memoryview], position: int, alignment: int) -> int:
    """Add the zeros from a position to the next multiple of the alignment, which is returned."""
    gap = padding(position, alignment)
    if gap:
        pieces.append(_ZEROS[:gap])
    return position + gap


def _wire(codec: Codec[T]) -> bytes:
    wire = codec.wire
    if not wire.isascii() or not 0 < len(wire) <= WIRE_SIZE:
        raise EncodeError(
            f"a frame names its wire in at most {WIRE_SIZE} ASCII characters, not {wire!r}", codec=codec.name
        )
    return wire.encode()
