"""Frames in memory: found, checked, and opened as views of the buffer that they lie in."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import Any, NoReturn, TypeVar

from zcser.core.buffers import byte_view
from zcser.core.codec import Codec
from zcser.core.errors import CodecUnavailableError, FrameChecksumError, FrameError, FrameTruncatedError
from zcser.core.view import View
from zcser.frame.checksum import ALGORITHMS, Checksum, digest
from zcser.frame.layout import (
    CRC_RESIDUE,
    HEAD,
    HEAD_SIZE,
    KINDS,
    MAGIC,
    MAX_SEGMENTS,
    VERSION,
    extent,
    padding,
    table_size,
)
from zcser.frame.plain import plain_end

__all__ = ["Frame", "frame_at", "head_at", "lengths_and_size", "table_bytes"]

T = TypeVar("T")

Bytes = bytes | memoryview
"""What frames are read from: a memoryview is of bytes, and read-only."""

Head = tuple[bytes, int, bytes, int, bytes, int, int]
"""What `HEAD` unpacks."""

_unpack = HEAD.unpack
_unpack_from = HEAD.unpack_from
_crc32 = zlib.crc32


class Frame:
    """A frame whose head, lengths and checksum are right.

    Attributes
    ----------
    offset, end
        Bytes of the buffer at which the frame begins, and behind it: the next one begins at `end`.

    Notes
    -----
    Copies: none. Lifetime: the frame, its segments and the views opened from them keep the buffer alive, and it must not
    change while they live.
    """

    __slots__ = ("_buffer", "_checked", "end", "offset")

    def __init__(self, buffer: Bytes, offset: int, end: int, checked: tuple[Head, Sequence[int]] | None) -> None:
        self._buffer = buffer
        self._checked = checked  # None: a plain frame in bytes, of which nobody can change the head
        self.offset = offset
        self.end = end

    @property
    def _head(self) -> Head:
        return _unpack_from(self._buffer, self.offset) if self._checked is None else self._checked[0]

    @property
    def wire(self) -> str:
        """Name of the wire: codecs of it (`CodecInfo.wire`) read the message."""
        return _wire(self._head)

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the schema that the message was written with, 16 hex digits as in `Schema.fingerprint`."""
        return self._head[2].hex()

    @property
    def checksum(self) -> Checksum | None:
        """The algorithm by which what lies behind the head was checked."""
        return ALGORITHMS[KINDS[self._head[0]].algorithm]

    @property
    def alignment(self) -> int:
        """Every segment begins at a multiple of this many bytes from the frame's first."""
        return KINDS[self._head[0]].alignment

    @property
    def payload_bytes(self) -> int:
        """Bytes of all segments together."""
        return self._head[1]

    @property
    def segments(self) -> list[memoryview]:
        """The segments, as read-only views of the buffer."""
        head, frame = self._head, memoryview(self._buffer)[self.offset : self.end]
        alignment = KINDS[head[0]].alignment
        position = HEAD_SIZE + table_size(head[5])
        found = []
        for length in (head[1],) if self._checked is None else self._checked[1]:
            position += padding(position, alignment)
            found.append(frame[position : position + length])
            position += length
        return found

    def decode(self, codec: Codec[T], *, copy: bool = True) -> T:
        """Decode the message; see `Codec.decode` and `Codec.decode_segments`.

        Raises
        ------
        FrameError
            The frame is of another wire or another schema, or holds segments that this codec cannot read apart.
        DecodeError
            The message itself is wrong.
        """
        if self._is_apart(codec, "decode_segments"):
            return codec.decode_segments(self.segments, copy=copy)
        (message,) = self.segments
        return codec.decode(message, copy=copy)

    def view(self, codec: Codec[Any], *, verify: bool = True) -> View:
        """Open the message lazily; see `Codec.view` and `Codec.view_segments`.

        Raises
        ------
        FrameError
            As for `decode`.
        DecodeError
            The message itself is wrong.
        """
        if self._is_apart(codec, "view_segments"):
            return codec.view_segments(self.segments, verify=verify)
        (message,) = self.segments
        return codec.view(message, verify=verify)

    def __repr__(self) -> str:
        return f"<zcser frame of {self.payload_bytes} bytes, wire {self.wire!r}, schema {self.fingerprint}>"

    def _is_apart(self, codec: Codec[Any], operation: str) -> bool:
        """Whether the codec must take the segments as they are; an error if it cannot, or if this is no message of its."""
        head, info = self._head, codec.describe()
        if _wire(head) != info.wire:
            self._refuse(f"a frame of wire {_wire(head)!r}, where {info.wire!r} is expected", codec, 32)
        if head[2].hex() != codec.schema.fingerprint:
            self._refuse(
                f"a frame of schema {head[2].hex()}, where {codec.schema.fingerprint} is expected: the sender has another "
                "version of the schema, or this is another message",
                codec,
                16,
            )
        if not KINDS[head[0]].apart:
            return False
        if operation not in info.operations:
            self._refuse(
                f"the frame holds {head[5]} segments apart, and this codec has no {operation}(); write it with join=True "
                "where the codec's segments can be joined",
                codec,
                7,
            )
        return True

    def _refuse(self, reason: str, codec: Codec[Any], offset: int) -> NoReturn:
        raise FrameError(reason, codec=codec.name, offset=self.offset + offset)


