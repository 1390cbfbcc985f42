"""Fields that the schema does not know, found in the words of a message: for ``unknown_fields="refuse"``.

1. The library gives no size of a struct, and nothing of what its schema has no field for. Cap'n Proto's encoding spec has
   the words: what stands outside the known fields of a struct must be zero, which is what a field is that was not set.
2. The library says where fields lie; only pointers that the schema knows are followed.
3. Whether a message is well-formed is for the library to say. Here a word that is not there ends the walk as an error, and
   so does the reading of more words than the message has.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from zcser.capnp.layout import Layout, Struct
from zcser.capnp.segments import WORD
from zcser.core.errors import DecodeError
from zcser.schema.model import Kind, List, Map, Optional, Type, Union

__all__ = ["Walk"]
_BITS = {
    "void": 0, "bool": 1, "int8": 8, "uint8": 8, "int16": 16, "uint16": 16, "enum": 16, "int32": 32, "uint32": 32,
    "float32": 32, "int64": 64, "uint64": 64, "float64": 64,
}  # fmt: skip
"""Widths of what stands in a struct's data; all else is a pointer."""

_COMPOSITE = 7
"""The element size that says that a list's elements are structs of any size."""


@dataclass(slots=True)
class _Plan:
    """A struct.

    Attributes
    ----------
    name
        For messages.
    masks
        The bits of its data that fields have, word by word.
    tag
        Where in its data, in units of 16 bits, stands which member of its union is set; None without a union.
    pointers
        What its pointers lead to, by that member (0 without a union) and the pointer's number.
    """

    name: str
    masks: list[int] = field(default_factory=list)
    tag: int | None = None
    pointers: dict[tuple[int, int], _Target] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _ListOf:
    """A list, and what its items are: structs, or lists behind pointers."""

    item: _Plan | _ListOf


_Target = _Plan | _ListOf | None
"""What a pointer leads to; None where there are no fields: text, data, lists of scalars."""


def _refuse(plan: _Plan) -> NoReturn:
    raise DecodeError("the message has a field that the schema does not know", path=plan.name)


