"""Frames on the way: buffers, files and sockets, to write to and to read from.

Sockets must block, with or without a time-out: a frame that was begun cannot be taken up again after an error, so that
the stream is lost then.
"""

from __future__ import annotations

import mmap
import os
import socket
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeAlias, TypeVar, overload

import numpy as np

from zcser.core.buffers import Buffer, byte_view, writable_view, write_pieces
from zcser.core.codec import Codec
from zcser.core.errors import BufferTooSmallError, EncodeError, FrameError, FrameTruncatedError
from zcser.frame.checksum import Checksum
from zcser.frame.layout import HEAD_SIZE, KINDS, MAX_BYTES
from zcser.frame.read import Frame, frame_at, head_at, lengths_and_size, table_bytes
from zcser.frame.write import frame_segments

__all__ = ["read_frame", "read_frames", "write_frame"]

T = TypeVar("T")


class Writer(Protocol):
    """A binary file to write to."""

    def write(self, data: memoryview, /) -> int | None:
        """As `io.RawIOBase.write`."""


class Reader(Protocol):
    """A binary file to read from."""

    def readinto(self, buffer: memoryview, /) -> int | None:
        """As `io.RawIOBase.readinto`."""


Memory: TypeAlias = Buffer | mmap.mmap

Allocate: TypeAlias = Callable[[int], Any]
"""Gives a writable buffer of at least so many bytes: of a pool, for example."""

Take: TypeAlias = Callable[[memoryview], int | None]
"""Fills the beginning of a buffer, and says how many bytes of it; 0 at the end of the stream."""

_MOST_PIECES = os.sysconf("SC_IOV_MAX") if "SC_IOV_MAX" in getattr(os, "sysconf_names", ()) else 16
"""Pieces that one ``sendmsg`` takes; 16 is the least that POSIX allows."""


def write_frame(
    destination: socket.socket | Writer | Memory,
    codec: Codec[T],
    value: T,
    *,
    offset: int = 0,
    checksum: Checksum | None = "crc32",
    alignment: int = 64,
    join: bool | None = None,
    max_bytes: int = MAX_BYTES,
) -> int:
    """Write a value as a frame.

    Parameters
    ----------
    destination
        A blocking socket (its pieces go out by ``sendmsg``), a binary file (``write``), or a writable buffer: bytearray,
        memoryview, mmap, shared memory.
    codec, value
        See `frame_segments`.
    offset
        Where in a buffer the frame begins. A segment is aligned in memory where this place is.
    checksum, alignment, join, max_bytes
        See `frame_segments`.

    Returns
    -------
    int
        Bytes of the frame.

    Raises
    ------
    EncodeError
        As `frame_segments`; `BufferTooSmallError` where a buffer's room does not suffice, which is unchanged then.
    OSError
        The socket's or file's own.

    Notes
    -----
    Copies: to a buffer, once; else none. A buffer's head is cleared first and written last, so that whoever reads it in
    the meantime finds no frame; a reader that has the old head already finds by the checksum that it was torn.
    """
    pieces = frame_segments(codec, value, checksum=checksum, alignment=alignment, join=join, max_bytes=max_bytes)
    size = sum(piece.nbytes for piece in pieces)
    if isinstance(destination, socket.socket):
        _only_buffers_have_an_offset(offset)
        _send(destination, pieces)
    elif hasattr(destination, "write") and not isinstance(destination, mmap.mmap):
        _only_buffers_have_an_offset(offset)
        for piece in pieces:
            _write(destination.write, piece)
    else:
        _put(writable_view(destination, offset, codec=codec.name), pieces, size, codec.name)
    return size


@overload
def read_frame(source: Memory, *, offset: int = 0, max_bytes: int = MAX_BYTES) -> Frame: ...


@overload
def read_frame(
    source: socket.socket | Reader, *, into: Buffer | Allocate | None = None, max_bytes: int = MAX_BYTES
) -> Frame | None: ...


def read_frame(
    source: socket.socket | Reader | Memory,
    *,
    offset: int = 0,
    into: Buffer | Allocate | None = None,
    max_bytes: int = MAX_BYTES,
) -> Frame | None:
    """Read the next frame, and check it.

    Parameters
    ----------
    source
        A blocking socket (``recv_into``), a binary file (``readinto``), or a buffer: bytes, mmap, shared memory.
    offset
        Where in a buffer the frame begins.
    into
        What a socket's or file's frame is received in: a writable buffer, or a function that gives one of at least so many
        bytes. None: memory of its own, aligned as
        the frame is. Segments are aligned in memory where this buffer is.
    max_bytes
        Bound on a whole frame, checked before anything is allocated.

    Returns
    -------
    Frame or None
        None where a socket or file ended before a frame began.

    Raises
    ------
    FrameError
        The bytes are no frame, or it is damaged, or larger than `max_bytes` or than `into`; `FrameTruncatedError` where
        they end inside it. A socket or file is of no use then: where the next frame begins is unknown.
    OSError
        The socket's or file's own.

    Notes
    -----
    Copies: none. Of a buffer, the frame's segments are views of it; of a socket or file, of what it was received in.
    """
    if source.__class__ is not bytes:
        take = _taker(source)
        if take is not None:
            _only_buffers_have_an_offset(offset)
            return _receive(take, into, max_bytes)
    return frame_at(source, offset, max_bytes)


