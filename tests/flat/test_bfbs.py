"""Schemas from .bfbs: the programs they make, against facts worked out by hand."""

from __future__ import annotations

import math
import struct

import pytest

import zcser
from tests.flat.bfbs_files import field_of, rewritten
from tests.flat.flatc import GOOGLE, label, sources
from tests.flat.game_schema import TEXT
from zcser.flat.bfbs import FlatSchema, load_bfbs, program_for
from zcser.flat.bfbs_definition import read_bfbs
from zcser.flat.layout import Missing
from zcser.flat.program import Node, Op, Place, Program
from zcser.schema.model import Bool, Bytes, Enum, Float, Int, List, Optional, Ref, Str


@pytest.fixture(scope="module")
def schema() -> FlatSchema:
    return zcser.load_fbs(TEXT)


@pytest.fixture(scope="module")
def program(schema) -> Program:
    return program_for(schema)


def places_of(program: Program, name: str) -> dict[str, Place]:
    return {str(place.name): place for place in node_of(program, name).places}


def node_of(program: Program, name: str) -> Node:
    (node,) = (node for node in program.nodes if node.neutral == Ref(name) and node.op is not Op.NESTED)
    return node


def test_slots_are_those_of_the_schema(program):
    # Unions take two slots each; the deprecated field keeps its own.
    places = places_of(program, "game.Root")
    assert {name: place.index for name, place in places.items()} == {
        "colour": 0, "flags": 1, "big": 2, "odd": 3, "maybe": 4, "real": 5, "precise": 6, "thing": 8, "things": 10,
        "pair": 11, "pairs": 12, "leaf": 13, "leaves": 14, "bytes": 16, "aligned": 17, "longs": 18, "words": 19,
        "shared": 20, "colours": 21, "flagged": 22, "nested": 23, "flex": 24, "far": 25, "wide": 26, "empty": 27, "flag": 28,
    }  # fmt: skip
    assert [place.index for place in node_of(program, "game.Root").places] == sorted(
        place.index for place in places.values()
    )
    assert program.nodes[program.root] is node_of(program, "game.Root")
    assert (program.identifier, program.is_prefixed, program.counts_depth) == (b"GAME", False, False)


def test_fields_are_what_a_dict_holds(schema):
    colour = Enum("game.Colour", (("Red", -1), ("Green", 3), ("Blue", 4)))
    big = Enum("game.Big", (("Zero", 0), ("Top", 2**64 - 1)))
    found = {field.name: (field.type, field.id) for field in schema.record("game.Root").fields}
    assert found == {
        "colour": (colour, 1),
        "flags": (Int(16, signed=False), 2),
        "big": (big, 3),
        "odd": (Int(8), 4),
        "maybe": (Optional(colour), 5),
        "real": (Float(32), 6),
        "precise": (Float(64), 7),
        "thing": (Optional(Ref("game.Thing")), 9),
        "things": (Optional(List(Optional(Ref("game.Thing")))), 11),
        "pair": (Optional(Ref("game.Pair")), 12),
        "pairs": (Optional(List(Ref("game.Pair"))), 13),
        "leaf": (Ref("game.Leaf"), 14),
        "leaves": (Optional(List(Ref("game.Leaf"))), 15),
        "bytes": (Optional(Bytes()), 17),
        "aligned": (Optional(Bytes()), 18),
        "longs": (Optional(List(Int(64))), 19),
        "words": (Optional(List(Str())), 20),
        "shared": (Optional(Str()), 21),
        "colours": (Optional(List(colour)), 22),
        "flagged": (Optional(List(Int(16, signed=False))), 23),
        "nested": (Optional(Ref("game.Leaf")), 24),
        "flex": (Optional(Bytes()), 25),
        "far": (Optional(Str()), 26),
        "wide": (Optional(List(Ref("game.Pair"))), 27),
        "empty": (List(Int(32)), 28),
        "flag": (Bool(), 29),
    }
    thing = schema.record("game.Thing")
    assert [(field.name, field.type, field.id, field.required) for field in thing.fields] == [
        ("Leaf", Ref("game.Leaf"), 1, False),
        ("Pair", Ref("game.Pair"), 2, False),
        ("Named", Str(), 7, False),
    ]
    assert not any(field.has_default for field in thing.fields)
    assert [field.name for field in schema.record("game.Root").fields if field.required] == ["leaf"]


def test_defaults_are_those_of_the_schema(schema, program):
    nearest = struct.unpack("<f", struct.pack("<f", 0.1))[0]
    places = places_of(program, "game.Root")
    zeros = {name: place.zero for name, place in places.items() if place.missing is Missing.ZERO}
    assert zeros == {
        "colour": 4, "flags": 1 | 1 << 9, "big": 2**64 - 1, "odd": -7, "real": nearest, "precise": -math.inf, "flag": True,
    }  # fmt: skip
    assert type(zeros["flag"]) is bool
    fields = schema.record("game.Root").by_name
    assert {name: fields[name].default for name in zeros} == zeros
    assert {name for name, place in places.items() if place.missing is Missing.DEFAULT} == {"empty"}
    assert places["empty"].make_default() == []
    assert {name for name, place in places.items() if place.missing is Missing.REFUSED} == {"leaf"}
    rest = {name for name, place in places.items() if place.missing is Missing.NONE}
    assert all(fields[name].default is None for name in rest)
    assert rest == set(places) - {"leaf", "empty", *zeros}
    assert {name for name, place in places.items() if not place.may_lack} == {"leaf"}


