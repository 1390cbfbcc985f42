"""Data checked in C: the program of `zcser.tree.native` for the forms of `zcser.avro.plan`.

1. It is for data that the writer has made: what is no builtin yet is looked at there, and so is whatever has come to be one
   that the C part cannot tell from others, as the symbol of an enum.
2. Each branch of a union but null stands as ``(name, value)``, whose name tells how the value is checked.
3. A container that stands as several is counted as several on the way down, so that C gives up before a limit is reached
   and never after it.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from zcser.avro.plan import Plan
from zcser.avro.write import FORM
from zcser.schema.model import Bytes, Enum, Field, Int, List, Map, Optional, Type, Union
from zcser.tree.native import Op, Program, node_of

__all__ = ["DatumProgram"]


class DatumProgram(Program):
    """The nodes of the data of a plan."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan.schema, FORM, skips_unknown=False)
        self.plan = plan

    def node(self, type_: Type) -> tuple[Any, ...]:
        """See `Program.node`."""
        match type_:
            case Int() if self.plan.is_fixed(type_):
                return super().node(Bytes(8))
            case Enum():
                return node_of(Op.ANY)
            case Optional(item):
                return node_of(Op.OPTIONAL, item=self.branch(item))
            case Union(options):
                return node_of(Op.PAIR, parts=tuple(self.option(type_, option) for option in options))
            case List():
                return super().node(dataclasses.replace(type_, container="list"))
            case Map(key, value) if not self.plan.is_map(type_):
                return node_of(Op.LIST, item=self.add(self.dict_({"key": key, "value": value})))
        return super().node(type_)

    def add(self, node: tuple[Any, ...]) -> int:
        """The number of a node that is no type's own."""
        self.nodes.append(node)
        return len(self.nodes) - 1

    def dict_(self, types: dict[str, Type]) -> tuple[Any, ...]:
        """A record that the schema does not have itself."""
        return node_of(Op.RECORD, parts=tuple((key, self.number(type_), True, True) for key, type_ in types.items()))

    def branch(self, type_: Type) -> int:
        """The one branch beside null; a union's branches have names already."""
        if isinstance(type_, Union):
            return self.number(type_)
        return self.add(node_of(Op.PAIR, parts=((self.plan.branch_name(type_), self.number(type_)),)))

    def option(self, union: Union, type_: Type) -> tuple[str, int]:
        """A branch of a union: its name, and the node of its value."""
        if self.plan.wraps(union) and not self.plan.is_named(type_):
            return self.wrapped(type_)
        return self.plan.branch_name(type_), self.number(type_)

    def wrapped(self, type_: Type) -> tuple[str, int]:
        """A branch that is a record around a value."""
        return self.plan.value_name(type_), self.add(self.dict_({"value": type_}))

    def record(self, name: str) -> tuple[Any, ...]:
        """See `Program.record`: every field is there."""
        fields = self.plan.fields(self.schema.record(name))
        return node_of(Op.RECORD, parts=tuple((key, self.field(item), True, True) for key, item in fields))

    def field(self, item: Field) -> int:
        """The node of a field, which may be absent."""
        if not item.may_be_absent:
            return self.number(item.type)
        doubly = self.plan.is_doubly_absent(item)
        inner = self.add(node_of(Op.PAIR, parts=(self.wrapped(item.type),))) if doubly else self.branch(item.type)
        return self.add(node_of(Op.OPTIONAL, item=inner))
