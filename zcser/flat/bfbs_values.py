"""The nodes of what stands inline in FlatBuffers: scalars, enums, structs and their arrays, from a .bfbs schema.

1. An enum is closed: a value that is no member is refused. One of bit flags is a plain int, since its values are
   combined. So is one whose field has a default that is no member.
2. A struct's places are those of the file, checked: aligned, apart from each other, within its size.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

from zcser.core.errors import SchemaError
from zcser.flat.bfbs_definition import Definition, attribute
from zcser.flat.layout import Missing
from zcser.flat.program import ALIGNMENT, Node, Op, Place
from zcser.flat.reflection import BaseType, FieldDef, ObjectDef, TypeDef
from zcser.schema.model import Bool, Enum, Field, Float, Int, List, Record, Ref, Type

__all__ = ["SCALARS", "ValuePlanner"]

SCALARS: dict[int, tuple[Op, Bool | Int | Float]] = {
    BaseType.BOOL: (Op.BOOL, Bool()),
    BaseType.BYTE: (Op.INT8, Int(8)),
    BaseType.UBYTE: (Op.UINT8, Int(8, signed=False)),
    BaseType.SHORT: (Op.INT16, Int(16)),
    BaseType.USHORT: (Op.UINT16, Int(16, signed=False)),
    BaseType.INT: (Op.INT32, Int(32)),
    BaseType.UINT: (Op.UINT32, Int(32, signed=False)),
    BaseType.LONG: (Op.INT64, Int(64)),
    BaseType.ULONG: (Op.UINT64, Int(64, signed=False)),
    BaseType.FLOAT: (Op.FLOAT32, Float(32)),
    BaseType.DOUBLE: (Op.FLOAT64, Float(64)),
}

_MOST_BYTES = 0xFFFF
"""Of a struct: its fields' offsets have 16 bits."""

_MOST_NESTED = 64
"""Structs inside each other."""

_MOST_RECORDS = 4096
"""Tables, structs and unions that one root reaches."""


