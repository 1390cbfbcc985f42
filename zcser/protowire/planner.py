"""From a schema to its plan: which messages and enums there are, and what they are called.

1. Records keep their names; what else is a message is named after its type, a union after the place of its first use.
2. A record is one `Message`, however often it is used. A wrapper, union or tensor is one per place, under one name.
"""

from __future__ import annotations

import enum
import math
from collections import deque
from dataclasses import replace
from typing import Any

from zcser.core.dtypes import NAMES, enum_member
from zcser.core.errors import SchemaError
from zcser.protowire.names import Scope, field_name, map_entry_name, place_name, snake_case
from zcser.protowire.plan import UNION_ONEOF, Declared, EnumPlan, Label, Message, Missing, Plan, Shape, Slot
from zcser.schema.model import (
    MISSING,
    Bool,
    Bytes,
    Enum,
    Field,
    Float,
    Int,
    List,
    Map,
    Null,
    Ref,
    Schema,
    Str,
    Tensor,
    Type,
    Union,
    strip_optional,
    walk,
)
from zcser.schema.names import identifier, type_name

__all__ = ["DTYPE", "NULL", "plan_of"]

NULL = Enum("NullValue", (("null", 0),))
DTYPE = Enum("DType", tuple((enum_member(name), number) for number, name in enumerate(NAMES)))


def plan_of(schema: Schema, declared: Declared | None = None) -> Plan:
    """The messages that carry a schema.

    Parameters
    ----------
    schema
        What they carry.
    declared
        What protobuf itself declares of them besides; None where it does not declare them.

    Raises
    ------
    SchemaError
        protobuf has no form for a part of it; the path is in the schema.
    """
    return _Planner(schema, declared or Declared()).plan()


