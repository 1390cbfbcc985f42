"""The codec ujson: what the library alone reads and writes beyond JSON, and what it must not lose."""

from __future__ import annotations

import math
import random
import struct

import pytest

pytest.importorskip("ujson")

import ujson

from zcser import registry
from zcser.core.errors import DecodeError, EncodeError
from zcser.schema.model import Int, Schema, Str

# RFC 8259 has none of these; the library takes each.
LAX = [
    (int, b"01"), (int, b"-"), (int, b"-01"), (float, b"1."), (float, b"1.e5"), (float, b"-01.5"), (float, b"NaN"),
    (float, b"-Infinity"), (list[int], b"[1,02]"), (list[int], b"[-,1]"), (dict[str, int], b'{"a":00}'),
    (str, b'"a\nb"'), (str, b'"\x01"'), (str, b'"\\t\t"'), (str, b'"\\ud800"'), (str, b'"\\udc00\\ud800"'),
    (str, b'"\xed\xa0\x80"'), (str, b'"\\\\\\ud83d"'),
]  # fmt: skip
# What looks like one of them, and is JSON.
PLAIN = [
    (str, b'"01 -. NaN Infinity 1. "', "01 -. NaN Infinity 1. "), (str, b'"\\\\ud800"', "\\ud800"),
    (str, b'"\\ud83d\\ude00"', "\U0001f600"), (str, b'"\\u00e9\\n\\""', '\u00e9\n"'), (float, b"1e05", 1e5), (float, b"0e0", 0.0),
    (float, b"-0.0", -0.0), (list[float], b"[0, -0.5,\n\t1E+2 ]", [0.0, -0.5, 100.0]), (dict[str, bool], b'{"N":true}', {"N": True}),
]  # fmt: skip


def test_what_the_library_takes_and_json_does_not_is_refused():
    for schema, text in LAX:
        ujson.loads(text)
        with pytest.raises(DecodeError):
            registry.codec("ujson", schema).decode(text)


def test_what_only_looks_like_it_is_read():
    for schema, text, value in PLAIN:
        assert repr(registry.codec("ujson", schema).decode(text)) == repr(value)


def test_json_is_read_by_the_library_and_not_by_the_strict_reader(monkeypatch):
    monkeypatch.setattr("zcser.tree.text.tree_of_text", None)
    for schema, text, value in PLAIN:
        assert registry.codec("ujson", schema).decode(text) == value


def test_text_is_written_as_it_is():
    # RFC 8259, section 7: only quotes, the backslash and control characters must be escaped.
    assert registry.codec("ujson", str).encode('a/b<>&\u00e9\U0001f600"\\\x01\x7f') == (
        '"a/b<>&\u00e9\U0001f600\\"\\\\\\u0001\x7f"'.encode()
    )


def test_floats_and_large_integers_are_exact():
    floats = registry.codec("ujson", list[float])
    rng = random.Random(0)
    drawn = [struct.unpack("<d", rng.randbytes(8))[0] for _ in range(3000)]
    values = [value for value in drawn if math.isfinite(value)] + [
        5e-324,
        1.7976931348623157e308,
        0.1,
        -0.0,
        1e22,
        1 / 3,
    ]
    text = floats.encode(values)
    assert [float(part) for part in text[1:-1].split(b",")] == values  # Python's own reading of the digits
    assert [repr(value) for value in floats.decode(text)] == [repr(value) for value in values]
    integers = registry.codec("ujson", Schema(Int(None)))
    for number in (2**63, 2**64, -(2**63) - 1, 10**40, -(10**400)):
        assert integers.encode(number) == str(number).encode()
        assert integers.decode(str(number).encode()) == number


def test_values_that_the_library_would_change_are_refused():
    class Sly(str):
        __slots__ = ()

        def toDict(self):
            return {"x": 1}

    for schema, value in ((float, math.nan), (str, "\ud800"), (dict[str, int], {1: 2}), (Schema(Str()), 5)):
        with pytest.raises(EncodeError):
            registry.codec("ujson", schema).encode(value)
    assert registry.codec("ujson", str).encode(Sly("a")) == b'"a"'
