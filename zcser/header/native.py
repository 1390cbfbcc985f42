"""What the engine in C is given of a schema's layout: its parts, for writing.

The layout of the tuples is that of ``zcser/native/header/pack_program.c``; a part stands after those inside it. The engine
writes what fits as it is, and returns None for all else, which `zcser.header.write` and the Normaliser are there for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from zcser.core.dtypes import tensor_bytes
from zcser.header.layout import Array, Blob, Items, Node, Nothing, Scalar, Struct, Text, wire_values
from zcser.header.write import has_format, usual_dtype
from zcser.native import _header
from zcser.schema.model import Enum, List

__all__ = ["make_packer"]

_NUMBER, _ENUM, _NULL, _TEXT, _BYTES, _TENSOR, _LIST, _RECORD = range(8)
_BOOL, _INT, _UINT, _FLOAT = 0, 2, 3, 4
_MAX_HEIGHT = 128
_IS_SWAPPED = sys.byteorder != "little"


def make_packer(root: Node, alignment: int) -> _header.Packer | None:
    """The writer of a layout; None where the engine has none.

    Parameters
    ----------
    root
        The layout.
    alignment
        That the address of a message must have.
    """
    if root.height > _MAX_HEIGHT or root.size > sys.maxsize:
        return None
    program = _Program()
    program.add(root)
    return _header.Packer(tuple(program.parts), np.ndarray, alignment)


class _Program:
    def __init__(self) -> None:
        self.parts: list[tuple[Any, ...]] = []
        self.known: dict[int, int] = {}

    def add(self, node: Node) -> int:
        """Add a part and what is in it; its number."""
        if id(node) not in self.known:
            kind, details = self._part(node)
            self.parts.append((kind, node.size, details))
            self.known[id(node)] = len(self.parts) - 1
        return self.known[id(node)]

    def _part(self, node: Node) -> tuple[int, tuple[Any, ...]]:
        match node:
            case Scalar(type=Enum() as type_):
                values = type_.values
                is_plain = type(values[0]) in {int, str}
                by_value = {value: position for position, value in enumerate(values)} if is_plain else None
                return _ENUM, (_number(node), tuple(values), wire_values(type_), by_value)
            case Scalar():
                return _NUMBER, _number(node)
            case Text():
                return _TEXT, ()
            case Blob():
                return _BYTES, ()
            case Array():
                return _TENSOR, (_formats(node.dtype), node.shape, _bytes_of(node))
            case Items():
                is_tuple = isinstance(node.type, List) and node.type.container == "tuple"
                return _LIST, (is_tuple, node.length, self.add(node.item))
            case Struct():
                members = tuple((member.name, self.add(member.node), member.offset) for member in node.members)
                return _RECORD, (node.record.cls or dict, members)
            case Nothing():
                return _NULL, ()
        raise AssertionError(node)


def _number(node: Scalar) -> tuple[int, bool]:
    op = {"?": _BOOL, "f": _FLOAT, "d": _FLOAT}.get(node.code, _INT if node.code.islower() else _UINT)
    return op, _IS_SWAPPED


def _formats(dtype: np.dtype[Any]) -> tuple[str, ...]:
    """What the buffers of arrays of a dtype call it, as it stands in the table and as most arrays have it."""
    return tuple({np.empty(0, one).data.format for one in (dtype, usual_dtype(dtype))}) if has_format(dtype) else ()


def _bytes_of(node: Array) -> Callable[[Any], memoryview | None]:
    """The bytes of an array whose buffer does not say that it fits, where it does; else None."""
    dtype, shape = node.dtype, node.shape

    def bytes_of(array: Any) -> memoryview | None:
        fits = array.dtype == dtype and array.shape == shape and array.flags.c_contiguous
        return tensor_bytes(array) if fits else None

    return bytes_of
