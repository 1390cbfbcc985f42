"""Byte views of anything that has the buffer protocol.

1. No copy is made here, ever: the view aliases the caller's memory and keeps the owner alive.
2. A buffer that is not C-contiguous is refused: reading it in memory order would change its logical order.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from zcser.core.errors import DecodeError, EncodeError

__all__ = ["Buffer", "address", "byte_view", "frozen_copy", "writable_address", "writable_view"]

# Python 3.11 has no collections.abc.Buffer. Anything with the buffer protocol is accepted; these are the usual ones.
Buffer: TypeAlias = bytes | bytearray | memoryview | npt.NDArray[np.generic]


def byte_view(data: object, *, codec: str | None = None) -> memoryview:
    """View any C-contiguous buffer as a flat memoryview of bytes.

    Parameters
    ----------
    data
        bytes, bytearray, memoryview of any item format, mmap, array.array, numpy array (any fixed-size dtype, ml_dtypes
        included) or shared memory.
    codec
        Name that an error carries.

    Returns
    -------
    memoryview
        Format ``B``, one dimension. Read-only exactly where `data` is.

    Raises
    ------
    DecodeError
        `data` has no buffer, or is not C-contiguous.

    Notes
    -----
    Copies: none. Lifetime: the view keeps `data` alive and, for a bytearray or mmap, locks its size.
    """
    if type(data) is bytes:
        return memoryview(data)
    if isinstance(data, np.ndarray) and data.dtype.hasobject:
        raise DecodeError("an array of objects holds pointers, not data", codec=codec)
    try:
        view = memoryview(data)  # type: ignore[arg-type]
    except TypeError:
        raise DecodeError(
            f"a bytes-like object is needed, not {type(data).__name__}; str must be encoded first", codec=codec
        ) from None
    except ValueError as error:
        # ml_dtypes arrays and datetime64 have memory, but no format character: numpy itself can view them as bytes.
        if not isinstance(data, np.ndarray):
            raise DecodeError(f"the buffer is closed or released: {error}", codec=codec) from None
        if not data.flags.c_contiguous:
            raise _not_contiguous(data, codec) from None
        return data.reshape(-1).view(np.uint8).data
    if "O" in view.format:
        raise DecodeError("a buffer of objects holds pointers, not data", codec=codec)
    if not view.c_contiguous:
        raise _not_contiguous(data, codec)
    if view.nbytes == 0:
        # memoryview.cast refuses zero in a shape.
        return memoryview(b"" if view.readonly else bytearray())
    return view.cast("B")


def byte_views(segments: object, *, codec: str | None = None) -> list[memoryview]:
    """`byte_view` of each of a list of buffers.

    Raises
    ------
    DecodeError
        As for `byte_view`, or `segments` is no list, nor anything else that can be iterated over.
    """
    try:
        given = list(segments)  # type: ignore[call-overload]
    except (TypeError, ValueError):  # a ValueError of a memoryview that was released, or of a closed mmap
        raise DecodeError(f"a list of buffers is needed, not {type(segments).__name__}", codec=codec) from None
    return [byte_view(segment, codec=codec) for segment in given]


def _not_contiguous(data: object, codec: str | None) -> DecodeError:
    return DecodeError(
        f"the buffer ({type(data).__name__}) is not C-contiguous; pass bytes(view) or np.ascontiguousarray(array)",
        codec=codec,
    )


def writable_view(out: object, offset: int = 0, *, codec: str | None = None) -> memoryview:
    """View the part of a writable buffer from `offset` on as bytes.

    Raises
    ------
    EncodeError
        `out` is read-only, not C-contiguous or no buffer, or `offset` lies outside it.
    """
    try:
        view = byte_view(out, codec=codec)
    except DecodeError as error:
        raise EncodeError(error.reason, codec=codec) from None
    if view.readonly:
        raise EncodeError(
            f"the buffer ({type(out).__name__}) is read-only; pass a bytearray or a writable view", codec=codec
        )
    if not isinstance(offset, int) or isinstance(offset, bool) or not 0 <= offset <= view.nbytes:
        raise EncodeError(f"offset {offset!r} is outside the buffer of {view.nbytes} bytes", codec=codec)
    return view[offset:]


def write_pieces(pieces: Sequence[bytes | memoryview], out: memoryview, size: int) -> None:
    """Write the pieces of a message one behind the other to the beginning of a buffer.

    Parameters
    ----------
    pieces
        Bytes, and flat memoryviews of memory that may be anyone's: of `out` itself too.
    out
        A flat, writable memoryview.
    size
        Bytes of all pieces; `out` has room for them.

    Notes
    -----
    Copies: each piece once; all of them twice where one lies in the memory that is written, since a piece before it
    would be written over what is still to be moved.
    """
    target = np.frombuffer(out[:size], np.uint8) if size else None
    if target is not None and any(
        np.may_share_memory(target, np.frombuffer(piece, np.uint8))
        for piece in pieces
        if piece.__class__ is memoryview and piece
    ):
        pieces = [b"".join(pieces)]
    done = 0
    for piece in pieces:
        end = done + len(piece)
        out[done:end] = piece
        done = end


def frozen_copy(array: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """A read-only copy of an array, for one that lies at an address where native code must not read its dtype."""
    copied = array.copy()
    copied.flags.writeable = False
    return copied


def address(buffer: object) -> int:
    """Address of a buffer's first byte, for proofs of aliasing and alignment."""
    view = byte_view(buffer)
    if view.nbytes == 0:
        return 0
    if view.readonly:
        return int(np.frombuffer(view, np.uint8).ctypes.data)
    return writable_address(view)


def writable_address(view: memoryview) -> int:
    """The same of writable bytes, one at least, in a fraction of the time."""
    return ctypes.addressof(ctypes.c_char.from_buffer(view))
