"""Equality as the law of fidelity means it.

1. Types are exact: 1, 1.0 and True are three values; a list is no tuple.
2. Floats are equal by their bits, so 0.0 is not -0.0; any NaN equals any NaN (payload bits included only in tensors).
3. The order of dict keys does not count; the order of everything else does.
4. Arrays are equal by shape, dtype name and bits; byte order, memory order and writability do not count.
5. Objects with fields (dataclasses, msgspec Structs, classes of attrs, pydantic models, NamedTuples) are equal field by
   field, whatever their own ``==`` says; what a pydantic model was given of them does not count.
6. Dates and times are equal by what their clocks show, ``fold`` included, and by their zones; Decimals by sign, digits and
   exponent, so that 1.0 is not 1.00.
7. Sets are equal by their items, in any order.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import math
import struct
from collections.abc import Iterator
from datetime import datetime, time
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from zcser.core.paths import pointer
from zcser.core.words import brief

__all__ = ["difference", "equal", "field_names"]

_DOUBLE = struct.Struct("<d")

# Each of these is a double exactly. Of numpy's, float64 is a float; the narrower are not.
_FLOATS = (float, np.float16, np.float32)


def field_names(value: Any) -> tuple[str, ...] | None:
    """The names of an object's fields; None for what is no dataclass, Struct, attrs, pydantic or NamedTuple instance."""
    cls = type(value)
    if dataclasses.is_dataclass(cls):
        return tuple(item.name for item in dataclasses.fields(cls))
    for attribute in ("__struct_fields__", "__pydantic_fields__"):
        names = getattr(cls, attribute, None)
        if names is not None:
            return tuple(names)
    if issubclass(cls, tuple):
        names = getattr(cls, "_fields", None)
        return names if isinstance(names, tuple) else None
    attributes = getattr(cls, "__attrs_attrs__", None)
    return None if attributes is None else tuple(item.name for item in attributes)


def equal(left: Any, right: Any) -> bool:
    """Whether two values are the same under the law of fidelity.

    Parameters
    ----------
    left, right
        Values of any kind that a schema has: builtins, numpy arrays, enums, dates, objects with fields.

    Returns
    -------
    bool
        See the rules at the head of this module.
    """
    return next(_differences(left, right, ()), None) is None


def difference(left: Any, right: Any) -> str | None:
    """The first difference between two values in words, with its path; None where they are equal."""
    return next(_differences(left, right, ()), None)


def _differences(left: Any, right: Any, path: tuple[str | int, ...]) -> Iterator[str]:
    where = f"at {pointer(path) or 'the root'}"
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        yield from _array_differences(left, right, where)
        return
    if type(left) is not type(right):
        yield f"{where}: {_named(left)} against {_named(right)}"
    elif isinstance(left, _FLOATS):
        if not (math.isnan(left) and math.isnan(right)) and _DOUBLE.pack(left) != _DOUBLE.pack(right):
            yield f"{where}: {left!r} against {right!r}"
    elif isinstance(left, enum.Enum) or left is None:
        if left is not right:
            yield f"{where}: {left!r} against {right!r}"
    elif isinstance(left, dict):
        yield from _dict_differences(left, right, path, where)
    elif (names := field_names(left)) is not None:
        for name in names:
            yield from _differences(getattr(left, name), getattr(right, name), (*path, name))
    elif isinstance(left, list | tuple):
        if len(left) != len(right):
            yield f"{where}: {len(left)} items against {len(right)}"
        else:
            for index, (one, other) in enumerate(zip(left, right, strict=True)):
                yield from _differences(one, other, (*path, index))
    elif isinstance(left, memoryview):
        if bytes(left) != bytes(right):
            yield f"{where}: other bytes"
    elif isinstance(left, set | frozenset):
        if collections.Counter(map(_distinct, left)) != collections.Counter(map(_distinct, right)):
            yield f"{where}: {_named(left)} against {_named(right)}"
    elif isinstance(left, datetime | time | Decimal):
        if _distinct(left) != _distinct(right):
            yield f"{where}: {_named(left)} against {_named(right)}"
    elif left != right:
        yield f"{where}: {_named(left)} against {_named(right)}"


def _distinct(item: Any) -> Any:
    """What two items of sets have in common where they are equal to us, and only then."""
    if isinstance(item, _FLOATS):
        return type(item), "nan" if math.isnan(item) else _DOUBLE.pack(item)
    if isinstance(item, Decimal):
        return type(item), item.as_tuple()
    if isinstance(item, datetime | time):
        return type(item), item.replace(tzinfo=None).isoformat(), item.fold, item.tzinfo
    if isinstance(item, tuple):
        return type(item), tuple(map(_distinct, item))
    return type(item), item


def _dict_differences(
    left: dict[Any, Any], right: dict[Any, Any], path: tuple[str | int, ...], where: str
) -> Iterator[str]:
    # Keys carry their type: {1: x} and {True: x} are equal to Python, and not to us.
    one = {(type(key), key): item for key, item in left.items()}
    other = {(type(key), key): item for key, item in right.items()}
    for key in one.keys() - other.keys():
        yield f"{where}: key {brief(key[1])} on the left only"
    for key in other.keys() - one.keys():
        yield f"{where}: key {brief(key[1])} on the right only"
    for key, item in one.items():
        if key in other:
            yield from _differences(item, other[key], (*path, key[1] if isinstance(key[1], str) else brief(key[1])))


def _array_differences(left: npt.NDArray[Any], right: npt.NDArray[Any], where: str) -> Iterator[str]:
    if left.dtype.name != right.dtype.name or left.dtype.hasobject:
        yield f"{where}: dtype {left.dtype.name} against {right.dtype.name}"
    elif left.shape != right.shape:
        yield f"{where}: shape {list(left.shape)} against {list(right.shape)}"
    elif _bits(left) != _bits(right):
        yield f"{where}: other elements"


def _bits(array: npt.NDArray[Any]) -> bytes:
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    return array.tobytes()


def _named(value: Any) -> str:
    return f"{type(value).__name__} {brief(value, 60)}"