def read_frames(
    source: socket.socket | Reader | Memory, *, into: Buffer | Allocate | None = None, max_bytes: int = MAX_BYTES
) -> Iterator[Frame]:
    """The frames of a socket, file or buffer one after the other, until it ends behind one; see `read_frame`.

    With a buffer as `into`, each frame is overwritten by the next.
    """
    take = _taker(source)
    if take is not None:
        while (received := _receive(take, into, max_bytes)) is not None:
            yield received
        return
    offset, size = 0, byte_view(source).nbytes
    while offset < size:
        frame = frame_at(source, offset, max_bytes)
        yield frame
        offset = frame.end


def _taker(source: Any) -> Take | None:
    """What fills a buffer from a socket or file; None of a buffer."""
    return source.recv_into if isinstance(source, socket.socket) else getattr(source, "readinto", None)


def _only_buffers_have_an_offset(offset: int) -> None:
    if offset:
        raise ValueError("offset is a place in a buffer; a file or socket stands where it stands")


def _send(sink: socket.socket, pieces: list[memoryview]) -> None:
    first = 0
    while first < len(pieces):
        try:
            sent = sink.sendmsg(pieces[first : first + _MOST_PIECES])
        except NotImplementedError:  # ssl.SSLSocket, at the first call
            for piece in pieces:
                sink.sendall(piece)
            return
        while first < len(pieces) and sent >= pieces[first].nbytes:
            sent -= pieces[first].nbytes
            first += 1
        if sent:
            pieces[first] = pieces[first][sent:]


def _write(write: Callable[[memoryview], int | None], piece: memoryview) -> None:
    while piece.nbytes:
        written = write(piece)
        if not written:
            raise BlockingIOError("the file took none of the frame's bytes: it must block")
        piece = piece[written:]


def _put(room: memoryview, pieces: list[memoryview], size: int, codec: str) -> None:
    if room.nbytes < size:
        raise BufferTooSmallError(size, room.nbytes, codec=codec)
    write_pieces([bytes(HEAD_SIZE), *pieces[1:]], room, size)
    room[:HEAD_SIZE] = pieces[0]


def _receive(take: Take, into: Buffer | Allocate | None, max_bytes: int) -> Frame | None:
    start = bytearray(HEAD_SIZE)
    if not _fill(take, memoryview(start), 0):
        return None
    head = head_at(bytes(start), 0)
    table = bytearray(table_bytes(head, 0, max_bytes))
    _fill(take, memoryview(table), HEAD_SIZE)
    start += table
    _, size = lengths_and_size(head, bytes(start), 0, max_bytes)
    room = _room(into, size, KINDS[head[0]].alignment)
    room[: len(start)] = start
    _fill(take, room[len(start) :], len(start))
    return frame_at(room, 0, max_bytes)


def _fill(take: Take, room: memoryview, received: int) -> bool:
    """Fill some room; False where the stream ended before a frame began. `received` bytes of the frame came before."""
    filled = 0
    while filled < room.nbytes:
        count = take(room[filled:])
        if count is None:
            raise BlockingIOError("the file has no bytes now: it must block")
        if not count:
            if received + filled == 0:
                return False
            raise FrameTruncatedError("cut: the stream ended inside a frame", offset=received + filled)
        filled += count
    return True


def _room(into: Buffer | Allocate | None, size: int, alignment: int) -> memoryview:
    """Where a frame is received."""
    if into is None:
        try:
            # Its pages are made when bytes arrive for them: a length that no bytes follow costs address space alone.
            memory = np.empty(size + alignment, np.uint8)
        except MemoryError:
            raise FrameError(f"there is no memory for a frame of {size} bytes; lower max_bytes", offset=8) from None
        start = -memory.__array_interface__["data"][0] % alignment
        return memory.data[start : start + size]
    try:
        room = writable_view(into(size) if callable(into) else into)
    except EncodeError as error:
        raise TypeError(f"into: {error.reason}") from None
    if room.nbytes < size:
        raise FrameError(f"a frame of {size} bytes, where `into` has {room.nbytes}", offset=8)
    return room[:size]
