"""The C encoder's memory: its own, that of the caller which it writes into, and that of values which segments alias."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from tests.flat.native_encode import Blobs, Inner, Outer, blobs, engine, read
from zcser.core.buffers import address
from zcser.core.errors import BufferTooSmallError, EncodeError
from zcser.core.options import Limits


def filled(size: int) -> bytearray:
    return bytearray(b"\xaa") * size


# Memory ----------------------------------------------------------------------------------------------------------------


def test_scratch_memory_leaves_no_old_bytes():
    cases = [
        Outer(1, "ab" * length, wide, [Inner(None)] * length, {"k": 1.0}) for wide in (1, None) for length in range(9)
    ]
    used = engine(Outer)
    used.encode(Outer(-1, "\xff" * 3000, -1, [Inner(255)] * 500, {"\xff" * length: 1.0 for length in range(99)}))
    for value in cases:
        assert used.encode(value) == engine(Outer).encode(value)


def test_memory_grows_by_doubling_and_stays():
    used = engine(list[str])
    used.encode(["x" * 100] * 1000)
    # 1024 bytes; 4096, as the vector takes 4000; then up to 131,072, as each string takes 108.
    assert used.growths == 7
    assert used.scratch_size == 1 << 17
    used.encode(["x" * 100] * 1000)
    used.encoded_size(["x"])
    assert used.growths == 7


def test_reserved_memory_need_not_grow():
    used = engine(list[str])
    used.reserve(1 << 17)
    used.encode(["x" * 100] * 1000)
    assert used.growths == 0


def test_nothing_keeps_what_was_encoded():
    used = engine(Blobs)
    good, bad = blobs(), blobs(counts={"k": 2**64})
    parts = [good.blob, good.array, good.names, good.counts, bad.blob, bad.array, bad.names, bad.counts]
    before = [sys.getrefcount(part) for part in parts]
    for _ in range(10):
        used.encode(good)
        used.encode_into(good, bytearray(20_000))
        used.encode_segments(good)
        with pytest.raises(EncodeError):
            used.encode(bad)
        with pytest.raises(BufferTooSmallError):
            used.encode_into(good, bytearray(10))
    assert [sys.getrefcount(part) for part in parts] == before


# Segments --------------------------------------------------------------------------------------------------------------


def test_big_data_alias_the_value_and_small_are_copied():
    value = blobs(blob=b"b" * 4096, array=np.arange(512.0).reshape(2, 256))
    segments = engine(Blobs).encode_segments(value)
    assert [segment.nbytes for segment in segments[1::2]] == [4096, 4096]
    assert address(segments[1]) == address(value.blob)
    assert address(segments[3]) == address(value.array)
    assert all(segment.readonly and segment.format == "B" and segment.ndim == 1 for segment in segments)
    assert b"".join(segments) == engine(Blobs).encode(value)
    smaller = blobs(blob=b"b" * 4095, array=np.arange(511.0))
    (whole,) = engine(Blobs).encode_segments(smaller)
    assert whole == engine(Blobs).encode(smaller)


@pytest.mark.parametrize("dtype", ["float32", "complex64", "bool", "float16", "bfloat16"])
def test_segments_of_many_tensors(dtype):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    made = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    arrays = [np.ones(size, made) for size in (0, 5000, 1, 0, 4096, 4096, 3)] + [np.ones((), made)]
    used = engine(list[np.ndarray])
    segments = used.encode_segments(arrays)
    assert len(segments) == 7
    assert b"".join(segments) == used.encode(arrays)
    for index, segment in zip((1, 4, 5), segments[1::2], strict=True):
        assert address(segment) == arrays[index].ctypes.data
    found = read(list[np.ndarray], b"".join(segments))
    assert [(item.shape, item.dtype) for item in found] == [(item.shape, item.dtype) for item in arrays]


def test_segments_keep_the_value_alive():
    segments = engine(np.ndarray).encode_segments(np.full(5000, 7.0))
    assert (np.frombuffer(segments[1]) == 7).all()


# Into a buffer ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "size", "offset", "limits"),
    [
        (blobs(), 100, 0, {}),
        (blobs(), 13_000, 3, {}),
        (blobs(), 13_000, 4, {}),
        (blobs(), 13_000, -1, {}),
        (blobs(), 13_000, 13_001, {}),
        (blobs(), 13_000, 2**70, {}),
        (blobs(), 13_000, True, {}),
        (blobs(counts={"k": 2**63}), 13_000, 0, {}),
        (blobs(names=["\ud800"]), 13_000, 0, {}),
        (blobs(array=np.zeros(2, object)), 13_000, 0, {}),
        (blobs(), 13_000, 0, {"bytes": 1000}),
        (blobs(), 13_000, 0, {"elements": 2}),
        (None, 13_000, 0, {}),
    ],
)
def test_a_failure_leaves_the_buffer_untouched(value, size, offset, limits):
    out = filled(size)
    with pytest.raises(EncodeError):
        engine(Blobs, limits=Limits(**limits)).encode_into(value, out, offset)
    assert out == filled(size)
    out += b"more"  # the buffer is not held any longer


def test_an_address_is_a_multiple_of_8_only_where_it_matters():
    out = filled(200)
    assert engine(Inner).encode_into(Inner(1), out, 4) == len(engine(Inner).encode(Inner(1)))
    assert out[:4] == b"\xaa" * 4
    with pytest.raises(EncodeError, match="no multiple of 8"):
        engine(Outer).encode_into(Outer(1, "", 2, [], {}), out, 4)
    with pytest.raises(EncodeError, match="no multiple of 4"):
        engine(Inner).encode_into(Inner(1), out, 2)


def test_a_message_may_be_written_over_its_own_tensor():
    memory = filled(40_000)
    value = blobs(array=np.frombuffer(memory, np.float64, 2000, 800))
    value.array[:] = np.arange(2000)
    expected = engine(Blobs).encode(value)
    assert engine(Blobs).encode_into(value, memory) == len(expected)
    assert memory[: len(expected)] == expected
