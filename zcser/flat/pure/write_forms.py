"""The forms of tables, and the functions that pack them, and what stands with them, into memory.

1. A function of `struct` is made when it is first asked for, by a size; those of small sizes are kept.
2. Whatever ends off a multiple of 4 is packed with zeros up to it, so that the gap behind it is never stale.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from zcser.flat.inline import HAS_NUMBER, align_of, code_of, is_scalar
from zcser.flat.layout import Missing
from zcser.flat.program import Node, Op, Place

__all__ = [
    "Form", "Forms", "Pack", "Packs", "Part", "boxed_packs", "form_of", "is_optional", "number_packs", "parts_of",
    "shape_packs", "text_packs",
]  # fmt: skip

_OFFSETS = {1: "B", 4: "I", 8: "Q"}
"""`struct` codes of offsets and of unions' numbers, by their bytes."""

_KEPT = 256
"""Sizes of which packing functions are kept: the smaller ones, which come again and again."""

_KEPT_FORMS = 1024

Pack = Callable[..., None]
"""``pack_into`` of a `struct.Struct`."""


def is_optional(place: Place) -> bool:
    """Whether it is up to the value if a table has the slot."""
    return place.may_lack or place.missing in {Missing.NONE, Missing.ABSENT}


class Packs(dict[int, Pack]):
    """Packing functions by a number, made when first asked for.

    Parameters
    ----------
    make
        The format for a number.
    kept
        Numbers from here on are not kept.
    """

    __slots__ = ("kept", "make")

    def __init__(self, make: Callable[[int], str], kept: int = _KEPT) -> None:
        self.make = make
        self.kept = kept

    def __missing__(self, number: int) -> Pack:
        pack = struct.Struct(self.make(number)).pack_into
        if number < self.kept:
            self[number] = pack
        return pack


@dataclass(frozen=True, slots=True)
class Part:
    """A slot of a table, as its bytes are laid out; a union has two.

    Attributes
    ----------
    index
        In the vtable.
    code
        Its `struct` code.
    bit
        Of the mask that says which slots a table has; 0 where it has the slot always.
    align
        What its place is a multiple of; 0: of its size.
    """

    index: int
    code: str
    bit: int = 0
    align: int = 0

    @property
    def size(self) -> int:
        """Bytes inline."""
        return struct.calcsize(f"<{self.code}")


@dataclass(frozen=True, slots=True)
class Form:
    """How the tables of a node stand that have the same slots.

    Attributes
    ----------
    format
        For `struct`: the offset to the vtable, every part (a lacking one is an empty string), zeros up to a multiple of 4.
    size
        Bytes without the zeros.
    offsets
        By the index of the slots that are there.
    vtable
        Its bytes, with zeros up to a multiple of 4.
    align
        The most that a slot's place is a multiple of, where that is more than 4; else 0.
    """

    format: str
    size: int
    offsets: dict[int, int]
    vtable: bytes
    align: int


def form_of(parts: Sequence[Part], mask: int) -> Form:
    """The form with the slots of a mask; `parts` in the order of the layout."""
    codes, size, offsets, align = "<i", 4, {}, 4
    for part in parts:
        if part.bit & ~mask:
            codes += "0s"
            continue
        codes += part.code
        offsets[part.index] = size
        size += part.size
        align = max(align, part.align or part.size)
    count = max(offsets, default=-1) + 1
    vtable = struct.pack(f"<{count + 2}H", 4 + 2 * count, size, *(offsets.get(index, 0) for index in range(count)))
    return Form(f"{codes}{-size % 4}x", size, offsets, vtable + bytes(-len(vtable) % 4), align if align > 4 else 0)


class Forms(dict[int, tuple[Any, ...]]):
    """The forms of a node's tables by mask, made when first met.

    An item is the form's key among the vtables of a message, its vtable, what packs it, its size, its alignment, and the
    offsets of `asked` slots (0: lacking).

    Parameters
    ----------
    number
        Of the node.
    parts
        In the order of the layout.
    asked
        Indices of slots.
    with_text
        Whether what packs a table packs the string behind it too.
    """

    __slots__ = ("asked", "number", "parts", "with_text")

    def __init__(self, number: int, parts: Sequence[Part], asked: Sequence[int], *, with_text: bool) -> None:
        self.number = number
        self.parts = parts
        self.asked = asked
        self.with_text = with_text

    def __missing__(self, mask: int) -> tuple[Any, ...]:
        form = form_of(self.parts, mask)
        pack = text_packs(form.format) if self.with_text else struct.Struct(form.format).pack_into
        offsets = (form.offsets.get(index, 0) for index in self.asked)
        # The key is the same on every call, kept or not; numbers of nodes take 32 bits at most.
        found = (mask << 32 | self.number, form.vtable, pack, form.size, form.align, *offsets)
        if len(self) < _KEPT_FORMS:
            self[mask] = found
        return found


def parts_of(nodes: Sequence[Node], places: Sequence[Place]) -> list[Part]:
    """The parts of a table in the order of the layout. Of a null, only one that may be absent is written."""
    parts, bit = [], 1
    for place in places:
        node = nodes[place.node]
        if node.op is Op.NULL and place.missing is not Missing.ABSENT:
            continue
        varies = is_optional(place)
        own = bit if varies else 0
        bit <<= varies
        if is_scalar(node):
            parts.append(Part(place.index, code_of(node), own))
        elif node.op is Op.STRUCT:
            parts.append(Part(place.index, f"{node.size}s", own, align_of(node)))
        else:
            parts.append(Part(place.index, _OFFSETS[node.size], own))
        if node.op in HAS_NUMBER:
            parts.append(Part(place.index - 1, _OFFSETS[HAS_NUMBER[node.op]], own))
    return sorted(parts, key=lambda part: (-(part.align or part.size), -part.size, part.index))


def text_packs(before: str = "<", *, terminated: bool = True) -> Packs:
    """Packing functions of what stands before a string and of the string, by its bytes; without a 0, of a short `bytes`."""
    end = int(terminated)
    return Packs(lambda size: f"{before}I{size}s{end + -(size + end) % 4}x")


def shape_packs(before: str, gaps: tuple[str, str]) -> Packs:
    """Packing functions of a tensor's table and its shape, by 8 times the dimensions and by 4 if the table so stands.

    `gaps` lie between the two where the table begins at a multiple of 8, and where it begins 4 bytes past one.
    """
    return Packs(lambda key: f"{before}{gaps[key >> 2 & 1]}I{key >> 3}q")


@functools.cache
def number_packs(code: str, width: int) -> Packs:
    """Packing functions of a vector by the number of its items."""
    return Packs(lambda count: f"<I{count}{code}{-width * count % 4}x")


def boxed_packs(table: Form, box: Form, *, has_text: bool) -> Packs:
    """Packing functions of a table, the string behind it if there is one, and the box of a scalar behind that.

    By 8 times the bytes of the string, and by 4 if the table begins 4 bytes past a multiple of 8.
    """

    def make(key: int) -> str:
        size = key >> 3
        before = f"{table.format}I{size}s{1 + -(size + 1) % 4}x" if has_text else table.format
        end = (key & 4) + struct.calcsize(before)
        gap = 4 if box.align and not end & 4 else 0
        return f"{before}{gap}x{box.format[1:]}"

    return Packs(make, _KEPT << 3)
