"""Tensors from .npy, .npz and .safetensors: as numpy reads them, and nothing that runs code or asks for memory."""

from __future__ import annotations

import io
import json
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

from zcser.core.fidelity import equal
from zcser.payloads import from_source
from zcser.payloads.base import PayloadError
from zcser.payloads.sources import tensors
from zcser.schema.model import Tensor

ARRAYS = {
    "big": np.arange(6, dtype=">i4").reshape(2, 3),
    "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "scalar": np.float32(2.5) * np.ones(()),
    "empty": np.zeros((0, 3), np.uint8),
    "when": np.array(["2020-01-01"], "datetime64[D]"),
}


def read(path, data):
    path.write_bytes(data)
    return from_source(str(path))


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_an_npz_is_a_record_of_its_tensors(tmp_path, save):
    save(tmp_path / "a.npz", **ARRAYS)
    payload = from_source(str(tmp_path / "a.npz"))
    value = payload.make(0)
    assert list(value) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert value[name].dtype == array.dtype.newbyteorder("<")
        np.testing.assert_array_equal(value[name], array)
    assert payload.tensor == "/big"
    assert [item.type for item in payload.schema.records[0].fields][:2] == [Tensor("int32"), Tensor("float64")]


def test_an_npy_is_a_record_of_one(tmp_path):
    assert equal(read(tmp_path / "a.npy", npy(np.eye(2))).make(0), {"array": np.eye(2)})


def test_files_of_a_folder_are_one_sample(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.zeros(2), y=np.zeros(2, np.int8))
    np.savez(tmp_path / "b.npz", x=np.zeros(3, np.float32))
    payload = from_source(str(tmp_path))
    assert [(item.name, item.type, item.required) for item in payload.schema.records[0].fields] == [
        ("x", Tensor(None), True),
        ("y", Tensor("int8"), False),
    ]


def expected(path):
    """What numpy reads without pickles; None where it needs them."""
    try:
        found = np.load(path, allow_pickle=False)
        return dict(found) if path.suffix == ".npz" else {"array": found}
    except ValueError:
        return None


@pytest.mark.filterwarnings("ignore:Reading")  # numpy's own reading, of what Python 2 wrote
def test_shared_files_are_read_or_refused_as_pickles(shared_data):
    refused = 0
    for path in sorted((shared_data / "npy").iterdir()):
        arrays = expected(path)
        if arrays is None or any(array.dtype.kind == "U" for array in arrays.values()):
            reason = "is a pickle, which may run code and is not loaded" if arrays is None else "use a list of str"
            with pytest.raises(PayloadError, match=reason):
                from_source(str(path))
            refused += 1
            continue
        value = from_source(str(path)).make(0)
        for name, array in arrays.items():
            np.testing.assert_array_equal(value[name], array)
    assert refused == 10  # nine of objects, one of text


def test_shared_safetensors_are_read_as_their_library_reads_them(shared_data):
    numpy_reader = pytest.importorskip("safetensors.numpy")
    for path in sorted((shared_data / "safetensors").iterdir()):
        value = from_source(str(path)).make(0)
        if path.stem == "made_bf16":
            # Its own reader of numpy has no bfloat16: the upper half of float32.
            wide = (value["x"].view(np.uint16).astype(np.uint32) << 16).view(np.float32)
            np.testing.assert_array_equal(wide, value["x"].astype(np.float32))
            continue
        assert equal(value, numpy_reader.load_file(path))


def header(shape, descr="<f4"):
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def zipped(data):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", data)
    return out.getvalue()


def safetensors(dtype, shape, size, data=b""):
    text = json.dumps({"x": {"dtype": dtype, "shape": shape, "data_offsets": [0, size]}}).encode()
    return struct.pack("<Q", len(text)) + text + data


BAD = [
    ("a.npy", header("(2147483648,)"), "takes 8,589,934,592 bytes, and 0 are there"),
    ("a.npy", header("(1,)") + b"\0" * 9, "takes 4 bytes, and 9 are there"),
    ("a.npy", header("(-1,)"), r"negative one"),
    ("a.npy", header("(1, " * 90 + ")" * 90), "not .npy"),
    ("a.npy", header("(" + "1," * 65 + ")") + b"\0" * 4, "65 dimensions"),
    ("a.npy", header("(1,)", "|O"), "is a pickle, which may run code"),
    ("a.npy", header("(1,)", "|V2") + b"\0\0", "only numbers of fixed size"),
    ("a.npy", b"\x93NUMPY\x03\x00" + b"\0" * 8, "version 3"),
    ("a.npy", b"", "not .npy"),
    ("a.npy", npy(np.eye(3))[:-1], "takes 72 bytes, and 71 are there"),
    ("a.npz", zipped(b"x"), r"tensor 'x': not .npy"),
    ("a.npz", zipped(npy(np.array([{}], object))), "tensor 'x': an array of objects is a pickle"),
    ("a.npz", b"PK\x03\x04", "not an .npz file"),
    ("a.npz", zipped(npy(np.eye(50)))[:-30], "not an .npz file"),
    ("a.safetensors", b"\xff" * 20, "not .safetensors"),
    ("a.safetensors", safetensors("F32", [1 << 31], 1 << 33), "not .safetensors"),
    ("a.safetensors", safetensors("F4", [2], 1, b"\0"), "tensor 'x': its dtype F4 cannot be carried"),
]


@pytest.mark.parametrize(("name", "data", "reason"), BAD)
def test_bad_files_are_one_line_and_ask_for_no_memory(tmp_path, name, data, reason):
    if name.endswith("safetensors"):
        pytest.importorskip("safetensors")
    path = tmp_path / name
    path.write_bytes(data)
    tracemalloc.start()
    try:
        with pytest.raises(PayloadError, match=reason) as caught:
            from_source(str(path))
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_what_unpacks_to_more_than_the_limit_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(tensors, "MAX_BYTES", 10_000)
    with pytest.raises(PayloadError, match="10,001 bytes unpacked are more than 10,000"):
        read(tmp_path / "bomb.npz", zipped(bytes(10_001)))


def test_mutated_files_are_read_or_refused_in_one_line(tmp_path):
    np.savez(tmp_path / "good.npz", x=np.arange(5), y=np.eye(3, dtype=np.float32))
    good = (tmp_path / "good.npz").read_bytes()
    generator = np.random.default_rng(1)
    complaints = []
    for _ in range(300):
        data = bytearray(good)
        for place in generator.integers(len(data), size=2):
            data[place] = generator.integers(256)
        try:
            read(tmp_path / "bad.npz", bytes(data))
        except PayloadError as error:
            complaints.append(str(error))
    assert len(complaints) > 100
    assert not any("\n" in complaint for complaint in complaints)
