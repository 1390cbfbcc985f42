"""Checks: a walk over a message that was parsed, generated for a schema.

1. A view makes no values when it opens, yet it must refuse what decode refuses. The walk asks what a reader asks
   (`zcser.protowire.read`), and enters only the messages in which something can be wrong.
2. It also asks what readers do not: whether there are unknown fields.
3. Payloads may be held back: of these it sees the stand-ins, and copies none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message as ProtobufMessage
from google.protobuf.unknown_fields import UnknownFieldSet

from zcser.core.options import Options
from zcser.core.source import Source
from zcser.protowire.descriptors import Classes
from zcser.protowire.padding import PADDING
from zcser.protowire.plan import UNION_ONEOF, Label, Message, Missing, Plan, Shape, Slot
from zcser.protowire.scalars import fault, members, refuse
from zcser.protowire.stand_in import payload_size
from zcser.protowire.tensors import tensor_opener
from zcser.schema.model import Enum, List, Map, Tensor, Type, Union

__all__ = ["Asks", "can_fail", "compile_check", "unknown_reason"]


@dataclass(frozen=True, slots=True)
class Asks:
    """What a walk asks.

    Attributes
    ----------
    values
        Whether everything is a value of the schema's type.
    unknown
        Whether there are fields that the schema does not know.
    """

    values: bool = False
    unknown: bool = False


def compile_check(
    plan: Plan, classes: Classes, options: Options, asks: Asks
) -> Callable[[ProtobufMessage], None] | None:
    """The walk from the root message on, which raises `DecodeError`; None where nothing can be wrong."""
    return _Checker(plan, classes, options, asks).compile()


def can_fail(plan: Plan) -> set[int]:
    """The messages of a plan in which a value can be at fault, or in a message inside them."""
    shapes = {Shape.TENSOR, Shape.UNION}
    return plan.containing(
        {
            message.index
            for message in plan.messages
            if message.shape in shapes or any(_slot_can_fail(plan, slot) for slot in message.slots)
        }
    )


def _slot_can_fail(plan: Plan, slot: Slot) -> bool:
    if slot.missing is Missing.REFUSED:
        return True
    if isinstance(slot.type, List) and slot.label is Label.MANY and slot.type.length is not None:
        return True
    if isinstance(slot.type, Map) and slot.label is Label.MAP and fault(slot.type.key, "") is not None:
        return True
    return slot.message is None and (members(plan, slot) is not None or fault(slot.item, "") is not None)


def _refuse_unknown(message: ProtobufMessage, path: str) -> None:
    unknown = UnknownFieldSet(message)
    if len(unknown):
        refuse(unknown_reason(unknown[0].field_number), path)


def _refuse_unknown_but_padding(message: ProtobufMessage, path: str) -> None:
    unknown = UnknownFieldSet(message)
    for index in range(len(unknown)):
        if unknown[index].field_number != PADDING:
            refuse(unknown_reason(unknown[index].field_number), path)


def unknown_reason(number: int) -> str:
    """Why a field that the schema does not know is refused."""
    return f"field number {number} is unknown, or of another wire type"


class _Checker:
    def __init__(self, plan: Plan, classes: Classes, options: Options, asks: Asks) -> None:
        self.plan = plan
        self.classes = classes
        self.asks = asks
        self.limit = options.limits.depth
        self.tracked = asks.values and plan.depths()[0] > self.limit
        self.source = Source()
        self.refuse = self.source.constant(refuse)
        self.size_of = self.source.constant(payload_size)
        self.has = ""
        self.depth = "d"
        # The checks of tensors of which nothing else is asked, which are called directly.
        self.tensors = {
            message.index: self.source.constant(tensor_opener(message.type, message.path))
            for message in plan.messages
            if message.shape is Shape.TENSOR and isinstance(message.type, Tensor) and asks.values and not asks.unknown
        }
        # The messages in which something can be wrong, or in a message inside them.
        if asks.unknown or self.tracked:
            self.needed = {message.index for message in plan.messages}
        else:
            self.needed = can_fail(plan) if asks.values else set()

    def compile(self) -> Callable[[ProtobufMessage], None] | None:
        if self.plan.root not in self.needed:
            return None
        for message in self.plan.messages:
            if message.index in self.needed and message.index not in self.tensors:
                self.has = self.source.constant(self.classes[message.name].HasField)
                self.depth = "d + 1" if message.shape is Shape.RECORD else "d"
                with self.source.block(f"def c{message.index}(m{', d=0' if self.tracked else ''}):"):
                    self.body(message)
        check: Callable[[ProtobufMessage], None] = self.source.compile("protobuf check")[f"c{self.plan.root}"]
        return check

    def body(self, message: Message) -> None:
        line, block = self.source.line, self.source.block
        if self.asks.unknown:
            refuse_unknown = _refuse_unknown_but_padding if message.shape is Shape.TENSOR else _refuse_unknown
            line(f"{self.source.constant(refuse_unknown)}(m, {message.path!r})")
        if message.shape is Shape.RECORD:
            self.bound("d", message.path)
        if isinstance(message.type, Tensor) and message.shape is Shape.TENSOR and self.asks.values:
            line(f"{self.source.constant(tensor_opener(message.type, message.path))}(m)")
        elif message.shape is Shape.UNION:
            line(f"c = {self.source.constant(self.classes[message.name].WhichOneof)}(m, {UNION_ONEOF!r})")
            for slot in message.slots:
                if self.asks_one(slot):
                    with block(f"if c == {slot.name!r}:"):
                        self.one(slot)
            if self.asks.values:
                with block("if c is None:"):
                    line(f"{self.refuse}('the union is missing, or holds none of its options', {message.path!r})")
        else:
            for slot in message.slots:
                self.slot(slot)

    def slot(self, slot: Slot) -> None:
        match slot.label, slot.type:
            case Label.MANY, List() as list_:
                self.many(slot, list_)
            case Label.MAP, Map() as map_:
                self.map(slot, map_)
            case _:
                self.maybe(slot)

    def maybe(self, slot: Slot) -> None:
        """Check a field that may not be there."""
        there = not slot.presence
        if slot.missing is Missing.REFUSED and self.asks.values:
            there = True  # a tensor or union that is not there reads as one that holds nothing
            if not isinstance(slot.type, Tensor | Union):
                with self.source.block(f"if not {self.has}(m, {slot.name!r}):"):
                    self.source.line(f"{self.refuse}('the message lacks this field', {slot.path!r})")
        if not self.asks_one(slot):
            return
        if there:
            self.one(slot)
        else:
            with self.source.block(f"if {self.has}(m, {slot.name!r}):"):
                self.one(slot)

    def asks_one(self, slot: Slot) -> bool:
        return (
            slot.message in self.needed
            if slot.message is not None
            else self.asks.values and _slot_can_fail(self.plan, slot)
        )

    def one(self, slot: Slot) -> None:
        if slot.message is not None:
            if slot.message in self.needed:
                self.source.line(self.call(slot.message, f"m.{slot.name}", self.depth))
        elif self.asks.values:
            self.number(slot, f"m.{slot.name}")
            self.refuse_if(fault(slot.type, f"m.{slot.name}", size_of=self.size_of), slot.type, slot.path)

    def many(self, slot: Slot, type_: List) -> None:
        line, block = self.source.line, self.source.block
        x = f"m.{slot.name}"
        self.bound(self.depth, slot.path)
        if self.asks.values:
            if type_.length is not None:
                missing = f"{x} and " if slot.missing is Missing.DEFAULT else ""
                self.refuse_if(f"{missing}len({x}) != {type_.length}", type_, slot.path)
            if slot.message is None:
                self.scalars(slot, f"{x}[:]", type_.item, f"{slot.path}/*")
        if slot.message in self.needed and slot.message is not None:
            with block(f"for y in {x}[:]:"):
                line(self.call(slot.message, "y", f"{self.depth} + 1"))

    def map(self, slot: Slot, type_: Map) -> None:
        line, block = self.source.line, self.source.block
        x = f"m.{slot.name}"
        self.bound(self.depth, slot.path)
        if self.asks.values:
            self.scalars(slot, x, type_.key, f"{slot.path}/key")
            if slot.message is None:
                self.scalars(slot, f"{x}.values()", type_.value, f"{slot.path}/*")
        if slot.message in self.needed and slot.message is not None:
            with block(f"for y in {x}.values():"):
                line(self.call(slot.message, "y", f"{self.depth} + 1"))

    # --- parts --------------------------------------------------------------------------------------------------------

    def call(self, index: int, x: str, depth: str) -> str:
        tensor = self.tensors.get(index)
        return f"c{index}({x}{f', {depth}' if self.tracked else ''})" if tensor is None else f"{tensor}({x})"

    def scalars(self, slot: Slot, xs: str, type_: Type, path: str) -> None:
        """Check all items of a list, keys or values of a map."""
        condition = fault(type_, "y", size_of=self.size_of)
        if isinstance(type_, Enum):
            with self.source.block(f"for y in {xs}:"):
                self.number(slot, "y")
        elif condition is not None:
            with self.source.block(f"for y in {xs}:"):
                self.refuse_if(condition, type_, path)

    def number(self, slot: Slot, x: str) -> None:
        """Look an enum's number up, which raises where it has no member."""
        table: Any = members(self.plan, slot)
        if table is not None:
            self.source.line(f"{self.source.constant(table)}[{x}]")

    def refuse_if(self, condition: str | None, type_: Type, path: str) -> None:
        if condition is not None:
            with self.source.block(f"if {condition}:"):
                self.source.line(f"{self.refuse}({f'{type_} is needed'!r}, {path!r})")

    def bound(self, depth: str, path: str) -> None:
        if self.tracked:
            with self.source.block(f"if {depth} >= {self.limit}:"):
                self.source.line(f"{self.refuse}('nested deeper than {self.limit} levels', {path!r})")
