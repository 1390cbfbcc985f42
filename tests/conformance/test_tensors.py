"""Tensors of every dtype and layout through every codec: the same array comes back, or encode says why not.

Elements are compared by bits, with what numpy itself calls the array in little-endian and C order.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import re
from pathlib import Path
from typing import Annotated, Any

import ml_dtypes
import numpy as np
import pytest

from tests.conformance.laws import KSERVE, carriers, codecs, has, writer_of, written
from tests.conformance.strategies import tensor
from tests.conftest import SHARED_DATA
from zcser import registry
from zcser.core.codec import Codec
from zcser.core.dtypes import MAX_DIMENSIONS, NAMES
from zcser.core.errors import EncodeError, SchemaError
from zcser.schema.model import Tensor

LAYOUTS = ("C", "F", "strided", "reversed", "read-only", "big-endian")
SHAPES = ((), (3,), (2, 3), (2, 0, 3))
ENCODERS = codecs("encode")
FIXED = "header"
"""The codec that is made for one dtype and shape."""


def bits(array: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    """What an array is: name of its dtype, shape, and little-endian elements in C order."""
    plain = array.astype(array.dtype.newbyteorder("<"), order="C")
    return array.dtype.name, array.shape, plain.tobytes()


@functools.cache
def codec_of(name: str, dtype: str | None, shape: tuple[int, ...] | None) -> Codec[Any]:
    if name == FIXED:
        return registry.codec(name, Annotated[np.ndarray, Tensor(dtype, shape)])
    return registry.codec(name, np.ndarray)


def codec_for(name: str, array: np.ndarray[Any, Any]) -> Codec[Any]:
    return codec_of(name, array.dtype.name, array.shape) if name == FIXED else codec_of(name, None, None)


def is_refused(name: str, array: np.ndarray[Any, Any]) -> bool:
    """Whether a wire has no form for a dtype, which must then be said with the dtype, when encoding or when the codec is made."""
    if name != "kserve" or array.dtype.name in KSERVE:
        return False
    with pytest.raises(EncodeError, match=re.escape(f"no datatype for {array.dtype.name}")):
        codec_for(name, array).encode(array)
    with pytest.raises(SchemaError, match="no datatype"):
        registry.codec(name, Annotated[np.ndarray, Tensor(array.dtype.name)])
    return True


def assert_carried(codec: Codec[Any], array: np.ndarray[Any, Any]) -> None:
    before = bits(array)
    data = codec.encode(array)
    assert bits(array) == before
    for copy in (True, False):
        found = codec.decode(data, copy=copy)
        assert bits(found) == before
        assert found.dtype.isnative
        assert found.flags.c_contiguous
        assert found.flags.writeable is copy
    for operation in ("view", "load"):
        if operation in codec.info.operations:
            opened = codec.view(data) if operation == "view" else codec.restore(codec.load(data))
            assert bits(np.asarray(opened)) == before
    if "encode_segments" in codec.info.operations:
        assert bits(codec.decode_segments(codec.encode_segments(array))) == before
    if "encode_into" in codec.info.operations:
        out = np.zeros(len(data) + 64, np.uint8)
        start = -out.ctypes.data % 64
        assert codec.encode_into(array, out, start) == len(data)
        assert bytes(out[start : start + len(data)]) == data


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("name", ENCODERS)
def test_every_dtype_and_layout_comes_back_with_its_bits(name, dtype):
    for number, shape in enumerate(SHAPES):
        for layout in LAYOUTS:
            array = tensor(dtype, shape, number, layout)
            if is_refused(name, array):
                continue
            assert_carried(codec_for(name, array), array)


@pytest.mark.parametrize("name", [value for value in codecs() if not has(value.values[0], "encode")])
def test_codecs_that_only_read_read_every_dtype(name):
    codec = registry.codec(name, list[np.ndarray])
    arrays = [tensor(dtype, shape, 1) for dtype in NAMES for shape in SHAPES]
    found = codec.decode(written(name, list[np.ndarray], arrays))
    assert list(map(bits, found)) == list(map(bits, arrays))


@pytest.mark.parametrize("name", ENCODERS)
def test_arrays_have_as_many_dimensions_as_numpy_allows(name):
    array = np.arange(2.0).reshape(*[1] * (MAX_DIMENSIONS - 1), 2)
    codec = codec_for(name, array)
    assert bits(codec.decode(codec.encode(array))) == bits(array)


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "int4"])
@pytest.mark.parametrize("name", ENCODERS)
def test_21_a_dtype_travels_by_its_name(name, dtype):
    # dtype.str is <V2, <V1, and <f1, which numpy cannot read back.
    array = np.array([1, 2, 3], getattr(ml_dtypes, dtype))
    if is_refused(name, array):
        return
    codec = codec_for(name, array)
    found = codec.decode(codec.encode(array))
    assert (found.dtype, found.astype(np.int64).tolist()) == (array.dtype, [1, 2, 3])


@pytest.mark.parametrize("name", ENCODERS)
def test_23_the_logical_order_is_written_whatever_the_memory_holds(name):
    # safetensors 0.8.0 writes five of these in the order of memory, one with bytes from outside the array.
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    wide = np.arange(12, dtype=np.float32)
    for value in (array, np.asfortranarray(array), wide[::2], array.T, array.astype(">f4"), array[::-1], wide[5::-3]):
        codec = codec_for(name, value)
        assert codec.decode(codec.encode(value)).tolist() == value.tolist()


@dataclasses.dataclass
class Holder:
    tensor: np.ndarray


REFUSED = {
    "objects": (np.array([None, "x"], object), "pointers"),
    "structured with objects": (np.zeros(2, [("a", "i4"), ("b", "O")]), "pointers"),
    "structured": (np.zeros(2, "i4,f4"), "list of records"),
    "text": (np.array(["abc"]), "list of str"),
    "byte strings": (np.array([b"abc"]), "list of bytes"),
    "void": (np.zeros(2, "V3"), "uint8"),
    "long double": (np.zeros(2, np.longdouble), "long double"),
    "dates without a unit": (np.zeros(1, "datetime64"), "no unit"),
    "dates of 25 seconds": (np.array(["NaT"], "datetime64[25s]"), "multiple"),
    "masked": (np.ma.masked_array([1, 2], [0, 1]), "MaskedArray"),
    "matrix": (np.ones((2, 2)).view(type("Matrix", (np.ndarray,), {})), "Matrix"),
    "a number": (np.float32(1), "float32"),
    "a list": ([1.0, 2.0], "list"),
    "bytes": (b"abcd", "bytes"),
}


@pytest.mark.parametrize("what", REFUSED)
@pytest.mark.parametrize("name", [value for value in ENCODERS if value.values[0] != FIXED])
def test_25_what_is_no_array_of_numbers_is_refused_by_its_dtype(name, what):
    value, reason = REFUSED[what]
    with pytest.raises(EncodeError, match=reason) as caught:
        registry.codec(name, Holder).encode(Holder(value))
    assert caught.value.path == "/tensor"
    # Bytes of a dtype that has no name are never taken, with the guard or without; a pickle says itself what they are.
    if type(value) is np.ndarray and name != "pickle":
        with pytest.raises(EncodeError):
            registry.codec(name, Holder, guard="off").encode(Holder(value))


@pytest.mark.parametrize("what", REFUSED)
def test_25_a_fixed_layout_refuses_it_too(what):
    value, _ = REFUSED[what]
    codec = registry.codec(FIXED, Annotated[np.ndarray, Tensor("float64", (2,))])
    with pytest.raises(EncodeError):
        codec.encode(value)


class Foreign:
    """A tensor of another library, which has nothing but DLPack."""

    def __init__(self, array: np.ndarray[Any, Any], device: int = 1) -> None:
        self.array = array
        self.device = device

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, **options):
        if self.device != 1:
            raise AssertionError("a device tensor was asked for its memory")
        return self.array.__dlpack__(**options)


EXPORTED = [name for name in NAMES[:14] if name != "bool"]


@pytest.mark.parametrize("name", ENCODERS)
def test_tensors_of_other_libraries_are_taken_by_dlpack(name):
    for dtype in EXPORTED:
        for layout in ("C", "F", "strided", "reversed"):
            array = tensor(dtype, (2, 3), 1, layout)
            if is_refused(name, array):
                continue
            codec = codec_for(name, array)
            assert bits(codec.decode(codec.encode(Foreign(array)))) == bits(array)


@pytest.mark.parametrize("name", ENCODERS)
def test_a_tensor_on_a_device_is_refused_with_the_way_out(name):
    codec = codec_for(name, np.zeros(3))
    for device, words in ((2, "CUDA"), (8, "Metal"), (99, "type 99")):
        with pytest.raises(EncodeError, match=rf"Foreign lies on .*{words}.*\.cpu\(\)"):
            codec.encode(Foreign(np.zeros(3), device))


@pytest.mark.parametrize("name", ENCODERS)
def test_a_tensor_that_cannot_be_exported_is_refused_with_the_librarys_reason(name):
    array = np.zeros(3, ml_dtypes.bfloat16)
    with pytest.raises(EncodeError, match=r"Foreign gives no array by DLPack .*unsigned integers"):
        codec_for(name, array).encode(Foreign(array))


@pytest.mark.parametrize("name", carriers("unions", "encode"))
def test_tensors_of_other_libraries_stand_in_unions_too_and_strict_refuses_them(name):
    array = np.arange(3.0)
    codec = registry.codec(name, np.ndarray | str)
    assert bits(codec.decode(codec.encode(Foreign(array)))) == bits(array)
    with pytest.raises(EncodeError, match="strict"):
        registry.codec(name, np.ndarray, strict=True).encode(Foreign(array))


@pytest.mark.parametrize("name", codecs("encode_segments"))
def test_segments_alias_a_tensor_of_another_library(name):
    array = np.zeros(1000)
    segments = codec_for(name, array).encode_segments(Foreign(array))
    before = b"".join(segments)
    array[500] = 1.0
    assert b"".join(segments) != before


@pytest.mark.parametrize("name", ENCODERS)
def test_tensors_that_were_read_are_given_to_other_libraries_by_dlpack(name):
    for dtype in EXPORTED:
        array = tensor(dtype, (2, 3), 1)
        if is_refused(name, array):
            continue
        codec = codec_for(name, array)
        found = codec.decode(codec.encode(array))
        given = np.from_dlpack(found)
        assert np.shares_memory(given, found)
        assert bits(given) == bits(array)


def shared_files(kind: str) -> list[Path]:
    return sorted((SHARED_DATA / kind).glob(f"*.{kind}"))


def arrays_of(path: Path) -> list[np.ndarray[Any, Any]]:
    """The arrays of a file, as the format's own library reads them."""
    if path.suffix == ".npy":
        try:
            return [np.load(path)]
        except ValueError:  # objects, which are pickles
            return []
    data = path.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    if any(entry.get("dtype") == "BF16" for entry in header.values()):
        # safetensors.numpy 0.8.0 cannot read it: its numpy name is ml_dtypes'.
        (entry,) = (value for name, value in header.items() if name != "__metadata__")
        first, last = entry["data_offsets"]
        elements = data[len(data) - last + first :]
        return [np.frombuffer(elements, ml_dtypes.bfloat16).reshape(entry["shape"])]
    numpy = pytest.importorskip("safetensors.numpy")
    return list(numpy.load(data).values())


@pytest.mark.filterwarnings("ignore:Reading `.npy`:UserWarning")  # of a file that Python 2 wrote
@pytest.mark.parametrize("path", [*shared_files("npy"), *shared_files("safetensors")], ids=lambda path: path.name)
def test_files_of_arrays_pass_through_every_codec(path):
    arrays = arrays_of(path)
    if not arrays:
        with pytest.raises(ValueError, match="allow_pickle"):
            np.load(path)
    for name in registry.names():
        if not has(name, "encode") or writer_of(name) != name:
            continue
        for array in arrays:
            if is_refused(name, array):
                continue
            if array.dtype.name in NAMES:
                assert_carried(codec_for(name, array), array)
            elif name != FIXED:
                with pytest.raises(EncodeError, match="cannot be carried"):
                    registry.codec(name, np.ndarray).encode(array)
