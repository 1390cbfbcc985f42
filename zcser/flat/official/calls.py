"""What generated writers and readers call, and the few types that they share.

1. Only public methods of the official builder and table are used; both come from the caller.
2. Sizes and alignments are in bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, cast

import numpy as np
import numpy.typing as npt

from zcser.core.buffers import frozen_copy
from zcser.core.dtypes import dtype_name, dtype_numbered, number_of, tensor_bytes
from zcser.flat.layout import Number
from zcser.schema.arrays import is_normal_array
from zcser.schema.model import Tensor, Type

__all__ = [
    "TENSOR_ALIGNMENT", "Normalise", "Reader", "Runtime", "Writer", "fitted", "offset_vector", "read_bytes", "refuse",
    "tensor_reader", "tensor_writer",
]  # fmt: skip

Normalise = Callable[[Type, Any], Any]
"""The normal form of a value of a type; see `zcser.schema.normal.Normaliser.part`."""

Writer = Callable[[Any, Any, int], int]
"""Builder, value and depth to the offset of the value's table."""

Reader = Callable[[Any, bool], Any]
"""Table and whether to copy, to the value."""

TENSOR_ALIGNMENT = 64
"""Bytes; a cache line, and what vector units and accelerators ask for at most."""

_LOOP = 3
"""Offsets up to which a loop over the builder is faster than numpy; measured."""


_FLAGS = {
    "bool": "BoolFlags", "byte": "Int8Flags", "ubyte": "Uint8Flags", "short": "Int16Flags", "ushort": "Uint16Flags",
    "int": "Int32Flags", "uint": "Uint32Flags", "long": "Int64Flags", "ulong": "Uint64Flags", "float": "Float32Flags",
    "double": "Float64Flags",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Runtime:
    """The official package's ``table.Table`` and its ``number_types`` module."""

    table: Any
    number_types: Any

    def flags(self, number: Number) -> Any:
        """The class that stands for a scalar type."""
        return getattr(self.number_types, _FLAGS[number.name])


def offset_vector(builder: Any, offsets: Sequence[int]) -> int:
    """Write a vector of offsets to strings or tables."""
    count = len(offsets)
    if count <= _LOOP:
        builder.StartVector(4, count, 4)
        for offset in reversed(offsets):
            builder.PrependUOffsetTRelative(offset)
        return int(builder.EndVector())
    # An offset is relative to its own place: what lies between it and the end of the buffer, less its target's.
    builder.Prep(4, 4 * count)
    first = builder.Offset() + 4 * count
    places: npt.NDArray[np.int64] = np.arange(first, first - 4 * count, -4)
    return int(builder.CreateNumpyVector((places - np.array(offsets)).astype("<u4")))


def fitted(size: int) -> Callable[[str], bytes]:
    """Text to UTF-8 of `size` bytes at most."""

    def fit(text: str) -> bytes:
        encoded = text.encode()
        if len(encoded) > size:
            raise ValueError(f"{len(encoded)} bytes of UTF-8 do not fit {size}")
        return encoded

    return fit


def tensor_writer(type_: Tensor, normalise: Normalise | None) -> Writer:
    """The writer of a tensor's table."""

    def write(builder: Any, value: npt.NDArray[Any], _depth: int) -> int:
        if normalise is not None and not is_normal_array(type_, value):
            value = normalise(type_, value)
        data = bytearray(tensor_bytes(value))
        builder.Prep(TENSOR_ALIGNMENT, len(data))
        data_offset = builder.CreateByteVector(data)
        shape_offset = builder.CreateNumpyVector(np.array(value.shape, "<i8"))
        builder.StartObject(3)
        builder.PrependUOffsetTRelativeSlot(1, shape_offset, 0)
        builder.PrependUOffsetTRelativeSlot(2, data_offset, 0)
        builder.PrependUint8Slot(0, number_of(dtype_name(value.dtype) or ""), 0)
        return int(builder.EndObject())

    return write


def read_bytes(table: Any, offset: int, copy: bool) -> bytes | memoryview:
    """A vector of ubyte. A string has the same form, and the official reader copies that in one piece."""
    if copy:
        return cast("bytes", table.String(offset + table.Pos))
    start, size = table.Vector(offset), table.VectorLen(offset)
    found: memoryview = table.Bytes[start : start + size]
    if len(found) != size:
        raise ValueError(f"{size} bytes lead past the end")
    return found


def tensor_reader(runtime: Runtime) -> Reader:
    """The reader of tensor tables."""
    longs, ubytes = runtime.number_types.Int64Flags, runtime.number_types.Uint8Flags

    def read(table: Any, copy: bool) -> npt.NDArray[Any]:
        number, shape, data = table.Offset(4), table.Offset(6), table.Offset(8)
        if not shape or not data:
            raise ValueError("a tensor without shape or data")
        dtype = dtype_numbered(table.Get(ubytes, number + table.Pos) if number else 0)
        extents = table.GetVectorAsNumpy(longs, shape).tolist()
        array: npt.NDArray[Any] = table.GetVectorAsNumpy(ubytes, data).view(dtype).reshape(extents)
        if copy:
            return array.copy()
        return array if array.flags.aligned else frozen_copy(array)

    return read


def refuse() -> NoReturn:
    """Refuse a table without a slot that the schema requires, or a union of no option."""
    raise ValueError("a required field is missing, or a union has an unknown option")
