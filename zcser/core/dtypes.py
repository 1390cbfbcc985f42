"""The one table of tensor element types: name, numpy dtype, wire number.

1. A dtype travels by name or by the number in this table, never by ``dtype.str``: ``ml_dtypes`` report ``<V2`` there.
2. Numbers are for ever: they stand in encoded messages. New ones are only appended.
3. Every wire form is little-endian and C-ordered. Elements narrower than a byte take one each, as in ml_dtypes.
4. In the table is what has one size and one meaning on every machine. ``refusal`` says why another dtype is not.
"""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt

__all__ = [
    "MAX_DIMENSIONS",
    "NAMES",
    "dtype_name",
    "dtype_named",
    "dtype_numbered",
    "enum_member",
    "number_of",
    "refusal",
    "tensor_bytes",
]

MAX_DIMENSIONS = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32
"""Of an array."""

_UNITS = {
    "Y": "year", "M": "month", "W": "week", "D": "day", "h": "hour", "m": "minute", "s": "second", "ms": "millisecond",
    "us": "microsecond", "ns": "nanosecond", "ps": "picosecond", "fs": "femtosecond", "as": "attosecond",
}  # fmt: skip

_DATETIMES = tuple(f"{kind}[{unit}]" for kind in ("datetime64", "timedelta64") for unit in _UNITS)

NAMES: tuple[str, ...] = (
    "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64",
    "float16", "float32", "float64", "complex64", "complex128",
    "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e4m3b11fnuz",
    "int4", "uint4", "float8_e3m4", "float8_e4m3", "float8_e8m0fnu",
    "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "int1", "uint1", "int2", "uint2", "complex32", "bcomplex32",
    *_DATETIMES,
)  # fmt: skip
"""Names by wire number."""

_NUMBER = {name: number for number, name in enumerate(NAMES)}
_NUMPY = frozenset((*NAMES[:14], *_DATETIMES))


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


@functools.lru_cache(maxsize=1024)
def dtype_name(dtype: np.dtype[np.generic]) -> str | None:
    """The table's name of a dtype of any byte order, or None where the table has none."""
    name = dtype.name
    return name if name in _NUMBER and (dtype.kind != "V" or dtype.names is None) else None


def refusal(dtype: np.dtype[np.generic]) -> str:
    """Why the table has no name for a dtype, and what to do."""
    shown = f"arrays of dtype {dtype} cannot be carried"
    if dtype.hasobject:
        return f"{shown}: they hold pointers; use a list, or an array of numbers"
    if dtype.names is not None:
        return f"{shown}: use a list of records, or an array for each field"
    if dtype.kind in "SUT":
        return f"{shown}: use a list of {'bytes' if dtype.kind == 'S' else 'str'}"
    if dtype.kind in "Mm":
        if "[" not in dtype.name:
            return f"{shown}: it has no unit; give it one, as in .astype('{dtype.name}[ns]')"
        return f"{shown}: its unit is a multiple; convert it to a plain one, as in .astype('{dtype.name.split('[')[0]}[ns]')"
    if dtype.kind in "fc":
        return f"{shown}: a long double is another on each machine; convert it with .astype()"
    return f"{shown}: only numbers of fixed size are; its bytes are in .view(np.uint8)"


def number_of(name: str) -> int:
    """The wire number of a name in the table."""
    return _NUMBER[name]


def enum_member(name: str) -> str:
    """A name as an identifier, for formats that number dtypes by an enum: no two differ in case alone."""
    kind, _, unit = name.rstrip("]").partition("[")
    return f"{kind}_{_UNITS[unit]}" if unit else kind


def tensor_bytes(array: npt.NDArray[np.generic]) -> memoryview:
    """The bytes of a C-contiguous array, as a memoryview that aliases them.

    Notes
    -----
    Copies: none. ml_dtypes arrays have no buffer format of their own, so every array is viewed as uint8.
    """
    return array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")
