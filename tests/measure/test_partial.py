"""Partial reads give the leaves that were chosen, by whatever way a codec has; a codec that misreads is caught."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.measure.made import Point, payload
from zcser import registry
from zcser.measure.bench import Bench, MismatchError
from zcser.measure.operations import OPERATIONS
from zcser.measure.partial import READS, walks
from zcser.measure.prepare import require
from zcser.payloads.base import Places
from zcser.schema.from_python import schema_of


def triple(number: int) -> Point:
    return Point(f"point {number}", [number, 10 + number, 20 + number])


PLACES = Places(
    4, {"1": ("/xs/1",), "2": ("/xs/0", "/xs/2"), "10%": ("/name",), "all": ("/name", "/xs/0", "/xs/1", "/xs/2")}
)
WALKING = Places(4, {**PLACES.reads, "all": ()})


def bench(name: str, places: Places = PLACES) -> Bench:
    codec = registry.codec(name, schema_of(Point))
    return Bench(payload(triple, places=places), codec, codec, fields=("/name",), rotation=8, prepare_ns=10**9)


@pytest.mark.parametrize("codec", ["json", "flatbuffers", "flatbuffers-official"])
def test_a_partial_read_gives_its_leaves(codec):
    on = bench(codec)
    expected = {"read-1": 15, "read-2": (5, 25), "read-10%": "point 5", "read-all": ("point 5", 5, 15, 25)}
    for operation in READS:
        if operation.endswith("-unverified") and codec == "json":
            continue
        prepared = OPERATIONS[operation].prepare(on)
        require(prepared)
        assert prepared.call(on.wires[5]) == expected[operation.removesuffix("-unverified")]


@pytest.mark.parametrize("codec", ["json", "flatbuffers"])
def test_all_leaves_are_walked_where_none_is_named(codec):
    prepared = OPERATIONS["read-all"].prepare(bench(codec, WALKING))
    require(prepared)
    assert prepared.call(prepared.inputs.first()[1]) is None
    assert walks("read-all", WALKING)
    assert not walks("read-all", PLACES)
    assert not walks("read-2", WALKING)
    assert not walks("decode", WALKING)


def test_a_leaf_that_is_read_wrongly_is_a_mismatch():
    on = bench("json")
    misread = replace(OPERATIONS["read-2"].prepare(on), call=lambda _: (0, 21))
    with pytest.raises(MismatchError, match=r"/xs/2: .*int 21 against int 20"):
        require(misread)
