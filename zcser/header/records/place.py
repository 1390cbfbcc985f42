"""Where a record stands in a buffer, or the error with the first field that is not there.

Both engines come here for whatever is not on their fast path, so that they refuse the same in the same words.
"""

from __future__ import annotations

import operator
from typing import Any

from zcser.core.buffers import byte_view
from zcser.core.errors import DecodeError, EncodeError, TruncatedError
from zcser.core.paths import pointer
from zcser.header.records.model import Field, Struct

__all__ = ["place_of", "places_of", "read_only", "unreadable"]


def place_of(struct: Struct, data: object, offset: Any) -> tuple[memoryview, int]:
    """A buffer as bytes, and the offset of a record that lies in it.

    Raises
    ------
    DecodeError
        `data` is no C-contiguous buffer, or `offset` is negative.
    TruncatedError
        The record goes past the end; the error has the path and the offset of the first field that does.
    """
    memory = byte_view(data)
    at = _offset(struct, offset)
    if at + struct.size > memory.nbytes:
        raise _cut(struct, at, memory.nbytes, ())
    return memory, at


def places_of(struct: Struct, data: object, offset: Any, count: int | None) -> tuple[memoryview, int, int]:
    """The same for a row of records; without a count, all that follow."""
    memory = byte_view(data)
    at = _offset(struct, offset)
    room, rest = divmod(max(0, memory.nbytes - at), struct.size)
    if at > memory.nbytes or (count is None and rest) or (count is not None and count > room):
        raise _cut(struct, at + room * struct.size, memory.nbytes, (room,))
    if count is not None and count < 0:
        raise DecodeError(f"{count} records of {struct.name} cannot be; leave the count out for all that follow")
    return memory, at, room if count is None else operator.index(count)


def read_only(struct: Struct, field: Field) -> EncodeError:
    """The error of a write to a buffer that cannot be written to."""
    return EncodeError(
        f"{struct.name}.{field.name} cannot be written: the buffer is read-only; make the view of a bytearray or another "
        "writable buffer",
        path=pointer([field.name]),
    )


def unreadable(name: str, error: Exception, offset: int | None) -> DecodeError:
    """The error of a record whose fields its class refuses: whatever the bytes are, they are a record."""
    return DecodeError(f"no {name} can be made of this record: {error}", offset=offset)


def _offset(struct: Struct, offset: Any) -> int:
    at = operator.index(offset)
    if at < 0:
        raise DecodeError(
            f"a record {struct.name} cannot begin at {at}: offsets count from the start of the buffer, from 0",
            offset=at,
        )
    return at


def _cut(struct: Struct, at: int, end: int, above: tuple[str | int, ...]) -> TruncatedError:
    """The error of a record at byte `at` of a buffer that ends before the record does."""
    reason = f"a record {struct.name} at byte {at} has {struct.size} bytes, and the buffer ends at {end}"
    here, steps = struct, list(above)
    while True:
        field = next((field for field in here.by_offset() if at + field.end > end), None)
        if field is None:
            # Only padding is cut.
            return TruncatedError(reason, path=pointer(steps), offset=end)
        at += field.offset
        steps.append(field.name)
        if not isinstance(field.part, Struct):
            reason += f": {here.name}.{field.name}, bytes {at} to {at + field.part.size}, is cut"
            return TruncatedError(reason, path=pointer(steps), offset=at)
        here = field.part
