"""MessagePack by the vectors of msgpack-test-suite (kawanet): every encoding of a value is read as that value."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conformance.laws import INFO, assert_same, param, read
from tests.conftest import SHARED_DATA
from zcser import registry
from zcser.core.errors import DecodeError
from zcser.schema.annotations import UInt64

SUITE = SHARED_DATA / "msgpack" / "msgpack-test-suite.json"
NAMES = [param(name) for name, info in INFO.items() if info.wire == "msgpack"]
LEAF = bool | int | float | str | bytes | None
pytestmark = pytest.mark.parametrize("name", NAMES)


def vectors(*kinds: str) -> list[tuple[str, Any, list[bytes]]]:
    if not SUITE.exists():
        pytest.skip("the shared data is not beside this checkout")
    entries = [entry for group in json.loads(SUITE.read_text(encoding="utf-8")).values() for entry in group]
    return [
        (kind, entry[kind], [bytes.fromhex(text.replace("-", "")) for text in entry["msgpack"]])
        for entry in entries
        for kind in kinds
        if kind in entry
    ]


def is_float(data: bytes) -> bool:
    return data[0] in {0xCA, 0xCB}


def test_nil_bools_strings_and_bytes(name):
    for kind, value, messages in vectors("nil", "bool", "string", "binary"):
        wanted = bytes.fromhex(value.replace("-", "")) if kind == "binary" else value
        for schema in (LEAF, None if kind == "nil" else type(wanted)):
            codec = registry.codec(name, schema)
            assert codec.encode(wanted) == messages[0]
            for data in messages:
                assert_same(read(codec, data), wanted)


def test_numbers_are_of_the_kind_that_stands_on_the_wire(name):
    for kind, value, messages in vectors("number", "bignum"):
        number = int(value) if kind == "bignum" else value
        whole = UInt64 if number >= 2**63 else int
        for data in messages:
            found = read(registry.codec(name, whole), data)
            if is_float(data):
                assert isinstance(found, DecodeError)
            else:
                assert_same(found, number)
            if abs(number) < 2**53:
                assert_same(read(registry.codec(name, float), data), float(number))


def test_containers_of_every_width(name):
    item = LEAF | list[LEAF] | dict[str, LEAF]
    of_kind = {"array": list[item], "map": dict[str, item]}
    for kind, value, messages in vectors("array", "map"):
        codec = registry.codec(name, of_kind[kind])
        assert codec.encode(value) == messages[0]
        for data in messages:
            assert_same(read(codec, data), value)


def test_what_no_schema_has_a_kind_for_is_refused(name):
    for _, _, messages in vectors("ext", "timestamp"):
        for data in messages:
            for schema in (int, float, str, bytes, LEAF, list[bytes], dict[str, bytes]):
                assert isinstance(read(registry.codec(name, schema), data), DecodeError)
                assert isinstance(read(registry.codec(name, list[schema]), b"\x91" + data), DecodeError)
