"""The committed mapping table is what the code does, and single cells are what was written here by hand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("google.protobuf", reason="protobuf is not installed: pip install 'zcser[protobuf]'")
pytest.importorskip("bson", reason="bson is not installed: pip install 'zcser[bson]'")
pytest.importorskip("cbor2", reason="cbor2 is not installed: pip install 'zcser[cbor2]'")
pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'zcser[arrow]'")
pytest.importorskip("msgpack", reason="msgpack is not installed: pip install 'zcser[msgpack]'")

from zcser import registry
from zcser.core.errors import CodecUnavailableError
from zcser.mapping import KINDS, WIRES, cell
from zcser.schema.model import Field, Kind, Record, Ref, Schema

COMMITTED = Path(__file__).parents[1] / "schemas" / "MAPPING.md"

WIRE = {wire.name: wire for wire in WIRES}
ROW = {str(type_): (type_, sample) for type_, sample in KINDS}
CODEC = {
    name: {"flatbuffers": "flatbuffers-official", "pickle": "pickle5", "pickle-objects": "pickle", "cbor": "cbor2"}.get(
        name, name
    )
    for name in WIRE
}


def found(wire: str, kind: str, place: str) -> str:
    column = {column.name: column for column in WIRE[wire].places}[place]
    return cell(WIRE[wire], *ROW[kind], column)


@pytest.mark.further
def test_the_committed_table_is_what_the_command_prints():
    done = subprocess.run([sys.executable, "-m", "zcser.mapping"], check=True, capture_output=True)
    assert done.stdout.decode() == COMMITTED.read_text(encoding="utf-8")


def test_rows_and_columns_hold_every_kind():
    assert {type_.kind for type_, _ in KINDS} | {Kind.OPTIONAL, Kind.LIST} == set(Kind)
    for wire in WIRES:
        assert {"field", "optional", "may be absent", "list", "map value", "union option"} <= {
            p.name for p in wire.places
        }


@pytest.mark.parametrize(
    ("wire", "kind", "place", "expected"),
    [
        # RFC 4648: 0x01 0x02 is 000000 010000 0010(00), padded: A Q I =.
        ("json", "bytes", "field", '`"AQI="`'),
        ("json", "tensor any", "field", '`{"dtype":"uint8","shape":[2],"base64":"AQI="}`'),
        ("json", "int32", "may be absent", "`7` or nothing"),
        ("json", "int32", "may be absent or None", "`7` or `null` or nothing"),
        ("json", "map int32 -> str", "field", '`{"7":"v"}`'),
        ("json", "union (str | bytes)", "field", '`{"bytes":"AQI="}`'),
        ("json", "int", "field", "`18446744073709551616`"),
        ("json", "datetime_utc", "field", '`"2026-01-02T00:00:00+00:00"`'),
        ("json", "uuid", "list", '`["00000000-0000-0000-0000-000000000005","00000000-0000-0000-0000-000000000005"]`'),
        ("protobuf", "date", "optional", "`optional int32`"),
        ("flatbuffers", "timedelta", "field", "`long`"),
        ("header", "uuid", "list of 2", "`16s16s`"),
        ("msgpack", "set of int32", "field", "`[3, 7]`"),
        ("msgpack", "bytes", "field", r"`b'\x01\x02'`"),
        ("msgpack", "map int32 -> str", "field", "`{7: 'v'}`"),
        ("msgpack", "union (str | bytes)", "field", r"`b'\x01\x02'`"),
        ("msgpack", "int", "field", "refused: integers over 64 bits have no form"),
        # RFC 8746: tag 64 is an array of uint8.
        ("cbor", "tensor any", "field", r"`CBORTag(64, b'\x01\x02')`"),
        ("cbor", "int", "field", "`18446744073709551616`"),
        ("bson", "map int32 -> str", "field", "`{'7': 'v'}`"),
        ("bson", "tensor any", "field", r"`{'dtype': 'uint8', 'shape': [2], 'data': b'\x01\x02'}`"),
        ("bson", "int", "field", "refused: integers over 64 bits have no form"),
        ("pickle", "bytes", "field", r"`b'\x01\x02'`"),
        ("protobuf", "int8", "field", "`int32`"),
        ("protobuf", "int32", "optional", "`optional int32`"),
        ("protobuf", "uint64", "list", "`repeated uint64`"),
        (
            "protobuf",
            "int32",
            "list of lists",
            "`repeated Int32List`<br>`message Int32List { repeated int32 value = 1; }`",
        ),
        ("protobuf", "float32", "map value", "`map<string, float>`"),
        (
            "protobuf",
            "str",
            "union option",
            "`RowX`<br>`message RowX { oneof kind { string str = 1; bool bool = 2; } }`",
        ),
        ("flatbuffers", "int32", "field", "`int`"),
        ("flatbuffers", "int32", "optional", "`int = null`"),
        ("flatbuffers", "uint16", "list", "`[ushort] (required)`"),
        ("flatbuffers", "str", "optional", "`string`"),
        (
            "flatbuffers",
            "int32",
            "map value",
            "`[StrInt32MapEntry] (required)`<br>`table StrInt32MapEntry { key: string (id: 0, key); value: int (id: 1); }`",
        ),
        ("avro", "int16", "field", '`"int"`'),
        ("avro", "uint32", "list", '`{"type": "array", "items": "long"}`'),
        ("avro", "str", "may be absent", '`["null", "string"]`'),
        ("avro", "bool", "union option", '`["boolean", "string"]`'),
        ("avro", "null", "list", '`{"type": "array", "items": ["null"]}`'),
        ("avro", "map str -> int32", "field", '`{"type": "map", "values": "int"}`'),
        ("arrow", "uint16", "optional", "`uint16`"),
        ("arrow", "uint16", "field", "`uint16 not null`"),
        ("arrow", "map int32 -> str", "field", "`map<int32, string> not null`"),
        ("arrow", "int", "field", "refused: integers over 64 bits have no form"),
        ("safetensors", "int32", "field", '`"__metadata__":{"x":"7"}`'),
        ("safetensors", "bytes", "field", '`"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}`'),
        ("kserve", "int32", "optional", '`"parameters":{"x":7}` or nothing'),
        ("kserve", "int32", "may be absent or None", "refused: None has no form here beside a field that is missing"),
        ("header", "uint16", "field", "`1H`"),
        ("header", "str[4]", "list of 2", "`4s4s`"),
        ("header", "null", "field", "nothing"),
        ("header", "int32", "optional", "refused: an optional has no fixed size"),
        ("header", "str", "field", "refused: str has no fixed size"),
        ("protobuf", "null", "optional", "no such schema: optional null has two kinds of None"),
    ],
)
def test_a_cell_is_what_was_written_by_hand(wire, kind, place, expected):
    assert found(wire, kind, place) == expected


@pytest.mark.parametrize("wire", sorted(WIRE))
def test_a_field_is_refused_where_the_codec_refuses_it(wire):
    # The emitters and layouts of the table are not the codecs: both must draw the line at the same kinds.
    try:
        registry.codec_class(CODEC[wire])
    except CodecUnavailableError as error:
        pytest.skip(str(error))
    inner = Record("Inner", (Field("a", ROW["int32"][0], 1),))
    more = (Field("beside", ROW["tensor any"][0], 2),) if wire == "kserve" else ()  # which carries nothing without one
    for name, (type_, _) in ROW.items():
        schema = Schema(Ref("Row"), (Record("Row", (Field("x", type_, 1), *more)), inner))
        refused = found(wire, name, "field").startswith("refused: ")
        assert bool(registry.check(CODEC[wire], schema)) == refused, name
