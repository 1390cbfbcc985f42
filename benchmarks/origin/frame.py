"""The message of 1 KB, and the arms that write and read it: a class instance in, wire bytes in memory; and back.

Every arm writes all fields of the instance. Reading is: check the bytes as the arm does by default, read two scalars, and
give the tensor as an array without asking for a copy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import flatbuffers
import numpy as np
import numpy.typing as npt
from flatbuffers import encode as official_encode
from flatbuffers import packer
from flatbuffers.number_types import Float32Flags, Int32Flags, Uint64Flags
from flatbuffers.table import Table
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.message_factory import GetMessages

import zcser
from zcser.schema.annotations import Float32, Int32, Int64, UInt32, UInt64
from zcser.schema.model import Tensor

__all__ = ["ARMS", "Arm", "Frame", "frame"]

VALUES = 240


@dataclass(slots=True)
class Frame:
    """A header and 960 bytes of data: 1 KB on every wire, of a layout that is fixed."""

    sequence: UInt64
    created_ns: Int64
    request: UInt64
    flags: UInt32
    priority: Int32
    temperature: Float32
    data: Annotated[npt.NDArray[np.float32], Tensor("float32", (VALUES,))]


Read = tuple[int, int, Any]


@dataclass(frozen=True, slots=True)
class Arm:
    """One way.

    Attributes
    ----------
    name
        For the table.
    make
        Gives its two functions: from a `Frame` to bytes (or to the bytes written into a buffer of its own), and from such
        bytes to (sequence, priority, data).
    """

    name: str
    make: Callable[[], tuple[Callable[[Frame], Any], Callable[[Any], Read]]]


def frame(number: int) -> Frame:
    """A value."""
    rng = np.random.default_rng(number)
    return Frame(
        sequence=(1 << 63) + number,
        created_ns=1_767_225_600_000_000_000 + number,
        request=number * 7919,
        flags=number % 256,
        priority=-(number % 8) - 1,
        temperature=0.5,
        data=rng.random(VALUES, dtype=np.float32),
    )


@functools.cache
def _message_class() -> Any:
    kinds = FieldDescriptorProto.Type
    file = FileDescriptorProto(name="frame.proto", package="origin", syntax="proto3")
    message = file.message_type.add(name="Frame")
    for number, (name, kind) in enumerate(
        {
            "sequence": kinds.TYPE_UINT64,
            "created_ns": kinds.TYPE_INT64,
            "request": kinds.TYPE_UINT64,
            "flags": kinds.TYPE_UINT32,
            "priority": kinds.TYPE_INT32,
            "temperature": kinds.TYPE_FLOAT,
            "data": kinds.TYPE_BYTES,
        }.items(),
        start=1,
    ):
        message.field.add(name=name, number=number, type=kind, label=FieldDescriptorProto.LABEL_OPTIONAL)
    return GetMessages([file])["origin.Frame"]


def _protobuf() -> tuple[Callable[[Frame], Any], Callable[[Any], Read]]:
    make = _message_class()
    serialize, parse = make.SerializeToString, make.FromString

    def write(value: Frame) -> Any:
        return serialize(
            make(
                sequence=value.sequence,
                created_ns=value.created_ns,
                request=value.request,
                flags=value.flags,
                priority=value.priority,
                temperature=value.temperature,
                data=value.data.tobytes(),
            )
        )

    def read(data: Any) -> Read:
        message = parse(data)
        return message.sequence, message.priority, np.frombuffer(message.data, np.float32)

    return write, read


def _official() -> tuple[Callable[[Frame], Any], Callable[[Any], Read]]:
    builder = flatbuffers.Builder(2048)

    def write(value: Frame) -> Any:
        builder.Clear()
        vector = builder.CreateNumpyVector(value.data)
        builder.StartObject(7)
        builder.PrependUint64Slot(0, value.sequence, 0)
        builder.PrependInt64Slot(1, value.created_ns, 0)
        builder.PrependUint64Slot(2, value.request, 0)
        builder.PrependUint32Slot(3, value.flags, 0)
        builder.PrependInt32Slot(4, value.priority, 0)
        builder.PrependFloat32Slot(5, value.temperature, 0)
        builder.PrependUOffsetTRelativeSlot(6, vector, 0)
        builder.Finish(builder.EndObject())
        return memoryview(builder.Bytes)[builder.Head() :]

    def read(data: Any) -> Read:
        table = Table(data, official_encode.Get(packer.uoffset, data, 0))
        find, get, pos = table.Offset, table.Get, table.Pos
        sequence, priority = find(4), find(12)
        return (
            get(Uint64Flags, sequence + pos) if sequence else 0,
            get(Int32Flags, priority + pos) if priority else 0,
            table.GetVectorAsNumpy(Float32Flags, find(16)),
        )

    return write, read


def _codec(name: str) -> tuple[Callable[[Frame], Any], Callable[[Any], Read]]:
    codec = zcser.codec(name, Frame)
    view = codec.view

    def read(data: Any) -> Read:
        seen: Any = view(data)
        return seen.sequence, seen.priority, seen.data

    buffer = bytearray(4096)
    into = memoryview(buffer)
    encode_into = codec.encode_into

    def write(value: Frame) -> Any:
        return into[: encode_into(value, buffer)]

    return write, read


def _usual(name: str) -> tuple[Callable[[Frame], Any], Callable[[Any], Read]]:
    codec = zcser.codec(name, Frame)

    def read(data: Any) -> Read:
        value = codec.decode(data)
        return value.sequence, value.priority, value.data

    return codec.encode, read


ARMS = (
    Arm("protobuf as usual", _protobuf),
    Arm("protobuf of zcser, spliced into a reused buffer", functools.partial(_codec, "protobuf")),
    Arm("FlatBuffers, official package, reused builder", _official),
    Arm("FlatBuffers of zcser, into a reused buffer", functools.partial(_codec, "flatbuffers")),
    Arm("FlatBuffers of zcser, new bytes and a whole object", functools.partial(_usual, "flatbuffers")),
    Arm("header of zcser, into a reused buffer", functools.partial(_codec, "header")),
)
