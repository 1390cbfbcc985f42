"""Byte views of every kind of buffer."""

from __future__ import annotations

import array
import ctypes
import gc
import mmap
import weakref
from multiprocessing import shared_memory

import ml_dtypes
import numpy as np
import pytest

from zcser.core.buffers import address, byte_view, writable_view
from zcser.core.errors import DecodeError, EncodeError

TEXT = b"0123456789abcdef"


def mapped() -> mmap.mmap:
    region = mmap.mmap(-1, len(TEXT))
    region[:] = TEXT
    return region


def ctypes_array() -> object:
    return (ctypes.c_char * len(TEXT))(*TEXT)


BUFFERS = {
    "bytes": lambda: TEXT,
    "bytearray": lambda: bytearray(TEXT),
    "memoryview": lambda: memoryview(TEXT),
    "odd slice": lambda: memoryview(b"?" + TEXT + b"?")[1:-1],
    "signed": lambda: memoryview(TEXT).cast("b"),
    "characters": lambda: memoryview(TEXT).cast("c"),
    "doubles": lambda: memoryview(TEXT).cast("d"),
    "two dimensions": lambda: memoryview(TEXT).cast("B", (4, 4)),
    "array.array": lambda: array.array("I", TEXT),
    "mmap": mapped,
    "ctypes": ctypes_array,
    "uint8": lambda: np.frombuffer(TEXT, np.uint8),
    "big-endian": lambda: np.frombuffer(TEXT, ">i4"),
    "complex": lambda: np.frombuffer(TEXT, np.complex128),
    "datetime64": lambda: np.frombuffer(TEXT, "datetime64[s]"),
    "structured": lambda: np.frombuffer(TEXT, "i4,f4"),
    "bfloat16": lambda: np.frombuffer(TEXT, ml_dtypes.bfloat16),
    "float8, two dimensions": lambda: np.frombuffer(TEXT, ml_dtypes.float8_e5m2).reshape(2, 8),
    "0-d": lambda: np.frombuffer(TEXT, np.complex128).reshape(()),
}


@pytest.mark.parametrize("kind", BUFFERS)
def test_every_contiguous_buffer_becomes_a_flat_view_of_its_bytes(kind):
    view = byte_view(BUFFERS[kind]())
    assert (view.format, view.ndim, view.nbytes) == ("B", 1, 16)
    assert bytes(view) == TEXT


def test_the_view_aliases_the_buffer():
    for make in (bytearray, lambda text: np.frombuffer(text, ml_dtypes.bfloat16).copy(), lambda _: mapped()):
        data = make(TEXT)
        byte_view(data)[3] = ord("!")
        assert bytes(byte_view(data))[3:4] == b"!"


def test_the_view_of_shared_memory_aliases_it():
    segment = shared_memory.SharedMemory(create=True, size=64)
    try:
        view = byte_view(segment.buf)
        view[5] = 77
        assert segment.buf[5] == 77
        view.release()
    finally:
        segment.close()
        segment.unlink()


def test_the_view_keeps_its_owner_alive():
    owner = np.arange(16, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn)
    alive = weakref.ref(owner.base)
    view = byte_view(owner)
    del owner
    gc.collect()
    assert alive() is not None
    assert bytes(view) == bytes(range(16))


@pytest.mark.parametrize(
    "data",
    [
        memoryview(TEXT)[::2],
        memoryview(TEXT)[::-1],
        np.zeros((3, 4), order="F"),
        np.zeros(8, np.int16)[::2],
        np.zeros(8, ml_dtypes.bfloat16)[::2],
        np.zeros((4, 4), ml_dtypes.bfloat16)[:, :2],
    ],
    ids=["every second byte", "reversed", "F-order", "strided", "strided bfloat16", "columns of bfloat16"],
)
def test_a_buffer_that_is_not_contiguous_is_refused_in_words(data):
    with pytest.raises(DecodeError, match="not C-contiguous"):
        byte_view(data)
    with pytest.raises(EncodeError, match="not C-contiguous"):
        writable_view(data)


@pytest.mark.parametrize("data", ["text", 5, None, [1, 2], object()])
def test_what_is_no_buffer_is_a_decode_error(data):
    with pytest.raises(DecodeError, match=f"not {type(data).__name__}") as caught:
        byte_view(data, codec="json")
    assert caught.value.codec == "json"


def test_an_array_of_objects_is_refused_because_its_bytes_are_pointers():
    with pytest.raises(DecodeError, match="object"):
        byte_view(np.array([object(), 1], object))
    with pytest.raises(EncodeError, match="object"):
        writable_view(np.array([object(), 1], object))


def test_a_buffer_that_was_released_or_closed_is_a_decode_error():
    view = memoryview(TEXT)
    view.release()
    with pytest.raises(DecodeError):
        byte_view(view)
    region = mapped()
    region.close()
    with pytest.raises(DecodeError):
        byte_view(region)


@pytest.mark.parametrize("empty", [b"", bytearray(), memoryview(b""), array.array("d"), np.zeros((0, 3))])
def test_an_empty_buffer_is_an_empty_view(empty):
    assert byte_view(empty).nbytes == 0
    assert byte_view(empty).format == "B"
    assert address(empty) == 0


def test_writability_is_that_of_the_buffer():
    assert byte_view(b"x").readonly
    assert byte_view(memoryview(bytearray(b"x")).toreadonly()).readonly
    assert not byte_view(bytearray(b"x")).readonly
    assert not byte_view(np.zeros(3, ml_dtypes.bfloat16)).readonly


def test_a_writable_view_starts_at_the_offset():
    out = bytearray(10)
    writable_view(out, 4)[:2] = b"ab"
    assert out == b"\0\0\0\0ab\0\0\0\0"
    assert writable_view(out, 10).nbytes == 0


def test_an_empty_writable_buffer_is_not_called_read_only():
    assert writable_view(bytearray()).nbytes == 0


@pytest.mark.parametrize("out", [b"abc", memoryview(bytearray(3)).toreadonly(), "abc"])
def test_a_target_that_cannot_be_written_is_an_encode_error(out):
    with pytest.raises(EncodeError):
        writable_view(out)


@pytest.mark.parametrize("offset", [-1, 11, 2**70, 1.0, True, None, "1"])
def test_an_offset_outside_the_target_is_an_encode_error(offset):
    with pytest.raises(EncodeError, match="offset"):
        writable_view(bytearray(10), offset)


def test_the_address_is_that_of_the_first_byte():
    data = bytearray(16)
    truth = ctypes.addressof((ctypes.c_char * 16).from_buffer(data))
    assert address(data) == truth
    assert address(memoryview(data)[5:]) == truth + 5
    tensor = np.zeros(4, ml_dtypes.bfloat16)
    assert address(tensor) == tensor.__array_interface__["data"][0]
