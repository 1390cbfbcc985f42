"""Leaves that a tree cannot hold as they are: bytes as text, tensors, keys that are no text.

Writers take normal values. Readers take whatever the wire gave, and raise `BadTree` with the reason.
"""

from __future__ import annotations

import binascii
import math
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from zcser.core.buffers import frozen_copy
from zcser.core.dtypes import dtype_name, dtype_named, tensor_bytes
from zcser.schema.model import Bool, Int, Tensor
from zcser.tree.splice import lifted

__all__ = [
    "BadTree",
    "RoundedIntError",
    "bytes_of_text",
    "check_shape",
    "float_of",
    "floats_of",
    "is_text",
    "key_reader",
    "round_float32",
    "tensor_reader",
    "tensor_tree",
    "text_key",
    "text_of_bytes",
]

_FLOAT = struct.Struct("<f")

Array = npt.NDArray[Any]


class BadTree(Exception):  # noqa: N818 - never leaves this floor
    """A tree does not fit the schema; turned into `DecodeError` with the path by `zcser.tree.explain`."""


class RoundedIntError(Exception):
    """A float may stand for an integer that the library has rounded; the codec reads the text again, exactly."""


def text_of_bytes(data: bytes | memoryview) -> str:
    """Base64 of bytes."""
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def bytes_of_text(text: Any) -> bytes:
    """Bytes of base64."""
    if text.__class__ is not str:
        raise BadTree(f"base64 text is needed, not {type(text).__name__}")
    if len(text) % 4:
        # Some versions of Python take, in strict_mode too, more padding than is due.
        raise BadTree(f"not base64: {len(text)} characters are no multiple of 4")
    try:
        return binascii.a2b_base64(text, strict_mode=True) if text else b""
    except ValueError as error:
        raise BadTree(f"not base64: {error}") from None


def is_text(text: str) -> bool:
    """Whether a str has a UTF-8 form: no lone surrogate stands in it."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def round_float32(number: float) -> float:
    """The nearest 32-bit float; OverflowError where there is none."""
    rounded: float = _FLOAT.unpack(_FLOAT.pack(number))[0]
    return rounded


def float_of(number: Any) -> float:
    """A float from what a wire gives for one: JSON does not tell 1 from 1.0."""
    if number.__class__ is float:
        return float(number)
    if number.__class__ is int:
        try:
            return float(number)
        except OverflowError:
            raise BadTree("the integer is too large for a float") from None
    raise BadTree(f"a number is needed, not {type(number).__name__}")


def floats_of(numbers: list[Any]) -> list[float]:
    """A list of floats from a list of numbers."""
    return [float_of(number) for number in numbers]


def text_key(key: int | bool) -> str:
    """The text of a key that is an int or bool."""
    return str(key) if key.__class__ is int else "true" if key else "false"


def key_reader(type_: Int | Bool) -> Callable[[str], int | bool]:
    """The inverse of `text_key` for one type of key; only the text that `text_key` writes is taken."""
    if isinstance(type_, Bool):
        return _bool_key
    low, high = type_.low, type_.high

    def int_key(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise BadTree(f"key {text!r} is no integer") from None
        if str(number) != text:
            raise BadTree(f"key {text!r} is not written as {number}")
        if (low is not None and number < low) or (high is not None and number > high):
            raise BadTree(f"key {text} is outside {type_}")
        return number

    return int_key


def _bool_key(text: str) -> bool:
    if text not in ("true", "false"):
        raise BadTree(f"key {text!r} is neither 'true' nor 'false'")
    return text == "true"


def tensor_tree(
    array: Array, *, native_bytes: bool, out_of_band: Callable[[memoryview], Any] | None = None
) -> dict[str, Any]:
    """The tree of a normal array: see rule 4 of `zcser.tree.form`."""
    data = tensor_bytes(array)
    head = {"dtype": dtype_name(array.dtype), "shape": list(array.shape)}
    if not native_bytes:
        return {**head, "base64": text_of_bytes(data)}
    return {**head, "data": data if out_of_band is None else out_of_band(data)}


def tensor_reader(type_: Tensor, *, native_bytes: bool, copy: bool) -> Callable[..., Array]:
    """The inverse of `tensor_tree` for one type of tensor.

    Parameters
    ----------
    type_
        Whose dtype and shape are checked.
    native_bytes
        Whether the elements stand as bytes.
    copy
        True: arrays are writable and own their memory. False: read-only, over the bytes that the library made, or over
        what stood in for them.

    Returns
    -------
    callable
        From a tree, and where it may hold stand-ins from what they stand for, to an array.
    """
    slot = "data" if native_bytes else "base64"
    keys = {"dtype", "shape", slot}

    def read(tree: Any, blobs: Sequence[memoryview] = ()) -> Array:
        if tree.__class__ is not dict or tree.keys() != keys:
            raise BadTree(f"a tensor is a map with the keys dtype, shape and {slot}")
        name, shape = tree["dtype"], tree["shape"]
        if name.__class__ is not str or (type_.dtype is not None and name != type_.dtype):
            raise BadTree(f"{type_} is needed, not dtype {name!r}")
        try:
            dtype = dtype_named(name)
        except LookupError as error:
            raise BadTree(str(error)) from None
        check_shape(type_, shape)
        data = lifted(tree[slot], blobs) if native_bytes else bytes_of_text(tree[slot])
        if data.__class__ is not bytes and data.__class__ is not memoryview:
            raise BadTree(f"a tensor's data must be bytes, not {type(data).__name__}")
        if len(data) != math.prod(shape) * dtype.itemsize:
            raise BadTree(f"{len(data)} bytes do not hold a {name} tensor of shape {shape}")
        try:
            # np.ndarray rather than frombuffer: it takes ml_dtypes and shapes with a zero in them.
            # But it lets go of a memoryview for what lies below it, which may be writable.
            memory = np.frombuffer(data, np.uint8) if isinstance(data, memoryview) else data
            array: Array = np.ndarray(tuple(shape), dtype, buffer=memory)
        except ValueError as error:
            raise BadTree(f"shape {shape}: {error}") from None
        if copy:
            return array.copy()
        return array if array.flags.aligned else frozen_copy(array)

    return read


def check_shape(type_: Tensor, shape: Any) -> None:
    """Raise unless a shape from a wire is a list of extents that the type allows."""
    if shape.__class__ is not list or any(extent.__class__ is not int for extent in shape):
        raise BadTree("a tensor's shape must be a list of integers")
    if len(shape) > 32 or any(not 0 <= extent < 1 << 63 for extent in shape):
        raise BadTree(f"shape {shape[:8]} is out of bounds")
    if type_.shape is not None and (
        len(shape) != len(type_.shape)
        or any(want is not None and want != have for want, have in zip(type_.shape, shape, strict=True))
    ):
        raise BadTree(f"{type_} is needed, not shape {shape}")
