"""Tensors as lists of numbers: the form of `Options.tensors` = "numbers", and the readers of both directions.

1. ``{"dtype": name, "shape": [...], "data": [numbers]}``: the elements in C order, in one flat list, so that a shape with
   a zero in it has a form. A bool is true or false, an integer its digits, a float the shortest decimal of the float64
   that it equals, a date or time span the integer of its units. The bits that an int4 leaves of its byte are not carried.
2. What a number cannot say is refused when written: NaN, NaT, infinities, complex elements.
3. Read back, an integer must be one and fit the dtype; a float is rounded to the nearest of the dtype, as `Float(32)` is,
   and must not overflow, to the largest number of a dtype without infinities no more than to infinity.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from zcser.core.dtypes import dtype_name
from zcser.schema.model import Tensor, Type
from zcser.schema.normal import Normaliser
from zcser.tree.leaves import BadTree, float_of

__all__ = ["NumberNormaliser", "array_of_numbers", "integer_bounds", "numbers_of", "why_no_numbers"]

Array = npt.NDArray[Any]


@functools.cache
def integer_bounds(name: str) -> tuple[int, int] | None:
    """Least and greatest integer of a dtype whose numbers are integers; None for all others."""
    if name.startswith(("datetime64", "timedelta64")):
        return 1 - (1 << 63), (1 << 63) - 1  # the one below is NaT
    kind, bits = name.rstrip("0123456789"), name[len(name.rstrip("0123456789")) :]
    if kind == "uint":
        return 0, (1 << int(bits)) - 1
    return (-(1 << int(bits) - 1), (1 << int(bits) - 1) - 1) if kind == "int" else None


def why_no_numbers(array: Array) -> str | None:
    """Why an array has no list of numbers; None where it has one."""
    name = dtype_name(array.dtype) or ""
    if "complex" in name:
        return f"{name} has no form as numbers; use tensors='base64'"
    if array.dtype.kind in "mM":
        return "NaT has no form as numbers; use tensors='base64'" if np.isnat(array).any() else None
    if name != "bool" and integer_bounds(name) is None and not np.isfinite(_doubles(array)).all():
        return "NaN and infinities have no form as numbers; use tensors='base64'"
    return None


def numbers_of(array: Array) -> list[Any]:
    """The elements of a normal array in C order.

    Raises
    ------
    BadTree
        One has no form: see `why_no_numbers`.
    """
    reason = why_no_numbers(array)
    if reason is not None:
        raise BadTree(reason)
    name = dtype_name(array.dtype) or ""
    if name != "bool" and integer_bounds(name) is None:
        array = _doubles(array)
    elif array.dtype.kind in "VmM":  # the small integers of ml_dtypes; dates and time spans
        array = array.astype(np.int64)
    numbers: list[Any] = array.reshape(-1).tolist()
    return numbers


def _doubles(array: Array) -> Array:
    with np.errstate(invalid="ignore"):  # a signalling NaN
        return array.astype(np.float64)


def array_of_numbers(numbers: Any, dtype: np.dtype[Any]) -> Array:
    """The flat array of a list of numbers.

    Parameters
    ----------
    numbers
        What a wire gave: to be a list; or an array of int64, uint64 or float64 that a library made of one.
    dtype
        Of the result, out of the table of dtypes.

    Raises
    ------
    BadTree
        A number does not fit the dtype.
    """
    if numbers.__class__ is not list and numbers.__class__ is not np.ndarray:
        raise BadTree(f"a tensor's data must be a list of numbers, not {type(numbers).__name__}")
    name = dtype_name(dtype) or ""
    classes = set(map(type, numbers)) if numbers.__class__ is list else set()
    if name == "bool":
        _only(classes, {bool}, name)
        return np.array(numbers, dtype)
    bounds = integer_bounds(name)
    if bounds is not None:
        _only(classes, {int}, name)
        if len(numbers) and not bounds[0] <= _least(numbers) <= _greatest(numbers) <= bounds[1]:
            raise BadTree(f"an integer is outside {name}")
        wide = np.asarray(numbers, np.uint64 if bounds[0] == 0 else np.int64)
        return wide.astype(dtype, copy=False)
    if "complex" in name:
        raise BadTree(f"{name} has no form as numbers")
    _only(classes, {int, float}, name)
    if int in classes:
        numbers = [float_of(number) for number in numbers]
    doubles = np.asarray(numbers, np.float64)
    with np.errstate(over="ignore"):
        found = doubles.astype(dtype, copy=False)
    if not np.isfinite(_doubles(found)).all() or (np.abs(doubles) > _largest(name, dtype)).any():
        raise BadTree(f"a number is too large for {name}")
    return found


def _largest(name: str, dtype: np.dtype[Any]) -> float:
    """What a dtype makes of all numbers that are larger; infinity where it has that, or NaN, for them."""
    if not name.startswith(("float4_", "float6_")):
        return math.inf
    bits = int(name[5])
    return float(np.array([(1 << bits - 1) - 1], np.uint8).view(dtype).astype(np.float64)[0])


def _least(numbers: Any) -> int:
    return int(numbers.min()) if numbers.__class__ is np.ndarray else min(numbers)


def _greatest(numbers: Any) -> int:
    return int(numbers.max()) if numbers.__class__ is np.ndarray else max(numbers)


def _only(classes: set[type], allowed: set[type], name: str) -> None:
    if not classes <= allowed:
        wrong = ", ".join(sorted(cls.__name__ for cls in classes - allowed))
        raise BadTree(f"a tensor of {name} cannot hold {wrong}")


class NumberNormaliser(Normaliser):
    """`normal` for a codec that writes tensors as numbers: refuses, with the path, those that have none."""

    def _of(self, type_: Type, value: Any, path: tuple[str | int, ...]) -> Any:
        found = super()._of(type_, value, path)
        if isinstance(type_, Tensor):
            reason = why_no_numbers(found)
            if reason is not None:
                self._refuse(reason, path)
        return found
