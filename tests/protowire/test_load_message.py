"""Generated message classes as sources; expected bytes are protobuf's own."""

from __future__ import annotations

import pytest
from google.protobuf import descriptor_pb2, struct_pb2, timestamp_pb2
from google.protobuf.message import Message

import zcser
from zcser.core.errors import EncodeError, SchemaError

STAMP = timestamp_pb2.Timestamp(seconds=5, nanos=-7)
STRUCT = struct_pb2.Struct()
STRUCT.update({"b": [1.5, None, "x"], "a": {"c": True}})
FILE = descriptor_pb2.FileDescriptorProto(name="a.proto", dependency=["b", "c"], syntax="proto2")


@pytest.mark.parametrize("message", [STAMP, STRUCT, FILE], ids=lambda message: type(message).__name__)
def test_messages_of_a_generated_class_pass_through(message: Message):
    codec = zcser.codec("protobuf", type(message))
    expected = message.SerializeToString(deterministic=True)
    assert codec.dump(message) == expected
    assert codec.encode(message) == expected
    room = bytearray(len(expected))
    assert codec.encode_into(message, room) == len(expected) == codec.encoded_size(message)
    assert room == expected
    assert codec.encode(codec.decode(expected)) == expected


def test_the_schema_is_that_of_the_descriptors():
    schema = zcser.load_message(timestamp_pb2.Timestamp)
    assert str(schema.root) == "google.protobuf.Timestamp"
    assert zcser.load_message("google.protobuf.timestamp_pb2:Timestamp") == schema
    assert zcser.load_message(timestamp_pb2) == schema
    assert zcser.load_message(struct_pb2, root="Struct").root == zcser.codec("json", struct_pb2.Struct).schema.root
    assert (
        zcser.codec("json", timestamp_pb2.Timestamp).encode({"seconds": 5, "nanos": -7}) == b'{"seconds":5,"nanos":-7}'
    )


def test_a_message_of_another_class_is_refused():
    with pytest.raises(EncodeError, match="needed, not Struct"):
        zcser.codec("protobuf", timestamp_pb2.Timestamp).encode(STRUCT)
    for source in (int, "google.protobuf.timestamp_pb2:Missing", "no_such_module_at_all:A", "math"):
        with pytest.raises(SchemaError):
            zcser.load_message(source)