class Walk:
    """Refuses unknown fields.

    Parameters
    ----------
    layout
        Of the schema.
    node
        The library's own node of a struct (``Node`` of schema.capnp).
    """

    def __init__(self, layout: Layout, node: Callable[[Struct], Any]) -> None:
        self._layout = layout
        self._plans = {each.name: _Plan(each.record.name if each.record else each.name) for each in layout.structs}
        for each in layout.structs:
            self._fill(self._plans[each.name], each, node(each).struct)
        self._root = self._plans[layout.root.name]

    def _fill(self, plan: _Plan, each: Struct, node: Any) -> None:
        plan.masks = [0] * node.dataWordCount
        types = {slot.name: slot.type for slot in each.slots}
        for declared in node.fields:
            width = _BITS.get(str(declared.slot.type.which()))
            if width is None:
                # Members of a union share their places.
                member = declared.discriminantValue if node.discriminantCount else 0
                plan.pointers[member, declared.slot.offset] = self._target(types[declared.name])
            else:
                self._mark(plan, declared.slot.offset * width, width)
        if node.discriminantCount:
            plan.tag = node.discriminantOffset
            self._mark(plan, node.discriminantOffset * 16, 16)

    def _mark(self, plan: _Plan, bit: int, width: int) -> None:
        if width:
            plan.masks[bit // 64] |= ((1 << width) - 1) << bit % 64

    def _target(self, type_: Type) -> _Target:
        match type_:
            case Map():
                return _ListOf(self._plans[self._layout.entries[type_].name])
            case List(item=item):
                target = self._target(item)
                return None if target is None else _ListOf(target)
        if type_.kind in {Kind.RECORD, Kind.TENSOR} or isinstance(type_, Union | Optional):
            return self._plans[self._layout.struct(type_).name]
        return None

    def __call__(self, segments: Sequence[Any]) -> None:
        """Refuse a message, in segments, that has a field which the schema does not know."""
        left = sum(map(len, segments)) // WORD
        todo: list[tuple[int, int, _Plan | _ListOf]] = [(0, 0, self._root)]
        while todo:
            segment, at, target = todo.pop()
            found = _followed(segments, segment, at)
            if found is None:
                continue
            size, pointers = _looked_at(segments, found, target)
            left -= size
            if left < 0:
                raise DecodeError("pointers of the message lead to the same places again and again")
            todo += pointers


_Place = tuple[int, int]
"""A segment, and the word in it."""


def _looked_at(
    segments: Sequence[Any], found: tuple[int, int, int], target: _Plan | _ListOf
) -> tuple[int, list[tuple[int, int, _Plan | _ListOf]]]:
    """The words of what a pointer leads to, and the pointers in it that are to be followed."""
    word, segment, at = found
    if isinstance(target, _Plan):
        return (word >> 32 & 0xFFFF) + (word >> 48), _fields(segments, (segment, at), word, target)
    item, kind, count = target.item, word >> 32 & 7, word >> 35
    if isinstance(item, _ListOf):
        _words(segments, segment, at, count)
        return count, [(segment, at + number, item) for number in range(count)]
    if kind != _COMPOSITE:
        return 0, []  # what an older schema had as scalars has no fields
    (tag,) = _words(segments, segment, at, 1)
    size, items = (tag >> 32 & 0xFFFF) + (tag >> 48), tag >> 2 & 0x3FFFFFFF
    if items * size > count:
        raise DecodeError("a list's items are more than its words", path=item.name)
    pointers = []
    if size:
        for number in range(items):
            pointers += _fields(segments, (segment, at + 1 + number * size), tag, item)
    return 1 + count, pointers


def _fields(segments: Sequence[Any], place: _Place, word: int, plan: _Plan) -> list[tuple[int, int, _Plan | _ListOf]]:
    """The pointers of a struct that are to be followed, once nothing in it was unknown."""
    segment, at = place
    size, count = word >> 32 & 0xFFFF, word >> 48
    words = _words(segments, segment, at, size + count)
    for number in range(size):
        known = plan.masks[number] if number < len(plan.masks) else 0
        if words[number] & ~known:
            _refuse(plan)
    member = 0
    if plan.tag is not None and plan.tag // 4 < size:
        member = words[plan.tag // 4] >> plan.tag % 4 * 16 & 0xFFFF
    pointers = []
    for number in range(count):
        if words[size + number]:
            if (member, number) not in plan.pointers:
                _refuse(plan)
            target = plan.pointers[member, number]
            if target is not None:
                pointers.append((segment, at + size + number, target))
    return pointers


def _words(segments: Sequence[Any], segment: int, at: int, count: int) -> tuple[int, ...]:
    if segment >= len(segments) or at < 0 or (at + count) * WORD > len(segments[segment]):
        raise DecodeError("a pointer leads outside of the message")
    return struct.unpack_from(f"<{count}Q", segments[segment], at * WORD)


def _followed(segments: Sequence[Any], segment: int, at: int) -> tuple[int, int, int] | None:
    """The word that describes what a pointer leads to, and where that is; None for a null pointer."""
    (word,) = _words(segments, segment, at, 1)
    if word & 3 == 2:  # far: to a pointer elsewhere, or to one that is far itself and the description behind it
        segment, at, double = word >> 32, word >> 3 & 0x1FFFFFFF, word & 4
        if double:
            far, word = _words(segments, segment, at, 2)
            return word, far >> 32, far >> 3 & 0x1FFFFFFF
        (word,) = _words(segments, segment, at, 1)
    if not word:
        return None
    offset = word >> 2 & 0x3FFFFFFF
    return word, segment, at + 1 + (offset - (1 << 30) if offset >> 29 else offset)
