"""What generated writers call: what is too rare, or too long, to be generated.

A `Misfit`, like any exception that is not `Full`, says that a value is not in normal form.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from zcser.core.dtypes import dtype_name, number_of, tensor_bytes
from zcser.flat.program import REMEMBERED
from zcser.flat.pure.write_tail import Tail, lay_out

__all__ = [
    "Full",
    "Misfit",
    "State",
    "exact_float",
    "exact_floats",
    "nested_message",
    "pack_numbers",
    "put_gap",
    "put_numbers",
    "put_vtable",
    "tensor_parts",
]

State = list[Any]
"""Of a message: the elements left of ``limits.elements``, the alignment of its address, the vtables of tables whose form
varies, the places that lead to each shared string, then the vtable of each other table, 0 where there is none yet."""


class Misfit(Exception):  # noqa: N818 - never leaves this package
    """A value is not in normal form."""


class Full(Exception):  # noqa: N818 - never leaves this package
    """The scratch memory is too small; the argument is a size that the message has at least."""


def put_vtable(buffer: bytearray, state: State, key: int, vtable: bytes, at: int) -> int:
    """Write the vtable of a form that varies, and remember it if there is room; where it ends."""
    size = len(vtable)
    struct.pack_into(f"{size}s", buffer, at, vtable)
    known = state[2]
    count_key = -1 - (key & 0xFFFFFFFF)
    count = known.get(count_key, 0)
    if count < REMEMBERED:
        known[key] = at
        known[count_key] = count + 1
    return at + size


def exact_float(number: Any) -> float:
    """The float that is equal to an int."""
    if number.__class__ is int:
        found = float(number)
        if found == number:
            return found
    raise Misfit(f"{type(number).__name__} is no float")


def exact_floats(numbers: Sequence[Any]) -> list[float]:
    """Floats, and ints that floats are equal to, as floats."""
    return [number if number.__class__ is float else exact_float(number) for number in numbers]


def put_gap(buffer: bytearray, start: int, stop: int) -> int:
    """Write zeros; where they end."""
    struct.pack_into(f"{stop - start}x", buffer, start)
    return stop


def pack_numbers(size: int, code: str, numbers: Sequence[Any]) -> bytes:
    """The bytes of `size` numbers; what is out of range is a struct.error or an OverflowError."""
    return struct.pack(f"<{size}{code}", *numbers)


def nested_message(memory: memoryview, start: int, end: int, tail: Tail) -> bytes:
    """The bytes of a nested message, whose head stands in memory."""
    items, _, _ = lay_out(memory, end, tail)
    return b"".join([memory[start:end], *(part for item in items for part in item)])


def put_numbers(memory: memoryview, at: int, size: int, code: str, numbers: Sequence[Any]) -> None:
    """Write `size` integers or doubles; what is out of range is an OverflowError."""
    packed = array(code, numbers)
    if len(packed) != size:
        raise Misfit("a list changed while it was encoded")
    if sys.byteorder == "big":
        packed.byteswap()
    memory[at : at + len(packed) * packed.itemsize] = memoryview(packed).cast("B")


class _Numbers(dict["np.dtype[Any]", int]):
    """Numbers of dtypes as they stand in a message; -1 of what is big-endian, or not in the table."""

    def __missing__(self, dtype: np.dtype[Any]) -> int:
        name = dtype_name(dtype)
        is_big = dtype.byteorder == ">" or (dtype.byteorder == "=" and sys.byteorder == "big")
        number = -1 if name is None or is_big else number_of(name)
        if name is not None:  # of others there is no end
            self[dtype] = number
        return number


_NUMBERS = _Numbers()


def tensor_parts(array: npt.NDArray[Any], dtype: int, shape: tuple[int, ...] | None) -> tuple[int, memoryview]:
    """Number of an array's dtype, and its bytes; `dtype` is -1 for any, as is an extent of `shape`."""
    if array.__class__ is not np.ndarray:
        raise Misfit(f"{type(array).__name__} is no numpy.ndarray")
    number = _NUMBERS[array.dtype]
    if number < 0 or dtype not in (-1, number):
        raise Misfit(f"dtype {array.dtype} is not as in the message")
    if not array.flags.c_contiguous:
        raise Misfit("the array is not C-ordered")
    if shape is not None and (
        len(shape) != array.ndim or any(want not in (-1, have) for want, have in zip(shape, array.shape, strict=True))
    ):
        raise Misfit(f"shape {array.shape} is not the schema's")
    try:
        return number, array.data.cast("B")
    except (TypeError, ValueError):  # no letter for the dtype, or no item
        return number, tensor_bytes(array)
