"""The official FlatBuffers package as one drives it by hand for a request, with a schema that suits it.

The codec maps a union to a union of tables, as FlatBuffers has it, so that a parameter is two tables. By hand it is one,
with a field for each kind of value; the package, which writes a table in some ten microseconds, is much the faster for it::

    table Param { key:string; kind:ubyte; i:long; f:double; s:string; }
"""

from __future__ import annotations

from typing import Any

import flatbuffers
from flatbuffers import encode as official_encode
from flatbuffers import packer
from flatbuffers.number_types import (
    Float32Flags,
    Float64Flags,
    Int32Flags,
    Int64Flags,
    Uint8Flags,
    Uint32Flags,
    Uint64Flags,
)
from flatbuffers.table import Table

from benchmarks.flat.subjects import Calls
from zcser.flat.official.calls import offset_vector
from zcser.payloads.messages import InferRequest, Param

__all__ = ["request_calls"]

_INT, _FLOAT, _STR, _BOOL = range(1, 5)
"""Kinds of a parameter."""


def request_calls() -> Calls:
    """Of `InferRequest` without tensors; the builder is reused."""
    builder = flatbuffers.Builder(4096)

    def encode(value: InferRequest) -> bytes:
        model_id = builder.CreateString(value.model_id)
        params = offset_vector(builder, [_param(builder, item) for item in value.params])
        builder.StartObject(7)
        builder.PrependUint64Slot(1, value.trace_id, 0)
        builder.PrependInt64Slot(2, value.created_ns, 0)
        builder.PrependUOffsetTRelativeSlot(0, model_id, 0)
        builder.PrependInt32Slot(3, value.priority, 0)
        builder.PrependUint32Slot(4, value.flags, 0)
        builder.PrependFloat32Slot(5, value.temperature, 0)
        builder.PrependUOffsetTRelativeSlot(6, params, 0)
        builder.Finish(builder.EndObject())
        message = bytes(memoryview(builder.Bytes)[builder.Head() :])
        builder.Clear()
        return message

    return Calls(encode, _decode)


def _param(builder: Any, item: Param) -> int:
    key, held = builder.CreateString(item.key), item.value
    kind = held.__class__
    if kind is str:
        text = builder.CreateString(held)
        builder.StartObject(5)
        builder.PrependUOffsetTRelativeSlot(0, key, 0)
        builder.PrependUOffsetTRelativeSlot(4, text, 0)
        builder.PrependUint8Slot(1, _STR, 0)
        return int(builder.EndObject())
    builder.StartObject(5)
    if kind is float:
        builder.PrependFloat64Slot(3, held, 0)
        number = _FLOAT
    else:
        builder.PrependInt64Slot(2, int(held), 0)
        number = _BOOL if kind is bool else _INT
    builder.PrependUOffsetTRelativeSlot(0, key, 0)
    builder.PrependUint8Slot(1, number, 0)
    return int(builder.EndObject())


def _decode(data: bytes) -> InferRequest:
    table = Table(data, official_encode.Get(packer.uoffset, data, 0))
    find, get, pos = table.Offset, table.Get, table.Pos

    def number(place: int, flags: Any) -> Any:
        offset = find(place)
        return get(flags, offset + pos) if offset else 0

    vector = find(16)
    start, count = table.Vector(vector), table.VectorLen(vector)
    return InferRequest(
        str(table.String(find(4) + pos), "utf-8"),
        number(6, Uint64Flags),
        number(8, Int64Flags),
        number(10, Int32Flags),
        number(12, Uint32Flags),
        number(14, Float32Flags),
        [_read_param(Table(data, table.Indirect(start + 4 * index))) for index in range(count)],
        [],
    )


def _read_param(table: Any) -> Param:
    pos = table.Pos
    key, kind = str(table.String(table.Offset(4) + pos), "utf-8"), table.Get(Uint8Flags, table.Offset(6) + pos)
    if kind == _STR:
        return Param(key, str(table.String(table.Offset(12) + pos), "utf-8"))
    if kind == _FLOAT:
        offset = table.Offset(10)
        return Param(key, table.Get(Float64Flags, offset + pos) if offset else 0.0)
    offset = table.Offset(8)
    held = table.Get(Int64Flags, offset + pos) if offset else 0
    return Param(key, bool(held) if kind == _BOOL else held)