def test_structs_stand_as_c_has_them(program):
    # struct { uint8_t a; uint16_t b[3]; int32_t c; } alignas(16), and one of two of them around two bytes.
    small, pair = node_of(program, "game.Small"), node_of(program, "game.Pair")
    assert (small.op, small.size, small.align) == (Op.STRUCT, 16, 16)
    assert {name: place.offset for name, place in places_of(program, "game.Small").items()} == {"a": 0, "b": 2, "c": 8}
    assert places_of(program, "game.Small")["c"].is_key
    array = program.nodes[places_of(program, "game.Small")["b"].node]
    assert (array.op, array.size, array.align, array.bound) == (Op.ARRAY, 6, 2, 3)
    assert program.nodes[array.item].op is Op.UINT16
    assert (pair.size, pair.align) == (48, 16)
    offsets = {name: place.offset for name, place in places_of(program, "game.Pair").items()}
    assert offsets == {"first": 0, "shades": 16, "second": 32}
    assert all(place.missing is Missing.REFUSED for node in (small, pair) for place in node.places)


def test_nodes_say_how_each_field_stands(program):
    def of(name: str) -> Node:
        return program.nodes[places_of(program, "game.Root")[name].node]

    assert (of("colour").op, of("colour").number, of("colour").size) == (Op.ENUM, Op.INT8, 1)
    assert of("colour").values == ((-1, -1), (3, 3), (4, 4))
    assert (of("odd").op, of("flags").op, of("maybe").op) == (Op.INT8, Op.UINT16, Op.ENUM)
    assert of("thing") is node_of(program, "game.Thing")
    assert [(choice.name, choice.number, program.nodes[choice.node].op) for choice in of("thing").choices] == [
        ("Leaf", 1, Op.TABLE), ("Pair", 2, Op.STRUCT), ("Named", 7, Op.STRING),
    ]  # fmt: skip
    assert (of("things").op, program.nodes[of("things").item]) == (Op.ONEOFS, of("thing"))
    assert (of("pair").op, of("pair").size) == (Op.STRUCT, 48)
    assert (of("pairs").op, of("pairs").align, of("leaves").op) == (Op.STRUCTS, 0, Op.TABLES)
    assert (of("bytes").op, of("bytes").align) == (Op.BYTES, 0)
    assert (of("aligned").op, of("aligned").align) == (Op.BYTES, 32)
    assert (of("longs").op, of("longs").align) == (Op.NUMBERS, 0)
    assert (of("words").op, of("flex").op, of("colours").op) == (Op.STRINGS, Op.BYTES, Op.NUMBERS)
    assert (of("shared").is_shared, of("far").is_shared) == (True, False)
    assert (of("nested").op, program.nodes[of("nested").item]) == (Op.NESTED, node_of(program, "game.Leaf"))
    assert (of("far").op, of("far").size, of("far").wide_length) == (Op.STRING, 8, False)
    assert (of("wide").op, of("wide").size, of("wide").wide_length) == (Op.STRUCTS, 8, True)
    assert places_of(program, "game.Leaf")["id"].is_key


def test_an_enum_with_a_default_that_is_no_member_is_a_plain_int(schema):
    content = read_bfbs(schema.bfbs)
    field_of(content, "Root", "colour").default_integer = 0
    found = load_bfbs(rewritten(content))
    assert found.record("game.Root").by_name["colour"].type == Int(8)
    assert found.record("game.Root").by_name["maybe"].type == schema.record("game.Root").by_name["maybe"].type


def test_recursion_and_another_root():
    schema = zcser.load_fbs(
        "table Node { next:Node; } table Other { n:[Node]; } root_type Other; file_identifier 'OTHR';".replace(
            "'", '"'
        ),
        size_prefixed=True,
    )
    assert schema.tables == ("Node", "Other")
    program = program_for(schema)
    assert (program.identifier, program.is_prefixed, program.counts_depth) == (b"OTHR", True, True)
    # The identifier belongs to the root_type.
    assert program_for(schema.with_root("Node")).identifier == b""
    assert [record.name for record in schema.with_root("Node").records] == ["Node"]


@pytest.mark.parametrize("path", [pytest.param(path, id=label(path)) for path in sources("*.bfbs")])
def test_every_upstream_bfbs_is_loaded(path):
    schema = load_bfbs(path.read_bytes())
    source = zcser.load_fbs(
        {"_samples_monster": path.with_name("_samples_monster.fbs")}.get(path.stem, path.with_suffix(".fbs")),
        include=[GOOGLE, GOOGLE / "include_test"],
    )
    assert {record.name for record in schema.records} == {record.name for record in source.records}


@pytest.mark.skipif(not GOOGLE.is_dir(), reason="the shared data is not beside this checkout")
def test_other_formats_take_the_neutral_form():
    schema = load_bfbs((GOOGLE / "monster_test.bfbs").read_bytes())
    value = {"name": "Fred", "hp": 80, "test": {"Monster": {"name": "Barney"}}, "pos": None}
    expected = zcser.normal(schema, value)
    assert expected["mana"] == 150  # monster_test.fbs
    assert expected["test"]["Monster"]["hp"] == 100
    assert math.isnan(expected["nan_default"])
    for name in ("json", "msgpack", "protobuf", "flatbuffers-official"):
        codec = zcser.codec(name, schema)
        assert zcser.equal(codec.decode(codec.encode(value)), expected)
