"""The neutral schema guards its own rules, whoever makes it."""

from __future__ import annotations

import pickle

import pytest

from zcser.core.errors import SchemaError
from zcser.schema.model import (
    Bool,
    Bytes,
    Enum,
    Field,
    Float,
    Int,
    List,
    Map,
    Null,
    Optional,
    Record,
    Ref,
    Schema,
    Str,
    Tensor,
    Union,
)

POINT = Record("Point", (Field("x", Float(), 1), Field("y", Float(), 2)))

WRONG = {
    "int of 7 bits": lambda: Schema(Int(7)),
    "float of 16 bits": lambda: Schema(Float(16)),
    "negative size of str": lambda: Schema(Str(-1)),
    "negative size of bytes": lambda: Schema(Bytes(-1)),
    "negative length": lambda: Schema(List(Int(), length=-1)),
    "another container": lambda: Schema(List(Int(), container="set")),
    "unknown dtype": lambda: Tensor("float33"),
    "negative extent": lambda: Schema(Tensor("int8", (2, -1))),
    "float keys": lambda: Schema(Map(Float(), Int())),
    "optional keys": lambda: Schema(Map(Optional(Str()), Int())),
    "empty enum": lambda: Schema(Enum("E", ())),
    "enum of two kinds": lambda: Schema(Enum("E", (("A", 1), ("B", "b")))),
    "enum with a value twice": lambda: Schema(Enum("E", (("A", 1), ("B", 1)))),
    "enum with a name twice": lambda: Schema(Enum("E", (("A", 1), ("A", 2)))),
    "optional of an optional": lambda: Schema(Optional(Optional(Int()))),
    "optional of null": lambda: Schema(Optional(Null())),
    "union of one": lambda: Schema(Union((Int(),))),
    "union with null": lambda: Schema(Union((Int(), Null()))),
    "union with an optional": lambda: Schema(Union((Int(), Optional(Str())))),
    "union of unions": lambda: Schema(Union((Int(), Union((Str(), Bytes()))))),
    "union of two ints": lambda: Schema(Union((Int(8), Int(16)))),
    "union of a map and a dict record": lambda: Schema(Union((Map(Str(), Int()), Ref("Point"))), (POINT,)),
    "union of literal strings and str": lambda: Schema(Union((Str(), Enum("E", (("a", "a"),))))),
    "record that is not there": lambda: Schema(Ref("Nobody")),
    "record that is not there, deep": lambda: Schema(List(Map(Str(), Ref("Nobody")))),
    "two records of one name": lambda: Schema(Ref("Point"), (POINT, POINT)),
    "two fields of one name": lambda: Record("A", (Field("a", Int(), 1), Field("a", Int(), 2))),
    "two fields of one id": lambda: Record("A", (Field("a", Int(), 1), Field("b", Int(), 1))),
    "field id 0": lambda: Record("A", (Field("a", Int(), 0),)),
    "field id of another type": lambda: Record("A", (Field("a", Int(), True),)),
    "field name of another type": lambda: Record("A", (Field(5, Int(), 1),)),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_schema_that_breaks_a_rule_cannot_be_made(case):
    with pytest.raises(SchemaError):
        WRONG[case]()


def test_bounds_of_integers_are_those_of_their_width():
    assert [(Int(bits).low, Int(bits).high) for bits in (8, 16, 32, 64)] == [
        (-128, 127), (-32768, 32767), (-2147483648, 2147483647), (-9223372036854775808, 9223372036854775807),
    ]  # fmt: skip
    assert [(Int(bits, signed=False).low, Int(bits, signed=False).high) for bits in (8, 16, 32, 64)] == [
        (0, 255), (0, 65535), (0, 4294967295), (0, 18446744073709551615),
    ]  # fmt: skip
    assert (Int(None).low, Int(None).high) == (None, None)


def test_recursion_is_found_through_every_kind_of_container():
    schema = Schema(
        Ref("A"),
        (
            Record("A", (Field("b", List(Ref("B")), 1),)),
            Record("B", (Field("c", Map(Str(), Optional(Ref("C"))), 1), Field("p", Ref("Point"), 2))),
            Record("C", (Field("a", Union((Ref("A"), Str())), 1),)),
            POINT,
        ),
    )
    assert schema.recursive == {"A", "B", "C"}


SAME = Schema(Ref("Point"), (POINT,))
OTHER = {
    "root": Schema(List(Ref("Point")), (POINT,)),
    "name of the record": Schema(Ref("Pt"), (Record("Pt", POINT.fields),)),
    "name of a field": Schema(Ref("Point"), (Record("Point", (Field("x", Float(), 1), Field("z", Float(), 2))),)),
    "id": Schema(Ref("Point"), (Record("Point", (Field("x", Float(), 1), Field("y", Float(), 3))),)),
    "width": Schema(Ref("Point"), (Record("Point", (Field("x", Float(), 1), Field("y", Float(32), 2))),)),
    "kind": Schema(Ref("Point"), (Record("Point", (Field("x", Float(), 1), Field("y", Int(), 2))),)),
    "absence": Schema(Ref("Point"), (Record("Point", (Field("x", Float(), 1), Field("y", Float(), 2, False))),)),
    "optional": Schema(Ref("Point"), (Record("Point", (Field("x", Float(), 1), Field("y", Optional(Float()), 2))),)),
    "a field less": Schema(Ref("Point"), (Record("Point", POINT.fields[:1]),)),
    # A name may hold anything, and must not be able to pass for two fields.
    "name like two fields": Schema(Ref("Point"), (Record("Point", (Field("x float64\n2 y", Float(), 1),)),)),
}


def test_the_fingerprint_is_that_of_the_structure():
    moved = Record("Point", POINT.fields[::-1], cls=int, doc="other words")
    assert Schema(Ref("Point"), (moved,), notes=("a note",)).fingerprint == SAME.fingerprint
    prints = [SAME.fingerprint, *(schema.fingerprint for schema in OTHER.values())]
    assert len(set(prints)) == len(prints)
    assert all(len(text) == 16 and int(text, 16) >= 0 for text in prints)


def test_the_fingerprint_knows_the_members_of_an_enum_wherever_it_stands():
    def enum(*members: tuple[str, int]) -> Enum:
        return Enum("E", members)

    one, other = enum(("A", 1)), enum(("A", 1), ("B", 2))
    for wrap in (Schema, lambda e: Schema(List(e)), lambda e: Schema(Map(Str(), Optional(e))),
                 lambda e: Schema(Ref("R"), (Record("R", (Field("e", List(e), 1),)),))):  # fmt: skip
        assert wrap(one).fingerprint != wrap(other).fingerprint


def test_a_schema_pickles_and_hashes_by_value():
    assert hash(Schema(Ref("Point"), (POINT,))) == hash(SAME)
    for schema in (SAME, *OTHER.values()):
        _ = (schema.fingerprint, schema.recursive, schema.records[0].by_name)
        back = pickle.loads(pickle.dumps(schema))
        assert back == schema
        assert back.fingerprint == schema.fingerprint


def test_python_types_are_exact():
    schema = Schema(Ref("Point"), (POINT,))
    assert schema.python_type(Bool()) is bool
    assert schema.python_type(List(Int(), container="tuple")) is tuple
    assert schema.python_type(Ref("Point")) is dict
    assert schema.python_type(Enum("E", (("a", "a"),))) is str
    assert schema.python_type(Null()) is type(None)
