"""Tensors of messages: whether shape, dtype and data fit each other and the schema, and the array that they are."""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import prod
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from zcser.core.buffers import frozen_copy
from zcser.core.dtypes import MAX_DIMENSIONS, dtype_name, dtype_numbered, number_of
from zcser.protowire.scalars import refuse
from zcser.protowire.stand_in import STAND_IN_SIZE, Parts, place_of
from zcser.schema.model import Tensor

__all__ = ["aligning", "checked_opener", "tensor_opener"]

Array = npt.NDArray[np.generic]

Open = Callable[..., Array | None]
"""What opens a tensor's message: it takes the message and the parts, and gives the array, read-only; without parts, None."""


def tensor_opener(type_: Tensor, path: str, *, is_held: bool = True) -> Open:
    """The function that opens a tensor's message, once shape, dtype and data fit each other and the type.

    Parameters
    ----------
    is_held
        Data of the size of a stand-in is one. Else the array is over a copy of the data that upb makes.
    """
    wanted = -1 if type_.dtype is None else number_of(type_.dtype)
    wanted_shape = type_.shape
    stand_in_size = STAND_IN_SIZE if is_held else -1
    dtypes = _Dtypes()

    def open_tensor(message: Any, parts: Parts | None = None) -> Array | None:
        number, shape, data = message.dtype, message.shape[:], message.data
        dtype, itemsize = dtypes[number]
        size = len(data)
        part = -1
        if size == stand_in_size:
            part, start, size = place_of(data)
        if (
            not size  # extents of 0 need a closer look
            or prod(shape) * itemsize != size
            or (len(shape) > 1 and (len(shape) > MAX_DIMENSIONS or min(shape) < 0))
            or number != wanted != -1
            or (wanted_shape is not None and not _fits(wanted_shape, shape))
        ):
            _refuse_tensor(type_, shape, dtype, size, path)
        if parts is None:
            return None
        return np.ndarray(shape, dtype, data) if part < 0 else np.ndarray(shape, dtype, parts[part], start)

    return open_tensor


def checked_opener() -> Open:
    """The same for messages that were opened before, without parts."""
    dtypes = _Dtypes()

    def open_checked(message: Any, parts: Parts) -> Array:
        data = message.data
        if len(data) != STAND_IN_SIZE:
            return np.ndarray(message.shape[:], dtypes[message.dtype][0], data)
        part, start, _ = place_of(data)
        return np.ndarray(message.shape[:], dtypes[message.dtype][0], parts[part], start)

    return open_checked


def aligning(open_tensor: Open) -> Open:
    """Copy a tensor whose address does not fit its dtype; others say so in their flags."""

    def open_aligned(message: Any, parts: Parts) -> Array:
        found = cast("Array", open_tensor(message, parts))
        return found if found.flags.aligned else frozen_copy(found)

    return open_aligned


class _Dtypes(dict[int, tuple["np.dtype[np.generic]", int]]):
    """The dtypes and their itemsizes by wire number, looked up on first use."""

    def __missing__(self, number: int) -> tuple[np.dtype[np.generic], int]:
        dtype = dtype_numbered(number)
        found = self[number] = dtype, dtype.itemsize
        return found


def _refuse_tensor(type_: Tensor, shape: list[int], dtype: np.dtype[np.generic], size: int, path: str) -> None:
    """Say what is wrong with a tensor, if anything is."""
    if len(shape) > MAX_DIMENSIONS:
        refuse(f"a tensor of {len(shape)} dimensions, where numpy has {MAX_DIMENSIONS}", path)
    fits_type = type_.dtype in {None, dtype_name(dtype)} and (type_.shape is None or _fits(type_.shape, shape))
    if not fits_type:
        refuse(f"{type_} is needed, not {dtype.name} of shape {shape}", path)
    if min(shape, default=0) < 0 or prod(shape) * dtype.itemsize != size:
        refuse(f"the tensor is missing, or its {size} bytes do not fit {dtype.name} of shape {shape}", path)
    # numpy refuses extents that are too large together, even beside an extent of 0.
    if prod(extent for extent in shape if extent) * dtype.itemsize > sys.maxsize:
        refuse(f"no array can have the shape {shape}", path)


def _fits(wanted: tuple[int | None, ...], shape: list[int]) -> bool:
    return len(wanted) == len(shape) and all(
        want is None or want == have for want, have in zip(wanted, shape, strict=True)
    )
