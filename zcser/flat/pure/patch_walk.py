"""The way to a scalar of a message, by steps, each checked as the verifier would.

Steps are names of fields, indices, keys of maps, and, for unions whose values are dicts with one key, that key. Offsets,
boxes, other unions and nested messages take no step.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Sequence
from typing import Any, NoReturn, TypeAlias

from zcser.core.errors import EncodeError
from zcser.core.options import Options
from zcser.core.paths import pointer
from zcser.flat.checks import (
    SMALLEST,
    Fault,
    Vtables,
    bad_long,
    bad_table,
    bad_vector,
    check_identifier,
    check_prefix,
)
from zcser.flat.inline import HAS_NUMBER, code_of, is_scalar, slots_of
from zcser.flat.program import Node, Op, Place, Program

__all__ = ["Tables", "Walk"]

_U32 = struct.Struct("<I").unpack_from
_U64 = struct.Struct("<Q").unpack_from
_I32 = struct.Struct("<i").unpack_from

_ABSENT = "the field is not in the message, and there is no room for it; encode the changed value instead"

Tables: TypeAlias = dict[int, tuple[Vtables, dict[int, int]]]
"""By node: the vtables of a table, and where what `Vtables.at` gives has the offset of each slot."""


class Walk:
    """A place in a message: what stands there, and the steps that led to it.

    Attributes
    ----------
    buffer, origin
        The message at work, and where it begins in the outermost one.
    table
        The table at work: offsets past the end are blamed on it.
    taken
        Steps that led here; of an error, with the one that led nowhere.
    index, at
        Node and place of what stands here: of a scalar, a struct, an array its bytes, of all else the offset to it.
    is_table
        Whether a table itself stands here, and no offset to one.
    kind
        Number of a union, or the place of the offset to a vector's numbers.
    """

    def __init__(  # noqa: PLR0917 - called once
        self,
        program: Program,
        buffer: memoryview,
        steps: Sequence[str | int],
        vtables: Tables,
        options: Options,
        codec: str | None,
    ) -> None:
        self.program = program
        self.nodes = program.nodes
        self.vtables = vtables
        self.refuses_unknown = options.unknown_fields == "refuse"
        self.codec = codec
        self.buffer = buffer
        self.origin = 0
        self.steps = steps
        self.taken = 0
        self.table = self.at = self.kind = 0
        self.index = program.root
        self.is_table = True

    @property
    def node(self) -> Node:
        """What stands here."""
        return self.nodes[self.index]

    def refuse(self, reason: str) -> NoReturn:
        """Refuse the steps."""
        raise EncodeError(reason, codec=self.codec, path=pointer(self.steps[: self.taken]))

    def begin(self) -> None:
        """Go to the root."""
        program = self.program
        start = 4 if program.is_prefixed else 0
        if start:
            check_prefix(self.buffer, len(self.buffer))
        if program.identifier:
            check_identifier(self.buffer, start + 4, program.identifier)
        self.go_to_root(start)

    def go_to_root(self, start: int) -> None:
        """Follow the offset to a root."""
        (offset,) = _U32(self.buffer, start)
        if offset < 4 or offset & 3:
            raise Fault(f"the root would be at byte {start + offset}", start)
        if start + offset + 4 > len(self.buffer):
            raise Fault(f"the root at byte {start + offset} is past the end", start, cut=True)
        self.at, self.is_table = start + offset, True

    def go_all(self) -> None:
        """Go all the way, to a scalar."""
        self.settle()
        for step in self.steps:
            self.taken += 1
            self.go(step)
            self.settle()
        if not is_scalar(self.node):
            self.refuse("only a bool, a number or a member of an enum can be changed in place")

    # Offsets, tables, vectors -----------------------------------------------------------------------------------------

    def follow(self, place: int, *, is_wide: bool = False) -> int:
        """Where the offset at a place leads, at least 4 bytes before the end."""
        (offset,) = _U64(self.buffer, place) if is_wide else _U32(self.buffer, place)
        if not offset:
            raise Fault("an offset is 0", place)
        if place + offset + 4 > len(self.buffer):
            raise Fault("an offset leads past the end", self.table, cut=True)
        return int(place + offset)

    def vector(self, node: Node, place: int, width: int, align: int) -> tuple[int, int]:
        """The first item of the vector that an offset leads to, and how many there are."""
        at, end = self.follow(place, is_wide=node.size == 8), len(self.buffer)
        head = 8 if node.wide_length else 4
        (count,) = _U64(self.buffer, at) if node.wide_length else _U32(self.buffer, at)
        first = at + head
        if at & (head - 1) or first + width * count > end:
            if node.wide_length:
                bad_long(end, at, at, count)
            bad_vector(end, at, at, first + width * count)
        if align > 4 and count and first & (align - 1):
            raise Fault(f"a vector of {width}-byte items is not aligned to {align} bytes", at)
        return first, count

    def vtables_of(self, index: int) -> tuple[Vtables, dict[int, int]]:
        """The vtables of a table, and where what `Vtables.at` gives has the offset of each slot."""
        if index not in self.vtables:
            slots = slots_of(self.program, self.nodes[index])
            vtables = Vtables(0, 0, [(*slot, True) for slot in slots], refuse_unknown=self.refuses_unknown)
            self.vtables[index] = vtables, {slot.number: place for place, slot in enumerate(slots, 3)}
        return self.vtables[index]

    def slot(self, index: int, at: int, place: Place) -> tuple[int, int]:
        """Where a slot of a table stands, and the one before that has a union's number; 0: it is lacking."""
        self.table = at
        vtables, where = self.vtables_of(index)
        size, mask, rest, *_ = found = vtables.at(self.buffer, len(self.buffer), at - _I32(self.buffer, at)[0])
        if at & mask != rest or at + size > len(self.buffer):
            bad_table(len(self.buffer), at, size, mask, rest)
        offset = found[where[place.index]]
        before = found[where[place.index - 1]] if self.nodes[place.node].op in HAS_NUMBER else 0
        return offset and at + offset, before and at + before

    def go_to_slot(self, index: int, at: int, place: Place) -> None:
        """Go to what stands in a slot of a table."""
        slot, before = self.slot(index, at, place)
        node = self.nodes[place.node]
        if node.op in HAS_NUMBER:
            self.kind = before if node.op is Op.ONEOFS or not before else self.buffer[before]
            if bool(self.kind) is not bool(slot):
                has, lacks = ("a type", "value") if self.kind else ("a value", "type")
                raise Fault(f"a union has {has} but no {lacks}", at)
            if node.op is Op.UNION and self.kind > len(node.options):
                raise Fault(f"{self.kind} is no option of the union", at)
        if not slot:
            self.refuse(_ABSENT)
        self.index, self.at, self.is_table = place.node, slot, False

    def go_to_item(self, at: int) -> None:
        """Go to an item of a list, or the root of a nested message."""
        self.index, self.at, self.is_table = self.node.item, at, False

    def settle(self) -> None:
        """Pass through what is no step: offsets to tables, boxes, unions without names, nested messages."""
        while True:
            node = self.node
            if node.op is Op.UNION:
                self.index = node.options[self.kind - 1][1]
            elif node.op is Op.NESTED:
                self.go_to_nested()
            elif node.op in {Op.TABLE, Op.BOX, Op.TENSOR}:
                if not self.is_table:
                    self.at, self.is_table = self.follow(self.at), True
                if node.op is not Op.BOX:
                    return
                self.go_to_slot(self.index, self.at, node.places[0])
            else:
                return

    def go_to_nested(self) -> None:
        """Go to the root of a nested message."""
        first, size = self.vector(self.node, self.at, 1, 1)
        self.buffer, self.origin = self.buffer[first : first + size], self.origin + first
        if size < SMALLEST:
            raise Fault(f"{size} bytes are fewer than any message has", 0, cut=True)
        self.index = self.node.item
        self.go_to_root(0)

    # Steps ------------------------------------------------------------------------------------------------------------

    def go(self, step: str | int) -> None:
        """Take a step."""
        match self.node.op:
            case Op.TABLE | Op.STRUCT:
                self.go_to_field(step)
            case Op.ONEOF:
                self.go_to_option(step)
            case Op.NUMBERS | Op.STRINGS | Op.TABLES | Op.STRUCTS | Op.ARRAY:
                self.go_into_list(step)
            case Op.ONEOFS:
                self.go_into_unions(step)
            case Op.MAP:
                self.go_into_map(step)
            case _:
                self.refuse("nothing stands inside this value that can be changed in place")

    def go_to_field(self, step: str | int) -> None:
        """Go to a field of a table or struct."""
        for place in self.node.places:
            if place.name == step:
                break
        else:
            self.refuse(f"there is no field {step!r} here")
        if self.node.op is Op.TABLE:
            self.go_to_slot(self.index, self.at, place)
        else:
            self.index, self.at = place.node, self.at + place.offset

    def go_to_option(self, step: str | int) -> None:
        """Go to what a union is."""
        for choice in self.node.choices:
            if choice.name == step:
                break
        else:
            self.refuse(f"there is no field {step!r} here")
        if choice.number != self.kind:
            self.refuse(_ABSENT)
        self.index, node = choice.node, self.nodes[choice.node]
        if node.op is Op.STRUCT:
            (offset,) = _U32(self.buffer, self.at)
            if not offset:
                raise Fault("an offset is 0", self.at)
            self.at += offset
            if self.at & (node.align - 1):
                raise Fault(f"a struct at byte {self.at} is not aligned", self.at)
            if self.at + node.size > len(self.buffer):
                end = len(self.buffer)
                raise Fault(f"a struct of {node.size} bytes leads past the end at {end}", self.at, cut=True)

    def go_into_list(self, step: str | int) -> None:
        """Go to an item of a list or array."""
        node, item = self.node, self.nodes[self.node.item]
        width = item.size if is_scalar(item) or item.op in {Op.STRUCT, Op.ARRAY} else 4
        align = item.align if item.op is Op.STRUCT else width
        if node.op is Op.ARRAY:
            first, count = self.at, node.bound
        else:
            first, count = self.vector(node, self.at, width, align)
        self.go_to_item(first + width * self.number_up_to(step, count))

    def go_into_unions(self, step: str | int) -> None:
        """Go to an item of a vector of unions."""
        numbers, number_count = self.vector(Node(Op.BYTES, self.node.neutral), self.kind, 1, 1)
        first, count = self.vector(self.node, self.at, 4, 4)
        if number_count != count:
            raise Fault(f"{count} unions have {number_count} types", first - 4)
        index = self.number_up_to(step, count)
        kind, (offset,) = self.buffer[numbers + index], _U32(self.buffer, first + 4 * index)
        if bool(kind) is not bool(offset):
            has, lacks = ("a type", "value") if kind else ("a value", "type")
            raise Fault(f"a union has {has} but no {lacks}", first - 4)
        if not kind:
            self.refuse(_ABSENT)
        self.go_to_item(first + 4 * index)
        self.kind = kind

    def number(self, step: str | int) -> int:
        """The int that a step is, or that its digits are."""
        try:
            return int(step) if isinstance(step, str) else operator.index(step)
        except (TypeError, ValueError):
            self.refuse(f"a number is needed here, not {step!r}")

    def number_up_to(self, step: str | int, count: int) -> int:
        """The index that a step means in a list of `count` items."""
        index = self.number(step)
        if not 0 <= index < count:
            self.refuse(f"index {step} is outside a list of {count} items")
        return index

    def go_into_map(self, step: str | int) -> None:
        """Go to the value of a key."""
        item, entry = self.node.item, self.nodes[self.node.item]
        first, high = self.vector(self.node, self.at, 4, 4)
        is_text = self.nodes[entry.places[0].node].op is Op.STRING
        low, key = 0, step if is_text else self.number(step)
        while low < high and (not is_text or isinstance(step, str)):
            middle = (low + high) // 2
            at = self.follow(first + 4 * middle)
            found = self.key(item, at, entry.places[0])
            if found == key:
                self.go_to_slot(item, at, entry.places[1])
                return
            low, high = (middle + 1, high) if found < key else (low, middle)
        self.refuse(f"there is no key {key!r} here")

    def key(self, index: int, at: int, place: Place) -> Any:
        """The key of an entry."""
        slot, _ = self.slot(index, at, place)
        node = self.nodes[place.node]
        if is_scalar(node):
            return struct.unpack_from(f"<{code_of(node)}", self.buffer, slot)[0] if slot else place.zero
        if not slot:
            raise Fault("an item has no key", at)
        first, size = self.vector(node, slot, 1, 1)
        if self.buffer[first + size]:
            raise Fault("a string has no terminator", first + size)
        return str(self.buffer[first : first + size], "utf-8", "surrogateescape")
