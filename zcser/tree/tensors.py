"""Tensors in a tree: rule 4 of `zcser.tree.form`, in both directions.

Whichever form a codec writes it reads both: the key of the elements tells them apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from zcser.core.buffers import frozen_copy
from zcser.core.dtypes import MAX_DIMENSIONS, dtype_name, dtype_named, tensor_bytes
from zcser.core.options import Options
from zcser.schema.arrays import shape_fits
from zcser.schema.model import Tensor
from zcser.tree.form import Form
from zcser.tree.leaves import BadTree, bytes_of_text, text_of_bytes
from zcser.tree.numbers import array_of_numbers, numbers_of
from zcser.tree.splice import lifted

__all__ = ["tensor_reader", "tensor_writer", "writes_numbers"]

Array = npt.NDArray[Any]


def writes_numbers(form: Form, options: Options) -> bool:
    """Whether a codec writes tensors as lists of numbers: where it is asked to, and the wire has no bytes."""
    return options.tensors == "numbers" and not form.native_bytes


def tensor_writer(form: Form, options: Options) -> Callable[[Array], Any]:
    """A function from a normal array to its tree."""
    if form.tensor is not None:
        return form.tensor
    key, elements = _KEY[form.native_bytes], _elements(form)
    if writes_numbers(form, options):
        key, elements = "data", numbers_of

    def write(array: Array) -> dict[str, Any]:
        return {"dtype": dtype_name(array.dtype), "shape": list(array.shape), key: elements(array)}

    return write


_KEY = {True: "data", False: "base64"}


def _elements(form: Form) -> Callable[[Array], Any]:
    if not form.native_bytes:
        return lambda array: text_of_bytes(tensor_bytes(array))
    out_of_band = form.out_of_band
    return tensor_bytes if out_of_band is None else lambda array: out_of_band(tensor_bytes(array))


def tensor_reader(type_: Tensor, *, native_bytes: bool, copy: bool) -> Callable[..., Array]:
    """The inverse of `tensor_writer` for one type of tensor.

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
    key, wanted, is_of_any_shape = _KEY[native_bytes], type_.dtype, type_.shape is None

    def read(tree: Any, blobs: Sequence[memoryview] = ()) -> Array:
        try:
            name, shape, elements = tree["dtype"], tree["shape"], tree[key]
            if (
                name.__class__ is str
                and (wanted is None or name == wanted)
                and shape.__class__ is list
                and _INTS.issuperset(map(type, shape))
                and (is_of_any_shape or shape_fits(type_, shape))
                and len(tree) == 3
                and tree.__class__ is dict
            ):
                data = elements if native_bytes else bytes_of_text(elements)
                if blobs:
                    data = lifted(data, blobs)
                if data.__class__ is bytes or data.__class__ is memoryview:
                    # numpy bounds the extents, and takes no more memory than there is.
                    array: Array = np.ndarray(shape, dtype_named(name), _memory(data))
                    if array.nbytes == len(data):
                        return array.copy() if copy else array if array.flags.aligned else frozen_copy(array)
        except Exception:  # noqa: BLE001, S110 - whatever it is, there are words for it below
            pass
        return read_slowly(tree, blobs)

    def read_slowly(tree: Any, blobs: Sequence[memoryview]) -> Array:
        try:
            name, shape = tree["dtype"], tree["shape"]
            of_numbers = not native_bytes and "data" in tree
            elements = tree["data" if of_numbers else key]
            is_tensor = tree.__class__ is dict and len(tree) == 3
        except (TypeError, KeyError, IndexError):
            is_tensor = False
        if not is_tensor:
            raise BadTree(f"a tensor is a map with the keys dtype, shape and {key}")
        if name.__class__ is not str or (wanted is not None and name != wanted):
            raise BadTree(f"{type_} is needed, not dtype {name!r}")
        try:
            dtype = dtype_named(name)
        except LookupError as error:
            raise BadTree(str(error)) from None
        _check_shape(type_, shape)
        if of_numbers:
            array = _shaped(array_of_numbers(elements, dtype), dtype, shape)
            array.flags.writeable = copy
            return array
        data = elements if native_bytes else bytes_of_text(elements)
        if blobs:
            data = lifted(data, blobs)
        if data.__class__ is not bytes and data.__class__ is not memoryview:
            raise BadTree(f"a tensor's data must be bytes, not {type(data).__name__}")
        array = _shaped(data, dtype, shape)
        if copy:
            return array.copy()
        return array if array.flags.aligned else frozen_copy(array)

    return read


_INTS = frozenset((int,))


def _shaped(data: Any, dtype: np.dtype[Any], shape: list[int]) -> Array:
    """An array over a buffer of exactly its elements."""
    is_array = data.__class__ is np.ndarray
    size_bytes = data.nbytes if is_array else len(data)
    if size_bytes != math.prod(shape) * dtype.itemsize:
        raise BadTree(f"{size_bytes} bytes do not hold a {dtype.name} tensor of shape {shape}")
    if is_array:
        found: Array = data.reshape(shape)
        return found
    try:
        # np.ndarray rather than frombuffer: it takes ml_dtypes and shapes with a zero in them.
        return np.ndarray(tuple(shape), dtype, buffer=_memory(data))
    except ValueError as error:
        raise BadTree(f"shape {shape}: {error}") from None


def _memory(data: bytes | memoryview) -> Any:
    """What ``np.ndarray`` is to stand on: it lets go of a memoryview for what lies below it, which may be writable."""
    return np.frombuffer(data, np.uint8) if data.__class__ is memoryview else data


def _check_shape(type_: Tensor, shape: Any) -> None:
    """Raise unless a shape from a wire is a list of extents that the type allows."""
    if shape.__class__ is not list:
        raise BadTree("a tensor's shape must be a list of integers")
    for extent in shape:
        if extent.__class__ is not int:
            raise BadTree("a tensor's shape must be a list of integers")
        if not 0 <= extent < 1 << 63:
            raise BadTree(f"shape {shape[:8]} is out of bounds")
    if len(shape) > MAX_DIMENSIONS:
        raise BadTree(f"shape {shape[:8]} is out of bounds")
    if not shape_fits(type_, shape):
        raise BadTree(f"{type_} is needed, not shape {shape}")
