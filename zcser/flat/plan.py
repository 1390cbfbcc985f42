"""The layout of a schema, made: names, slots, and the tables that records need besides their own."""

from __future__ import annotations

import math
from typing import Any

from zcser.core.errors import SchemaError
from zcser.flat.layout import (
    DTYPE,
    SIGNED,
    UNSIGNED,
    EnumPlan,
    Form,
    Layout,
    Missing,
    Option,
    Slot,
    Table,
    UnionPlan,
    element_form,
    form_of,
)
from zcser.flat.names import TYPES, Scope
from zcser.schema.model import (
    Bytes,
    Enum,
    Field,
    Int,
    List,
    Map,
    Optional,
    Record,
    Ref,
    Schema,
    Tensor,
    Type,
    Union,
    strip_optional,
)
from zcser.schema.names import identifier, type_name

__all__ = ["layout_of"]

_MOST_SLOTS = (0xFFFF - 4) // 2
"""A vtable's size in bytes is 16 bits, and counts two words of its own."""

_MOST_BYTES = 0xFFFF
"""A table's inline size in bytes is 16 bits too."""


def layout_of(schema: Schema) -> Layout:
    """Lay a schema out.

    Raises
    ------
    SchemaError
        A type has no form in FlatBuffers; the path names record and field.
    """
    planner = _Planner(schema)
    planner.plan()
    return planner.layout


