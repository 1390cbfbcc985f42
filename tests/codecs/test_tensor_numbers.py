"""Tensors as lists of numbers, in both directions, for every codec of JSON text; base64 is the default."""

from __future__ import annotations

import base64
import json
from typing import Annotated, Any

import ml_dtypes
import numpy as np
import pytest

from tests.conformance.laws import INFO, assert_same, has, param, read
from tests.conformance.strategies import tensor
from zcser import registry
from zcser.core.dtypes import NAMES, dtype_named
from zcser.core.errors import DecodeError, EncodeError
from zcser.schema.model import Tensor

JSON = [param(name) for name, info in INFO.items() if info.wire == "json"]
WRITERS = [param(name) for name, info in INFO.items() if info.wire == "json" and has(name, "encode")]
REAL = [name for name in NAMES if "complex" not in name]


def codec(name: str, dtype: str | None = None, **options: Any) -> Any:
    return registry.codec(name, Annotated[np.ndarray, Tensor(dtype)], **options)


@pytest.mark.parametrize("name", WRITERS)
def test_base64_of_little_endian_bytes_is_the_default(name):
    found = json.loads(codec(name).encode(np.array([[1, 2]], ">u2")))
    assert found == {"dtype": "uint16", "shape": [1, 2], "base64": base64.b64encode(b"\1\0\2\0").decode()}


@pytest.mark.parametrize("name", WRITERS)
def test_numbers_are_written_flat_and_in_c_order(name):
    numbers = codec(name, tensors="numbers")
    for array, shape, data in (
        (np.array([[1, 2], [3, 4]], np.int16).T, [2, 2], [1, 3, 2, 4]),
        (np.array([2**64 - 1, 0], np.uint64), [2], [2**64 - 1, 0]),
        (np.array([0.1], np.float32), [1], [0.10000000149011612]),
        (np.array([0.1, -0.0, 5e-324]), [3], [0.1, -0.0, 5e-324]),
        (np.array([True, False]), [2], [True, False]),
        (np.array(7, np.int8), [], [7]),
        (np.zeros((0, 3), np.float16), [0, 3], []),
        (np.array([1.5], ">f8"), [1], [1.5]),
        # No float64 holds this number of nanoseconds.
        (np.array(["2024-01-01T00:00:00.123456789"], "M8[ns]"), [1], [1704067200123456789]),
        (np.array([-(2**53) - 1, 2**63 - 1], "m8[us]"), [2], [-(2**53) - 1, 2**63 - 1]),
    ):
        found = json.loads(numbers.encode(array))
        assert (found["shape"], found["data"]) == (shape, data)
        assert [type(number) for number in found["data"]] == [type(number) for number in data]


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("name", JSON)
def test_every_real_dtype_comes_back_by_every_codec_and_by_views(name, dtype):
    try:
        dtype_named(dtype)
    except LookupError as error:
        pytest.skip(str(error))
    array = tensor(dtype, (256,), 1)
    if not dtype.startswith(("datetime64", "timedelta64")):
        with np.errstate(invalid="ignore"):  # a signalling NaN
            array = array[np.isfinite(array.astype(np.float64))]
    if dtype in {"int1", "int2", "int4"}:
        array = array.astype(np.int64).astype(array.dtype)  # with the spare bits that ml_dtypes itself leaves
    written = codec("json", tensors="numbers").encode(array)
    for made in (
        codec(name),
        codec(name, dtype),
        codec(name, tensors="numbers") if has(name, "encode") else codec(name),
    ):
        assert_same(read(made, written), array)
        assert made.decode(written).flags.writeable
        assert not made.decode(written, copy=False).flags.writeable
    # The other form is read too, whatever is written.
    assert_same(read(codec(name, tensors="numbers"), codec("json").encode(array)), array)


@pytest.mark.parametrize("name", WRITERS)
def test_what_numbers_cannot_say_is_refused_with_the_path_and_the_way_out(name):
    made = registry.codec(name, dict[str, list[np.ndarray]], tensors="numbers")
    wrongs = [np.array([1.0, np.nan]), np.array([-np.inf], np.float32), np.array([1j]), np.array(["NaT"], "M8[s]")]
    if "complex32" in vars(ml_dtypes):  # of which numpy would take the real part
        wrongs.append(np.array([1, 2], np.int16).view(ml_dtypes.complex32))
    for wrong in wrongs:
        with pytest.raises(EncodeError, match="base64") as caught:
            made.encode({"k": [np.ones(1), wrong]})
        assert caught.value.path == "/k/1"
        default = registry.codec(name, dict[str, list[np.ndarray]])
        assert_same(default.decode(default.encode({"k": [wrong]})), {"k": [wrong]})


