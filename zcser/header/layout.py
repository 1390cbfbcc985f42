"""From a schema to the places of its parts: a C struct, little-endian, in natural alignment.

1. A part stands at the next multiple of its alignment: a number's is its size, a tensor's that of its elements, a
   record's the largest of its fields', that of text, bytes and bool 1. Gaps are zero when written, ignored when read.
2. A record's size is rounded up to its alignment, so that lists of it need no gaps of their own. On a machine with C's
   usual rules, ``struct`` in C, ``ctypes.LittleEndianStructure`` and ``numpy.dtype(align=True)`` give the same offsets.
3. An enum takes the narrowest integer that holds its values, unsigned where none is negative; an enum of strings takes
   the members' ordinals. ``Str(n)`` is UTF-8 padded with NUL to n bytes, ``Bytes(n)`` exactly n bytes. Null takes none.
4. Whatever has no one size (an optional, a map, a union, a list without a length) is a `SchemaError`.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from zcser.core.dtypes import dtype_named
from zcser.core.errors import SchemaError
from zcser.core.options import Limits
from zcser.schema.model import (
    Bool,
    Bytes,
    Enum,
    Float,
    Int,
    List,
    Map,
    Null,
    Optional,
    Record,
    Ref,
    Schema,
    Str,
    Tensor,
    Type,
    Union,
)

__all__ = [
    "MAX_SLOTS",
    "Array",
    "Blob",
    "Items",
    "Member",
    "Node",
    "Nothing",
    "Scalar",
    "Struct",
    "Text",
    "layout_of",
    "walk",
    "wire_values",
]

MAX_SLOTS = 1 << 20
"""Wire fields of one layout. Each is a Python object when read; what is longer is a tensor's affair."""


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A part of a layout.

    Attributes
    ----------
    type
        Its type in the schema.
    size, align
        In bytes.
    slots
        Wire fields that it takes: entries of the flat tuple that ``struct`` packs and unpacks.
    height
        Records and lists nested in it, itself counted.
    """

    type: Type
    size: int
    align: int
    slots: int
    height: int


@dataclass(frozen=True, slots=True, eq=False)
class Nothing(Node):
    """None alone: no bytes."""


@dataclass(frozen=True, slots=True, eq=False)
class Scalar(Node):
    """A bool, number or enum; `code` is its letter in ``struct``."""

    code: str


@dataclass(frozen=True, slots=True, eq=False)
class Text(Node):
    """UTF-8, padded with NUL."""


@dataclass(frozen=True, slots=True, eq=False)
class Blob(Node):
    """Bytes."""


@dataclass(frozen=True, slots=True, eq=False)
class Array(Node):
    """A tensor, C-ordered."""

    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Items(Node):
    """A list: `length` items, one after the other."""

    item: Node
    length: int


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A field of a record, `offset` bytes after its start."""

    name: str
    node: Node
    offset: int


@dataclass(frozen=True, slots=True, eq=False)
class Struct(Node):
    """A record. All places of one record share one node."""

    record: Record
    members: tuple[Member, ...]


def layout_of(schema: Schema, limits: Limits, *, codec: str | None = None) -> Node:
    """The layout of a schema.

    Parameters
    ----------
    schema
        Any whose root has one size.
    limits
        Bounds on depth and the items of a list, which a layout settles once for all messages.
    codec
        Name that an error carries.

    Raises
    ------
    SchemaError
        A part has no fixed size, or the layout is beyond the limits.
    """
    return _Builder(schema, limits, codec).node(schema.root, "")


def walk(node: Node) -> Iterator[Node]:
    """A node and those inside it, each once."""
    seen: dict[int, Node] = {}
    waiting = [node]
    while waiting:
        here = waiting.pop()
        if id(here) not in seen:
            seen[id(here)] = here
            waiting += [here.item] if isinstance(here, Items) else []
            waiting += [member.node for member in reversed(here.members)] if isinstance(here, Struct) else []
    yield from seen.values()


