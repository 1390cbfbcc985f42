"""From wire fields to values: generated code, one function per record and list.

1. A function takes the flat tuple and the index of its part's first field. Whatever does not fit raises, as any
   exception: the caller asks `check` for the words and the place.
2. With copies, tensors own their memory and are writable. Without, they and bytes alias the message and are read-only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from zcser.core.source import Source
from zcser.header.layout import Array, Blob, Items, Node, Nothing, Struct, Text, walk, wire_values
from zcser.header.plan import Plan, big, movable
from zcser.schema.classes import positional
from zcser.schema.model import Enum, List

__all__ = ["Reader", "aliasing_array", "members_by_number"]

T = TypeVar("T")


class Reader(Generic[T]):
    """Reads one layout, and the records and lists inside it.

    Parameters
    ----------
    root
        The layout.
    copy
        See rule 2.

    Attributes
    ----------
    plan
        How the root's wire fields are found.
    value
        The root's value, of its wire fields.
    """

    def __init__(self, root: Node, *, copy: bool) -> None:
        self._is_hole = big if copy else movable
        self._copy = copy
        self._source = Source()
        self._names: dict[int, str] = {}
        for node in walk(root):
            if isinstance(node, Struct | Items):
                self._names[id(node)] = f"read{len(self._names)}"
        for node in walk(root):
            if isinstance(node, Struct | Items):
                self._define(f"{self._names[id(node)]}(t, b)", node, "b+")
        self._define("root(t)", root, "")
        self._namespace = self._source.compile("header reader")
        self._plans: dict[int, Plan] = {}
        self.plan = Plan(root, self._is_hole)
        self.value: Callable[[tuple[Any, ...]], T] = self._namespace["root"]

    def part(self, node: Struct | Items, buffer: memoryview, base: int) -> Any:
        """The value of a record or list inside the root, which starts at byte `base`."""
        plan = self._plans.get(id(node))
        if plan is None:
            # Two threads may both make it, and either may stay: they are equal.
            plan = self._plans[id(node)] = Plan(node, self._is_hole)
        return self._namespace[self._names[id(node)]](plan.unpack_from(buffer, base), 0)

    def _define(self, head: str, node: Node, base: str) -> None:
        with self._source.block(f"def {head}:"):
            body = self._record(node, 0, base) if isinstance(node, Struct) else self._part(node, 0, base)
            self._source.line(f"return {body}")

    def _part(self, node: Node, slot: int, base: str) -> str:
        """The expression of a part's value, whose first wire field is number `slot` after `base`."""
        constant = self._source.constant
        field = f"t[{base}{slot}]"
        match node:
            case Nothing():
                return "None"
            case Struct():
                return f"{self._names[id(node)]}(t, {base}{slot})"
            case Items():
                return self._items(node, slot, base)
            case Text():
                return f'{field}.rstrip(b"\\0").decode()'
            case Blob():
                return f"bytes({field})" if self._copy and self._is_hole(node) else field
            case Array():
                if not self._copy:
                    return f"{constant(aliasing_array(node))}({field}, 0)"
                return f"{constant(np.ndarray)}({constant(node.shape)}, {constant(node.dtype)}, {field}).copy()"
        return f"{constant(members_by_number(node.type))}[{field}]" if isinstance(node.type, Enum) else field

    def _items(self, node: Items, slot: int, base: str) -> str:
        item, end = node.item, slot + node.slots
        is_tuple = isinstance(node.type, List) and node.type.container == "tuple"
        if item.slots == 0:
            found = f"[{self._part(item, slot, base)} for _ in range({node.length})]"
        elif isinstance(item, Struct | Items):
            found = f"[{self._part(item, 0, 'i+')} for i in range({base}{slot}, {base}{end}, {item.slots})]"
        else:
            fields = f"t[{base}{slot}:{base}{end}]"
            one = self._part(item, 0, "").replace("t[0]", "x", 1)
            if one == "x":
                return fields if is_tuple else f"[*{fields}]"
            found = f"[{one} for x in {fields}]"
        return f"tuple({found})" if is_tuple else found

    def _record(self, node: Struct, slot: int, base: str) -> str:
        parts = []
        for member in node.members:
            parts.append(self._part(member.node, slot, base))
            slot += member.node.slots
        names = [member.name for member in node.members]
        if node.record.cls is None:
            return "{" + ", ".join(f"{name!r}: {part}" for name, part in zip(names, parts, strict=True)) + "}"
        cls = self._source.constant(node.record.cls)
        if positional(node.record.cls, names) < len(names):
            pairs = ", ".join(f"{name!r}: {part}" for name, part in zip(names, parts, strict=True))
            return f"{cls}(**{{{pairs}}})"
        if parts and parts == [f"t[{base}{number}]" for number in range(len(parts))] and node.slots == len(parts):
            return f"{cls}(*t[{base}0:{base}{node.slots}])" if base else f"{cls}(*t)"
        return f"{cls}({', '.join(parts)})"


def aliasing_array(node: Array) -> Callable[[bytes | memoryview, int], npt.NDArray[np.generic]]:
    """A function from bytes, or a read-only memoryview of them, and an offset to the array over the memory there."""
    dtype, shape, count = node.dtype, node.shape, math.prod(node.shape)
    frombuffer = np.frombuffer

    # np.ndarray(shape, dtype, view) would let go of the memoryview and keep what lies below it: the array could be made
    # writable, and a bytearray resized under it.
    def row(buffer: bytes | memoryview, offset: int) -> npt.NDArray[np.generic]:
        return frombuffer(buffer, dtype, count, offset)

    def array(buffer: bytes | memoryview, offset: int) -> npt.NDArray[np.generic]:
        return frombuffer(buffer, dtype, count, offset).reshape(shape)

    def empty(_buffer: bytes | memoryview, _offset: int) -> npt.NDArray[np.generic]:
        found = np.empty(shape, dtype)
        found.flags.writeable = False
        return found

    if not node.size:
        return empty
    return row if len(shape) == 1 else array


def members_by_number(type_: Enum) -> dict[int, Any]:
    """An enum's members, as they stand in objects, by their numbers on the wire."""
    return dict(zip(wire_values(type_), type_.values, strict=True))
