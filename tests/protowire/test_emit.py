"""The emitted text against protoc: it must accept it, and make of it the descriptor that the codec uses."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto, FileDescriptorSet

import zcser
from tests.conformance.schemas import CASES
from tests.protowire.protoc import compile_protos
from zcser.core.errors import SchemaError
from zcser.payloads.envelope import Envelope
from zcser.payloads.messages import Telemetry
from zcser.protowire.descriptors import file_descriptor
from zcser.protowire.emit import emit_proto
from zcser.protowire.planner import plan_of
from zcser.schema.from_python import schema_of
from zcser.schema.model import Enum, Field, Int, List, Map, Optional, Record, Ref, Schema, Str, Tensor, Type, Union

ODD_FIELDS = (
    "class", "None", "import", "from", "Clear", "SerializeToString", "DESCRIPTOR", "HasField", "_a", "a", "A", "aB", "a_b",
    "a__b", "1", "", "\u65e5\u672c", "__class__", "kind", "message", "oneof", "option", "reserved", "map", "to", "max", "x-y",
    "x y", "x/y", "m", "MEntry", "self", "value", "key", "int32",
)  # fmt: skip


def _record(name: str, types: dict[str, Type], *, required: bool = True) -> Record:
    return Record(name, tuple(Field(key, type_, n, required) for n, (key, type_) in enumerate(types.items(), 1)))


def _schema(*records: Record) -> Schema:
    return Schema(Ref(records[0].name), records)


ODD = {
    "odd_fields": _schema(_record("Odd", dict.fromkeys(ODD_FIELDS, Int()))),
    "odd_absent": _schema(_record("Odd", dict.fromkeys(ODD_FIELDS, Str()), required=False)),
    "odd_maps": _schema(_record("Odd", dict.fromkeys(ODD_FIELDS, Map(Str(), Int())))),
    # Names of messages that the language, a map's entry or the mapping itself has a use for.
    "odd_messages": _schema(
        _record("message", {"m": Map(Str(), Ref("MEntry")), "e": Ref("MEntry"), "w": List(Ref("int32")), "o": Ref("map")}),
        _record("MEntry", {"x": Tensor()}),
        _record("int32", {"x": Optional(Ref("message"))}),
        _record("map", {"x": Union((Int(), Ref("optional")))}),
        _record("optional", {"kind": Union((Str(), Ref("kind"))), "t": Tensor()}),
        _record("kind", {"Tensor": Ref("Tensor")}),
        _record("Tensor", {"DType": Enum("DType", (("a", 1),)), "again": Enum("Tensor", (("a", 1),))}),
        _record("Gr\u00f6\u00dfe", {}),
    ),
    "odd_enums": _schema(
        _record(
            "Enums",
            {
                "a": Enum("Colour", (("red", 3), ("RED", 4), ("re_d", 5), ("unspecified", 6), ("2", 7), ("a-b", -1))),
                "b": Enum("Colour", (("red", 1), ("zero", 0))),
                "c": Enum("Colour", (("red", "red"), ("", ""))),
            },
        )
    ),
}  # fmt: skip

SCHEMAS = {**{f"case_{name}": case for name, case in CASES.items() if name != "unbounded"}, **ODD, "suite": Envelope}


@pytest.fixture(scope="module")
def protoc_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, FileDescriptorProto]:
    folder = tmp_path_factory.mktemp("protos")
    compile_protos(folder, SCHEMAS, f"--descriptor_set_out={folder / 'all'}")
    return {file.package: file for file in FileDescriptorSet.FromString((folder / "all").read_bytes()).file}


def _without_json_names(messages: Any) -> None:
    for message in messages:
        for field in message.field:
            field.ClearField("json_name")
        _without_json_names(message.nested_type)


@pytest.mark.parametrize("name", SCHEMAS)
def test_protoc_makes_the_codecs_descriptor_of_the_emitted_text(name, protoc_files):
    theirs = protoc_files[name]
    _without_json_names(theirs.message_type)
    assert theirs == file_descriptor(plan_of(schema_of(SCHEMAS[name])), name)


def test_the_text_of_a_known_message_is_what_one_would_write_by_hand():
    text = emit_proto(Telemetry, package="acme.v1")
    assert text.startswith('syntax = "proto3";\n\npackage acme.v1;\n\nmessage Telemetry {\n  uint64 trace_id = 1;\n')
    for line in (
        "  optional uint64 parent_id = 3;",
        "  Severity severity = 5;",
        "  optional string message = 6;",
        "  Resource resource = 7;",
        "  map<string, string> labels = 8;",
        "  repeated Stage stages = 11;",
        "enum Severity {\n  SEVERITY_UNSPECIFIED = 0;\n  SEVERITY_DEBUG = 5;",
    ):
        assert f"\n{line}\n" in text


def test_names_are_kept_wherever_protobuf_and_python_allow():
    fields = {field.name for field in file_descriptor(plan_of(ODD["odd_fields"])).message_type[0].field}
    assert {"a", "kind", "message", "oneof", "option", "reserved", "map", "m", "self", "value", "int32"} <= fields
    assert {"class_", "None_", "Clear_", "x_y"} <= fields
    assert len(fields) == len(ODD_FIELDS)


def test_field_numbers_are_the_ids_of_the_schema():
    schema = CASES["sparse_ids"]
    message: DescriptorProto = file_descriptor(plan_of(schema)).message_type[0]
    assert isinstance(schema.root, Ref)
    assert [field.number for field in message.field] == [field.id for field in schema.resolve(schema.root).fields]


@pytest.mark.parametrize(
    ("type_", "path", "word"),
    [
        (List(Map(Str(), Int(None))), "R/f/*/*", "width"),
        (Map(Int(None), Str()), "R/f/key", "width"),
        (Union((Str(), Int(None))), "R/f", "width"),
        (Optional(Enum("Big", (("a", 1), ("b", 1 << 31)))), "R/f", "32 bits"),
    ],
    ids=str,
)
def test_what_protobuf_cannot_hold_is_a_schema_error_with_its_path(type_, path, word):
    with pytest.raises(SchemaError, match=word) as caught:
        emit_proto(_schema(_record("R", {"f": type_})))
    assert caught.value.path == path
    assert caught.value.codec == "protobuf"


def test_a_chain_of_records_longer_than_the_stack_has_a_text():
    chain = [_record(f"R{n}", {"next": Ref(f"R{n + 1}")}) for n in range(1500)]
    text = emit_proto(_schema(*chain, _record("R1500", {})))
    assert text.count("message ") == 1501


def test_a_schema_of_protobuf_is_not_written_again_as_another():
    # A sint32 would become an int32, which has other bytes.
    given = zcser.load_proto('syntax = "proto3"; message M { sint32 a = 1; }')
    with pytest.raises(SchemaError, match="a protobuf schema already"):
        emit_proto(given)