class _Builder:
    def __init__(self, schema: Schema, limits: Limits, codec: str | None) -> None:
        self.schema = schema
        self.limits = limits
        self.codec = codec
        self.structs: dict[str, Struct] = {}
        self.open: list[str] = []
        self.level = 0

    def node(self, type_: Type, path: str) -> Node:
        match type_:
            case Null():
                return Nothing(type_, 0, 1, 0, 0)
            case Bool():
                return Scalar(type_, 1, 1, 1, 0, "?")
            case Int():
                if type_.bits is None:
                    self._refuse("an unbounded int has no fixed size; give it 8, 16, 32 or 64 bits", path)
                return _integer(type_, type_.bits, signed=type_.signed)
            case Float():
                size = type_.bits // 8
                return Scalar(type_, size, size, 1, 0, "d" if size == 8 else "f")
            case Enum():
                return self._enum(type_, path)
            case Str() | Bytes():
                kind = "str" if isinstance(type_, Str) else "bytes"
                if type_.size is None:
                    self._refuse(f"{kind} has no fixed size; give it one: Annotated[{kind}, {kind.title()}(32)]", path)
                return (Text if isinstance(type_, Str) else Blob)(type_, self._extent(type_.size, path), 1, 1, 0)
            case Tensor():
                return self._tensor(type_, path)
            case List():
                return self._list(type_, path)
            case Ref():
                return self._struct(type_, path)
        self._refuse(_WHY[type(type_)], path)

    def _refuse(self, reason: str, path: str) -> NoReturn:
        raise SchemaError(reason, path=path, codec=self.codec)

    def _extent(self, extent: int, path: str) -> int:
        if extent < 0:
            self._refuse(f"{extent} is no fixed size", path)
        return extent

    def _enum(self, type_: Enum, path: str) -> Scalar:
        wire = wire_values(type_)
        low, high = min(wire), max(wire)
        for bits in (8, 16, 32, 64):
            if low >= 0 and high < 1 << bits:
                return _integer(type_, bits, signed=False)
            if low < 0 and -(1 << bits - 1) <= low and high < 1 << bits - 1:
                return _integer(type_, bits, signed=True)
        self._refuse(f"{type_} has values beyond 64 bits, the largest fixed integer", path)

    def _tensor(self, type_: Tensor, path: str) -> Array:
        if type_.dtype is None or type_.shape is None or None in type_.shape:
            self._refuse(
                f"{type_} has no fixed dtype and shape; give it both: Annotated[np.ndarray, Tensor('float32', (2, 3))]",
                path,
            )
        try:
            dtype = dtype_named(type_.dtype)
        except LookupError as error:
            self._refuse(str(error), path)
        shape = tuple(self._extent(extent, path) for extent in type_.shape if extent is not None)
        return Array(type_, math.prod(shape) * dtype.itemsize, dtype.itemsize, 1, 0, dtype, shape)

    def _list(self, type_: List, path: str) -> Items:
        if type_.length is None:
            self._refuse(
                f"{type_} has no fixed length; give it one: Annotated[{type_.container}[...], Length(4)]", path
            )
        length = self._extent(type_.length, path)
        if length > self.limits.elements:
            self._refuse(f"the fixed length {length} is more than limits.elements = {self.limits.elements}", path)
        with self._nested(path):
            item = self.node(type_.item, f"{path}/*")
        slots = self._slots(length * item.slots, path)
        return Items(type_, length * item.size, item.align, slots, 1 + item.height, item, length)

    def _struct(self, ref: Ref, path: str) -> Struct:
        name = ref.name
        if name in self.open:
            self._refuse(f"{name} contains itself, so that it has no fixed size", path)
        if name not in self.structs:
            self.open.append(name)
            with self._nested(path):
                self.structs[name] = self._members(self.schema.resolve(ref), ref)
            self.open.pop()
        struct = self.structs[name]
        self._bound(self.level + struct.height, path)
        return struct

    @contextlib.contextmanager
    def _nested(self, path: str) -> Iterator[None]:
        self.level += 1
        self._bound(self.level, path)
        yield
        self.level -= 1

    def _bound(self, level: int, path: str) -> None:
        if level > self.limits.depth:
            self._refuse(f"the fixed layout is nested deeper than limits.depth = {self.limits.depth}", path)

    def _members(self, record: Record, ref: Ref) -> Struct:
        members = []
        offset, align, slots, height = 0, 1, 0, 0
        for item in record.fields:
            path = f"{record.name}/{item.name}"
            if item.may_be_absent:
                self._refuse("a field that may be absent has no fixed place; make it required", path)
            node = self.node(item.type, path)
            offset = _round_up(offset, node.align)
            members.append(Member(item.name, node, offset))
            offset += node.size
            align = max(align, node.align)
            height = max(height, node.height)
            slots = self._slots(slots + node.slots, path)
        return Struct(ref, _round_up(offset, align), align, slots, 1 + height, record, tuple(members))

    def _slots(self, count: int, path: str) -> int:
        if count > MAX_SLOTS:
            self._refuse(f"{count} values are more than a fixed layout holds ({MAX_SLOTS}); use a tensor", path)
        return count


def _integer(type_: Type, bits: int, *, signed: bool) -> Scalar:
    code = {8: "b", 16: "h", 32: "i", 64: "q"}[bits]
    return Scalar(type_, bits // 8, bits // 8, 1, 0, code if signed else code.upper())


def _round_up(offset: int, align: int) -> int:
    return -(-offset // align) * align


def wire_values(type_: Enum) -> tuple[int, ...]:
    """The integers that stand for an enum's members, in their order."""
    return tuple(number if isinstance(value, str) else value for number, (_, value) in enumerate(type_.members))


_WHY: dict[type[Type], str] = {
    Optional: "an optional has no fixed size; use a flag beside the value, or a value that means none",
    Map: "a map has no fixed size; use a record, or a list of records with a length",
    Union: "a union has no fixed size; use a field for each option, and an enum that tells which counts",
}
