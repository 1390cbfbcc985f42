"""The codec `safetensors` against the reference library, both ways, and against bytes worked out by hand from the format."""

from __future__ import annotations

import dataclasses
import json
import struct

import ml_dtypes
import numpy as np
import pytest

from tests.conftest import SHARED_DATA
from zcser import registry
from zcser.core.buffers import address
from zcser.core.dtypes import NAMES
from zcser.core.errors import DecodeError, EncodeError
from zcser.core.view import to_value
from zcser.safetensors import header
from zcser.safetensors.header import DTYPES

Weights = dict[str, np.ndarray]

ARRAYS = {
    "model.layers.0.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
    "bert/encoder/kernel": np.arange(3, dtype=np.float64),
    "mask": np.array([True, False, True]),
    "ids": np.array([[-1], [2**62]]),
    "half": np.array([1.5, -0.0], np.float16),
    "scalar": np.array(7, np.uint16),
    "empty": np.zeros((0, 4), np.int8),
}


@dataclasses.dataclass
class Layer:
    name: str
    weight: np.ndarray
    bias: np.ndarray | None


@dataclasses.dataclass
class Checkpoint:
    format: str
    step: int
    embedding: np.ndarray
    layers: list[Layer]
    blob: bytes


def checkpoint() -> Checkpoint:
    layers = [Layer("a/b", np.ones((2, 2), np.float32), None), Layer("c", np.zeros(3, np.int8), np.arange(2.0))]
    return Checkpoint("pt", 7, np.arange(4, dtype=np.int16), layers, b"xyz")


def header_of(data: bytes) -> dict[str, object]:
    (size,) = struct.unpack_from("<Q", data)
    return dict(json.loads(data[8 : 8 + size]))


def test_a_message_is_what_the_format_says():
    # By hand: 56 bytes of JSON are a multiple of 8 already; 2 and -1 as little-endian int16.
    codec = registry.codec("safetensors", Weights)
    text = b'{"w":{"dtype":"I16","shape":[2],"data_offsets":[0,4]}}  '
    expected = struct.pack("<Q", 56) + text + b"\x02\0\xff\xff"
    assert codec.encode({"w": np.array([2, -1], np.int16)}) == expected
    assert codec.decode(expected)["w"].tolist() == [2, -1]


def test_the_reference_library_writes_the_same_bytes_and_reads_them():
    numpy = pytest.importorskip("safetensors.numpy")
    codec = registry.codec("safetensors", Weights)
    data = codec.encode(ARRAYS)
    assert data == numpy.save(ARRAYS)
    found = numpy.load(data)
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(found[name], array)
        np.testing.assert_array_equal(codec.decode(numpy.save(ARRAYS))[name], array)


def test_a_class_is_read_from_what_the_reference_library_wrote_with_metadata():
    numpy = pytest.importorskip("safetensors.numpy")
    found = registry.codec("safetensors", Checkpoint).encode(checkpoint())
    tensors = numpy.load(found)
    assert set(tensors) == {"embedding", "/layers/0/weight", "/layers/1/weight", "/layers/1/bias", "blob"}
    assert tensors["/layers/1/bias"].tolist() == [0.0, 1.0]
    assert tensors["blob"].tobytes() == b"xyz"
    metadata = header_of(found)["__metadata__"]
    assert metadata == {
        "format": "pt",
        "step": "7",
        "layers": '[{"name":"a/b","weight":null,"bias":null},{"name":"c","weight":null,"bias":null}]',
    }
    again = registry.codec("safetensors", Checkpoint).decode(numpy.save(tensors, metadata))
    assert (again.format, again.step, again.blob) == ("pt", 7, b"xyz")
    assert again.layers[0].bias is None
    assert again.layers[1].bias.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("name", ["made_bf16", "made_mixed", "made_zero_and_scalar"])
def test_files_of_others_are_read_and_written_again(name):
    path = SHARED_DATA / "safetensors" / f"{name}.safetensors"
    if not path.exists():
        pytest.skip("the shared data is not beside this checkout")
    data = path.read_bytes()
    codec = registry.codec("safetensors", Weights)
    found = codec.decode(data)
    assert set(found) == set(header_of(data)) - {"__metadata__"}
    for entry_name, entry in header_of(data).items():
        if entry_name != "__metadata__":
            assert list(found[entry_name].shape) == entry["shape"]
    again = codec.decode(codec.encode(found))
    assert {key: array.tobytes() for key, array in again.items()} == {
        key: array.tobytes() for key, array in found.items()
    }


def test_every_tensor_is_aligned_and_aliases():
    codec = registry.codec("safetensors", Weights)
    arrays = {**ARRAYS, "complex": np.ones(2, np.complex128), "byte": np.ones(3, np.int8)}
    data = bytearray(codec.encode(arrays))
    assert struct.unpack_from("<Q", data)[0] % 8 == 0
    view = codec.view(data)
    for name, array in codec.decode(data, copy=False).items():
        assert array.flags.aligned
        if array.size:
            assert address(data) <= address(array) < address(data) + len(data)
            assert address(view[name]) == address(array)
    data[address(view["bert/encoder/kernel"]) - address(data) + 23] ^= 0x80  # the sign of the third
    assert view["bert/encoder/kernel"][2] == -2.0


def test_segments_are_the_header_and_the_tensors_themselves():
    codec = registry.codec("safetensors", Checkpoint)
    value = checkpoint()
    segments = codec.encode_segments(value)
    assert b"".join(segments) == codec.encode(value)
    assert {address(value.embedding), address(value.blob)} <= {address(segment) for segment in segments}
    assert to_value(codec.view_segments(segments)).layers[1].name == "c"
    with pytest.raises(DecodeError, match="not those of one message"):
        codec.decode_segments([*segments[:-1], segments[-1][:-1]])


def test_what_the_format_has_no_dtype_for_is_bytes_with_the_dtype_beside_them():
    codec = registry.codec("safetensors", Weights)
    array = np.array([1, 2], "datetime64[s]")
    found = header_of(codec.encode({"when": array}))
    assert found["when"] == {"dtype": "U8", "shape": [2, 8], "data_offsets": [0, 16]}
    assert found["__metadata__"] == {"/dtypes": '{"when":"datetime64[s]"}'}
    assert set(DTYPES) <= set(NAMES)
    assert codec.decode(codec.encode({"w": np.ones(2, ml_dtypes.bfloat16)}))["w"].dtype == ml_dtypes.bfloat16


def test_names_that_look_like_paths_stay_apart():
    names = ["/a/0", "/a", "a", "~", "__metadata__", "", "/dtypes"]
    codec = registry.codec("safetensors", Weights)
    value = {name: np.array(number) for number, name in enumerate(names)}
    assert {name: int(array) for name, array in codec.decode(codec.encode(value)).items()} == {
        name: number for number, name in enumerate(names)
    }
    Fields = dataclasses.make_dataclass("Fields", [("a", list[np.ndarray])])
    assert "/a/0" in header_of(registry.codec("safetensors", Fields).encode(Fields([np.zeros(1)])))


def test_a_header_that_readers_would_refuse_is_not_written(monkeypatch):
    monkeypatch.setattr(header, "_MOST", 64)
    codec = registry.codec("safetensors", str)
    assert codec.decode(codec.encode("x")) == "x"
    with pytest.raises(EncodeError, match="more than the 64"):
        codec.encode("x" * 64)
