"""Tensors and bytes: what generated writers and readers call for them.

1. Nothing of the library is imported here: builders and readers of its dynamic API come from the caller.
2. Without copies, bytes are slices of the message and tensors are arrays over them, read-only both. Where they
   lie is asked of the library, which has checked the bounds; the memory is handed out by the segments themselves.
"""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from zcser.core.buffers import frozen_copy
from zcser.core.dtypes import dtype_name, dtype_numbered, number_of, tensor_bytes
from zcser.schema.arrays import is_normal_array, shape_fits
from zcser.schema.model import Tensor, Type

__all__ = ["Memory", "Normalise", "data_of", "tensor_reader", "tensor_writer"]

Normalise = Callable[[Type, Any], Any]
"""The normal form of a value of a type; see `zcser.schema.normal.Normaliser.part`."""


def data_of(reader: Any, name: str) -> memoryview:
    """The bytes of a Data field where they lie, for as long as the reader lives.

    pycapnp up to 2.2 takes a reference to the reader here that nothing gives back, so that every message read once would
    stay in memory (its pull request 406). Such a view has no owner, and the reader has a reference more than before: only
    where both are seen is it given back. Of a null pointer pycapnp makes no view at all, and loses a reference on the way.
    """
    if not reader._has(name):
        return memoryview(b"")
    references = sys.getrefcount(reader)
    found = reader.get_data_as_view(name)
    if found.obj is None and sys.getrefcount(reader) > references:
        ctypes.pythonapi.Py_DecRef(ctypes.py_object(reader))
    return cast("memoryview", found)


def _address(data: memoryview) -> int:
    return int(np.frombuffer(data, np.uint8).__array_interface__["data"][0])


class Memory:
    """The bytes of a whole message, read-only."""

    __slots__ = ("_begin", "flat")

    def __init__(self, flat: memoryview) -> None:
        self.flat = flat
        self._begin = _address(flat)

    def data(self, reader: Any, name: str) -> memoryview:
        """The part of the message that a Data field is.

        A copy where the library has one of the segment, which it makes if that is not aligned.
        """
        found = data_of(reader, name)
        size = len(found)
        if size == 0:
            return memoryview(b"")
        begin = _address(found) - self._begin
        if 0 <= begin <= len(self.flat) - size:
            return self.flat[begin : begin + size]
        return memoryview(bytes(found))


def tensor_writer(type_: Tensor, names: tuple[str, str, str], normalise: Normalise | None) -> Callable[..., None]:
    """The writer of a tensor's struct: of builder, value and depth."""
    dtype_field, shape_field, data_field = names

    def write(builder: Any, value: npt.NDArray[Any], _depth: int) -> None:
        if normalise is not None and not is_normal_array(type_, value):
            value = normalise(type_, value)
        put = builder._set
        put(dtype_field, number_of(dtype_name(value.dtype) or ""))
        put(shape_field, value.shape)
        put(data_field, tensor_bytes(value))

    return write


def tensor_reader(type_: Tensor, dtype_field: Any, shape_field: Any, data_name: str) -> Callable[..., npt.NDArray[Any]]:
    """The reader of a tensor's struct: of reader, state and depth."""

    def read(reader: Any, state: Any, *_: Any) -> npt.NDArray[Any]:
        dtype = dtype_numbered(reader._get_by_field(dtype_field).raw)
        shape = tuple(reader._get_by_field(shape_field))
        if (type_.dtype is not None and dtype_name(dtype) != type_.dtype) or not shape_fits(type_, shape):
            raise ValueError(f"{type_} is needed, not {dtype_name(dtype)}{list(shape)}")
        memory: Memory | None = state.memory
        data = data_of(reader, data_name) if memory is None else memory.data(reader, data_name)
        if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(data):
            raise ValueError(f"{len(data)} bytes do not hold a {dtype.name} tensor of shape {list(shape)}")
        # np.ndarray rather than reshape: it takes ml_dtypes and shapes with a zero in them.
        array: npt.NDArray[Any] = np.ndarray(shape, dtype, np.frombuffer(data, np.uint8))
        if memory is None:
            return array.copy()
        return array if array.flags.aligned else frozen_copy(array)

    return read
