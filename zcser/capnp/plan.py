"""The layout of a schema, made: names, slots, and the structs that records need besides their own."""

from __future__ import annotations

from zcser.capnp.layout import DTYPE, EnumPlan, Layout, Missing, Slot, Struct, is_scalar
from zcser.capnp.names import TYPES, Scope, member_name, prefixed, struct_name
from zcser.core.errors import SchemaError
from zcser.schema.model import (
    Bytes,
    Enum,
    Field,
    Int,
    List,
    Map,
    Null,
    Optional,
    Record,
    Ref,
    Schema,
    Tensor,
    Type,
    Union,
    strip_optional,
)
from zcser.schema.names import type_name

__all__ = ["layout_of"]

_FLAG = "has"


def layout_of(schema: Schema) -> Layout:
    """Lay a schema out.

    Raises
    ------
    SchemaError
        A type has no form in Cap'n Proto; the path names record and field.
    """
    planner = _Planner(schema)
    planner.plan()
    return planner.layout


class _Planner:
    def __init__(self, schema: Schema) -> None:
        self.layout = Layout(schema)
        self.scope = Scope(*TYPES)
        # The records' own names come first: what else needs one takes what they leave.
        self.names = {record.name: self.scope.take(struct_name(record.name)) for record in schema.records}

    def plan(self) -> None:
        layout, schema = self.layout, self.layout.schema
        for record in schema.records:
            layout.records[record.name] = self.record(record)
            for item in record.fields:
                path = f"{record.name}/{item.name}"
                self.add(item.type, path)
                if item.may_be_absent and isinstance(item.type, Optional):
                    self.add_box(item.type)
        self.add(schema.root, "")
        if not isinstance(schema.root, Ref):
            self.add_box(schema.root)

    def add(self, type_: Type, path: str) -> None:
        """Plan every enum and struct that a type needs."""
        match type_:
            case Int(None):
                raise SchemaError("an int of unbounded size has no form in Cap'n Proto; give it 64 bits", path=path)
            case Enum():
                self.add_enum(type_)
            case Tensor():
                self.add_tensor()
            case Optional(item):
                self.add(item, path)
            case List(item=item):
                self.add(item, f"{path}/*")
                if isinstance(item, Optional):
                    self.add_box(item)
            case Map(key, value):
                self.add(key, f"{path}/key")
                self.add(value, f"{path}/*")
                if type_ not in self.layout.entries:
                    name = self.scope.take(struct_name(f"{type_name(type_)}Entry"))
                    self.layout.entries[type_] = Struct(name, (self.value(key, "key"), self.value(value)))
            case Union(options):
                for option in options:
                    self.add(option, path)
                self.add_union(type_)

    def add_enum(self, enum: Enum) -> None:
        if enum not in self.layout.enums:
            scope = Scope()
            members = tuple((scope.take(member_name(name)), value) for name, value in enum.members)
            self.layout.enums[enum] = EnumPlan(self.scope.take(struct_name(enum.name)), members)

    def add_tensor(self) -> None:
        self.add_enum(DTYPE)
        if not self.layout.tensors:
            slots = (
                Slot("dtype", DTYPE, Missing.ZERO),
                Slot("shape", List(Int()), Missing.REFUSED),
                Slot("data", Bytes(), Missing.REFUSED),
            )
            self.layout.tensors.append(Struct(self.scope.take("Tensor"), slots))

    def add_union(self, union: Union) -> None:
        if union not in self.layout.unions:
            scope = Scope()
            slots = []
            for option in union.options:
                missing = Missing.ZERO if is_scalar(option) else Missing.REFUSED
                slots.append(Slot(scope.take(member_name(type_name(option))), option, missing))
            name = self.scope.take(struct_name(type_name(union)))
            self.layout.unions[union] = Struct(name, tuple(slots), is_union=True)

    def add_box(self, type_: Type) -> None:
        if type_ not in self.layout.boxes:
            name = self.scope.take(struct_name(f"{type_name(type_)}Box"))
            self.layout.boxes[type_] = Struct(name, (self.value(type_),))

    def value(self, type_: Type, name: str = "value") -> Slot:
        """The slot of a box's or entry's value."""
        inner, optional = strip_optional(type_)
        missing = Missing.NONE if optional else Missing.ZERO if is_scalar(inner) else Missing.REFUSED
        flag = prefixed(_FLAG, name) if optional and is_scalar(inner) else None
        return Slot(name, inner, missing, flag=flag)

    def record(self, record: Record) -> Struct:
        scope, slots = Scope(), []
        for item in sorted(record.fields, key=lambda item: item.id):
            inner, optional = strip_optional(item.type)
            type_ = item.type if optional and item.may_be_absent else inner
            missing = _missing(item, type_, optional=optional)
            name = member_name(item.name)
            if is_scalar(type_) and missing is not Missing.ZERO:
                name = scope.take(name, _FLAG)
                slots.append(Slot(name, type_, missing, item, prefixed(_FLAG, name)))
            else:
                slots.append(Slot(scope.take(name), type_, missing, item))
        if not slots:
            slots = [Slot("unused", Null(), Missing.ZERO)]
        return Struct(self.names[record.name], tuple(slots), record)


def _missing(item: Field, type_: Type, *, optional: bool) -> Missing:
    if item.may_be_absent:
        return Missing.ABSENT
    if optional:
        return Missing.NONE
    if item.has_default:
        return Missing.DEFAULT
    return Missing.ZERO if is_scalar(type_) else Missing.REFUSED
