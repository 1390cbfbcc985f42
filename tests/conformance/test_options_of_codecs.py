"""What the options promise, for every codec alike."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any, NotRequired, TypedDict

import numpy as np
import pytest

from tests.conformance.laws import (
    BY_ORDER,
    INFO,
    assert_round_trip,
    assert_same,
    carriers,
    cells,
    codecs,
    has,
    make,
    messages,
    row,
    written,
)
from tests.conformance.schemas import CASES, Node
from tests.conformance.strategies import samples
from zcser import registry
from zcser.core.errors import DecodeError, EncodeError
from zcser.core.fidelity import equal
from zcser.core.options import Limits
from zcser.core.view import to_value

# Those of fixed places have no fields that a reader could not know, no maps and no lists of lists.
OPEN = carriers("json_like")
EVOLVING = [value for value in OPEN if value.values[0] not in BY_ORDER]
# To pickle a class of another name is another class, so that no message of one is read as the other.
BY_FIELD = [value for value in EVOLVING if value.values[0] != "pickle"]
OPEN_WRITERS = carriers("json_like", "encode")


@pytest.mark.parametrize(("name", "case"), cells("encode"))
def test_strict_refuses_what_normal_would_change_and_nothing_else(name, case):
    codec = registry.codec(name, CASES[case], strict=True)
    for value in (*samples(CASES[case], 10), *samples(CASES[case], 15, loose=True)):
        assert_round_trip(codec, value)


@pytest.mark.parametrize(("name", "case"), cells("encode"))
def test_without_the_guard_normal_values_come_back_the_same(name, case):
    guarded = make(name, case)
    trusting = registry.codec(name, CASES[case], guard="off")
    for data, expected in messages(name, case, 15):
        assert_same(guarded.decode(trusting.encode(expected)), expected)
        assert_same(trusting.decode(data), expected)


@pytest.mark.parametrize(("name", "case"), cells("view"))
def test_without_verification_good_bytes_show_the_same(name, case):
    codec = make(name, case)
    for data, expected in messages(name, case, 8):
        assert_same(to_value(codec.view(data, verify=False)), expected)


@dataclasses.dataclass
class Narrow:
    a: int
    n: list[Inner]


@dataclasses.dataclass
class Inner:
    x: str


@dataclasses.dataclass
class Wide:
    a: int
    n: list[WideInner]
    text: str
    numbers: list[float]
    tensor: np.ndarray
    named: dict[str, int]


@dataclasses.dataclass
class WideInner:
    x: str
    more: Inner | None
    flag: bool


class NarrowDict(TypedDict):
    a: int


class WideDict(TypedDict):
    a: int
    b: NotRequired[str]
    c: int


# The classes are one record to a wire that carries names of records; their names must not matter.
WIDE = Wide(1, [WideInner("x", Inner("y"), True), WideInner("", None, False)], "t", [1.0], np.arange(3), {"k": 1})
NARROW = Narrow(1, [Inner("x"), Inner("")])


@pytest.mark.parametrize("name", BY_FIELD)
def test_unknown_fields_are_dropped_by_default_and_refused_on_request(name):
    for wide, value, narrow, expected in (
        (Wide, WIDE, Narrow, NARROW),
        (WideDict, {"a": 5, "b": "", "c": 1}, NarrowDict, {"a": 5}),
        (WideDict, {"a": 5, "c": 7}, NarrowDict, {"a": 5}),
    ):
        data = written(name, wide, value)
        dropping = registry.codec(name, narrow)
        assert_same(dropping.decode(data), expected)
        assert_same(dropping.decode(written(name, narrow, expected)), expected)
        refusing = registry.codec(name, narrow, unknown_fields="refuse")
        assert_same(refusing.decode(written(name, narrow, expected)), expected)
        with pytest.raises(DecodeError):
            refusing.decode(data)
        if has(name, "view"):
            assert_same(to_value(dropping.view(data)), expected)
            with pytest.raises(DecodeError):
                to_value(refusing.view(data))


@pytest.mark.parametrize("name", BY_FIELD)
def test_an_unknown_field_deep_inside_is_refused_too(name):
    data = written(name, list[WideInner], [WideInner("x", None, True)])
    assert_same(registry.codec(name, list[Inner]).decode(data), [Inner("x")])
    with pytest.raises(DecodeError):
        registry.codec(name, list[Inner], unknown_fields="refuse").decode(data)


@dataclasses.dataclass
class Older:
    a: int


@dataclasses.dataclass
class Newer:
    a: int
    b: int = 5
    c: str = "new"
    d: float = -0.5
    e: bool = True
    f: list[int] = dataclasses.field(default_factory=lambda: [1, 2])
    g: Inner = dataclasses.field(default_factory=lambda: Inner("default"))
    h: dict[str, int] = dataclasses.field(default_factory=lambda: {"k": 1})


@dataclasses.dataclass
class Demanding:
    a: int
    b: Inner


@pytest.mark.parametrize("name", BY_FIELD)
def test_fields_that_an_older_message_lacks_take_their_defaults(name):
    codec = registry.codec(name, Newer)
    data = written(name, Older, Older(7))
    expected = Newer(7)
    if INFO[name].wire == "protobuf":
        # A repeated field that is missing is an empty one: the wire has no other form for an empty list or map.
        expected = Newer(7, f=[], h={})
    assert_same(codec.decode(data), expected)
    assert codec.decode(data).f is not codec.decode(data).f
    if has(name, "view"):
        assert_same(to_value(codec.view(data)), expected)
    # Zero and empty are values, and are not taken for missing.
    zero = Newer(0, 0, "", 0.0, False, [], Inner(""), {})
    assert_same(codec.decode(written(name, Newer, zero)), zero)


@pytest.mark.parametrize("name", BY_FIELD)
def test_a_field_without_a_default_that_is_missing_is_a_decode_error(name):
    codec = registry.codec(name, Demanding)
    data = written(name, Older, Older(7))
    with pytest.raises(DecodeError, match="b"):
        codec.decode(data)
    if has(name, "view"):
        with pytest.raises(DecodeError):
            to_value(codec.view(data))


@pytest.mark.parametrize("name", codecs())
def test_more_bytes_than_the_limit_are_refused_both_ways(name):
    data, expected = messages(name, "sized", 5)[0]
    exact = registry.codec(name, CASES["sized"], limits=Limits(bytes=len(data)))
    less = registry.codec(name, CASES["sized"], limits=Limits(bytes=len(data) - 1))
    assert_same(exact.decode(data), expected)
    for operation in ("decode", "view", "load"):
        if has(name, operation):
            with pytest.raises(DecodeError, match="bytes"):
                getattr(less, operation)(data)
    if has(name, "encode"):
        assert_same(exact.decode(exact.encode(expected)), expected)
        with pytest.raises(EncodeError, match="bytes"):
            less.encode(expected)


def chain(levels: int) -> Node:
    """A node with `levels` records and lists inside each other."""
    node = Node(0, [])
    for _ in range((levels - 2) // 2):
        node = Node(1, [node])
    return node


@pytest.mark.parametrize("name", carriers("recursive"))
def test_depth_is_bounded_alike_on_both_sides(name):
    wide, tight = registry.codec(name, Node), registry.codec(name, Node, limits=Limits(depth=10))
    data = written(name, Node, chain(10))
    assert_same(tight.decode(data), chain(10))
    deeper = written(name, Node, chain(12))
    assert_same(wide.decode(deeper), chain(12))
    with pytest.raises(DecodeError):
        tight.decode(deeper)
    if has(name, "view"):
        with pytest.raises(DecodeError):
            to_value(tight.view(deeper))
    # What one codec writes within the default limit every other can read.
    deepest = written(name, Node, chain(100))
    assert_same(wide.decode(deepest), chain(100))
    if has(name, "encode"):
        tight.encode(chain(10))
        with pytest.raises(EncodeError, match="deeper than 10"):
            tight.encode(chain(12))
        with pytest.raises(EncodeError, match="deeper than 100"):
            wide.encode(chain(102))


@pytest.mark.parametrize(
    ("source", "value"),
    [
        (list[int], [0] * 50),
        (list[float], [0.5] * 50),
        (list[str], [""] * 50),
        (list[None], [None] * 50),
        (dict[str, int], {str(n): n for n in range(50)}),
        (list[list[int]], [[0] * 10 for _ in range(5)]),
        (list[Inner], [Inner("")] * 50),
        (dict[str, list[bool]], {"a": [True] * 25, "b": [False] * 25}),
    ],
    ids=lambda value: str(value)[:24],
)
@pytest.mark.parametrize("name", OPEN)
def test_elements_of_the_whole_message_are_bounded_on_both_sides(name, source, value):
    data = written(name, source, value)
    roomy, tight = (registry.codec(name, source, limits=Limits(elements=n)) for n in (200, 49))
    assert_same(roomy.decode(data), value)
    with pytest.raises(DecodeError, match="elements"):
        tight.decode(data)
    if has(name, "view"):
        with pytest.raises(DecodeError, match="elements"):
            to_value(tight.view(data))
    if has(name, "encode"):
        with pytest.raises(EncodeError, match="elements"):
            tight.encode(value)


class Ordered(TypedDict):
    a: int
    b: NotRequired[dict[str, dict[int, str]]]
    c: dict[str, float]


@pytest.mark.parametrize("name", OPEN_WRITERS)
def test_deterministic_bytes_do_not_depend_on_the_order_of_keys(name):
    codec = registry.codec(name, Ordered, deterministic=True)
    names = ["z", "a", "", "aa", "\u00e9", "B", "\U0001f600", "\uffff"]
    value: Any = {"a": 1, "b": {"x": {3: "c", -1: "b", 10: "a"}, "w": {}}, "c": dict.fromkeys(names, 1.0)}
    found = set()
    for order in itertools.islice(itertools.permutations(names), 0, 40320, 1009):
        other: Any = {"c": dict.fromkeys(order, 1.0), "b": {"w": {}, "x": {10: "a", 3: "c", -1: "b"}}, "a": 1}
        assert equal(other, value)
        found.add(codec.encode(other))
    found.add(codec.encode(value))
    assert len(found) == 1
    assert_same(codec.decode(found.pop()), value)


@pytest.mark.parametrize("name", OPEN_WRITERS)
def test_deterministic_codecs_hold_the_law_of_fidelity(name):
    for case in ("maps", "nested_maps", "odd_names", "json_like", "absent_or_none"):
        if name in row(case)["carry"]:
            codec = registry.codec(name, CASES[case], deterministic=True)
            for value in samples(CASES[case], 10):
                assert_round_trip(codec, value)


def test_every_codec_of_the_registry_takes_all_options():
    options = {
        "limits": Limits(depth=5),
        "unknown_fields": "refuse",
        "deterministic": True,
        "guard": "on",
        "strict": True,
    }
    for name in INFO:
        codec = registry.codec(name, CASES["sized"], **options)
        assert codec.options.limits.depth == 5
