"""A few bytes that ask for much, by wire: a schema and a message each."""

from __future__ import annotations

from tests.conformance.bombs.compiled import AVRO, CAPNP, FLATBUFFERS, FORY, HEADER, PROTOBUF, THRIFT, THRIFT_BINARY
from tests.conformance.bombs.keyed import BSON, CBOR, JSON, MSGPACK, OBJECTS, PICKLE
from tests.conformance.bombs.tensors import KSERVE, SAFETENSORS, arrow_bombs

__all__ = ["BOMBS"]

BOMBS = {
    "json": JSON,
    "bson": BSON,
    "cbor": CBOR,
    "msgpack": MSGPACK,
    "protobuf": PROTOBUF,
    "flatbuffers": FLATBUFFERS,
    "pickle": PICKLE,
    "pickle-objects": OBJECTS,
    "header": HEADER,
    "avro": AVRO,
    "thrift": THRIFT,
    "thrift-binary": THRIFT_BINARY,
    "arrow": arrow_bombs(),
    "safetensors": SAFETENSORS,
    "kserve": KSERVE,
    "capnp": CAPNP,
    "fory": FORY,
}
