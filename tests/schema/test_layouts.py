"""Structs that say how msgspec lays them out: zcser writes by the schema, and says what of that is not used."""

from __future__ import annotations

import msgspec
import pydantic

import zcser
from tests.schema.test_root_models import codecs
from zcser.schema.describe import describe
from zcser.schema.from_python import schema_of


class Circle(msgspec.Struct, tag="circle", tag_field="kind"):
    r: float


class Square(msgspec.Struct, tag="square", tag_field="kind", rename="camel"):
    side_length: float


class Numbered(msgspec.Struct, tag=7, array_like=True, omit_defaults=True):
    a: int = 1


class Closed(msgspec.Struct, forbid_unknown_fields=True):
    shapes: list[Circle | Square | Numbered]
    one: Circle | Square | None = None


class ClosedModel(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")

    a: int


def test_unions_of_tagged_structs_come_back_in_their_classes():
    value = Closed([Circle(1.0), Square(2.0), Numbered(), Numbered(3)], Square(4.0))
    for name, codec in codecs(
        Closed, "json", "msgspec-json", "msgspec-msgpack", "protobuf", "flatbuffers", "avro"
    ).items():
        back = codec.decode(codec.encode(value))
        assert back == value, name
        assert [type(item) for item in back.shapes] == [Circle, Square, Numbered, Numbered], name
    # By hand: named by the record, every field written, by the names of rename=.
    shapes = b'[{"Circle":{"r":1.0}},{"Square":{"sideLength":2.0}},{"Numbered":{"a":1}},{"Numbered":{"a":3}}]'
    assert (
        zcser.codec("json", Closed).encode(value) == b'{"shapes":' + shapes + b',"one":{"Square":{"sideLength":4.0}}}'
    )


def test_what_is_not_used_of_a_class_is_in_the_notes():
    notes = schema_of(Closed).notes
    assert [note.partition(" of msgspec")[0].partition(" is not used")[0] for note in notes] == [
        'Circle: the tag "kind": "circle"',
        'Square: the tag "kind": "square"',
        'Numbered: the tag "type": 7',
        "Numbered: array_like",
        "Numbered: omit_defaults",
        "Closed: forbid_unknown_fields",
    ]
    assert describe(schema_of(Closed)).splitlines()[-1].startswith("  Closed: forbid_unknown_fields is not used; ")
    assert [note.partition(";")[0] for note in schema_of(ClosedModel).notes] == [
        'ClosedModel: extra="forbid" is not used'
    ]
    assert zcser.load_schema(zcser.emit_schema(ClosedModel)).notes == schema_of(ClosedModel).notes
    assert schema_of(msgspec.defstruct("Plain", [("a", int)])).notes == ()
