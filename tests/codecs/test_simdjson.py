"""simdjson: parsers and who has them, maps that are not made whole, arrays of numbers, paths."""

from __future__ import annotations

import dataclasses
import gc
import json
import sys
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zcser import registry
from zcser.core.errors import DecodeError, ReleasedViewError, SchemaError, UnsupportedOperation
from zcser.core.view import MapView, at, release, retained_bytes, to_value
from zcser.schema.annotations import Float32, UInt8, UInt64
from zcser.schema.from_sample import infer

pytest.importorskip("simdjson")

from zcser.codecs.simdjson import parsers


@dataclasses.dataclass
class Item:
    id: int
    values: list[float]
    named: dict[str, dict[str, int]]


def text(*items: Any) -> bytes:
    return json.dumps([dataclasses.asdict(item) for item in items]).encode()


ITEMS = [Item(1, [0.5, 2.0], {"a": {"x": 1}, "b": {"y": 2}}), Item(2, [], {})]


def codec(schema: Any) -> Any:
    return registry.codec("simdjson", schema)


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


# Arrays ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "numbers", "dtype"),
    [
        (list[int], [-(2**63), 2**63 - 1, 2**53 + 1], "int64"),
        (list[UInt64], [0, 2**64 - 1], "uint64"),
        (list[UInt8], [0, 255], "uint8"),
        (list[float], [0.1, -0.0, 5e-324, 1.7976931348623157e308], "float64"),
        (list[float], [1, 2.5], "float64"),
        (list[Float32], [0.1, 3.4028234663852886e38], "float32"),
        (list[int | float], [1, 2**63 - 1], "int64"),
        (list[int | float], [1.0, 0.1], "float64"),
        (list[int], [], "int64"),
        (list[list[int]], [[1, 2], [3, 2**53 + 1]], "int64"),
        (list[list[UInt8]], [], "uint8"),
        (list[list[list[float]]], [[[1.0], [2.0]], [[3.0], [4.0]]], "float64"),
    ],
    ids=str,
)
@pytest.mark.parametrize("buffer", [bytes, bytearray])
def test_numbers_become_arrays_of_the_dtype_of_the_schema(schema, numbers, dtype, buffer):
    for separators in ((",", ":"), (", ", ": "), (" ,\n\t\r ", ":")):
        data = buffer(json.dumps(numbers, separators=separators).encode())
        found = np.asarray(codec(schema).view(data))
        assert found.dtype == dtype
        assert found.tolist() == np.array(numbers, dtype).tolist()
        assert found.flags.writeable


def test_numbers_inside_a_message_come_from_the_tape_whatever_stands_around_them(monkeypatch):
    asked: list[str] = []
    tape = registry.codec_class("simdjson").__module__ + ".arrays"
    real = sys.modules[tape]._from_tape

    def watched(node: Any, document: Any, of_type: Any) -> Any:
        found = real(node, document, of_type)
        asked.append("walked" if found is None else "tape")
        return found

    monkeypatch.setattr(sys.modules[tape], "_from_tape", watched)
    made = codec(list[Item])
    assert np.asarray(codec(dict[str, list[float]]).view(b'{"a" : \n [1, 2], "b":[3]}')["b"]).tolist() == [3.0]
    assert asked == ["tape"]
    # An array of records is an array, in which arrays stand behind colons alone.
    assert np.asarray(made.view(text(*ITEMS))[0].values).tolist() == [0.5, 2.0]
    assert asked == ["tape", "tape"]


def nests(value: Any) -> bool:
    """Whether an array stands in an array, by walking."""
    if isinstance(value, dict):
        return any(map(nests, value.values()))
    return isinstance(value, list) and any(isinstance(item, list) or nests(item) for item in value)


VALUES = st.recursive(
    st.integers(0, 9) | st.text('[:,] "', max_size=3),
    lambda inner: st.lists(inner, max_size=60) | st.dictionaries(st.text("[: ", max_size=2), inner, max_size=60),
)


@given(
    value=VALUES,
    separators=st.sampled_from([(",", ":"), (", ", ": "), (",\n", ":" + " " * 70), ("," + "\t" * 70, ":")]),
)
@settings(max_examples=8 * settings.default.max_examples)
@pytest.mark.further
def test_no_array_in_an_array_is_overlooked(value, separators):
    data = json.dumps(value, separators=separators).encode()
    for text_ in (data, b" " * 70 + data, b"\n" + data):
        assert parsers._nests_arrays(text_) or not nests(value)


