"""What every view promises, for every codec that has views and every schema that it carries."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Iterator
from typing import Any, TypedDict

import numpy as np
import pytest

from tests.conformance.laws import assert_same, carriers, cells, make, messages, param, row, written
from tests.conformance.schemas import CASES, Point
from zcser import registry
from zcser.core.errors import ReleasedViewError, SchemaError
from zcser.core.view import MapView, RecordView, SequenceView, View, at, release, to_value
from zcser.schema.model import Ref

OPEN = carriers("json_like", "view")


@dataclasses.dataclass
class Batch:
    id: int
    title: str | None
    points: list[Point]
    named: dict[str, list[int]]
    tensors: list[np.ndarray]
    blob: bytes


class Loose(TypedDict, total=False):
    id: int
    keys: list[str]
    value: str | None


BATCH = Batch(
    7, None, [Point(1.0, 2.0), Point(3.0, 4.0)], {"a/b": [1, 2], "c": []}, [np.arange(6.0).reshape(2, 3)], b"xyz"
)


def opened(name: str, source: Any = Batch, value: Any = BATCH) -> Any:
    return registry.codec(name, source).view(written(name, source, value))


@pytest.mark.parametrize("name", OPEN)
def test_fields_are_read_by_name_and_by_attribute(name):
    view = opened(name)
    assert (view["id"], view.id) == (7, 7)
    assert view["title"] is None
    assert view.points[1]["x"] == 3.0
    assert view.points[-1].y == 4.0
    assert list(view["named"]["a/b"]) == [1, 2]
    assert_same(view.tensors[0], BATCH.tensors[0])
    assert bytes(view.blob) == b"xyz"
    assert isinstance(view, RecordView)
    assert isinstance(view.points, SequenceView)
    assert isinstance(view.named, MapView)


@pytest.mark.parametrize("name", OPEN)
def test_class_and_dict_schemas_have_the_same_views(name):
    view = opened(name, Loose, {"keys": ["a"], "value": None})
    assert list(view["keys"]) == ["a"]
    assert list(view.keys) == ["a"]
    assert (view["id"], view["value"], view.value) == (None, None, None)
    assert "id" not in view
    assert "value" in view
    assert set(view) == {"keys", "value"}
    assert len(view) == 2


@pytest.mark.parametrize("name", OPEN)
def test_what_is_not_there_is_a_key_or_index_error(name):
    view = opened(name)
    with pytest.raises(KeyError, match="Batch"):
        view["nobody"]
    with pytest.raises(AttributeError):
        view.nobody  # noqa: B018 - the access is the test
    with pytest.raises(KeyError):
        view.named["nobody"]
    with pytest.raises(KeyError):
        view.named[5]
    assert view.named.get("nobody") is None
    for index in (2, -3, 10**30):
        with pytest.raises(IndexError):
            view.points[index]
    for wrong in (1.0, None, "0", np.array([0])):
        with pytest.raises(TypeError):
            view.points[wrong]
    assert view.points[np.int64(-1)].x == 3.0
    assert view.points[5:] == []
    assert [point.x for point in view.points[::-1]] == [3.0, 1.0]


@pytest.mark.parametrize("name", OPEN)
def test_a_view_is_read_only_and_equal_only_to_itself(name):
    view = opened(name)
    for change in (lambda: setattr(view, "id", 5), lambda: view.__setitem__("id", 5), lambda: view.points.append(1)):
        with pytest.raises((AttributeError, TypeError)):
            change()
    assert view != opened(name)
    assert view == view  # noqa: PLR0124 - that is the law
    assert len({view, view.points, view.named, opened(name)}) == 4


@pytest.mark.parametrize("name", OPEN)
def test_paths_lead_into_views_and_values_alike(name):
    view = opened(name)
    value = to_value(view)
    for root in (view, value):
        assert at(root, "/id") == 7
        assert at(root, "/points/1/x") == 3.0
        assert at(root, ("points", 1, "x")) == 3.0
        assert at(root, "/named/a~1b/0") == 1
        assert at(root, ("named", "a/b", 0)) == 1
        assert at(root, "/tensors/0/1/2") == 5.0
        assert at(root, "/title") is None
        assert at(root, "/blob/0") == ord("x") if root is view else True
        for wrong in ("/nobody", "/points/2", "/points/x", "/named/a", "/title/x", "/id/0", "/tensors/0/9"):
            with pytest.raises(LookupError, match="nothing at"):
                at(root, wrong)
    assert at(view, "") is view


@pytest.mark.parametrize("name", OPEN)
def test_a_pointer_is_a_path_that_was_found_in_the_schema_before(name):
    codec, data = registry.codec(name, Batch), written(name, Batch, BATCH)
    view = codec.view(data)
    for path in ("/id", "/points/1/x", ("points", -1, "x"), "/named/a~1b/0", "/tensors/0/1/2", "/title", "/blob/0"):
        pointer = codec.pointer(path)
        assert pointer(view) == pointer(data) == pickle.loads(pickle.dumps(pointer))(data) == at(view, path)
    assert codec.pointer("")(view) is view
    for wrong in ("/nobody", "/points/x", "/title/x", "/id/0", "/blob/0/0"):
        with pytest.raises(SchemaError, match="no message has"):
            codec.pointer(wrong)
    for missing in ("/points/2/x", "/named/z/0", "/tensors/0/9"):
        with pytest.raises(LookupError, match="nothing at"):
            codec.pointer(missing)(view)
    release(view)
    with pytest.raises(ReleasedViewError):
        codec.pointer("/id")(view)


@pytest.mark.parametrize("name", OPEN)
def test_release_ends_access_through_the_view_and_all_its_children(name):
    view = opened(name)
    point, points, named, tensor = view.points[0], view.points, view.named, view.tensors[0]
    release(view)
    release(view)
    for read in (
        lambda: view["id"],
        lambda: view.id,
        lambda: point["x"],
        lambda: points[0],
        lambda: list(points),
        lambda: len(points),
        lambda: named["c"],
        lambda: list(named),
        lambda: to_value(view),
        lambda: to_value(points),
        lambda: to_value(named),
        lambda: at(view, "/id"),
        lambda: pickle.dumps(view),
    ):
        with pytest.raises(ReleasedViewError):
            read()
    assert_same(tensor.copy(), BATCH.tensors[0])
    for each in (view, point, points, named):
        assert "released" in repr(each)


@pytest.mark.parametrize("name", OPEN)
def test_releasing_one_view_leaves_others_of_the_same_bytes_alone(name):
    one, other = opened(name), opened(name)
    release(one)
    assert other.id == 7
    assert opened(name).id == 7


@pytest.mark.parametrize("name", OPEN)
def test_children_outlive_the_names_of_their_parents(name):
    def points() -> Any:
        return opened(name).points

    found = points()
    assert [point.x for point in found] == [1.0, 3.0]
    assert_same(to_value(found), BATCH.points)


@pytest.mark.parametrize("name", OPEN)
def test_many_views_live_at_once(name):
    views = [opened(name, list[int], [number]) for number in range(50)]
    assert [view[0] for view in views] == list(range(50))


def views(name: str, case: str) -> Iterator[tuple[Any, Any]]:
    codec = make(name, case)
    for data, expected in messages(name, case, 4):
        yield codec.view(data), expected


@pytest.mark.parametrize(("name", "case"), cells("view"))
def test_every_view_has_a_repr_and_pickles_as_its_value(name, case):
    for view, expected in views(name, case):
        assert repr(view)
        if isinstance(view, View):
            assert len(repr(view)) < 10_000
            assert_same(pickle.loads(pickle.dumps(view)), expected)


RECORDS = tuple(case for case, schema in CASES.items() if isinstance(schema.root, Ref))


@pytest.mark.parametrize(("name", "case"), cells("view", cases=RECORDS))
def test_attributes_are_the_fields_whose_names_do_not_collide(name, case):
    for view, _ in views(name, case):
        for item in CASES[case].record(CASES[case].root.name).fields:
            if item.name.isidentifier() and not item.name.startswith("_") and item.name != "class":
                assert_same(to_value(getattr(view, item.name)), to_value(view[item.name]))
            else:
                view[item.name]


def test_the_header_has_views_of_fixed_records():
    if param("header").marks:
        pytest.skip("the header codec is missing")
    assert "sized" in RECORDS
    assert "header" in row("sized")["carry"]
