"""Layouts from numpy's structured dtypes: offsets, gaps, byte order and size are the dtype's own.

A sub-array is an array of its shape, ``S`` and plain ``V`` are bytes of exact size, and a field whose name begins with
an underscore is padding.
"""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import numpy as np

from zcser.core.errors import SchemaError
from zcser.header.records.from_struct import scalar_of
from zcser.header.records.model import Array, ByteOrder, Bytes, Field, Part, Struct, tuple_class

__all__ = ["part_of_dtype", "struct_of_dtype"]

_CODES = {"b": "?", "i": "i", "u": "I"}
_FLOATS = {2: "e", 4: "f", 8: "d"}
_WHY = {
    "c": "use an array of two floats",
    "O": "an object is a pointer, which means nothing outside of its process",
    "U": "text of numpy has four bytes a character; use S, and encode",
    "m": "use int64, and view the array as timedelta64",
    "M": "use int64, and view the array as datetime64",
}


def struct_of_dtype(dtype: np.dtype[Any], *, name: str) -> Struct:
    """The layout of a structured dtype.

    Raises
    ------
    SchemaError
        It is not structured, its fields overlap, or one has no fixed place for a number, a bool or bytes.
    """
    if dtype.names is None or dtype.fields is None:
        raise SchemaError(f"a structured dtype is needed, not {dtype}", path=name)
    fields = tuple(
        Field(
            own, part_of_dtype(dtype.fields[own][0], name=f"{name}_{own}", path=f"{name}/{own}"), dtype.fields[own][1]
        )
        for own in dtype.names
        if not own.startswith("_")
    )
    return Struct(name, fields, dtype.itemsize, dtype.alignment, tuple_class(name, [field.name for field in fields]))


def part_of_dtype(dtype: np.dtype[Any], *, name: str, path: str) -> Part:
    """The part of a dtype; `name` is for a record, `path` for errors."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return Array(part_of_dtype(base, name=name, path=path), shape)
    if dtype.names is not None:
        return struct_of_dtype(dtype, name=name)
    if dtype.type in {np.bytes_, np.void} and dtype.itemsize:
        return Bytes(dtype.itemsize)
    # ml_dtypes have the letters of numpy's own kinds, or V.
    if dtype.kind in {"b", "i", "u", "f"} and dtype.type.__module__ == "numpy":
        code = _FLOATS.get(dtype.itemsize, "") if dtype.kind == "f" else _CODES[dtype.kind]
        scalar = scalar_of(code, dtype.itemsize, _order_of(dtype))
        if scalar is not None:
            return scalar
    _refuse(dtype, path)


def _order_of(dtype: np.dtype[Any]) -> ByteOrder:
    little = dtype.byteorder == "<" or (dtype.byteorder in {"=", "|"} and sys.byteorder == "little")
    return "little" if little else "big"


def _refuse(dtype: np.dtype[Any], path: str) -> NoReturn:
    why = _WHY.get(dtype.kind, f"use V{dtype.itemsize}, or an integer of its size, and view the array as what it is")
    raise SchemaError(f"a record has no {dtype}: {why}", path=path)
