"""Proofs: what shows a message to be good from its wire form alone, by the C engine; without it there are none.

1. `zcser.protowire.check` says what is wrong with a message that was parsed, and makes Python objects of most of it to
   find out. A proof takes a fraction of that, and says only that the check would find nothing; where it fails, the check
   runs. So a rule here may be stricter than the check's, never laxer.
2. A rule holds for every occurrence of a field, also for those that a later one replaces. What makes the messages of a
   schema depend on more than that, as the length of a list, is not proved: such a schema has no proof.
3. Tags are those of the message classes, not of the plan: a given schema has zigzag numbers and fixed ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from zcser.core.dtypes import NAMES, dtype_numbered, number_of
from zcser.core.options import Options
from zcser.native import backend
from zcser.protowire.check import can_fail
from zcser.protowire.descriptors import Classes
from zcser.protowire.plan import Label, Message, Missing, Plan, Shape, Slot
from zcser.protowire.scalars import fault
from zcser.schema.model import Enum, Int, List, Map, Tensor, Type

__all__ = ["Rules", "RulesOfMessage", "make_prover", "rules_of"]

SEEN = -1
"""Instead of the number of a message: it is enough that the field is there."""

NUMBER = -2
"""Instead of one: a number, of those that the rule names."""

NUMBERS = -3
"""Instead of one: packed numbers."""

Rule = tuple[int, int, int, int, int, int]
"""Of one tag: the tag, where it leads, the bit that stands for the field, 0 where it need not be there and may repeat;
lowest number, highest, and which of those between are meant: bit ``n`` for ``lowest + n``, or 0 for all.
"""

_Asked = tuple[int, int, int, int]
"""A rule less its tag and bit."""

RulesOfMessage = tuple[int, int, tuple[Rule, ...]] | tuple[int, tuple[int, ...] | None]
"""The bits of the fields that a message must have, those of which it must have one, and a rule for each tag, by rising
tag; of a tensor the number of its dtype and its extents: -1 for any, None for any number of them.
"""

_MOST_FIELDS = 64  # one bit each

_WIRE_TYPES = {
    FieldDescriptor.TYPE_DOUBLE: 1,
    FieldDescriptor.TYPE_FIXED64: 1,
    FieldDescriptor.TYPE_SFIXED64: 1,
    FieldDescriptor.TYPE_STRING: 2,
    FieldDescriptor.TYPE_BYTES: 2,
    FieldDescriptor.TYPE_MESSAGE: 2,
    FieldDescriptor.TYPE_FLOAT: 5,
    FieldDescriptor.TYPE_FIXED32: 5,
    FieldDescriptor.TYPE_SFIXED32: 5,
}
_PLAIN_NUMBERS = {
    FieldDescriptor.TYPE_INT32,
    FieldDescriptor.TYPE_INT64,
    FieldDescriptor.TYPE_UINT32,
    FieldDescriptor.TYPE_UINT64,
    FieldDescriptor.TYPE_ENUM,
}


@dataclass(frozen=True, slots=True)
class Rules:
    """Those of all messages in which something can be wrong, the number of the root's, and the itemsizes of dtypes."""

    messages: tuple[RulesOfMessage, ...]
    root: int
    itemsizes: bytes


class _UnprovableError(Exception):
    """The schema asks what a proof cannot show."""


def make_prover(plan: Plan, classes: Classes, options: Options) -> Callable[[bytes], bool] | None:
    """What proves messages of a plan; None where nothing does.

    Returns
    -------
    Callable or None
        Takes a message that was parsed, with stand-ins or without, and says whether it is certain that the check of
        values (`zcser.protowire.check`) would find nothing.
    """
    rules = rules_of(plan, classes, options) if backend == "native" else None
    if rules is None:
        return None
    from zcser.native import _protowire

    return _protowire.Prover(rules.messages, rules.root, rules.itemsizes).proves


def rules_of(plan: Plan, classes: Classes, options: Options) -> Rules | None:
    """The rules of a plan; None where nothing can be wrong, or a proof cannot show that nothing is."""
    needed = can_fail(plan)
    is_deep = plan.depths()[0] > options.limits.depth
    if plan.root not in needed or is_deep or options.unknown_fields == "refuse":
        return None
    try:
        return _Prover(plan, classes, needed).rules()
    except _UnprovableError:
        return None


