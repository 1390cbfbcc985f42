"""simdjson: parsers and who has them, maps that are not made whole."""

from __future__ import annotations

import gc
import json
import sys
import threading
from typing import Any

import numpy as np
import pytest

from tests.codecs.simdjson_samples import ITEMS, Item, codec, text
from zcser.core.errors import DecodeError, ReleasedViewError
from zcser.core.view import release, retained_bytes, to_value

pytest.importorskip("simdjson")

from zcser.codecs.simdjson import parsers

# Parsers --------------------------------------------------------------------------------------------------------------


def test_a_parser_comes_back_with_the_last_view_of_its_document():
    made = codec(list[Item])
    view = made.view(text(*ITEMS))
    named = view[0].named
    inner = named["b"]
    assert len(made._parsers) == 0
    del view, named
    gc.collect()
    assert len(made._parsers) == 0
    assert inner["y"] == 2
    del inner
    assert len(made._parsers) == 1
    parser = made._parsers._small[0]
    again = made.view(text(*ITEMS))
    assert again._zc_node.parser is parser


def test_an_iterator_keeps_its_document():
    made = codec(list[Item])
    walk = iter(made.view(text(*ITEMS)))
    assert next(walk).id == 1
    assert len(made._parsers) == 0
    assert next(walk).id == 2
    del walk
    assert len(made._parsers) == 1


def test_a_released_view_is_dead_and_its_neighbour_is_not():
    made = codec(list[int])
    one, other = made.view(b"[1]"), made.view(b"[2]")
    release(one)
    with pytest.raises(ReleasedViewError):
        np.asarray(one)
    assert np.asarray(other).tolist() == [2]
    assert retained_bytes(other) == 3


def test_a_released_document_gives_its_parser_back_under_views_that_live():
    made = codec(list[Item])
    view = made.view(text(*ITEMS))
    inner = view[0].named
    release(view)
    assert len(made._parsers) == 1
    with pytest.raises(ReleasedViewError):
        inner["a"]
    # pysimdjson lends it to nobody until `inner` is gone, and other documents are read all the same.
    assert made.decode(text(*ITEMS)) == ITEMS
    other = made.view(text(*ITEMS[:1]))
    assert to_value(other) == ITEMS[:1]
    del inner, other
    assert made.decode(text(*ITEMS)) == ITEMS
    assert retained_bytes(view) == 0


@pytest.mark.parametrize("size", [10, parsers.ParserPool._small_bytes + 1, parsers.ParserPool._large_bytes + 1])
def test_idle_parsers_are_bounded_by_the_size_of_their_documents(size):
    made = codec(str)
    document = b'"' + b"a" * (size - 2) + b'"'
    made_lists = codec(list[str])
    count = 40 if size < 1 << 20 else 4
    views = [made_lists.view(b"[" + document + b"]") for _ in range(count)]
    del views
    expected = {10: 16, parsers.ParserPool._small_bytes + 1: 2, parsers.ParserPool._large_bytes + 1: 0}[size]
    assert len(made_lists._parsers) == expected
    assert made.decode(document) == "a" * (size - 2)


def test_a_document_that_outlives_the_globals_of_its_module_ends_in_silence(monkeypatch):
    # As the interpreter leaves them when it ends.
    said = []
    view = codec(list[list[str]]).view(b'[["a"]]')
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    for name in list(vars(parsers)):
        if not name.startswith("__"):
            monkeypatch.setattr(parsers, name, None)
    del view
    assert said == []


def test_a_refused_text_gives_its_parser_back():
    made = codec(list[int])
    for _ in range(50):
        with pytest.raises(DecodeError):
            made.view(b"[1,]")
        with pytest.raises(DecodeError):
            made.decode(b"[1,]")
    assert len(made._parsers) == 1


def test_threads_that_hold_views_and_drop_them_never_meet_in_a_parser():
    made = codec(list[Item])
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            kept: list[Any] = []
            for turn in range(150):
                wanted = number * 1000 + turn
                view = made.view(text(Item(wanted, [0.5] * (turn % 7), {"k": {"v": wanted}})))
                kept.append((wanted, view[0].named["k"], iter(view)))
                if turn % 5 == 4:
                    for value, inner, walk in kept:
                        assert inner["v"] == value
                        assert next(walk).id == value
                    kept.clear()
                assert made.decode(b"[]") == []
        except BaseException as error:  # noqa: BLE001 - carried to the main thread
            failures.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    if failures:
        raise failures[0]
    assert len(made._parsers) <= 16


def test_a_parser_that_somebody_holds_is_not_waited_for():
    # What a dying iterator does in another thread: the parser is back, and a proxy of it lives.
    made = codec(list[int])
    view = made.view(b"[1,2]")
    made._parsers.take_back(view._zc_node.parser, 5)
    assert made.decode(b"[3]") == [3]
    made._parsers.take_back(view._zc_node.parser, 5)
    assert list(made.view(b"[4]")) == [4]
    assert list(view) == [1, 2]


def test_more_items_than_the_tape_counts_are_left_to_the_strict_reader(monkeypatch):
    # pysimdjson 7.0 writes past its list from 2**24 items on, which takes 34 MB: the bound is lowered here instead.
    monkeypatch.setattr(parsers, "_LONGEST_ARRAY", 1000)
    made = codec(list[int])
    few, many = list(range(1000)), list(range(1001))
    assert made.view(json.dumps(few).encode())._zc_node.__class__ is not list
    view = made.view(json.dumps(many).encode())
    assert view._zc_node.__class__ is list
    assert list(view) == made.decode(json.dumps(many).encode()) == many


@pytest.mark.slow
def test_an_array_of_17_million_items_neither_crashes_nor_changes():
    text_ = b"[" + b"0," * 16_800_000 + b"7]"
    found = codec(list[int]).decode(text_)
    assert (len(found), found[-1]) == (16_800_001, 7)


# Maps and lists -------------------------------------------------------------------------------------------------------


def test_a_view_of_a_map_makes_nothing_of_its_values():
    view = codec(list[Item]).view(text(*ITEMS))
    named = view[0].named
    assert named._zc_items is named._zc_node
    assert named["b"]._zc_node.__class__ is not dict
    assert list(named) == ["a", "b"]
    assert ("c" in named, "a" in named, 5 in named) == (False, True, False)
    assert {key: dict(value) for key, value in named.items()} == ITEMS[0].named
    assert [dict(value) for value in named.values()] == list(ITEMS[0].named.values())


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"a":{"x":1},"b":{},"a":{"y":2}}', {"a": {"y": 2}, "b": {}}),
        (b'{"a\\u0000b":{"x":1},"a":{"y":2}}', {"a\0b": {"x": 1}, "a": {"y": 2}}),
        (b'{"":{"":1}}', {"": {"": 1}}),
    ],
)
def test_keys_that_simdjson_looks_up_wrongly_are_right(data, expected):
    assert json.loads(data) == expected
    view = codec(dict[str, dict[str, int]]).view(data)
    assert {key: dict(view[key]) for key in view} == expected
    assert {key: dict(value) for key, value in view.items()} == expected
    assert len(view) == len(expected)
    assert to_value(view) == expected


@pytest.mark.parametrize("part", [slice(None), slice(2, 9, 3), slice(None, None, -1), slice(8, 1, -2), slice(-3, 99)])
def test_slices_are_those_of_the_list(part):
    numbers = list(range(10))
    assert codec(list[int]).view(json.dumps(numbers).encode())[part] == numbers[part]
