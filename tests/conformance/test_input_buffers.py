"""Any C-contiguous buffer is read, wherever its address lies; any other is refused in words."""

from __future__ import annotations

import array
import mmap
from collections.abc import Callable
from multiprocessing import shared_memory
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.conformance.laws import assert_same, codecs, has, make, messages
from tests.conformance.strategies import plain
from zcser.core.errors import DecodeError
from zcser.core.view import to_value

# The one case that every codec carries: scalars, text, bytes, lists, nested records and tensors of fixed size.
CASE = "sized"


def message(name: str) -> tuple[bytes, Any]:
    return max(messages(name, CASE), key=lambda pair: len(pair[0]))


def mapped(data: bytes) -> mmap.mmap:
    region = mmap.mmap(-1, len(data))
    region[:] = data
    return region


def array_of(kind: Any) -> Callable[[bytes], Any]:
    return lambda data: np.frombuffer(data, kind) if len(data) % np.dtype(kind).itemsize == 0 else data


def cast(kind: str) -> Callable[[bytes], Any]:
    # Where the length does not divide, the message is read as bytes; the other codecs' lengths do divide.
    return lambda data: memoryview(data).cast(kind) if len(data) % array.array(kind).itemsize == 0 else data


BUFFERS: dict[str, Callable[[bytes], Any]] = {
    "bytes": bytes,
    "bytearray": bytearray,
    "memoryview": memoryview,
    "read-only memoryview": lambda data: memoryview(bytearray(data)).toreadonly(),
    **{f"slice at {n}": lambda data, n=n: memoryview(bytes(n) + data + b"?")[n:-1] for n in (1, 2, 3, 5, 7, 8)},
    "signed bytes": cast("b"),
    "shorts": cast("h"),
    "ints": cast("I"),
    "doubles": cast("d"),
    "two dimensions": lambda data: memoryview(data).cast("B", (1, len(data))),
    "array.array": lambda data: array.array("B", data),
    "mmap": mapped,
    "ndarray": array_of(np.uint8),
    "ndarray of float8": array_of(ml_dtypes.float8_e5m2),
    "ndarray of int16": array_of(np.int16),
    "column of an ndarray": lambda data: np.frombuffer(data, np.uint8).reshape(-1, 1),
}


@pytest.mark.parametrize("kind", BUFFERS)
@pytest.mark.parametrize("name", codecs())
def test_every_contiguous_buffer_decodes(name, kind):
    data, expected = message(name)
    codec = make(name, CASE)
    assert_same(codec.decode(BUFFERS[kind](data)), expected)
    assert_same(plain(codec.decode(BUFFERS[kind](data), copy=False)), expected)


@pytest.mark.parametrize("kind", BUFFERS)
@pytest.mark.parametrize("name", codecs("view"))
def test_every_contiguous_buffer_can_be_viewed(name, kind):
    data, expected = message(name)
    assert_same(to_value(make(name, CASE).view(BUFFERS[kind](data))), expected)


@pytest.mark.parametrize("name", codecs())
def test_shared_memory_decodes(name):
    data, expected = message(name)
    segment = shared_memory.SharedMemory(create=True, size=len(data))
    try:
        segment.buf[: len(data)] = data
        part = segment.buf[: len(data)]
        assert_same(make(name, CASE).decode(part), expected)
        part.release()
    finally:
        segment.close()
        segment.unlink()


STRIDED: dict[str, Callable[[bytes], Any]] = {
    "every second byte": lambda data: memoryview(bytes(byte for one in data for byte in (one, 0x20)))[::2],
    "reversed": lambda data: memoryview(data[::-1])[::-1],
    "strided ndarray": lambda data: np.repeat(np.frombuffer(data, np.uint8), 2)[::2],
    "F-order ndarray": lambda data: np.asfortranarray(np.frombuffer(data * 2, np.uint8).reshape(2, -1)),
    "strided float8": lambda data: np.repeat(np.frombuffer(data, ml_dtypes.float8_e5m2), 2)[::2],
}


@pytest.mark.parametrize("kind", STRIDED)
@pytest.mark.parametrize("name", codecs())
def test_a_buffer_that_is_not_contiguous_is_refused_in_words(name, kind):
    codec = make(name, CASE)
    strided = STRIDED[kind](message(name)[0])
    for operation in ("decode", "view"):
        if has(name, operation):
            with pytest.raises(DecodeError, match="not C-contiguous") as caught:
                getattr(codec, operation)(strided)
            assert caught.value.codec == name


@pytest.mark.parametrize("data", ["text", None, 5, [1, 2], {"a": 1}, object()], ids=lambda data: type(data).__name__)
@pytest.mark.parametrize("name", codecs())
def test_what_is_no_buffer_is_a_decode_error(name, data):
    codec = make(name, CASE)
    for operation in ("decode", "view", "load"):
        if has(name, operation):
            with pytest.raises(DecodeError, match=type(data).__name__):
                getattr(codec, operation)(data)