class _Planner:
    def __init__(self, schema: Schema, declared: Declared) -> None:
        self.schema = schema
        self.declared = declared
        self.scope = Scope()
        self.messages: list[Message | None] = []
        self.indices: dict[Any, int] = {}
        self.message_names: dict[Any, str] = {}
        self.pending: deque[tuple[int, str, Type, str]] = deque()
        self.enums: dict[Enum, EnumPlan] = {}
        # Records come first, so that no wrapper takes the name of one.
        for record in schema.records:
            self.message_names[Ref(record.name)] = self.scope.take(identifier(record.name))

    def plan(self) -> Plan:
        if isinstance(self.schema.root, Ref):
            root = self.message(self.schema.root, self.schema.root.name)
        else:
            root = self.reserve("root", self.scope.take("Root"), self.schema.root, "")
        for record in self.schema.records:
            self.message(Ref(record.name), record.name)
        while self.pending:
            # A queue, not recursion: a chain of records may be longer than Python's stack.
            index, name, type_, path = self.pending.popleft()
            wraps = index == root and not isinstance(type_, Ref)
            self.messages[index] = self.body(index, name, type_, path, wraps=wraps)
        done = tuple(message for message in self.messages if message is not None)
        return Plan(self.schema, done, root, self.enums)

    def reserve(self, key: Any, name: str, type_: Type, path: str) -> int:
        index = self.indices[key] = len(self.messages)
        self.messages.append(None)
        self.pending.append((index, name, type_, path))
        return index

    def message(self, type_: Type, path: str) -> int:
        # A record has one path. What else is a message has one name in the file, and a use of it in each place, so that
        # errors name the right place. Enums compare without their classes, which decode must not mix.
        classes = tuple(id(part.cls) for part in walk(type_) if isinstance(part, Enum))
        key = type_, classes, path if not isinstance(type_, Ref) else type_.name
        if key in self.indices:
            return self.indices[key]
        if isinstance(type_, Tensor):
            self.enum(DTYPE, path)
        # One message carries all tensors, whatever their types say of them.
        named = Tensor() if isinstance(type_, Tensor) else type_
        if named not in self.message_names:
            self.message_names[named] = self.scope.take(self.wanted_name(type_, path))
        return self.reserve(key, self.message_names[named], type_, path)

    def wanted_name(self, type_: Type, path: str) -> str:
        return place_name(path) if isinstance(type_, Union) else type_name(type_)

    def body(self, index: int, name: str, type_: Type, path: str, *, wraps: bool) -> Message:
        scope = Scope()
        if wraps:
            slot = self.slot(scope, "value", 1, type_, path)
            return Message(index, name, Shape.WRAPPER, type_, (slot,), path)
        match type_:
            case Ref():
                fields = self.schema.resolve(type_).fields
                slots = tuple(
                    self.slot(scope, item.name, item.id, item.type, f"{path}/{item.name}", field=item)
                    for item in fields
                )
                required = self.declared.required.get(type_.name, ())
                slots = tuple(
                    replace(slot, missing=Missing.REFUSED) if slot.number in required else slot for slot in slots
                )
                return Message(index, name, Shape.RECORD, type_, slots, path, self.declared.oneofs.get(type_.name, ()))
            case Tensor():
                return Message(index, name, Shape.TENSOR, type_, (), path)
            case Union(options):
                scope.take(UNION_ONEOF)
                slots = tuple(
                    Slot(
                        scope.take(field_name(snake_case(option_name))),
                        number,
                        Label.ONE,
                        option,
                        self.element(option, path),
                        Missing.ZERO,
                        path,
                    )
                    for number, (option_name, option) in enumerate(zip(type_.names, options, strict=True), 1)
                )
                return Message(index, name, Shape.UNION, type_, slots, path)
        return self.body(index, name, type_, path, wraps=True)

    def slot(
        self, scope: Scope, wanted: str, number: int, type_: Type, path: str, *, field: Field | None = None
    ) -> Slot:
        inner, optional = strip_optional(type_)
        absent = field is not None and field.may_be_absent
        label, held, element = Label.ONE, inner, inner
        if absent:
            held = element = type_  # with its Optional, if it has one: absent and None are two things
            missing = Missing.ABSENT
        elif optional:
            missing = Missing.NONE
        else:
            missing = self.missing(inner, field, path)
            if isinstance(inner, List):
                label, element = Label.MANY, inner.item
            elif isinstance(inner, Map):
                label, element = Label.MAP, inner.value
                self.element(inner.key, f"{path}/key")
        message = self.element(element, path if label is Label.ONE else f"{path}/*")
        name = scope.take(field_name(wanted))
        if label is Label.MAP:
            scope.take(map_entry_name(name))
        return Slot(name, number, label, held, message, missing, path, field)

    def element(self, type_: Type, path: str) -> int | None:
        """The message that one occurrence of a type is; None for a scalar, which is checked."""
        match type_:
            case Int(bits=None):
                raise SchemaError(
                    "protobuf has no unbounded int; give it a width, as Int64 or UInt64", path=path, codec="protobuf"
                )
            case Bool() | Int() | Float() | Str() | Bytes():
                return None
            case Null():
                self.enum(NULL, path)
                return None
            case Enum():
                self.enum(type_, path)
                return None
        return self.message(type_, path)

    def enum(self, type_: Enum, path: str) -> EnumPlan:
        if type_ not in self.enums:
            name = self.scope.take(identifier(type_.name))
            prefix = snake_case(name).upper()
            numbers = _enum_numbers(type_, path)
            names = Scope()
            found = [(identifier(member).upper(), numbers[value]) for member, value in type_.members]
            if 0 not in numbers.values():
                found.insert(0, ("UNSPECIFIED", 0))
            # Values of an enum stand in the scope around it, beside messages and other enums' values.
            values = [(self.scope.take(names.take(f"{prefix}_{member}")), number) for member, number in found]
            values.sort(key=lambda value: value[1] != 0)  # proto3 wants the zero first
            self.enums[type_] = EnumPlan(name, tuple(values), numbers)
        return self.enums[type_]

    def missing(self, type_: Type, field: Field | None, path: str) -> Missing:
        has_default = field is not None and field.has_default
        match type_:
            case List(length=length):
                return Missing.DEFAULT if length and has_default else Missing.ZERO
            case Map() | Null():
                return Missing.ZERO
            case Ref() | Tensor() | Union():
                return Missing.DEFAULT if has_default else Missing.REFUSED
        if field is None or not has_default or self.is_zero(type_, field, path):
            return Missing.ZERO
        return Missing.DEFAULT

    def is_zero(self, type_: Type, field: Field, path: str) -> bool:
        default = field.default
        if default is MISSING:
            return False
        if isinstance(type_, Enum):
            value = default.value if isinstance(default, enum.Enum) else default
            return self.enum(type_, path).numbers.get(value) == 0
        return not default and not (isinstance(default, float) and math.copysign(1, default) < 0)


def _enum_numbers(type_: Enum, path: str) -> dict[Any, int]:
    if len({value for _, value in type_.members}) != len(type_.members):
        raise SchemaError(f"two members of {type_} have the same value; leave one out", path=path, codec="protobuf")
    if not type_.of_ints:
        return {value: number for number, (_, value) in enumerate(type_.members, 1)}
    for name, value in type_.members:
        if not -(1 << 31) <= int(value) < 1 << 31:
            raise SchemaError(
                f"{type_} has {name} = {value}, and protobuf's enums have 32 bits; use an int field",
                path=path,
                codec="protobuf",
            )
    return {value: int(value) for _, value in type_.members}
