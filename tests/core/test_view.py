"""What every view promises, shown on a view over a dict: no codec is involved."""

from __future__ import annotations

import dataclasses
import enum
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from zcser.core.errors import ReleasedViewError
from zcser.core.view import (
    MapView,
    RecordView,
    SequenceView,
    at,
    record_view_class,
    release,
    released,
    retained_bytes,
    to_value,
)


class Source:
    def __init__(self, value: Any) -> None:
        self.value = value


class Over(RecordView):
    __slots__ = ("here", "source")

    def __init__(self, source: Source, here: Any) -> None:
        self.source = source
        self.here = here

    def read(self, name: str) -> Any:
        if self.source.value is None:
            raise released()
        return self.here.get(name)

    def _zc_value(self) -> Any:
        return dict(self.here)

    def _zc_release(self) -> None:
        self.source.value = None

    def _zc_retained(self) -> int:
        return 7


class Items(SequenceView):
    __slots__ = ("items",)

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def _zc_item(self, index: int) -> Any:
        return self.items[index]

    def _zc_value(self) -> Any:
        return list(self.items)


class Entries(MapView):
    __slots__ = ("entries",)

    def __init__(self, entries: dict[Any, Any]) -> None:
        self.entries = entries

    def __getitem__(self, key: Any) -> Any:
        return self.entries[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def _zc_value(self) -> Any:
        return dict(self.entries)


def getter(name: str) -> Any:
    return lambda view: view.read(name)


# Names that collide with Python, with the view's own, or that are no identifiers.
NAMES = ("plain", "class", "", "a/b", "_zc_value", "__len__", "here", "_zc_record", "größe", "tensor", "absent")


@pytest.fixture
def view() -> Any:
    value: dict[str, Any] = {name: number for number, name in enumerate(NAMES)}
    value["tensor"] = np.zeros(10**6, np.uint8)
    del value["absent"]
    cls = record_view_class(Over, "Odd", {name: getter(name) for name in NAMES})
    return cls(Source(value), value)


def test_every_field_can_be_read_by_name_whatever_it_collides_with(view):
    for number, name in enumerate(NAMES[:-2]):
        assert view[name] == number
    assert view["absent"] is None


def test_attributes_serve_where_no_python_name_collides(view):
    assert view.plain == 0
    assert view.größe == 8
    assert callable(view._zc_value)
    with pytest.raises(AttributeError):
        view.nothing  # noqa: B018 - the access is the test


@pytest.mark.parametrize("name", ["nothing", 5, None, b"plain", ["plain"], "PLAIN"])
def test_an_unknown_name_is_a_key_error_that_lists_the_known_ones(view, name):
    with pytest.raises(KeyError, match="plain"):
        view[name]


def test_a_record_view_counts_only_the_fields_that_are_there(view):
    assert "absent" not in view
    assert "plain" in view
    assert "nothing" not in view
    assert len(view) == len(NAMES) - 1
    assert set(view) == set(NAMES) - {"absent"}


def test_a_view_is_read_only(view):
    with pytest.raises((AttributeError, TypeError)):
        view.plain = 5
    with pytest.raises(TypeError):
        view["plain"] = 5


def test_views_are_equal_to_themselves_only_and_hash_by_identity(view):
    other = type(view)(view.source, view.here)
    assert view == view  # noqa: PLR0124 - that is the law
    assert view != other
    assert len({view, other}) == 2
    assert Items([1]) != Items([1])
    assert Entries({}) != Entries({})
    assert len({Items([]), Items([]), Entries({}), Entries({})}) == 4


def test_repr_is_short_and_does_not_touch_the_elements_of_a_tensor(view):
    text = repr(view)
    assert "plain=0" in text
    assert "<uint8 [1000000]>" in text
    assert len(text) < 500
    assert repr(Items([0] * 1000)) == "<view of a list: 1000 items>"
    assert repr(Entries({1: 2})) == "<view of a map: 1 entries>"


def test_a_released_view_says_so_and_still_has_a_repr(view):
    release(view)
    with pytest.raises(ReleasedViewError, match="released"):
        view["plain"]
    with pytest.raises(ReleasedViewError):
        view.plain  # noqa: B018 - the access is the test
    assert "released" in repr(view)
    release(view)


def test_a_view_pickles_as_its_value(view):
    del view.here["tensor"]
    assert pickle.loads(pickle.dumps(view)) == view.here
    assert pickle.loads(pickle.dumps(Items([1, 2]))) == [1, 2]


def test_a_sequence_view_is_a_sequence():
    items = Items([10, 20, 30])
    assert [items[0], items[-1], items[-3]] == [10, 30, 10]
    assert items[1:] == [20, 30]
    assert items[::-1] == [30, 20, 10]
    assert list(items) == [10, 20, 30]
    assert 20 in items
    assert items.index(30) == 2
    for wrong in (3, -4):
        with pytest.raises(IndexError, match=str(wrong)):
            items[wrong]


def test_to_value_makes_everything_the_callers_own():
    source = bytearray(b"abc")
    assert to_value(memoryview(source)) == b"abc"
    array = np.arange(3)
    array.flags.writeable = False
    copy = to_value(array)
    assert copy.flags.writeable
    assert not np.shares_memory(copy, array)
    assert to_value(Items([1])) == [1]
    assert to_value(5) == 5
    assert to_value(None) is None


def test_release_and_retained_bytes_take_views_alone(view):
    assert retained_bytes(view) == 7
    for value in ({}, np.zeros(3), None):
        with pytest.raises(TypeError, match="takes a view"):
            release(value)
        with pytest.raises(TypeError, match="takes a view"):
            retained_bytes(value)


@dataclasses.dataclass
class Point:
    x: float
    rows: list[Any]

    def method(self) -> None:
        """Something that is no field."""


class Colour(enum.Enum):
    RED = 1


def test_one_path_serves_views_and_values_alike(view):
    view.here["plain"] = Items([Entries({"k": 1, 3: "three"}), Point(1.5, [np.arange(4)])])
    for root in (view, view.here):
        assert at(root, "/plain/0/k") == 1
        assert at(root, ("plain", 0, "k")) == 1
        assert at(root, "/plain/0/3") == "three"
        assert at(root, ("plain", 0, 3)) == "three"
        assert at(root, "/plain/1/x") == 1.5
        assert at(root, "/plain/1/rows/0/2") == 2
        assert at(root, "/a~1b") == 3
        assert at(root, "/") == 2
    assert at(view, "") is view


@pytest.mark.parametrize(
    ("root", "path", "step"),
    [
        ({"a": [1]}, "/b", "/b"),
        ({"a": [1]}, "/a/5", "/a/5"),
        ({"a": [1]}, "/a/x", "/a/x"),
        ({"a": [1]}, "/a/-", "/a/-"),
        ({"a": "text"}, "/a/0", "/a/0"),
        ({"a": None}, "/a/b", "/a/b"),
        ({"a": Point(1.0, [])}, "/a/z", "/a/z"),
        ([np.arange(3)], "/0/3", "/0/3"),
        ([[1]], "/0/0/0/0", "/0/0/0"),
    ],
)
def test_a_path_that_leads_nowhere_names_the_step(root, path, step):
    with pytest.raises(LookupError, match=f"nothing at {step}:"):
        at(root, path)


@pytest.mark.parametrize(
    ("root", "path"),
    [
        (1, "/real"),
        (True, "/numerator"),
        (1.5, "/hex"),
        ([1], "/append"),
        (Colour.RED, "/value"),
        (Point(1.0, []), "/method"),
        (Point(1.0, []), "/__class__"),
        (Items([1]), "/items"),
    ],
)
def test_a_path_reads_fields_and_never_other_attributes(root, path):
    with pytest.raises(KeyError):
        at(root, path)


def test_at_passes_on_that_a_view_was_released(view):
    release(view)
    with pytest.raises(ReleasedViewError):
        at(view, "/plain")
