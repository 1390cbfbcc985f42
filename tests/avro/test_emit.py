"""The emitted schema against fastavro, which must accept it, and the names in it against the specification's rule."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator
from typing import Annotated, Any

import pytest

pytest.importorskip("fastavro", reason="fastavro is not installed: pip install 'zcser[avro]'")

import fastavro

from tests.conformance.schemas import CASES
from zcser.avro.emit import emit_avro
from zcser.core.errors import SchemaError
from zcser.schema.annotations import Id, Int32, UInt64
from zcser.schema.from_python import schema_of
from zcser.schema.model import Enum, Field, Int, List, Map, Optional, Record, Ref, Schema, Str, Tensor, Union


def record(name: str, **types: Any) -> Record:
    return Record(name, tuple(Field(key, type_, number) for number, (key, type_) in enumerate(types.items(), 1)))


# Records that are called as types of Avro, of the neutral schema, and as what the mapping makes itself.
NAMES = (
    "int",
    "null",
    "array",
    "record",
    "bool",
    "str",
    "bytes",
    "float64",
    "Tensor",
    "UInt64",
    "Root",
    "Int64StrMapEntry",
)
ODD = Schema(
    Ref("int"),
    (
        *(
            Record(
                name,
                (
                    Field("next", Optional(Ref(NAMES[(number + 1) % len(NAMES)])), 1),
                    Field("a b", Tensor(), 2),
                    Field("a_b", Int(64, signed=False), 3),
                    Field("a-b", Map(Int(), Str()), 4),
                    Field("", Enum(name, (("A", 1), ("", 2), ("1", 3), ("a b", 4), ("a_b", 5))), 5),
                    Field("f", Union((Ref(name), Str(), List(Ref(name)))), 6, required=False),
                ),
            )
            for number, name in enumerate(NAMES)
        ),
    ),
)


def names_in(schema: Any) -> Iterator[tuple[str, str]]:
    """Names of types, of fields and symbols, with what they are names of."""
    match schema:
        case list():
            for part in schema:
                yield from names_in(part)
        case {"type": kind, "name": name}:
            yield ("type", name)
            for field in schema.get("fields", ()):
                yield (f"field of {name}", field["name"])
                yield from names_in(field["type"])
            yield from ((f"symbol of {name}", symbol) for symbol in schema.get("symbols", ()))
            assert kind in {"record", "enum", "fixed"}
        case {"items": inner} | {"values": inner}:
            yield from names_in(inner)


@pytest.mark.parametrize("case", [*(case for case in CASES if case != "unbounded"), "odd"])
def test_fastavro_accepts_the_text_and_all_names_are_avros(case):
    text = emit_avro(ODD if case == "odd" else CASES[case])
    fastavro.parse_schema(json.loads(text))
    found = list(names_in(json.loads(text)))
    assert len(set(found)) == len(found)
    # "Names", in the specification.
    assert [name for _, name in found if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name)] == []
    types = {name for what, name in found if what == "type"}
    assert not types & {
        "null",
        "boolean",
        "int",
        "long",
        "float",
        "double",
        "bytes",
        "string",
        "record",
        "array",
        "map",
    }


@dataclasses.dataclass
class Row:
    """A row."""

    late: Annotated[Int32 | None, Id(7)] = None
    early: Annotated[UInt64, Id(2)] = 5
    name: Annotated[str, Id(3)] = "x"


@dataclasses.dataclass
class Reordered:
    name: Annotated[str, Id(3)] = "x"
    early: Annotated[UInt64, Id(2)] = 5
    late: Annotated[Int32 | None, Id(7)] = None


def test_a_record_is_what_was_written_by_hand():
    assert json.loads(emit_avro(Row)) == {
        "type": "record",
        "name": "Row",
        "doc": "A row.",
        "fields": [
            {
                "name": "early",
                "type": {"type": "fixed", "name": "UInt64", "doc": "unsigned, little-endian", "size": 8},
                "field-id": 2,
            },
            {"name": "name", "type": "string", "default": "x", "field-id": 3},
            {"name": "late", "type": ["null", "int"], "default": None, "field-id": 7},
        ],
    }


def test_ids_and_fields_do_not_depend_on_the_order_of_declaration():
    row, reordered = json.loads(emit_avro(Row)), json.loads(emit_avro(Reordered))
    assert row["fields"] == reordered["fields"]
    assert emit_avro(Row) == emit_avro(schema_of(Row))


def test_names_and_values_that_are_no_avro_names_stand_beside_those_that_are():
    colour = Enum("Colour", (("RED", "r"), ("a b", "b")))
    schema = Schema(Ref("R"), (Record("R", (Field("a/b", colour, 1), Field("a_b", colour, 2))),))
    fields = json.loads(emit_avro(schema))["fields"]
    assert [(field["name"], field.get("key")) for field in fields] == [("a_b_2", "a/b"), ("a_b", None)]
    assert fields[0]["type"] == {"type": "enum", "name": "Colour", "symbols": ["RED", "a_b"], "values": ["r", "b"]}
    assert fields[1]["type"] == "Colour"


def test_integers_of_any_size_are_refused_with_the_path():
    with pytest.raises(SchemaError, match=r"64 bits.*R/a"):
        emit_avro(Schema(Ref("R"), (record("R", a=List(Int(None))),)))
