"""simdjson: lists of numbers straight to numpy, exact or refused."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.codecs.simdjson_samples import ITEMS, Item, codec, text
from zcser import registry
from zcser.core.errors import DecodeError
from zcser.core.view import MapView, at
from zcser.schema.annotations import Float32, UInt8, UInt64
from zcser.schema.from_sample import infer

pytest.importorskip("simdjson")

from zcser.codecs.simdjson import parsers


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