class ValuePlanner:
    """Makes nodes, and the records that their values are.

    Attributes
    ----------
    nodes
        All nodes so far.
    records
        Records by name; None for one that is still to be filled.
    """

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.nodes: list[Node] = []
        self.records: dict[str, Record | None] = {}
        self._structs: dict[str, int] = {}
        self._enums: dict[int, Enum | None] = {}
        self._open: list[str] = []

    def add(self, node: Node) -> int:
        """Add a node; its index."""
        self.nodes.append(node)
        return len(self.nodes) - 1

    def enter(self, name: str) -> None:
        """Take in a record, before its fields."""
        self.records[name] = None
        if len(self.records) > _MOST_RECORDS:
            raise SchemaError(f"more than {_MOST_RECORDS} tables, structs and unions", path=name)

    def scalar(self, base: int, index: int, path: str, *, default: int | None = None) -> int:
        """The node of a scalar, of an enum where `index` names one; `default` is that of its field."""
        op, type_ = SCALARS[base]
        size = 1 if isinstance(type_, Bool) else (type_.bits or 0) // 8
        enum_ = None if index < 0 else self._enum(base, index, path)
        if enum_ is None or (default is not None and in_type(type_, default) not in enum_.values):
            return self.add(Node(op, type_, size=size, align=size))
        values = tuple((number, number) for number in enum_.values)
        return self.add(Node(Op.ENUM, enum_, size=size, align=size, number=op, values=values))

    def _enum(self, base: int, index: int, path: str) -> Enum | None:
        """The enum of a scalar; None where any number of its type is a value."""
        if index in self._enums:
            enum_ = self._enums[index]
        else:
            enum_ = self._enums[index] = self._plan_enum(index, path)
        if self.definition.enum(index, path).underlying_type.base_type != base:
            raise SchemaError("its enum is of another type", path=path)
        return enum_

    def _plan_enum(self, index: int, path: str) -> Enum | None:
        found = self.definition.enum(index, path)
        _, type_ = SCALARS.get(found.underlying_type.base_type, (Op.NULL, Bool()))
        if found.is_union or not isinstance(type_, Int):
            raise SchemaError(f"{found.name} is no enum over integers", path=path)
        if attribute(found.attributes, "bit_flags") is not None:
            return None
        members: dict[int, str] = {}
        for item in found.values:
            number = in_type(type_, item.value)
            if number is None:
                raise SchemaError(f"{item.name} = {item.value} does not fit {type_}", path=found.name)
            members.setdefault(number, item.name)  # a second name of one value is an alias
        if not members:
            raise SchemaError("an enum without members", path=found.name)
        try:
            return Enum(found.name, tuple((name, number) for number, name in members.items()))
        except SchemaError as error:
            raise SchemaError(error.reason, path=found.name) from None

    def default(self, item: FieldDef, type_: Type, integer: int, path: str) -> Any:
        """The default of a scalar field; `integer` where that is no float."""
        if isinstance(type_, Float):
            try:
                return (
                    struct.unpack("<f", struct.pack("<f", item.default_real))[0]
                    if type_.bits == 32
                    else item.default_real
                )
            except OverflowError:
                raise SchemaError(f"the default {item.default_real} does not fit {type_}", path=path) from None
        plain = SCALARS[item.type.base_type][1]
        number = in_type(plain, integer)
        if number is None:
            raise SchemaError(f"the default {integer} does not fit {plain}", path=path)
        return number

    def struct(self, found: ObjectDef, path: str) -> int:
        """The node of a struct."""
        name = found.name
        if name in self._structs:
            return self._structs[name]
        if name in self._open:
            raise SchemaError(f"struct {name} contains itself", path=path)
        if len(self._open) >= _MOST_NESTED:
            raise SchemaError(f"more than {_MOST_NESTED} structs inside each other", path=path)
        self._open.append(name)
        self.enter(name)
        node = self._plan_struct(found)
        self._open.pop()
        self._structs[name] = self.add(node)
        return self._structs[name]

    def _plan_struct(self, found: ObjectDef) -> Node:
        name, size, align = found.name, found.bytesize, found.minalign
        if not 0 < size <= _MOST_BYTES:
            raise SchemaError(f"a struct has 1 to {_MOST_BYTES} bytes, not {size}", path=name)
        if align not in {1, 2, 4, 8, 16, 32, ALIGNMENT} or size % align:
            raise SchemaError(f"a struct of {size} bytes cannot be aligned to {align}", path=name)
        fields, places, end = [], [], 0
        for item in sorted(found.fields, key=lambda item: item.offset):
            path = f"{name}/{item.name}"
            index = self.inline(item.type, path)
            node = self.nodes[index]
            if item.offset % node.align or align < node.align:
                raise SchemaError(f"offset {item.offset} is not aligned to {node.align} bytes", path=path)
            if item.offset < end:
                raise SchemaError(f"offset {item.offset} is inside the field before, which ends at {end}", path=path)
            end = item.offset + node.size
            if end > size:
                raise SchemaError(f"the field ends at {end}, behind the struct's {size} bytes", path=path)
            fields.append(Field(item.name, node.neutral, item.id + 1))
            places.append(Place(item.id, index, Missing.REFUSED, item.name, offset=item.offset, is_key=item.key))
        if sum(place.is_key for place in places) > 1:
            raise SchemaError("a struct has one key", path=name)
        self.records[name] = Record(name, tuple(fields), doc=doc_of(found.documentation))
        return Node(Op.STRUCT, Ref(name), size=size, align=align, places=tuple(places))

    def inline(self, type_: TypeDef, path: str) -> int:
        """The node of a struct's field."""
        if type_.base_type in SCALARS:
            return self.scalar(type_.base_type, type_.index, path)
        if type_.base_type == BaseType.OBJECT:
            return self._struct_at(type_.index, path)
        if type_.base_type == BaseType.ARRAY:
            if not type_.fixed_length:
                raise SchemaError("an array of no items", path=path)
            if type_.element in SCALARS:
                item = self.scalar(type_.element, type_.index, path)
            elif type_.element == BaseType.OBJECT:
                item = self._struct_at(type_.index, path)
            else:
                raise SchemaError(f"an array of base type {type_.element}: scalars or structs are needed", path=path)
            inner, length = self.nodes[item], type_.fixed_length
            return self.add(
                Node(
                    Op.ARRAY,
                    List(inner.neutral, length),
                    size=length * inner.size,
                    align=inner.align,
                    bound=length,
                    item=item,
                )
            )
        raise SchemaError(f"base type {type_.base_type} has no place in a struct", path=path)

    def _struct_at(self, index: int, path: str) -> int:
        found = self.definition.object(index, path)
        if not found.is_struct:
            raise SchemaError(f"{found.name} is a table; a struct is needed", path=path)
        return self.struct(found, path)


def in_type(type_: Bool | Int | Float, number: int) -> int | None:
    """A number of a .bfbs file, where they are all signed, as one of a type; None where it does not fit."""
    if isinstance(type_, Bool):
        return bool(number) if number in {0, 1} else None
    if isinstance(type_, Float):
        return None
    if type_ == Int(64, signed=False):
        number &= 0xFFFF_FFFF_FFFF_FFFF
    low, high = type_.low, type_.high
    return number if low is not None and high is not None and low <= number <= high else None


def doc_of(lines: Iterable[str] | None) -> str:
    """A doc comment as text."""
    return "\n".join(line.strip() for line in lines or ())
