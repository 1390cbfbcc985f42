"""All that schemas from .fbs have besides, in the engine in Python: every way to write and to read it, views, and the twin in
C, which is to write the same, read the same and refuse the same."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import zcser
from tests.conformance.laws import assert_same
from tests.flat.everything import ROOT, flat_engine, mutants, outcome, twin, values
from zcser.core.buffers import address
from zcser.core.errors import DecodeError, ReleasedViewError
from zcser.core.options import Limits, Options
from zcser.core.view import RecordView, SequenceView, release, retained_bytes, to_value
from zcser.flat.bfbs import FlatSchema
from zcser.flat.pure import write as pure_write


def test_every_way_to_write_and_to_read_agrees(everything: FlatSchema) -> None:
    engine, other = flat_engine(everything), flat_engine(everything)
    for value in values(everything, 25):
        message, expected = engine.encode(value), zcser.normal(everything, value)
        for scratch in engine._writer._pool:
            scratch.memory[:] = b"\xaa" * len(scratch.memory)
        assert engine.encode(value) == b"".join(engine.encode_segments(value)) == message
        out = bytearray(len(message) + 64)
        start = -address(out) % 64
        assert engine.encode_into(value, out, start) == engine.encoded_size(value) == len(message)
        assert out[start : start + len(message)] == message
        other.verify(message)
        assert_same(other.decode(message), expected)
        assert_same(other.decode(memoryview(b"1234" + message)[4:]), expected)
        assert_same(to_value(other.view(message)), expected)
        assert_same(shown(other.view(message)), expected)


def shown(part: Any) -> Any:
    """What a view shows, step by step."""
    if isinstance(part, RecordView):
        names = part if hasattr(part, "_zc_kind") else part._zc_getters  # of a union, the one option that is there
        return {name: shown(part[name]) for name in names}
    if isinstance(part, SequenceView):
        return [shown(item) for item in part]
    return bytes(part) if isinstance(part, memoryview) else part


@pytest.mark.parametrize("size", [8, 200])
def test_memory_that_grows_changes_nothing(everything: FlatSchema, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = flat_engine(everything)
    monkeypatch.setattr(pure_write, "_SMALLEST", size)
    for value in values(everything, 8):
        small = flat_engine(everything)
        assert small.scratch_size == size
        assert small.encode(value) == expected.encode(value)


def spoiled(value: Any, rng: random.Random) -> Any:
    """A value with one part of another type, or out of range."""
    steps = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    if not steps or rng.random() < 0.1:
        return rng.choice((None, "x", 2**70, -1, {}, [], 1.5, {"Text": "t", "Small": {}}, {"No": 1}, np.int16(3), b""))
    chosen = rng.choice(list(steps))
    changed = spoiled(value[chosen], rng)
    if isinstance(value, dict):
        return {**value, chosen: changed}
    return [changed if index == chosen else item for index, item in enumerate(value)]


def test_the_c_engine_writes_the_same_and_refuses_the_same(everything: FlatSchema) -> None:
    rng = random.Random(11)
    for options in (Options(), Options(strict=True), Options(limits=Limits(depth=5, elements=12, bytes=700))):
        own, engine = flat_engine(everything, options=options), twin(everything, options)
        for value in (*values(everything, 25), *(spoiled(value, rng) for value in values(everything, 25))):
            for name in ("encode", "encode_segments", "encoded_size"):
                assert outcome(getattr(own, name), value) == outcome(getattr(engine, name), value)


def test_mutants_are_read_alike_or_refused_alike(everything: FlatSchema) -> None:
    limits = Limits(depth=10, elements=300)
    engine, rng = flat_engine(everything, options=Options(limits=limits)), random.Random(7)
    native = twin(everything, Options(limits=limits))
    messages = [flat_engine(everything).encode(value) for value in values(everything, 25)]
    accepted = 0
    for message in mutants(messages, rng, 300):
        found = outcome(engine.decode, message)
        verified, viewed = outcome(engine.verify, message), outcome(lambda data: to_value(engine.view(data)), message)
        if isinstance(found, dict):
            assert verified is None
            assert_same(viewed, found)
            assert_same(native.decode(message), found)
            accepted += 1
        else:
            assert found == verified == viewed == outcome(native.decode, message)
    assert 30 < accepted < 270


def test_unverified_views_answer_from_the_buffer_or_refuse(everything: FlatSchema) -> None:
    engine, rng = flat_engine(everything), random.Random(9)
    messages = [engine.encode(value) for value in values(everything, 15)]
    for message in mutants(messages, rng, 300):
        frame = b"SECRET" * 100 + message + b"SECRET" * 100
        found = outcome(
            lambda data: walked(engine.view(data, verify=False)), memoryview(frame)[600 : 600 + len(message)]
        )
        assert b"SECRET" not in repr(found).encode()


def walked(part: Any, depth: int = 0) -> Any:
    """Everything that a view gives; what is refused is left out."""
    if depth > 12 or not isinstance(part, RecordView | SequenceView):
        return bytes(part) if isinstance(part, memoryview) else part
    steps: Any = part._zc_getters if isinstance(part, RecordView) else range(min(len(part), 9))
    found = []
    for step in steps:
        try:
            found.append(walked(part[step], depth + 1))
        except DecodeError:
            continue
    return found


# Views ------------------------------------------------------------------------------------------------------------------


def test_structs_arrays_and_unions_are_views(everything: FlatSchema) -> None:
    engine = flat_engine(everything)
    view = engine.view(engine.encode(ROOT))
    assert (view["need"]["b"], view["deep"], view["t"], view["tm"], view["flag"]) == (2, None, 5, None, True)
    union = view["needu"]
    assert (list(union), "Leaf" in union, "Deep" in union, union["Deep"]) == (["Leaf"], True, False, None)
    assert union["Leaf"]["deep"]["b"][2] == -3
    assert list(union["Leaf"]["deep"]["b"]) == [5, 0, -3]
    assert [item and list(item) for item in view["needs"]] == [["Text"], None, ["Deep"]]
    assert to_value(view["needs"][2]) == {"Deep": {"a": 7, "b": [300, 5, 0]}}
    assert np.asarray(view["longs"]).tolist() == [1, -2]
    with pytest.raises(KeyError, match=r"not a field of own\.Small"):
        view["need"]["z"]


def test_lists_with_keys_find_items_by_them(everything: FlatSchema) -> None:
    engine = flat_engine(everything)
    view = engine.view(engine.encode(ROOT))
    found = {key: view["leaves"]._zc_lookup(key) for key in ("a", "b", "\u00e9", "", "c", 5)}
    assert {key: leaf and leaf["name"] for key, leaf in found.items()} == {
        "a": "a", "b": "b", "\u00e9": "\u00e9", "": None, "c": None, 5: None,
    }  # fmt: skip
    assert [view["counted"]._zc_lookup(key) is not None for key in (2, 9, 40, 1, "2")] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert view["keyed"]._zc_lookup(2**31)["x"] == 8
    assert not hasattr(view["smalls"], "_zc_lookup")


@pytest.mark.parametrize("release_inner", [False, True])
def test_a_nested_message_is_released_with_the_one_around_it(everything: FlatSchema, release_inner: bool) -> None:
    engine, message = flat_engine(everything), flat_engine(everything).encode(ROOT)
    view = engine.view(bytearray(message))
    inner = view["nested"]
    blob = inner["blob"]
    assert to_value(inner) == zcser.normal(everything, ROOT)["nested"]
    assert retained_bytes(inner) == len(message)
    release(inner if release_inner else view)
    for read in (lambda: inner["need"], lambda: view["need"], lambda: to_value(inner), lambda: view["nested"]):
        with pytest.raises(ReleasedViewError):
            read()
    assert bytes(blob) == b"inner"


def test_bytes_of_a_nested_message_alias_the_buffer(everything: FlatSchema) -> None:
    engine, message = flat_engine(everything), flat_engine(everything).encode(ROOT)
    for found in (engine.decode(message, copy=False)["nested"]["blob"], engine.view(message)["nested"]["blob"]):
        assert address(message) <= address(found) < address(message) + len(message)