def test_arrays_behind_colons_are_none_in_an_array_however_many():
    for count in (1, 31, 32, 33, 500):
        value = [{"a": [1], "b": {"c": []}} for _ in range(count)]
        assert not parsers._nests_arrays(json.dumps(value).encode())
        assert not parsers._nests_arrays(b"\n " + json.dumps(value, indent=2).encode())
        assert parsers._nests_arrays(json.dumps([*value, [1]]).encode())
        assert parsers._nests_arrays(json.dumps([*value, {"a": [1, [2]]}], indent=1).encode())


@pytest.mark.parametrize(
    ("schema", "data"),
    [
        (list[int], b"[[1,2],[]]"),
        (list[int], b"[[1],[2]]"),
        (list[int], b"[1,[2,3]]"),
        (list[int], b"[1 , [2]]"),
        (list[float], b"[[],1,[2.0]]"),
        (list[int], b"[1,2.0]"),
        (list[int], b"[1,true]"),
        (list[float], b"[1,true]"),
        (list[float], b"[1,null]"),
        (list[float], b'[1,"2"]'),
        (list[float], b"[1,{}]"),
        (list[int], b"[9223372036854775808]"),
        (list[UInt64], b"[-1]"),
        (list[UInt8], b"[256]"),
        (list[Float32], b"[1e39]"),
        (list[list[int]], b"[[1,2],[3,[4]]]"),
    ],
)
def test_what_is_no_list_of_numbers_becomes_no_array(schema, data):
    made = codec(schema)
    with pytest.raises(DecodeError):
        made.decode(data)
    with pytest.raises(DecodeError):
        np.asarray(made.view(data))


GOOD = [b"[1,2,30]", b"[[1,2],[3,4]]", b"[0.5,-1e3]", b"[18446744073709551615]", b'{"a":[1,2],"b":[3]}', b"[]"]
KINDS = [list[int], list[float], list[UInt8], list[UInt64], list[list[float]], list[int | float], dict[str, list[int]]]


@given(
    data=st.sampled_from(GOOD),
    edits=st.lists(st.tuples(st.integers(0, 30), st.sampled_from(b'[]{},:"0123456789.eE- tn\\')), max_size=4),
    schema=st.sampled_from(KINDS),
)
@settings(max_examples=16 * settings.default.max_examples)
def test_of_any_text_an_array_is_what_decode_gives_or_an_error(data, edits, schema):
    text_ = bytearray(data)
    for place, octet in edits:
        text_[place % (len(text_) + 1) : place % (len(text_) + 1) + place % 2] = bytes([octet])
    made = CODECS[schema]
    try:
        wanted = made.decode(text_)
    except DecodeError:
        with pytest.raises(DecodeError):
            arrays_of(made.view(text_))
        return
    parts = wanted.values() if isinstance(wanted, dict) else [wanted]
    for found, value in zip(arrays_of(made.view(text_)), parts, strict=True):
        if found is not None:
            assert found.tolist() == value


CODECS = {schema: codec(schema) for schema in KINDS}


def arrays_of(view: Any) -> list[Any]:
    """The arrays of a view; None for rows that differ and for mixes."""
    found = []
    for part in view.values() if isinstance(view, MapView) else [view]:
        try:
            found.append(np.asarray(part))
        except DecodeError:
            raise
        except ValueError:
            found.append(None)
    return found


def test_a_mix_of_integers_and_floats_is_said_and_rows_that_differ_are_too():
    with pytest.raises(ValueError, match="item 2 is float and those before it are int"):
        np.asarray(codec(list[int | float]).view(b"[1,2,0.5]"))
    with pytest.raises(ValueError, match="row 1 has the shape"):
        np.asarray(codec(list[list[int]]).view(b"[[1,2],[3]]"))


@pytest.mark.parametrize(
    ("number", "dtype", "exact"),
    [
        (2**53, "float64", True),
        (2**53 + 1, "float64", False),
        (2**63 - 1, "float64", False),
        (2**24 + 1, "float32", False),
        (-(2**24), "float32", True),
        (300, "uint8", False),
        (-1, "uint64", False),
        (200, "uint8", True),
        (5, "complex128", True),
    ],
)
def test_integers_are_not_rounded_or_wrapped_by_a_dtype_that_is_asked_for(number, dtype, exact):
    view = codec(list[int]).view(b"[%d]" % number)
    if exact:
        assert np.asarray(view, dtype).tolist() == [number]
        assert np.asarray(view, dtype).dtype == dtype
    else:
        with pytest.raises(ValueError, match="not all exact"):
            np.asarray(view, dtype)


