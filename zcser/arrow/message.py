"""The frame of an IPC stream: which bytes are the schema, which the record batch, and what they announce.

From Arrow's columnar format, "Encapsulated message format" and format/Message.fbs. It is read here before pyarrow sees a
byte, for what pyarrow would not refuse:

1. A stream holds one schema, one record batch and the end mark, and nothing else. So one that was cut short anywhere is
   refused, and so are bytes behind it. Dictionaries are not read.
2. Compressed bodies are refused: a few bytes of one may announce gigabytes.
3. Lengths of arrays that no bytes stand for (of nulls, of empty structs) are bounded by whoever asks for `Stream.nodes`.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

from zcser.core.errors import DecodeError, TruncatedError

__all__ = ["END", "Stream", "split"]

END = b"\xff\xff\xff\xff\0\0\0\0"
"""The mark at the end of a stream."""

_PREFIX = struct.Struct("<Ii")
_CONTINUES = 0xFFFF_FFFF
_SCHEMA, _RECORD_BATCH = 1, 3
_KINDS = {2: "a dictionary; write the column without one", 4: "a tensor", 5: "a sparse tensor"}


class Stream(NamedTuple):
    """The parts of a stream.

    Attributes
    ----------
    head, batch
        The two encapsulated messages, bodies included.
    rows
        Of the batch, as it announces them.
    nodes
        The sum of the lengths of all arrays in it, as it announces them.
    """

    head: memoryview
    batch: memoryview
    rows: int
    nodes: int


class _Table:
    """A FlatBuffers table: as much of a reader as a few numbers take. Whatever leads outside is `struct.error`."""

    def __init__(self, data: memoryview, at: int) -> None:
        self.data = data
        self.at = at
        self.vtable = at - self.number("<i", at)
        self.slots = (self.number("<H", self.vtable) - 4) // 2

    def number(self, form: str, at: int) -> int:
        if at < 0:
            raise struct.error("an offset leads before the message")
        number: int = struct.unpack_from(form, self.data, at)[0]
        return number

    def place(self, slot: int) -> int | None:
        """Where a field stands."""
        offset = self.number("<H", self.vtable + 4 + 2 * slot) if slot < self.slots else 0
        return self.at + offset if offset else None

    def scalar(self, slot: int, form: str) -> int:
        at = self.place(slot)
        return 0 if at is None else self.number(form, at)

    def target(self, slot: int) -> int | None:
        """Where a table or vector stands that a field leads to."""
        at = self.place(slot)
        return None if at is None else at + self.number("<I", at)


class _Message(NamedTuple):
    header: _Table
    end: int


def split(data: memoryview, codec: str) -> Stream:
    """The parts of a stream.

    Raises
    ------
    DecodeError
        With the offset of the part that is at fault.
    """
    head = _message(data, 0, _SCHEMA, codec)
    batch = _message(data, head.end, _RECORD_BATCH, codec)
    try:
        if batch.header.place(3) is not None:
            raise DecodeError("the batch is compressed; write it without", codec=codec, offset=head.end)
        rows, nodes = batch.header.scalar(0, "<q"), _nodes(batch.header)
    except struct.error as error:
        raise DecodeError(f"a broken record batch: {error}", codec=codec, offset=head.end) from None
    if rows < 0:
        raise DecodeError(f"a batch of {rows} rows", codec=codec, offset=head.end)
    if len(data) < batch.end + len(END):
        raise TruncatedError("the stream has no end mark", codec=codec, offset=len(data))
    if data[batch.end : batch.end + len(END)] != END:
        raise DecodeError("there is more than one batch in the stream", codec=codec, offset=batch.end)
    if len(data) > batch.end + len(END):
        raise DecodeError("bytes stand behind the stream's end", codec=codec, offset=batch.end + len(END))
    return Stream(data[: head.end], data[head.end : batch.end], rows, nodes)


def _message(data: memoryview, at: int, wanted: int, codec: str) -> _Message:
    if len(data) < at + _PREFIX.size:
        raise TruncatedError("the stream ends before a message does", codec=codec, offset=len(data))
    mark, size = _PREFIX.unpack_from(data, at)
    if mark != _CONTINUES:
        raise DecodeError("no message of an Arrow stream stands here", codec=codec, offset=at)
    if size <= 0 or size % 8:
        raise DecodeError(f"metadata of {size} bytes: a multiple of 8 is needed", codec=codec, offset=at + 4)
    start = at + _PREFIX.size
    if len(data) < start + size:
        raise TruncatedError("the stream ends inside metadata", codec=codec, offset=len(data))
    metadata = data[start : start + size]
    try:
        message = _Table(metadata, struct.unpack_from("<I", metadata)[0])
        kind, body, place = message.scalar(1, "<B"), message.scalar(3, "<q"), message.target(2)
        if kind != wanted or place is None:
            what = _KINDS.get(kind, "not what stands in this place of a stream")
            raise DecodeError(f"message type {kind} is {what}", codec=codec, offset=at)
        header = _Table(metadata, place)
    except struct.error as error:
        raise DecodeError(f"broken metadata: {error}", codec=codec, offset=start) from None
    if body < 0 or body % 8:
        raise DecodeError(f"a body of {body} bytes: a multiple of 8 is needed", codec=codec, offset=start)
    if len(data) < start + size + body:
        raise TruncatedError("the stream ends inside a body", codec=codec, offset=len(data))
    return _Message(header, start + size + body)


def _nodes(batch: _Table) -> int:
    """The sum of the lengths of a batch's field nodes, which are pairs of length and null count."""
    at = batch.target(1)
    if at is None:
        return 0
    count = batch.number("<I", at)
    if count > len(batch.data) // 16:
        raise struct.error("more nodes than bytes")
    numbers: tuple[Any, ...] = struct.unpack_from(f"<{2 * count}q", batch.data, at + 4)
    return sum(max(length, 0) for length in numbers[::2])