class _Planner:
    def __init__(self, schema: Schema) -> None:
        self.layout = Layout(schema)
        self.scope = Scope(*TYPES)
        # The records' own names come first: what else needs one takes what they leave.
        self.names = {record.name: self.scope.take(identifier(record.name)) for record in schema.records}

    def plan(self) -> None:
        schema = self.layout.schema
        for record in schema.records:
            for item in record.fields:
                self.add_enums(item.type, f"{record.name}/{item.name}")
        self.add_enums(schema.root, "")
        for record in schema.records:
            self.layout.records[record.name] = self.record(record)
        for record in schema.records:
            for item in record.fields:
                both = item.may_be_absent and isinstance(item.type, Optional)
                self.add_tables(item.type, f"{record.name}/{item.name}", boxed=both)
        self.add_tables(schema.root, "", boxed=True)

    def add_enums(self, type_: Type, path: str) -> None:
        """Plan every enum of a type, and refuse what no scalar holds."""
        enums = self.layout.enums
        match type_:
            case Int(None):
                raise SchemaError("an int of unbounded size has no form in FlatBuffers; give it 64 bits", path=path)
            case Enum() if type_ not in enums:
                enums[type_] = self.enum(type_, path)
            case Tensor() if DTYPE not in enums:
                enums[DTYPE] = self.enum(DTYPE, path)
            case Optional(item):
                self.add_enums(item, path)
            case List(item=item):
                self.add_enums(item, f"{path}/*")
            case Map(key, value):
                self.add_enums(key, f"{path}/key")
                self.add_enums(value, f"{path}/*")
            case Union(options):
                for option in options:
                    self.add_enums(option, path)

    def enum(self, enum_: Enum, path: str) -> EnumPlan:
        scope = Scope()
        members = tuple(
            (scope.take(identifier(name)), value if isinstance(value, int) else ordinal, value)
            for ordinal, (name, value) in enumerate(enum_.members)
        )
        low, high = min(number for _, number, _ in members), max(number for _, number, _ in members)
        for bits in (8, 16, 32, 64):
            for numbers, signed in ((UNSIGNED, False), (SIGNED, True)):
                bounds = Int(bits, signed)
                if bounds.low is not None and bounds.high is not None and bounds.low <= low and high <= bounds.high:
                    return EnumPlan(self.scope.take(identifier(enum_.name)), numbers[bits], members)
        raise SchemaError(f"the values of {enum_} do not fit one integer of 64 bits", path=path)

    def add_tables(self, type_: Type, path: str, *, boxed: bool) -> None:
        """Make every table that a type needs besides the records'; `boxed` where the type itself stands alone."""
        layout = self.layout
        if isinstance(type_, Tensor):
            self.add_tensor()
        elif boxed and not isinstance(type_, Ref) and type_ not in layout.boxes:
            layout.boxes[type_] = Table(self.scope.take(f"{type_name(type_)}Box"), (self.value(type_, 0),))
        match type_:
            case Optional(item):
                self.add_tables(item, path, boxed=False)
            case List(item=item):
                self.add_tables(item, f"{path}/*", boxed=element_form(type_) is Form.TABLE)
            case Map(key, value):
                self.add_tables(value, f"{path}/*", boxed=False)
                if type_ not in layout.entries:
                    name = self.scope.take(f"{type_name(type_)}Entry")
                    layout.entries[type_] = Table(name, (self.value(key, 0, "key"), self.value(value, 1)))
            case Union(options):
                for option in options:
                    self.add_tables(option, path, boxed=True)
                self.add_union(type_, path)

    def add_tensor(self) -> None:
        if not self.layout.tensors:
            slots = (
                Slot(0, "dtype", DTYPE, Missing.ZERO),
                Slot(1, "shape", List(Int()), Missing.REFUSED),
                Slot(2, "data", Bytes(), Missing.REFUSED),
            )
            self.layout.tensors.append(Table(self.scope.take("Tensor"), slots))

    def add_union(self, union: Union, path: str) -> None:
        if union in self.layout.unions:
            return
        if len(union.options) > 0xFF:
            raise SchemaError("a union of FlatBuffers has at most 255 options", path=path)
        scope = Scope(*TYPES)
        options = tuple(
            Option(number, scope.take(type_name(option)), option, self.layout.table(option))
            for number, option in enumerate(union.options, 1)
        )
        self.layout.unions[union] = UnionPlan(self.scope.take(type_name(union)), options)

    def value(self, type_: Type, index: int, name: str = "value") -> Slot:
        """The slot of a box's or entry's value."""
        inner, optional = strip_optional(type_)
        form = form_of(inner)
        missing = Missing.NONE if optional else Missing.ZERO if form is Form.SCALAR else Missing.REFUSED
        return Slot(index + (form is Form.UNION), name, inner, missing, key=name == "key")

    def record(self, record: Record) -> Table:
        scope, slots, unions, size = Scope(), [], 0, 4
        for item in sorted(record.fields, key=lambda item: item.id):
            inner, optional = strip_optional(item.type)
            type_ = item.type if optional and item.may_be_absent else inner
            form = form_of(type_)
            name = identifier(item.name)
            unions += form is Form.UNION
            name = scope.take(name, "_type") if form is Form.UNION else scope.take(name)
            slots.append(Slot(item.id - 1 + unions, name, type_, self.missing(item, form, inner, optional), item))
            size += self.layout.number(type_).size if form is Form.SCALAR else 4 + (form is Form.UNION)
        table = Table(self.names[record.name], tuple(slots), record)
        # 7 bytes of padding are the most that one table needs whose slots stand in order of size.
        if table.slot_count > _MOST_SLOTS or size + 7 > _MOST_BYTES:
            raise SchemaError(
                f"{len(slots)} fields with ids up to {slots[-1].field.id if slots[-1].field else 0} do not fit one "
                f"table: {_MOST_SLOTS} slots, {_MOST_BYTES} bytes",
                path=record.name,
            )
        return table

    def missing(self, item: Field, form: Form, inner: Type, optional: bool) -> Missing:
        if item.may_be_absent:
            return Missing.ABSENT
        if optional:
            return Missing.NONE
        if item.has_default and not (form is Form.SCALAR and _is_zero(inner, item.default)):
            return Missing.DEFAULT
        return Missing.ZERO if form is Form.SCALAR else Missing.REFUSED


def _is_zero(type_: Type, default: Any) -> bool:
    """Whether a scalar field's default is what FlatBuffers gives for a slot that the table lacks."""
    if isinstance(type_, Enum):
        return bool(default in (type_.values[0], type_.members[0][1]))
    if isinstance(default, float):
        return default == 0 and math.copysign(1.0, default) > 0
    return default is None or (isinstance(default, int) and default == 0)
