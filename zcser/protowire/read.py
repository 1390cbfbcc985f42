"""Readers: functions that make a value of a message, generated for a schema.

1. Whatever a message holds, a reader gives a value of the schema's type or raises. What protobuf has no word for is
   checked here: 8 and 16 bits, closed enums, lengths, tensors, what a message lacks.
2. Containers are taken whole (``field[:]``), which upb does faster than item by item.
3. Where payloads are held back, a reader takes them from the parts that it is given besides the message: it copies them
   once, or not at all, and then they are read-only. Else they leave upb as a copy, and a tensor is copied once more, to
   memory that can be written to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.protobuf.message import Message as ProtobufMessage

from zcser.core.errors import DecodeError
from zcser.core.options import Options
from zcser.core.source import Source
from zcser.protowire.descriptors import Classes
from zcser.protowire.plan import UNION_ONEOF, Label, Message, Missing, Plan, Shape, Slot
from zcser.protowire.scalars import fault, members, refuse
from zcser.protowire.stand_in import Parts, payload_size, taken, taken_copy
from zcser.protowire.tensors import aligning, tensor_opener
from zcser.schema.classes import positional
from zcser.schema.model import Bytes, List, Map, Null, Record, Ref, Tensor, Type, Union

__all__ = ["Read", "compile_held_reader", "compile_reader", "read_value"]

Read = Callable[..., Any]
"""Gives the value of a message; takes it, and the parts where payloads are held back."""


def compile_reader(plan: Plan, classes: Classes, options: Options) -> dict[int, Read]:
    """The functions that give the value of a message that holds its payloads, by the message's index in the plan.

    Where a value can be too deep, each counts from its own message on.
    """
    return _Reader(plan, classes, options, copy=True, is_held=False).compile()


def compile_held_reader(plan: Plan, classes: Classes, options: Options, *, copy: bool) -> dict[int, Read]:
    """The same for messages whose payloads are held back. All of them take the parts, those of no payload too."""
    reads = _Reader(plan, classes, options, copy=copy, is_held=True).compile()
    carriers = plan.carriers()
    return {index: read if index in carriers else _without_parts(read) for index, read in reads.items()}


def _without_parts(read: Read) -> Read:
    def read_message(message: ProtobufMessage, _parts: Parts) -> Any:
        return read(message)

    return read_message


def read_value(read: Read, *message: Any) -> Any:
    """What `read` gives; whatever goes wrong there, in the constructors of the user's classes too, is a `DecodeError`."""
    try:
        return read(*message)
    except DecodeError:
        raise
    except Exception as error:
        raise DecodeError(f"the message gives no value: {error}", codec="protobuf") from error


