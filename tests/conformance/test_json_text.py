"""JSON text by the files of JSONTestSuite (Nicolas Seriot): what every codec of the wire accepts and refuses.

The schema of a file that must be accepted is inferred from what the standard library makes of it, which is also the
expected value.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import json
import math
from typing import Any, Literal

import pytest

from tests.conformance.laws import INFO, assert_same, parts, read
from tests.conftest import SHARED_DATA
from zcser import registry
from zcser.core.codec import Codec
from zcser.core.errors import DecodeError, SchemaError
from zcser.schema.annotations import Float32, UInt64
from zcser.schema.from_sample import infer
from zcser.schema.model import Bool, Float, Int, List, Map, Optional, Ref, Schema, Str, Union
from zcser.schema.model import Field as SchemaField
from zcser.schema.model import Record as SchemaRecord
from zcser.schema.normal import normal

SUITE = SHARED_DATA / "json_testsuite"
NAMES = [name for name, info in INFO.items() if info.wire == "json"]


@dataclasses.dataclass
class Pair:
    a: int
    b: int


def files(prefix: str) -> list[Any]:
    found = sorted(SUITE.glob(f"{prefix}_*.json")) if SUITE.is_dir() else []
    if not found:
        return [pytest.param(None, marks=pytest.mark.skip(reason="the shared data is not beside this checkout"))]
    return [pytest.param(path, id=path.stem) for path in found]


def plain_schemas() -> list[Schema]:
    """Schemas that between them take most JSON: whatever a bad file looks like, one of them is near."""
    leaf = Union((Bool(), Int(), Float(), Str()))
    record = SchemaRecord(
        "R", (SchemaField("a", Optional(leaf), 1, required=False), SchemaField("b", Optional(leaf), 2, required=False))
    )
    return [
        Schema(Optional(leaf)),
        Schema(List(Optional(leaf))),
        Schema(Map(Str(), Optional(leaf))),
        Schema(Ref("R"), (record,)),
        Schema(List(List(Optional(leaf)))),
        Schema(Float()),
        Schema(Str()),
    ]


PLAIN = plain_schemas()


@functools.cache
def plain_codecs() -> tuple[tuple[Codec[Any], ...], ...]:
    """For each of the plain schemas, the codecs of the wire."""
    return tuple(map(carrying, PLAIN))


def carrying(schema: Schema) -> tuple[Codec[Any], ...]:
    """The codecs of the wire that carry a schema."""
    found = []
    for name in NAMES:
        with contextlib.suppress(SchemaError):
            found.append(registry.codec(name, schema))
    return tuple(found)


@pytest.mark.parametrize("path", files("y"))
def test_what_must_be_accepted_is_accepted_with_one_value(path):
    data = path.read_bytes()
    value = json.loads(data)
    schema = infer([value])
    expected = normal(schema, value)
    for name in NAMES:
        assert_same(read(registry.codec(name, schema), data), expected)


@pytest.mark.parametrize("path", files("n"))
def test_what_must_be_refused_is_refused_by_every_codec(path):
    data = path.read_bytes()
    for codec in itertools.chain.from_iterable(plain_codecs()):
        assert isinstance(read(codec, data), DecodeError), (codec.name, codec.schema)


@pytest.mark.parametrize("path", [*files("i")])
def test_what_may_be_either_is_the_same_to_every_codec(path):
    data = path.read_bytes()
    alike = list(plain_codecs())
    # Some of these have no schema, or one that a codec does not carry.
    with contextlib.suppress(ValueError, RecursionError, SchemaError):
        value = json.loads(data)
        if all(math.isfinite(part) for part in parts(value) if type(part) is float):
            alike.append(carrying(infer([value])))
    for codecs in alike:
        found = {codec.name: read(codec, data) for codec in codecs}
        refused = [name for name, value in found.items() if isinstance(value, DecodeError)]
        assert refused in ([], list(found)), found
        if not refused:
            for value in found.values():
                assert_same(value, next(iter(found.values())))


TRANSFORM = {
    "number_1.0": (list[float], [1.0]),
    "number_1e6": (list[float], [1000000.0]),
    "number_1e-999": (list[float], [0.0]),
    "number_1.000000000000000005": (list[float], [1.0]),
    "number_1000000000000000": (list[int], [1000000000000000]),
    "number_9223372036854775807": (list[int], [9223372036854775807]),
    "number_-9223372036854775808": (list[int], [-9223372036854775808]),
    "number_9223372036854775808": (list[int], None),
    "number_-9223372036854775809": (list[int], None),
    "number_10000000000000000999": (list[int], None),
    "object_same_key_different_values": (dict[str, int], {"a": 2}),
    "object_same_key_same_value": (dict[str, int], {"a": 1}),
    "object_same_key_unclear_values": (dict[str, int], {"a": 0}),
    "object_key_nfc_nfd": (dict[str, str], {"\u00e9": "NFC", "e\u0301": "NFD"}),
    "object_key_nfd_nfc": (dict[str, str], {"\u00e9": "NFC", "e\u0301": "NFD"}),
    "string_with_escaped_NULL": (list[str], ["A\0B"]),
    "string_1_escaped_invalid_codepoint": (list[str], None),
    "string_2_escaped_invalid_codepoints": (list[str], None),
    "string_3_escaped_invalid_codepoints": (list[str], None),
    "string_1_invalid_codepoint": (list[str], None),
    "string_2_invalid_codepoints": (list[str], None),
    "string_3_invalid_codepoints": (list[str], None),
}


@pytest.mark.parametrize("file", TRANSFORM)
def test_what_parsers_are_known_to_change_is_right_or_refused(file, shared_data):
    data = (shared_data / "json_testsuite_transform" / f"{file}.json").read_bytes()
    schema, expected = TRANSFORM[file]
    for name in NAMES:
        found = read(registry.codec(name, schema), data)
        if expected is None:
            assert isinstance(found, DecodeError), name
        else:
            assert_same(found, expected)


# Spellings on which parsers differ, put into several kinds of field: whatever the answer is, it is one answer.
SPELLINGS = [
    b"-0", b"-0.0", b"0.0", b"0e5", b"-0e0", b"1.0", b"1e2", b"1E+2", b"10e-1", b"1e400", b"-1e400", b"1e-400", b"4.9e-324",
    b"2.4e-324", b"1.7976931348623157e308", b"1.7976931348623159e308", b"3.4028235e38", b"3.4028236e38", b"1e39", b"0.1",
    b"9007199254740993", b"9007199254740993.0", b"18446744073709551615", b"18446744073709551616", b"-9223372036854775809",
    b"123456789012345678901234567890", b"1" + b"0" * 400, b"0." + b"1" * 400, b"00", b"+1", b"1.", b".5", b"0x1", b"1_0",
    b"NaN", b"Infinity", b"-Infinity", b"true", b"null", b'"1"', b'""', b'"\\u0000"', b'"\\ud83d\\ude00"', b'"\\ud83d"',
    b'"\\uDE00\\uD83D"', b'"\\u00e9"', b'"\xc3\xa9"', b'"\xe9"', b'"\xc0\x80"', b'"\xed\xa0\x80"', b'"\xf4\x90\x80\x80"',
    b'"\x00"', b'"\x1f"', b'"\x7f"', b'"\\/"', b'"\\x"', b"'a'", b"[]", b"{}", b"[1,]", b'{"a":1,}', b"1 2", b" 1 ", b"\t1\n\r",
    b"\x0c1", b"1\x00", b"\xef\xbb\xbf1", b"1//", b"1/**/", b"\xff", b"",
]  # fmt: skip
FIELDS: dict[str, Any] = {
    "int": int,
    "float": float,
    "float32": Float32,
    "uint64": UInt64,
    "number": int | float,
    "text": str,
    "bytes": bytes,
    "anything": bool | int | float | str | None,
    "literal": Literal[1, 2],
}


@pytest.mark.parametrize("field", FIELDS)
def test_all_codecs_read_every_spelling_alike(field):
    for schema, frame in (
        (FIELDS[field], b"%s"),
        (list[FIELDS[field]], b"[%s]"),
        (dict[str, FIELDS[field]], b'{"k":%s}'),
    ):
        codecs = [registry.codec(name, schema) for name in NAMES]
        for spelling in SPELLINGS:
            data = frame % spelling
            found = {codec.name: read(codec, data) for codec in codecs}
            refused = [name for name, value in found.items() if isinstance(value, DecodeError)]
            assert refused in ([], list(found)), (data, found)
            if not refused:
                for value in found.values():
                    assert_same(value, next(iter(found.values())))


@pytest.mark.parametrize("unknown_fields", ["drop", "refuse"])
def test_the_last_of_equal_keys_stands(unknown_fields):
    for schema, data, expected in (
        (dict[str, int], b'{"a":1,"b":2,"a":3}', {"a": 3, "b": 2}),
        (Pair, b'{"a":1,"b":2,"a":3}', Pair(3, 2)),
        (Pair, b'{"a":"wrong","b":2,"a":3}', Pair(3, 2)),
        (Pair, b'{"a":1,"b":2,"a":"wrong"}', None),
        (Pair, b'{"a":1,"a":2}', None),
        (dict[int, int], b'{"1":1,"1":2}', {1: 2}),
    ):
        for name in NAMES:
            found = read(registry.codec(name, schema, unknown_fields=unknown_fields), data)
            if expected is None:
                assert isinstance(found, DecodeError), (name, data)
            else:
                assert_same(found, expected)


def test_keys_that_are_no_text_have_one_spelling():
    for schema, good, wrong in (
        (
            dict[int, int],
            (b"0", b"-1", b"9223372036854775807"),
            (b"00", b"+1", b" 1", b"-0", b"1.0", b"1_0", b"\xd9\xa1", b""),
        ),
        (dict[bool, int], (b"true", b"false"), (b"True", b"1", b"", b"null")),
    ):
        for name in NAMES:
            codec = registry.codec(name, schema)
            for key in good:
                assert isinstance(read(codec, b'{"%s":1}' % key), dict)
            for key in wrong:
                assert isinstance(read(codec, b'{"%s":1}' % key), DecodeError), (name, key)


def test_base64_has_one_spelling():
    for name in NAMES:
        codec = registry.codec(name, bytes)
        assert read(codec, b'"AQID"') == b"\x01\x02\x03"
        assert read(codec, b'""') == b""
        for wrong in (
            b"AQI",
            b"AQID=",
            b"AQ==AQ==",
            b"AQI D",
            b"AQI\\n",
            b"-_-_",
            b"A===",
            b"====",
            b"AQ=",
            b"\xc3\xa9AAA",
            b"AQI==",
        ):
            assert isinstance(read(codec, b'"' + wrong + b'"'), DecodeError), (name, wrong)