def frame_at(source: Any, offset: int, max_bytes: int) -> Frame:
    """The frame that begins at a byte of a buffer, checked; see `zcser.frame.read_frame`."""
    if source.__class__ is bytes:
        end = plain_end(source, offset, max_bytes)
        if end:
            return Frame(source, offset, end, None)
    buffer: Bytes = source if source.__class__ is bytes else byte_view(source).toreadonly()
    head = head_at(buffer, offset)
    lengths, size = lengths_and_size(head, buffer, offset, max_bytes)
    end = offset + size
    if end > len(buffer):
        raise FrameTruncatedError(
            f"cut: the frame has {size} bytes, and {len(buffer) - offset} are there", offset=len(buffer)
        )
    if KINDS[head[0]].algorithm:
        _check_body(head, memoryview(buffer)[offset + HEAD_SIZE : end], offset)
    return Frame(buffer, offset, end, (head, lengths))


def _wire(head: Head) -> str:
    return head[4].rstrip(b"\0").decode("ascii", "backslashreplace")


def head_at(buffer: Bytes, offset: int) -> Head:
    """The head that begins at a byte of a buffer, checked."""
    # A copy, which nobody can change between the check and the use: shared memory has other writers.
    copied = bytes(buffer[offset : offset + HEAD_SIZE]) if offset >= 0 else b""
    # The residue of CRC-32 saves comparing the head's last four bytes with that of the others.
    if len(copied) < HEAD_SIZE or copied[:8] not in KINDS or _crc32(copied) != CRC_RESIDUE:
        raise _head_fault(copied, offset, len(buffer))
    return _unpack(copied)


def lengths_and_size(head: Head, buffer: Bytes, offset: int, max_bytes: int) -> tuple[Sequence[int], int]:
    """Of the segments, and of the frame, by its head and its table of lengths; the rest need not be there yet."""
    count = head[5]
    lengths = (head[1],) if count == 1 else _lengths(head, buffer, offset, max_bytes)
    size = extent(lengths, KINDS[head[0]].alignment, HEAD_SIZE + table_size(count))
    if size > max_bytes:
        raise FrameError(f"a frame of {size} bytes, where max_bytes is {max_bytes}", offset=offset + 8)
    return lengths, size


def table_bytes(head: Head, offset: int, max_bytes: int) -> int:
    """Bytes of a frame's table of lengths, which is none too large."""
    count = head[5]
    size = table_size(count)
    if count > MAX_SEGMENTS or HEAD_SIZE + size > max_bytes:
        raise FrameError(f"{count} segments are more than a frame may have here", offset=offset + 56)
    return size


def _lengths(head: Head, buffer: Bytes, offset: int, max_bytes: int) -> tuple[int, ...]:
    """The table of lengths."""
    payload, count = head[1], head[5]
    size = table_bytes(head, offset, max_bytes)
    start = offset + HEAD_SIZE
    table = bytes(buffer[start : start + size])
    if len(table) < size:
        raise FrameTruncatedError("cut: the table of lengths is not all there", offset=len(buffer))
    if _crc32(table) != CRC_RESIDUE:
        raise FrameChecksumError("damaged: the table of lengths does not match its CRC-32", offset=start)
    lengths = struct.unpack_from(f"<{count}Q", table)
    if sum(lengths) != payload:
        raise FrameError(f"segments of {sum(lengths)} bytes, where the head says {payload}", offset=start)
    return lengths


def _check_body(head: Head, body: memoryview, offset: int) -> None:
    algorithm = KINDS[head[0]].algorithm
    try:
        found = digest(algorithm, [body])
    except CodecUnavailableError as error:
        raise FrameError(str(error), offset=offset + 5) from None
    if found != head[3]:
        raise FrameChecksumError(
            f"damaged or torn: the {ALGORITHMS[algorithm]} of what follows the head is {found:#x}, not {head[3]:#x}",
            offset=offset + HEAD_SIZE,
        )


def _head_fault(head: bytes, offset: int, size: int) -> FrameError:
    """What is wrong with a head, of which fewer bytes may be there; `size` is that of the buffer."""
    if not 0 <= offset <= size:
        return FrameError(f"offset {offset} is outside the buffer of {size} bytes")
    start = head[: len(MAGIC)]
    if start != MAGIC[: len(start)]:
        return FrameError(f"no frame: it begins with {head[:8]!r}, where {MAGIC!r} is expected", offset=offset)
    if len(head) < HEAD_SIZE:
        return FrameTruncatedError(
            f"cut: the head of a frame has {HEAD_SIZE} bytes, and {len(head)} are there", offset=size
        )
    if _crc32(head) != CRC_RESIDUE:
        return FrameChecksumError("damaged or torn: the head does not match its CRC-32", offset=offset)
    return FrameError(
        f"a frame of version {head[4]}, checksum {head[5]}, alignment {head[6]}, flags {head[7]}: a newer zcser reads it, "
        f"this one reads version {VERSION}",
        offset=offset + 4,
    )
