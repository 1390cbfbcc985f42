"""Arrays of numbers, from the tape to numpy without a Python object for each.

1. The array has the dtype of the schema's numbers, and holds what a walk over the items gives, or the walk's own error is
   raised: whatever is not certain is walked.
2. `as_buffer` flattens arrays in arrays and rounds integers to floats. The first is excluded by the text (an array of
   numbers is only taken where no array stands in an array, else items are looked at), the second by asking for the type
   that the schema has.
3. A dtype that the caller asks for must hold the integers: none is rounded or wrapped.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import simdjson

from zcser.codecs.simdjson.parsers import Document
from zcser.schema.model import Float, Int, List, Type, Union

__all__ = ["as_asked", "leaf_dtype", "number_array", "number_tree", "rows"]

Array = npt.NDArray[Any]
Reader = Callable[[Any], Any]
ToArray = Callable[[Any, Document], Array]
"""Of a node, which is a proxy or a list."""


def number_array(item: Type, read: Reader) -> ToArray | None:
    """How a list of numbers becomes an array; None where the items are no numbers.

    Parameters
    ----------
    item
        Of the list.
    read
        From a node to the list's value, with a `DecodeError` where it does not fit.
    """
    if isinstance(item, Int) and item.bits is not None:
        return _integers(item, read)
    if isinstance(item, Float):
        return _floats(leaf_dtype(item), read)
    if isinstance(item, Union) and {type(option) for option in item.options} == {Int, Float}:
        return _mixed(read)
    return None


def leaf_dtype(item: Type) -> np.dtype[Any]:
    """The dtype of an array of numbers; of a mix, which only its items tell, that of no items."""
    if isinstance(item, List):
        return leaf_dtype(item.item)
    if isinstance(item, Int):
        return np.dtype(f"{'' if item.signed else 'u'}int{item.bits}")
    return np.dtype(f"float{item.bits if isinstance(item, Float) else 64}")


def _integers(item: Int, read: Reader) -> ToArray:
    dtype = leaf_dtype(item)
    low, high = item.low, item.high

    def to_array(node: Any, document: Document) -> Array:
        found = _from_tape(node, document, "i" if item.signed else "u")
        if found is None or (item.bits != 64 and found.size and not low <= found.min() <= found.max() <= high):
            return np.array(read(node), dtype)
        return found.astype(dtype, copy=False)

    return to_array


def _floats(dtype: np.dtype[Any], read: Reader) -> ToArray:
    def to_array(node: Any, document: Document) -> Array:
        found = _from_tape(node, document, "d")
        if found is not None and dtype.itemsize == 8:
            return found
        if found is not None:
            with np.errstate(over="ignore"):
                found = found.astype(dtype)
            if np.isfinite(found).all():
                return found
        return np.array(read(node), dtype)

    return to_array


def _mixed(read: Reader) -> ToArray:
    def to_array(node: Any, document: Document) -> Array:
        found = _from_tape(node, document, "i")
        if found is not None:
            return found
        items = read(node)
        classes = set(map(type, items))
        if len(classes) == 1:
            return np.array(items)
        place = next(index for index, one in enumerate(items) if type(one) is not type(items[0]))
        raise ValueError(
            f"item {place} is {type(items[place]).__name__} and those before it are {type(items[0]).__name__}: no dtype "
            "holds both exactly; take list(view)"
        )

    return to_array


_WIRE = {"i": np.dtype(np.int64), "u": np.dtype(np.uint64), "d": np.dtype(np.float64)}


def _from_tape(node: Any, document: Document, of_type: Literal["i", "u", "d"]) -> Array | None:
    """The numbers of a proxy; None where it is none, or the numbers have to be looked at."""
    if node.__class__ is not simdjson.Array or document.nests_arrays:
        return None
    try:
        return np.frombuffer(node.as_buffer(of_type=of_type), _WIRE[of_type])
    except (TypeError, ValueError):
        return None


def number_tree(node: Any, document: Document) -> dict[str, Any] | None:
    """The tree of a tensor of numbers, with an array in place of the list; None where the node is no such tensor."""
    if node.__class__ is not simdjson.Object or len(node) != 3 or set(node.keys()) != {"dtype", "shape", "data"}:
        return None
    name, shape = node["dtype"], node["shape"]
    if name.__class__ is not str or shape.__class__ is not simdjson.Array:
        return None
    whole = name.startswith(("int", "datetime64", "timedelta64"))
    of_type: Literal["i", "u", "d"] = "u" if name.startswith("uint") else "i" if whole else "d"
    data = _from_tape(node["data"], document, of_type) if name != "bool" else None
    return None if data is None else {"dtype": name, "shape": shape.as_list(), "data": data}


def rows(parts: list[Array], empty: Callable[[], Array]) -> Array:
    """Arrays of one shape as one of a dimension more.

    Raises
    ------
    ValueError
        Their shapes differ; says where.
    """
    if not parts:
        return empty()
    for index, part in enumerate(parts):
        if part.shape != parts[0].shape:
            raise ValueError(f"row {index} has the shape {part.shape} and those before it {parts[0].shape}")
    return np.stack(parts)


def as_asked(array: Array, dtype: Any, copy: bool | None) -> Array:
    """What ``__array__`` gives of an array that is the caller's own.

    Raises
    ------
    ValueError
        `copy` is False; or integers do not fit the dtype, or might be rounded by it.
    """
    if copy is False:
        raise ValueError("the numbers of JSON text cannot be seen as an array without a copy")
    if dtype is None or array.dtype == dtype:
        return array
    wanted = np.dtype(dtype)
    if array.dtype.kind in "iu" and array.size:
        low, high = int(array.min()), int(array.max())
        least: int | float = -math.inf
        most: int | float = math.inf
        if wanted.kind in "iu":
            bounds = np.iinfo(wanted)
            least, most = bounds.min, bounds.max
        elif wanted.kind in "fc":
            most = 1 << (np.finfo(wanted).nmant + 1)
            least = -most
        if low < least or high > most:
            raise ValueError(f"integers from {low} to {high} are not all exact in {wanted}")
    return array.astype(wanted)