class _Reader:
    def __init__(self, plan: Plan, classes: Classes, options: Options, *, copy: bool, is_held: bool) -> None:
        self.plan = plan
        self.classes = classes
        self.copy = copy
        self.aligned = options.aligned and not copy
        self.is_held = is_held
        # The messages whose readers take the parts.
        self.carriers = plan.carriers() if is_held else set()
        self.guard = options.guard == "on"
        self.limit = options.limits.depth
        self.tracked = self.guard and plan.depths()[0] > self.limit
        self.source = Source()
        self.refuse = self.source.constant(refuse)
        self.take = self.source.constant(taken_copy if copy else taken)
        self.size_of = self.source.constant(payload_size) if is_held else "len"
        self.has = ""
        self.depth = "d"

    def compile(self) -> dict[int, Read]:
        for message in self.plan.messages:
            cls = self.classes[message.name]
            self.has = self.source.constant(cls.HasField)
            self.depth = "d + 1" if message.shape is Shape.RECORD else "d"
            parts = ", s" if message.index in self.carriers else ""
            with self.source.block(f"def r{message.index}(m{parts}{', d=0' if self.tracked else ''}):"):
                self.body(message, cls)
        namespace = self.source.compile("protobuf reader")
        return {message.index: namespace[f"r{message.index}"] for message in self.plan.messages}

    def body(self, message: Message, cls: type[ProtobufMessage]) -> None:
        line, block = self.source.line, self.source.block
        match message.shape, message.type:
            case Shape.RECORD, Ref() as ref:
                self.record(message, self.plan.schema.resolve(ref))
            case Shape.TENSOR, Tensor() as tensor:
                opener = tensor_opener(tensor, message.path, is_held=self.is_held)
                array = self.source.constant(aligning(opener) if self.aligned else opener)
                line(f"return {array}(m, {'s' if self.is_held else '()'}){'.copy()' if self.copy else ''}")
            case Shape.UNION, _:
                line(f"c = {self.source.constant(cls.WhichOneof)}(m, {UNION_ONEOF!r})")
                for slot in message.slots:
                    with block(f"if c == {slot.name!r}:"):
                        line(f"return {self.one(slot)}")
                line(f"{self.refuse}('the union is missing, or holds none of its options', {message.path!r})")
            case _:
                line(f"return {self.slot(message.slots[0])}")

    # --- messages -----------------------------------------------------------------------------------------------------

    def record(self, message: Message, record: Record) -> None:
        line, block = self.source.line, self.source.block
        self.bound("d", message.path)
        if record.cls is None:
            always = [slot for slot in message.slots if slot.missing is not Missing.ABSENT]
            entries = ", ".join(f"{_name(slot)!r}: {self.slot(slot)}" for slot in always)
            line(f"r = {{{entries}}}")
            for slot in message.slots:
                if slot.missing is Missing.ABSENT:
                    with block(f"if {self.has}(m, {slot.name!r}):"):
                        line(f"r[{_name(slot)!r}] = {self.one(slot)}")
            line("return r")
            return
        by_place = positional(record.cls, [item.name for item in record.fields])
        given = [
            self.slot(slot) if number < by_place else f"**{{{_name(slot)!r}: {self.slot(slot)}}}"
            for number, slot in enumerate(message.slots)
        ]
        line(f"return {self.source.constant(record.cls)}({', '.join(given)})")

    def slot(self, slot: Slot) -> str:
        """The expression of a field's value; what it needs before is added to the source."""
        line, block = self.source.line, self.source.block
        match slot.label, slot.type:
            case Label.MANY, List() as list_:
                return self.many(slot, list_)
            case Label.MAP, Map() as map_:
                return self.map(slot, map_)
        if not slot.presence:
            return self.one(slot)
        if slot.missing is Missing.REFUSED:
            if isinstance(slot.type, Tensor | Union):
                return self.one(slot)  # a tensor or union that is not there reads as one that holds nothing
            with block(f"if not {self.has}(m, {slot.name!r}):"):
                line(f"{self.refuse}('the message lacks this field', {slot.path!r})")
            return self.one(slot)
        other = "None" if slot.missing is Missing.NONE else self.default(slot)
        if slot.message is None and self.fault(slot.type, "") is not None:
            x = self.source.variable()
            line(f"{x} = {other}")
            with block(f"if {self.has}(m, {slot.name!r}):"):
                line(f"{x} = {self.one(slot)}")
            return x
        return f"({self.one(slot)} if {self.has}(m, {slot.name!r}) else {other})"

    def one(self, slot: Slot) -> str:
        if slot.message is not None:
            return self.call(slot.message, f"m.{slot.name}", self.depth)
        x = f"m.{slot.name}"
        if self.fault(slot.type, x) is not None:
            x = self.source.variable()
            self.source.line(f"{x} = m.{slot.name}")
            self.refuse_if(self.fault(slot.type, x), slot.type, slot.path)
        return self.value(slot, x)

    def many(self, slot: Slot, type_: List) -> str:
        line = self.source.line
        self.bound(self.depth, slot.path)
        x = f"m.{slot.name}"
        if slot.message is not None:
            call = self.call(slot.message, "y", f"{self.depth} + 1")
            is_plain = call == f"r{slot.message}(y)"
            items = f"[*map(r{slot.message}, {x}[:])]" if is_plain else f"[{call} for y in {x}[:]]"
        elif self.fault(slot.item, "y") is not None:
            x = self.source.variable()
            line(f"{x} = m.{slot.name}[:]")
            self.refuse_any(x, slot.item, f"{slot.path}/*")
            items = self.values(slot, x)
        else:
            items = self.values(slot, f"{x}[:]")
        if type_.container == "tuple":
            items = f"(*{items},)" if items.startswith("[") else f"tuple({items})"
        if type_.length is None:
            return items
        x = self.source.variable()
        line(f"{x} = {items}")
        if slot.missing is Missing.DEFAULT:
            with self.source.block(f"if not {x}:"):
                line(f"{x} = {self.default(slot)}")
        self.refuse_if(f"len({x}) != {type_.length}", type_, slot.path)
        return x

    def map(self, slot: Slot, type_: Map) -> str:
        self.bound(self.depth, slot.path)
        x = self.source.variable()
        self.source.line(f"{x} = m.{slot.name}")
        self.refuse_any(x, type_.key, f"{slot.path}/key")
        if slot.message is not None:
            item = self.call(slot.message, f"{x}[k]", f"{self.depth} + 1")
        else:
            self.refuse_any(f"{x}.values()", type_.value, f"{slot.path}/*")
            item = self.value(slot, f"{x}[k]")
        return f"{{k: {item} for k in {x}}}"

    # --- parts --------------------------------------------------------------------------------------------------------

    def call(self, index: int, x: str, depth: str) -> str:
        return f"r{index}({x}{', s' if index in self.carriers else ''}{f', {depth}' if self.tracked else ''})"

    def fault(self, type_: Type, x: str) -> str | None:
        """The condition under which a scalar is none of its type; None where it always is, or nothing is guarded."""
        return fault(type_, x, size_of=self.size_of) if self.guard else None

    def value(self, slot: Slot, x: str) -> str:
        """What one scalar of the wire stands for."""
        table = members(self.plan, slot)
        if table is not None:
            return f"{self.source.constant(table)}[{x}]"
        if isinstance(slot.item, Null):
            return "None"
        return f"{self.take}({x}, s)" if isinstance(slot.item, Bytes) and self.is_held else x

    def values(self, slot: Slot, xs: str) -> str:
        """What a list of scalars stands for."""
        if isinstance(slot.item, Null):
            return f"[None] * len({xs})"
        one = self.value(slot, "y")
        return xs if one == "y" else f"[{one} for y in {xs}]"

    def default(self, slot: Slot) -> str:
        made = f"{self.source.constant(slot.default)}()"
        return f"memoryview({made})" if isinstance(slot.type, Bytes) and not self.copy else made

    def refuse_if(self, condition: str | None, type_: Type, path: str) -> None:
        if condition is not None and self.guard:
            with self.source.block(f"if {condition}:"):
                self.source.line(f"{self.refuse}({f'{type_} is needed'!r}, {path!r})")

    def refuse_any(self, xs: str, type_: Type, path: str) -> None:
        condition = self.fault(type_, "y")
        if condition is not None:
            with self.source.block(f"for y in {xs}:"):
                self.refuse_if(condition, type_, path)

    def bound(self, depth: str, path: str) -> None:
        if self.tracked:
            with self.source.block(f"if {depth} >= {self.limit}:"):
                self.source.line(f"{self.refuse}('nested deeper than {self.limit} levels', {path!r})")


def _name(slot: Slot) -> str:
    return slot.field.name if slot.field is not None else slot.name
