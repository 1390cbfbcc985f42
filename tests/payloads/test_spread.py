"""Which leaves partial reads take: evenly spread, in every value, by arithmetic on the leaves' numbers."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

from zcser.payloads import get
from zcser.payloads.base import Number, Payload
from zcser.payloads.spread import MOST_READ, places_of
from zcser.schema.from_python import schema_of
from zcser.schema.model import Int, Null, Schema


def payload(*values: Any) -> Payload:
    return Payload("p", "", Schema(Null()), values.__getitem__, "", distinct=len(values))


def test_leaves_are_those_at_the_middles_of_equal_parts():
    value = {"a": [0, 1, 2, 3, 4], "b": {"x": 5, "y": 6}, "c": [{"z": number} for number in range(7, 20)]}
    places = places_of(payload(value, value))
    assert places.leaves == 20
    # Of 20: the middles of one part, of two, and of two again for a tenth. Leaf 10 is the fourth of c, 5 is x, 15 the ninth.
    assert places.reads["1"] == ("/c/3/z",)
    assert places.reads["2"] == places.reads["10%"] == ("/b/x", "/c/8/z")
    assert len(places.reads["all"]) == 20
    assert places.reads["all"][:2] == ("/a/0", "/a/1")


def test_a_leaf_that_some_value_lacks_gives_way_to_its_nearest_neighbour():
    first = {"a": 0, "b": 1, "c": 2, "d": 3}
    assert places_of(payload(first)).reads["1"] == ("/c",)
    assert places_of(payload(first, {**first, "c": None})).reads["1"] == ("/d",)
    assert places_of(payload(first, {"a": 0, "b": 1})).reads["1"] == ("/b",)
    assert places_of(payload({**first, "c": None, "d": None})).reads["1"] == ("/b",)


def test_all_leaves_are_named_where_values_have_the_same_few():
    assert places_of(payload({"a": 1, "b": None}, {"a": 2, "b": 3})).reads["all"] == ("/a", "/b")
    assert places_of(payload({"a": 1}, {"a": 2, "b": 3})).reads["all"] == ()
    assert len(places_of(payload([0] * MOST_READ)).reads["all"]) == MOST_READ
    many = places_of(payload([0] * (MOST_READ + 1)))
    assert (many.leaves, many.reads["all"]) == (MOST_READ + 1, ())
    assert len(many.reads["10%"]) == 201


def test_named_fields_come_first():
    value = {"a": 0, "b": 1, "c": 2}
    assert places_of(payload(value), ("/a",)).reads["1"] == ("/a",)
    # The middles of two parts of three are leaves 0 and 2.
    assert places_of(payload(value), ("/b",)).reads["2"] == ("/b", "/a")
    assert places_of(payload(value), ("/c", "/b", "/a")).reads["2"] == ("/c", "/b")


def test_a_value_without_leaves_has_no_places():
    assert places_of(payload({})).reads == {"1": (), "2": (), "10%": (), "all": ()}


def test_places_are_the_same_each_time():
    telemetry = get("telemetry-1k")
    assert places_of(telemetry) == places_of(dataclasses.replace(telemetry))


@dataclasses.dataclass
class Inner:
    ratio: float
    note: str | None


@dataclasses.dataclass
class Outer:
    count: Annotated[int, Int(8)]
    either: int | str
    spare: int | None
    items: list[Inner]
    table: dict[str, int]


def test_the_number_is_one_that_is_always_there():
    def made(_: int) -> Outer:
        return Outer(3, 4, 5, [Inner(1.0, "x"), Inner(2.0, None)], {"a": 1, "b": 2, "c": 3})

    outer = Payload("p", "", schema_of(Outer), made, "", distinct=2)
    # Of nine leaves that hold something, number 4 is the note between the ratios: the later of these comes first.
    assert places_of(outer).number == Number("/items/1/ratio", (1.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0))
    bare = dataclasses.replace(outer, make=lambda _: Outer(3, 4, 5, [], {"a": 1}))
    assert places_of(bare).number == Number("/count", (1, 2, 4, 5, 6, 7, 8, 9))
