"""Whether an array is a normal value of a tensor type, as codecs ask it before they take its memory as it is."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from zcser.core.dtypes import dtype_name
from zcser.schema.types import Tensor

__all__ = ["is_normal_array", "shape_fits"]

_BIG_ENDIAN = (">",) if sys.byteorder == "little" else (">", "=")


def shape_fits(type_: Tensor, shape: Sequence[int]) -> bool:
    """Whether a shape is one that a tensor type allows."""
    return type_.shape is None or (
        len(shape) == len(type_.shape)
        and all(want is None or want == have for want, have in zip(type_.shape, shape, strict=True))
    )


def is_normal_array(type_: Tensor, value: Any) -> bool:
    """Whether a value is an ndarray, and no subclass, of the type's dtype and shape, little-endian and C-contiguous."""
    if value.__class__ is not np.ndarray:
        return False
    name = dtype_name(value.dtype)
    return (
        name is not None
        and type_.dtype in (None, name)
        and shape_fits(type_, value.shape)
        and value.dtype.byteorder not in _BIG_ENDIAN
        and value.flags.c_contiguous
    )