@pytest.mark.parametrize(
    ("dtype", "shape", "data"),
    [
        ("int8", [1], "[128]"),
        ("int8", [1], "[1.0]"),
        ("uint64", [1], "[-1]"),
        ("uint64", [1], "[18446744073709551616]"),
        ("int4", [1], "[8]"),
        ("float32", [1], "[1e39]"),
        ("float16", [1], "[65520]"),
        ("float64", [1], "[1e400]"),
        ("float64", [1], "[true]"),
        ("float64", [1], '["1"]'),
        ("float64", [1], "[null]"),
        ("float64", [2], "[[1.0, 2.0], []]"),
        ("float64", [1, 1], "[[1.0]]"),
        ("bool", [1], "[1]"),
        ("complex64", [1], "[1.0]"),
        ("complex32", [1], "[1.0]"),
        ("bcomplex32", [1], "[1]"),
        ("datetime64[s]", [1], "[1.5]"),
        ("datetime64[s]", [1], "[1e40]"),
        ("datetime64[s]", [1], "[-9223372036854775808]"),  # NaT
        ("timedelta64[ns]", [1], "[9223372036854775808]"),
        ("timedelta64[ns]", [1], "[true]"),
        ("float4_e2m1fn", [1], "[6.5]"),  # of which ml_dtypes makes the largest number that there is
        ("float6_e2m3fn", [1], "[-8]"),
        ("float6_e3m2fn", [1], "[1e40]"),
        ("float64", [2], "[1.0]"),
        ("float64", [1], "[1.0, 2.0]"),
        ("float64", [-1], "[]"),
        ("float64", [1.0], "[1.0]"),
        ("float64", "x", "[1.0]"),
        ("int32", [2**62, 2**62], "[]"),
        ("nothing", [1], "[1]"),
        ("float64", [1], "1.0"),
        ("float64", [1], '{"0": 1.0}'),
    ],
)
@pytest.mark.parametrize("name", JSON)
def test_numbers_that_do_not_fit_are_a_decode_error_for_decode_and_view(name, dtype, shape, data):
    text = f'{{"dtype":"{dtype}","shape":{json.dumps(shape)},"data":{data}}}'.encode()
    assert isinstance(read(codec(name), text), DecodeError)


@pytest.mark.parametrize("name", JSON)
def test_integers_in_a_tensor_of_floats_are_rounded_to_the_nearest(name):
    found = codec(name).decode(b'{"dtype":"float32","shape":[3],"data":[1,16777217,0.1]}')
    assert found.tolist() == [1.0, 16777216.0, float(np.float32(0.1))]


@pytest.mark.parametrize("dtype", ["complex32", "bcomplex32"])
@pytest.mark.parametrize("name", WRITERS)
def test_small_complex_numbers_have_no_form_either(name, dtype):
    try:
        known = dtype_named(dtype)
    except LookupError as error:
        pytest.skip(str(error))
    with pytest.raises(EncodeError, match="base64"):
        codec(name, tensors="numbers").encode(np.array([1 + 2j], np.complex64).astype(known))


@pytest.mark.parametrize("name", JSON)
def test_both_forms_at_once_are_neither(name):
    text = b'{"dtype":"int8","shape":[1],"data":[1],"base64":"AQ=="}'
    assert isinstance(read(codec(name), text), DecodeError)
    assert isinstance(read(codec(name), b'{"dtype":"int8","shape":[1],"data":[9],"data":[1]}'), np.ndarray)


def test_formats_with_bytes_ignore_the_option():
    for name, info in INFO.items():
        if info.wire != "json" and has(name, "encode"):
            schema = Annotated[np.ndarray, Tensor("float64", (2,))]
            one, other = (registry.codec(name, schema, tensors=form) for form in ("base64", "numbers"))
            value = np.array([np.nan, 1.0])
            assert one.encode(value) == other.encode(value)


def test_the_option_has_two_values():
    with pytest.raises(ValueError, match="tensors"):
        registry.codec("json", np.ndarray, tensors="lists")
