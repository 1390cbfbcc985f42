"""The one table of tensor element types: name, numpy dtype, wire number.

1. A dtype travels by name or by the number in this table, never by ``dtype.str``: ``ml_dtypes`` report ``<V2`` there.
2. Numbers are for ever: they stand in encoded messages. New ones are only appended.
3. Every wire form is little-endian and C-ordered.
"""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt

__all__ = ["NAMES", "dtype_name", "dtype_named", "dtype_numbered", "number_of", "tensor_bytes"]

NAMES: tuple[str, ...] = (
    "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64",
    "float16", "float32", "float64", "complex64", "complex128",
    "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e4m3b11fnuz",
    "int4", "uint4", "float8_e3m4", "float8_e4m3", "float8_e8m0fnu",
)  # fmt: skip
"""Names by wire number."""

_NUMBER = {name: number for number, name in enumerate(NAMES)}
_NUMPY = frozenset(NAMES[:14])


@functools.cache
def dtype_named(name: str) -> np.dtype[np.generic]:
    """The little-endian numpy dtype of a name in the table.

    Raises
    ------
    LookupError
        The name is not in the table, or needs ml_dtypes, which is not installed.
    """
    if name in _NUMPY:
        return np.dtype(name).newbyteorder("<")
    if name not in _NUMBER:
        raise LookupError(f"unknown dtype {name!r}; known: {', '.join(NAMES)}")
    try:
        import ml_dtypes
    except ImportError:
        raise LookupError(f"dtype {name!r} needs ml_dtypes: pip install 'zcser[dtypes]'") from None
    try:
        scalar: type[np.generic] = getattr(ml_dtypes, name)
    except AttributeError:
        raise LookupError(f"dtype {name!r} needs a newer ml_dtypes: pip install -U ml_dtypes") from None
    return np.dtype(scalar)


@functools.cache
def dtype_numbered(number: int) -> np.dtype[np.generic]:
    """The dtype of a wire number.

    Raises
    ------
    LookupError
        As for `dtype_named`.
    """
    if not 0 <= number < len(NAMES):
        raise LookupError(f"unknown dtype number {number}")
    return dtype_named(NAMES[number])


@functools.cache
def dtype_name(dtype: np.dtype[np.generic]) -> str | None:
    """The table's name of a dtype, or None where the table has none (object, str, void, datetime, structured)."""
    name = dtype.name
    return name if name in _NUMBER and (dtype.kind != "V" or dtype.names is None) else None


def number_of(name: str) -> int:
    """The wire number of a name in the table."""
    return _NUMBER[name]


def tensor_bytes(array: npt.NDArray[np.generic]) -> memoryview:
    """The bytes of a C-contiguous array, as a memoryview that aliases them.

    Notes
    -----
    Copies: none. ml_dtypes arrays have no buffer format of their own, so every array is viewed as uint8.
    """
    return array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")