def test_an_array_cannot_be_had_without_a_copy_and_is_the_callers_own():
    view = codec(list[float]).view(b"[1.0,2.0]")
    with pytest.raises(ValueError, match="copy"):
        view.__array__(copy=False)
    one, other = np.asarray(view), np.asarray(view)
    one[0] = 9.0
    assert other.tolist() == [1.0, 2.0]
    del view
    assert other.tolist() == [1.0, 2.0]


def test_big_integers_in_float_fields_are_rounded_once_and_everywhere_alike():
    data = b"[9007199254740993, 36893488147419103233, 1e22]"
    made = codec(list[float])
    expected = [9007199254740992.0, 3.6893488147419103e19, 1e22]
    assert made.decode(data) == list(made.view(data)) == np.asarray(made.view(data)).tolist() == expected
    assert registry.codec("json", list[float]).decode(data) == expected


def test_numbers_of_real_bodies_are_the_arrays_that_numpy_makes_of_them(shared_data):
    looked_at = 0
    for name, path in (
        ("json/canada.json", "/features/0/geometry/coordinates/0"),
        ("inference/kserve/torchserve_mnist_v2_tensor.json", "/inputs/0/data"),
        ("inference/kserve/torchserve_mnist_v2_tensor.json", "/inputs/0/shape"),
        ("inference/openai/embedding.json", "/data/0/embedding"),
    ):
        data = (shared_data / name).read_bytes()
        value = json.loads(data)
        made = codec(infer([value]))
        try:
            expected = np.array(at(value, path))
        except LookupError:
            continue
        if expected.dtype.kind in "if":
            found = np.asarray(made.pointer(path)(data))
            assert found.dtype.kind == expected.dtype.kind
            assert found.tolist() == expected.tolist()
            looked_at += 1
    assert looked_at >= 2


# Paths ----------------------------------------------------------------------------------------------------------------


def test_a_pointer_reads_one_place_of_views_and_buffers():
    made = codec(list[Item])
    data = text(*ITEMS)
    for path, expected in (
        ("/0/id", 1),
        ("/0/values/1", 2.0),
        ("/0/named/b/y", 2),
        ((1, "id"), 2),
        ((-1, "id"), 2),
    ):
        pointer = made.pointer(path)
        assert pointer(data) == pointer(made.view(data)) == at(made.decode(data), path) == expected
    assert list(made.pointer("/0/values")(data)) == [0.5, 2.0]
    assert len(made.pointer("")(data)) == 2
    assert "/0/id" in repr(made.pointer("/0/id"))


def test_pointers_into_real_documents(shared_data):
    for name, path in (
        ("json/twitter.json", "/statuses/50/user/screen_name"),
        ("json/twitter.json", "/search_metadata/count"),
        ("json/citm_catalog.json", "/performances/100/seatCategories/0/areas/0/areaId"),
    ):
        data = (shared_data / name).read_bytes()
        value = json.loads(data)
        assert codec(infer([value])).pointer(path)(data) == at(value, path)


def test_a_pointer_takes_the_key_of_the_maps_own_type_and_passes_unions():
    assert codec(dict[int, dict[bool, int]]).pointer("/-5/true")(b'{"-5":{"true":7}}') == 7
    mixed = codec(list[dict[str, int] | str]).pointer("/0/k")
    assert mixed(b'[{"k":3}]') == 3
    with pytest.raises(KeyError, match="/0/k"):
        mixed(b'["k"]')


@pytest.mark.parametrize(
    ("path", "word"),
    [("/0/nobody", "id, values, named"), ("/x", "no index"), ("/0/id/1", "no parts"), ("/0/values/x", "no index")],
)
def test_a_pointer_that_leads_nowhere_is_refused_before_there_is_a_message(path, word):
    with pytest.raises(SchemaError, match=word):
        codec(list[Item]).pointer(path)


def test_a_pointer_says_where_a_message_ends():
    made = codec(list[Item])
    with pytest.raises(IndexError, match="nothing at /7"):
        made.pointer("/7/id")(text(*ITEMS))
    with pytest.raises(KeyError, match="nothing at /0/named/z"):
        made.pointer("/0/named/z/q")(text(*ITEMS))
    with pytest.raises(DecodeError):
        made.pointer("/0/id")(b'[{"id":"one"}]')
    view = made.view(text(*ITEMS))
    release(view)
    with pytest.raises(ReleasedViewError):
        made.pointer("/0/id")(view)


def test_a_codec_without_views_has_no_pointers():
    with pytest.raises(UnsupportedOperation, match="simdjson"):
        registry.codec("json", list[int]).pointer("/0")
