"""The Thrift form of a schema: what each kind stands as, and the structs and names that it has there.

1. A record is a ``struct``, whose fields have their ids. Bool, list and map are Thrift's own; a float is a ``double``.
2. An int stands as the least signed one that holds all its values; an unsigned one of 64 bits, for which Thrift has no
   type, as the ``i64`` of the same bits.
3. An enum of ints that fit 32 bits stands by its values, any other by its members' positions.
4. A union is a ``struct`` with a field for each option, of which one is set: Thrift's ``union``, on the wire.
5. What is None or absent is not set. Where both can be, or where None is not the default, and for what may be None in a
   list or map, the value stands in a struct of its own.
6. Null is a ``bool`` that is always true. A tensor is a struct of its dtype's name, its shape and its little-endian bytes.
7. A root that is no record stands in a struct.
"""

from __future__ import annotations

from dataclasses import dataclass

from zcser.schema.model import (
    Bool,
    Bytes,
    Enum,
    Field,
    Float,
    Int,
    Kind,
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
from zcser.schema.names import Scope, distinct, identifier, type_name
from zcser.thrift.names import TAKEN
from zcser.tree.form import refuse_unbounded

__all__ = ["Member", "Plan", "Struct"]


@dataclass(frozen=True, slots=True)
class Member:
    """A field of a struct; `type` is Optional where the value stands in a struct of its own (rule 5)."""

    id: int
    name: str
    type: Type
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class Struct:
    """A struct; `is_union`: one of its members is set."""

    name: str
    members: tuple[Member, ...]
    is_union: bool = False
    doc: str = ""


class Plan:
    """What the emitter and the walks ask about a schema.

    Parameters
    ----------
    schema
        The neutral schema.
    codec
        Name that an error carries.

    Raises
    ------
    SchemaError
        It has integers of any size.
    """

    def __init__(self, schema: Schema, codec: str | None = None) -> None:
        self.schema = schema
        self._scope = Scope(*TAKEN)
        self._fields = {
            record.name: distinct([item.name for item in record.fields], *TAKEN) for record in schema.records
        }
        names = {record.name: self._scope.take(identifier(record.name)) for record in schema.records}
        self.structs: dict[Type, Struct] = {}
        self.enums: dict[Enum, str] = {}
        for record in schema.records:
            members = (
                Member(item.id, self.name(record, item), self._stored(item), self._may_be_unset(item))
                for item in record.fields
            )
            struct = Struct(names[record.name], tuple(sorted(members, key=lambda one: one.id)), doc=record.doc)
            self.structs[Ref(record.name)] = struct
        refuse_unbounded(schema, codec)
        self._discover(self.in_field(schema.root))
        for record in schema.records:
            for item in record.fields:
                self._discover(self._stored(item))
        self.is_bare = isinstance(schema.root, Ref)
        value = Member(1, "value", self.in_field(schema.root), isinstance(schema.root, Optional))
        around = Struct(self._scope.take("Root"), (value,))
        self.root = self.structs[schema.root] if self.is_bare else around

    def name(self, record: Record, item: Field) -> str:
        """The name of a field."""
        return self._fields[record.name][item.name]

    def in_field(self, type_: Type) -> Type:
        """What is stored in a field of a type that is not set where it is None."""
        return type_.item if isinstance(type_, Optional) else type_

    def is_wrapped(self, item: Field) -> bool:
        """Whether the value of a record's field stands in a struct, so that None is not the same as not set."""
        return isinstance(item.type, Optional) and (
            item.may_be_absent or (item.has_default and item.make_default() is not None)
        )

    def _stored(self, item: Field) -> Type:
        return item.type if self.is_wrapped(item) else self.in_field(item.type)

    def _may_be_unset(self, item: Field) -> bool:
        return item.may_be_absent or (isinstance(item.type, Optional) and not self.is_wrapped(item))

    def _discover(self, type_: Type) -> None:
        match type_:
            case Optional(item):
                self._add(type_, type_name(type_), (Member(1, "value", item, is_optional=True),))
                self._discover(item)
            case List(item=item) | Map(value=item):
                self._discover(item)
            case Union(options):
                names = distinct([type_name(option) for option in options], *TAKEN).values()
                members = zip(range(1, len(options) + 1), names, options, strict=True)
                self._add(type_, type_name(type_), tuple(Member(*one) for one in members), is_union=True)
                for option in options:
                    self._discover(option)
            case Enum() if type_ not in self.enums:
                self.enums[type_] = self._scope.take(identifier(type_.name))
            case Tensor():
                of = (Member(1, "dtype", Str()), Member(2, "shape", List(Int())), Member(3, "data", Bytes()))
                self._add(Tensor(), "Tensor", of)

    def _add(self, key: Type, name: str, members: tuple[Member, ...], *, is_union: bool = False) -> None:
        if key not in self.structs:
            self.structs[key] = Struct(self._scope.take(name), members, is_union)

    def struct(self, type_: Type) -> Struct:
        """The struct of a type that has one: a record, union, tensor, or an Optional in a list, map or struct."""
        return self.structs[Tensor() if isinstance(type_, Tensor) else type_]

    def symbols(self, enum: Enum) -> list[str]:
        """The names of an enum's members."""
        return list(distinct([name for name, _ in enum.members], *TAKEN).values())

    def numbers(self, enum: Enum) -> tuple[int, ...]:
        """The numbers of an enum's members."""
        values = [value for _, value in enum.members]
        if all(isinstance(value, int) and -(1 << 31) <= value < 1 << 31 for value in values):
            return tuple(map(int, values))
        return tuple(range(len(values)))

    def scalar(self, type_: Type) -> str | None:
        """The name of a type that Thrift has itself, apart from containers; None for all others."""
        match type_:
            case Null() | Bool():
                return "bool"
            case Int(bits=bits, signed=signed):
                width = bits if signed or bits is None else min(2 * bits, 64)
                return f"i{width}"
            case Float():
                return "double"
            case Str():
                return "string"
            case Bytes():
                return "binary"
        return None

    def is_reinterpreted(self, type_: Type) -> bool:
        """Whether an integer stands as another one of the same bits."""
        return type_ == Int(64, signed=False)

    def stands(self, type_: Type) -> bool:
        """Whether normal values of a type need no change."""
        match type_:
            case List(item=item):
                return self.stands(item)
            case Map(key, value):
                return self.stands(key) and self.stands(value)
        return self.scalar(type_) is not None and type_.kind is not Kind.NULL and not self.is_reinterpreted(type_)
