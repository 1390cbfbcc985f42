"""How the tables of one vtable are read: all their slots by one call.

1. A vtable becomes one `struct.Struct` that takes in a whole table, so that its size is checked with it, and gives the
   slots in the order of the writer: by falling size, equal sizes by number.
2. No code is made for a vtable, and only as many are remembered as `Vtables` says: a message of many vtables costs time
   in proportion to its size, and no memory that stays.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from zcser.flat.checks import Vtables
from zcser.flat.inline import HAS_NUMBER, align_of, code_of, is_scalar
from zcser.flat.layout import Missing
from zcser.flat.program import Node, Op, Place, Program
from zcser.flat.pure.read_state import ABSENT, LACKING

__all__ = ["Forms", "Inline", "Unpack", "inlines_of", "no_form"]

_GLANCE = 64
"""Bytes of the longest vtable that is compared each time it is met, rather than remembered by its place."""

_OFFSETS = {1: "B", 4: "I", 8: "Q"}
"""`struct` codes of offsets and of unions' numbers, by their bytes."""

Unpack = Callable[[Any, int], tuple[Any, ...]]
"""Buffer and position of a table, to its offset to the vtable and its slots."""


@dataclass(frozen=True, slots=True)
class Inline:
    """What stands in a table itself.

    Attributes
    ----------
    index
        Number of the slot.
    code, size
        `struct` code, and bytes.
    refers
        Whether it is no scalar, but an offset, a union's number, or a struct. If it is lacking, ``b""`` is read, which is
        false.
    lacking
        What is read where a scalar is lacking.
    align
        What its place is a multiple of; 0: of its size.
    """

    index: int
    code: str
    size: int
    refers: bool
    lacking: Any = b""
    align: int = 0


def inlines_of(program: Program, node: Node) -> list[Inline]:
    """What stands in the tables of a node, in the order in which it is read."""
    if node.op is Op.TENSOR:
        return [Inline(1, "I", 4, True), Inline(2, "I", 4, True), Inline(0, "B", 1, False, 0)]
    inlines = []
    for place in node.places:
        value = program.nodes[place.node]
        if is_scalar(value):
            inlines.append(Inline(place.index, code_of(value), value.size, False, _lacking(value, place)))
            continue
        if value.op in HAS_NUMBER:
            size = HAS_NUMBER[value.op]
            inlines.append(Inline(place.index - 1, _OFFSETS[size], size, True))
        code = f"{value.size}s" if value.op is Op.STRUCT else _OFFSETS[value.size]
        inlines.append(Inline(place.index, code, value.size, True, align=align_of(value)))
    return sorted(inlines, key=lambda item: (-(item.align or item.size), -item.size, item.index))


def _lacking(node: Node, place: Place) -> Any:
    """What stands for a scalar that the table lacks, as if it were a number on the wire."""
    if place.missing is Missing.ZERO:
        if node.op is Op.ENUM:
            return next(number for number, value in node.values if value == place.zero)
        return place.zero
    return {Missing.NONE: None, Missing.ABSENT: ABSENT, Missing.DEFAULT: LACKING}[place.missing]


def no_form(count: int) -> Unpack:
    """Reads a table of no form, which makes the caller look for one."""
    slots = (0,) * (count + 1)
    return lambda _buffer, _position: slots


class Forms(Vtables):
    """The vtables of one table, and how each is read.

    Calls give: the `Unpack`; a mask, and what a table's position must be under it; the size of its tables at least; the
    offsets of what refers.

    Parameters
    ----------
    number, count, refuse_unknown
        See `Vtables`.
    inlines
        In the order in which they are to be read.
    """

    def __init__(self, number: int, count: int, inlines: Sequence[Inline], *, refuse_unknown: bool) -> None:
        slots = [(item.index, item.size, item.align or item.size, True) for item in inlines]
        super().__init__(number, count, slots, refuse_unknown=refuse_unknown)
        self.inlines = inlines

    def find(self, buffer: Any, start: int, seen: dict[int, tuple[Any, ...]]) -> tuple[Any, ...]:
        """What calls give; a vtable that is short enough to be told at a glance is not entered among those seen."""
        if start >= 0 and not start & 1 and self._usual <= _GLANCE:
            raw = buffer[start : start + self._usual]
            found = self.known.get(raw if raw.__class__ is bytes else bytes(raw))
            if found is not None:
                return found
        return seen.get(start * self.count + self.number) or self(buffer, len(buffer), start, seen)

    def _parse(self, raw: bytes, start: int) -> tuple[Any, ...]:
        size, mask, rest, *offsets = super()._parse(raw, start)
        refer = (offset for item, offset in zip(self.inlines, offsets, strict=True) if item.refers)
        return (_unpacker(self.inlines, offsets, size), mask, rest, size, *refer)


def _unpacker(inlines: Sequence[Inline], offsets: Sequence[int], size: int) -> Unpack:
    order = sorted((number for number, offset in enumerate(offsets) if offset), key=offsets.__getitem__)
    whole = [number for number, offset in enumerate(offsets) if offset or inlines[number].refers]
    if order == sorted(order) and len(whole) == len(inlines):
        order = whole
    codes, reached = ["<i"], 4
    for number in order:
        if not offsets[number]:
            codes.append("0s")
            continue
        if offsets[number] < reached:
            return _apart(inlines, offsets, size)
        codes.append(f"{offsets[number] - reached}x{inlines[number].code}")
        reached = offsets[number] + inlines[number].size
    unpack = struct.Struct(f"{''.join(codes)}{size - reached}x").unpack_from
    if order == list(range(len(inlines))):
        return unpack
    lacking = tuple(item.lacking for item in inlines)
    pick = operator.itemgetter(
        0,
        *(order.index(number) + 1 if number in order else len(order) + 1 + number for number in range(len(inlines))),
    )
    return lambda buffer, position: pick(unpack(buffer, position) + lacking)


def _apart(inlines: Sequence[Inline], offsets: Sequence[int], size: int) -> Unpack:
    """Read slots that overlap, which no writer makes and no rule forbids."""
    table = struct.Struct(f"<i{size - 4}x").unpack_from
    each = [
        (struct.Struct(f"<{item.code}").unpack_from if offset else None, offset, item.lacking)
        for item, offset in zip(inlines, offsets, strict=True)
    ]

    def unpack(buffer: Any, position: int) -> tuple[Any, ...]:
        slots = (
            lacking if read is None else read(buffer, position + offset)[0]
            for read, offset, lacking in each
        )  # fmt: skip
        return (*table(buffer, position), *slots)

    return unpack
