"""The codec bson: bytes of the specification, integers at its bounds, and keys that the library makes something else of."""

from __future__ import annotations

import dataclasses
from typing import Any, TypedDict

import numpy as np
import pytest

pytest.importorskip("bson")

import bson

from zcser import registry
from zcser.core.errors import DecodeError, EncodeError, SchemaError
from zcser.core.fidelity import equal
from zcser.schema.annotations import UInt64


def codec(schema: Any, **options: Any) -> Any:
    return registry.codec("bson", schema, **options)


# The first two are the examples of https://bsonspec.org/faq.html, the others by hand from its grammar.
MESSAGES = [
    (dict[str, str], {"hello": "world"}, b"\x16\0\0\0\x02hello\0\x06\0\0\0world\0\0"),
    (
        dict[str, list[str | float | int]],
        {"BSON": ["awesome", 5.05, 1986]},
        b"1\0\0\0\x04BSON\0&\0\0\0\x020\0\x08\0\0\0awesome\0\x011\x00333333\x14@\x102\0\xc2\x07\0\0\0\0",
    ),
    (int, 1, b"\x10\0\0\0\x10value\0\1\0\0\0\0"),
    (bool, True, b"\x0d\0\0\0\x08value\0\1\0"),
    (bytes, b"ab", b"\x13\0\0\0\x05value\0\2\0\0\0\0ab\0"),
    (type(None), None, b"\x0c\0\0\0\x0avalue\0\0"),
    (dict[int, bool], {-7: False}, b"\x0a\0\0\0\x08-7\0\0\0"),
    (
        list[int],
        [2**31, -(2**31)],
        b"\x23\0\0\0\x04value\0\x17\0\0\0\x120\0\0\0\0\x80\0\0\0\0\x101\0\0\0\0\x80\0\0",
    ),
]


def test_bytes_are_those_of_the_specification():
    for schema, value, data in MESSAGES:
        assert codec(schema).encode(value) == data, value
        assert equal(codec(schema).decode(data), value)


def test_unsigned_integers_over_63_bits_are_decimals_that_others_read():
    for number in (0, 2**63 - 1, 2**63, 2**64 - 1):
        data = codec(UInt64).encode(number)
        found = bson.decode(data)["value"]
        assert str(found) == str(number)
        assert type(found).__name__ == ("Decimal128" if number >= 2**63 else "int" if number < 2**31 else "Int64")
        assert codec(UInt64).decode(data) == number
    values = [1, 2**64 - 1, 2**40]
    for schema, value in ((list[UInt64], values), (dict[str, UInt64], {"a": 2**63}), (UInt64 | str, 2**63)):
        assert codec(schema).decode(codec(schema).encode(value)) == value
        assert codec(schema, guard="off").decode(codec(schema, guard="off").encode(value)) == value


def test_a_decimal_that_is_no_integer_of_the_schema_is_refused():
    for text in ("18446744073709551616", "-1", "1.5", "NaN", "Infinity", "1E+6000"):
        with pytest.raises(DecodeError):
            codec(UInt64).decode(bson.encode({"value": bson.Decimal128(text)}))
    assert codec(UInt64).decode(bson.encode({"value": bson.Decimal128("7")})) == 7


def test_a_document_that_looks_like_a_reference_stays_a_document():
    schema = dict[str, dict[str, int | str | None]]
    for inner in (
        {"$ref": "x", "$id": 1},
        {"$ref": "x", "$id": None, "more": 2},
        {"$ref": 5, "$id": 1},
        {"$ref": "x"},
        {"$id": "1"},
    ):
        assert equal(codec(schema).decode(codec(schema).encode({"a": inner})), {"a": inner})


def test_keys_that_would_be_lost_are_refused_with_their_path():
    for schema, value, path in (
        (dict[str, int], {"good": 1, "a\0b": 2}, "/a\0b"),
        (dict[str, dict[str, str]], {"a": {"$ref": "x", "$id": "y", "$db": "z"}}, "/a/$db"),
        (list[dict[str, int]], [{}, {"\0": 1}], "/1/\0"),
    ):
        with pytest.raises(EncodeError, match="key") as caught:
            codec(schema).encode(value)
        assert caught.value.path == path
    with pytest.raises(SchemaError, match="NUL") as caught_schema:
        codec(TypedDict("Odd", {"a\0b": int}))
    assert caught_schema.value.path == "Odd/a\0b"


@dataclasses.dataclass
class Known:
    a: int


def test_what_no_field_takes_is_dropped_with_an_unknown_one():
    others = [
        bson.ObjectId(),
        bson.Regex("("),
        bson.Code("x"),
        bson.MinKey(),
        bson.Timestamp(1, 2),
        bson.Binary(b"x", 128),
    ]
    for other in others:
        data = bson.encode({"a": 1, "b": other})
        assert codec(Known).decode(data) == Known(1)
        with pytest.raises(DecodeError):
            codec(dict[str, int | str | bytes]).decode(data)


def test_messages_are_read_by_another_reader():
    value = {"t": np.arange(3, dtype=np.int16)}
    found = bson.decode(codec(dict[str, np.ndarray]).encode(value))
    assert found == {"t": {"dtype": "int16", "shape": [3], "data": b"\0\0\1\0\2\0"}}
