"""Compiled readers read what `zcser.at` reads, and a touch meets every leaf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from zcser.core.view import MapView, RecordView, SequenceView, at, record_view_class
from zcser.measure.access import aliases, flat_leaves, reader, shape_of, touch
from zcser.payloads.places import leaves


@dataclass
class Inner:
    name: str
    scores: list


VALUE = {"a/b": [Inner("x", [1, 2, 3]), Inner("y", [4])], "map": {7: "seven"}, "it's": {"~": (10, 20)}, "n": None}
PATHS = ["/a~1b/1/name", "/a~1b/0/scores/2", "/map/7", "/it's/~0/1", ""]


@pytest.mark.parametrize("path", PATHS)
def test_a_compiled_path_reads_what_at_reads(path):
    read = reader(lambda data: data, "open(data)", VALUE, [path])
    assert read(VALUE) == at(VALUE, path)


def test_several_paths_open_the_message_once():
    opened: list[object] = []

    def opener(data, *, copy):
        opened.append((data, copy))
        return VALUE

    read = reader(opener, "open(data, copy=False)", VALUE, PATHS[:3])
    assert read("bytes") == tuple(at(VALUE, path) for path in PATHS[:3])
    assert opened == [("bytes", False)]


@pytest.mark.parametrize("path", ["/none", "/a~1b/9/name", "/n/x", "/a~1b/0/name/0", "/map/eight"])
def test_a_path_that_leads_nowhere_has_no_shape_and_no_reader(path):
    assert shape_of(VALUE, [path]) is None
    with pytest.raises(KeyError, match="nothing at"):
        reader(lambda data: data, "open(data)", VALUE, [path])


def test_values_that_are_stepped_through_differently_have_different_shapes():
    paths = ["/a/0"]
    assert shape_of({"a": [1]}, paths) == shape_of({"a": [2, 3]}, paths)
    assert shape_of({"a": {"0": 1}}, paths) != shape_of({"a": [1]}, paths)


def test_a_part_that_several_paths_go_through_is_taken_once():
    taken: list[str] = []

    class Counting(dict):
        def __getitem__(self, key):
            taken.append(key)
            return super().__getitem__(key)

    value = Counting(a=Counting(b=Counting(x=1, y=2), c=3), d=4)
    read = reader(lambda data: data, "open(data)", value, ["/a/b/x", "/a/b/y", "/a/c", "/d"])
    taken.clear()
    assert read(value) == (1, 2, 3, 4)
    assert sorted(taken) == ["a", "b", "c", "d", "x", "y"]


class _Items(SequenceView):
    def __init__(self, items):
        self.items = items

    def _zc_item(self, index):
        return self.items[index]

    def __len__(self):
        return len(self.items)


class _Entries(MapView):
    def __init__(self, items):
        self.items_ = items

    def __getitem__(self, key):
        return self.items_[key]

    def __iter__(self):
        return iter(self.items_)

    def __len__(self):
        return len(self.items_)


def test_touch_reads_every_leaf_of_nested_views_once():
    seen: list[str] = []

    def leaf(name):
        return lambda _: seen.append(name)

    inner = record_view_class(RecordView, "Inner", {"x": leaf("x"), "y": leaf("y")})
    outer = record_view_class(
        RecordView,
        "Outer",
        {
            "plain": leaf("plain"),
            "list": lambda _: _Items([inner(), inner(), 3]),
            "map": lambda _: _Entries({"k": inner(), "l": _Items([])}),
            "none": lambda _: None,
        },
    )
    touch(outer())
    assert seen == ["plain", "x", "y", "x", "y", "x", "y"]


def test_touch_goes_into_plain_values():
    seen: list[str] = []

    class Noting:
        def __getattribute__(self, name):
            seen.append(name)
            return object.__getattribute__(self, name)

    @dataclass
    class Both(Noting):
        left: object
        right: object

    touch({"k": [Both(1, (Both("x", None),))], "l": Point(1, 2)})
    assert [name for name in seen if name in ("left", "right")] == ["left", "right", "left", "right"]


def test_a_value_with_views_has_the_leaves_of_its_copy():
    array = np.arange(3)
    with_views = {"b": [memoryview(b"ab")], "a": Inner("x", [array])}
    copied = {"a": Inner("x", [array]), "b": [b"ab"]}
    assert list(flat_leaves(with_views)) == list(flat_leaves(copied))
    changed = {"a": Inner("x", [array]), "b": [b"ac"]}
    assert list(flat_leaves(copied)) != list(flat_leaves(changed))
    assert list(flat_leaves([1, [2]])) != list(flat_leaves([1, 2]))
    assert list(flat_leaves([1])) != list(flat_leaves((1,)))


class Point(NamedTuple):
    x: int
    y: int


def test_a_named_tuple_is_read_by_name():
    assert shape_of({"a": Point(1, 2)}, ["/a/y"]) == ("key", "attribute")
    assert list(flat_leaves(Point(1, 2))) == [Point, 1, 2]
    assert list(leaves([Point(1, 2)])) == [((0, "x"), 1), ((0, "y"), 2)]


def test_aliasing_is_told_by_address():
    data = bytes(range(64))
    inside = np.frombuffer(data, np.uint8)[8:16]
    assert aliases({"a": Inner("x", [inside])}, data)
    assert aliases([memoryview(data)[3:5]], data)
    assert not aliases({"a": Inner("x", [inside.copy(), memoryview(bytes(8))])}, data)