class _Prover:
    def __init__(self, plan: Plan, classes: Classes, needed: set[int]) -> None:
        self.plan = plan
        self.classes = classes
        self.needed = sorted(needed)
        self.number_of = {index: number for number, index in enumerate(self.needed)}
        self.entries: list[RulesOfMessage] = []

    def rules(self) -> Rules:
        messages = [self.message(self.plan.messages[index]) for index in self.needed]
        return Rules((*messages, *self.entries), self.number_of[self.plan.root], self.itemsizes())

    def itemsizes(self) -> bytes:
        types = [self.plan.messages[index].type for index in self.needed]
        wanted = {type_.dtype for type_ in types if isinstance(type_, Tensor)}
        return bytes(_itemsize(number) if wanted & {None, name} else 0 for number, name in enumerate(NAMES))

    def message(self, message: Message) -> RulesOfMessage:
        if message.shape is Shape.TENSOR and isinstance(message.type, Tensor):
            type_ = message.type
            shape = None if type_.shape is None else tuple(-1 if extent is None else extent for extent in type_.shape)
            return -1 if type_.dtype is None else number_of(type_.dtype), shape
        descriptor: Any = self.classes[message.name].DESCRIPTOR
        found = _Fields()
        for slot in message.slots:
            declared = descriptor.fields_by_number[slot.number]
            match slot.label, slot.type:
                case Label.MANY, List() as list_:
                    self.many(found, slot, list_, declared)
                case Label.MAP, Map() as map_:
                    self.map(found, slot, map_, declared)
                case _:
                    self.one(found, slot, declared, in_union=message.shape is Shape.UNION)
        return found.rules(some=message.shape is Shape.UNION)

    def one(self, found: _Fields, slot: Slot, declared: FieldDescriptor, *, in_union: bool) -> None:
        asked = self.asked(slot.item, slot.message, declared)
        required = slot.missing is Missing.REFUSED or not (in_union or slot.presence or _holds_for_zero(asked))
        # Where a message may not come in two parts, it has a bit; so has what must be there.
        if required or in_union or asked[0] >= 0:
            found.add_one(declared, asked, required=required)
        elif asked[0] != SEEN:
            found.add(declared, asked)

    def many(self, found: _Fields, slot: Slot, type_: List, declared: FieldDescriptor) -> None:
        if type_.length is not None:
            raise _UnprovableError
        asked = self.asked(slot.item, slot.message, declared)
        if asked[0] != SEEN:
            found.add(declared, asked)
        if asked[0] == NUMBER:
            found.add(declared, (NUMBERS, *asked[1:]), wire=2)

    def map(self, found: _Fields, slot: Slot, type_: Map, declared: Any) -> None:
        fields = declared.message_type.fields_by_name
        entry = _Fields()
        for inner, message, name in ((type_.key, None, "key"), (type_.value, slot.message, "value")):
            asked = self.asked(inner, message, fields[name])
            if not _holds_for_zero(asked):
                entry.add_one(fields[name], asked, required=True)
            elif asked[0] != SEEN:
                entry.add(fields[name], asked)
        if entry.found:
            found.add(declared, (len(self.needed) + len(self.entries), 0, 0, 0))
            self.entries.append(entry.rules(some=False))

    def asked(self, type_: Type, message: int | None, declared: FieldDescriptor) -> _Asked:
        """What is asked of each occurrence."""
        if message is not None:
            return self.number_of.get(message, SEEN), 0, 0, 0
        if isinstance(type_, Enum):
            asked = _of_members(set(self.plan.enums[type_].numbers.values()))
        elif fault(type_, "") is None:
            return SEEN, 0, 0, 0
        elif isinstance(type_, Int) and type_.low is not None and type_.high is not None:
            asked = NUMBER, type_.low, type_.high, 0
        else:
            raise _UnprovableError
        if declared.type not in _PLAIN_NUMBERS:
            raise _UnprovableError
        return asked


class _Fields:
    """The rules of one message, as they are found."""

    def __init__(self) -> None:
        self.found: list[Rule] = []
        self.bits = 0
        self.required = 0

    def add_one(self, declared: FieldDescriptor, asked: _Asked, *, required: bool) -> None:
        """Add the rule of a field that has a bit; where it leads to a message, it may be there once."""
        bit = self.bits + 1
        if bit >> _MOST_FIELDS:
            raise _UnprovableError
        self.bits |= bit
        self.required |= bit if required else 0
        self.add(declared, asked, bit=bit)

    def add(self, declared: FieldDescriptor, asked: _Asked, *, bit: int = 0, wire: int | None = None) -> None:
        if declared.type == FieldDescriptor.TYPE_GROUP:
            raise _UnprovableError
        tag = declared.number << 3 | (_WIRE_TYPES.get(declared.type, 0) if wire is None else wire)
        target, low, high, members = asked
        self.found.append((tag, target, bit, low, high, members))

    def rules(self, *, some: bool) -> RulesOfMessage:
        return self.required, self.bits if some else 0, tuple(sorted(self.found))


def _of_members(numbers: set[int]) -> _Asked:
    low, high = min(numbers), max(numbers)
    if high - low + 1 == len(numbers):
        return NUMBER, low, high, 0
    if high - low >= 64:
        raise _UnprovableError
    return NUMBER, low, high, sum(1 << (number - low) for number in numbers)


def _holds_for_zero(asked: _Asked) -> bool:
    """Whether a field holds what is asked where it is not there."""
    target, low, high, members = asked
    return target == SEEN or (target == NUMBER and low <= 0 <= high and (not members or bool(members >> -low & 1)))


def _itemsize(number: int) -> int:
    try:
        return dtype_numbered(number).itemsize
    except LookupError:  # without ml_dtypes
        return 0
