"""Whole records from a buffer: compound unpacks of ``struct``, and generated code that makes values of what they give.

1. All that has one byte order is one ``unpack_from``, and so is the record where all of it has. A run reaches to the next
   one, the last to the end of the record, so that ``struct`` finds each record whole or refuses.
2. The runs' tuples, joined, are the wire fields in the order of their offsets. Generated code picks a value's own.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from zcser.core.buffers import Buffer
from zcser.core.source import Source
from zcser.header.records.model import Array, ByteOrder, Bytes, Part, Scalar, Struct

__all__ = ["Unpack", "compound_of", "owned_array", "unpack_of"]

Unpack = Callable[[Buffer, int], Any]
"""The record at an offset, which is not negative; ``struct.error`` where it goes past the end."""

_UnpackFrom = Callable[..., tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class _Leaf:
    """Entries of a format: `count` of a code, side by side; `order` is None where it is of no effect."""

    offset: int
    code: str
    size: int
    order: ByteOrder | None


def unpack_of(record: Struct) -> Unpack:
    """How a whole record is read."""
    make = _Maker().root(record)
    whole = compound_of(record)
    if whole is not None:
        unpack_from: _UnpackFrom = whole.unpack_from
        return lambda buffer, offset: make(unpack_from(buffer, offset))
    runs: list[tuple[int, _UnpackFrom]] = [(start, run.unpack_from) for start, run in _runs(record)]

    def unpack(buffer: Buffer, offset: int) -> Any:
        fields: tuple[Any, ...] = ()
        for start, unpack_run in runs:
            fields += unpack_run(buffer, offset + start)
        return make(fields)

    return unpack


def compound_of(record: Struct) -> struct.Struct | None:
    """A record as one struct, whose fields are in the order of their offsets; None where byte orders are mixed."""
    runs = [run for _, run in _runs(record)]
    return runs[0] if len(runs) == 1 else None


def _runs(record: Struct) -> Iterator[tuple[int, struct.Struct]]:
    """Where each run starts, and what it is."""
    run: list[_Leaf] = []
    order: ByteOrder | None = None
    start = 0
    for leaf in _leaves(record, 0):
        if leaf.order is not None:
            if order is not None and leaf.order != order:
                yield start, _compound(run, start, leaf.offset, order)
                run, start = [], leaf.offset
            order = leaf.order
        run.append(leaf)
    yield start, _compound(run, start, record.size, order)


def _compound(run: list[_Leaf], start: int, end: int, order: ByteOrder | None) -> struct.Struct:
    codes = [">" if order == "big" else "<"]
    at = start
    for leaf in run:
        codes.append(f"{leaf.offset - at}x{leaf.code}")
        at = leaf.offset + leaf.size
    return struct.Struct("".join(codes) + f"{end - at}x")


def _leaves(part: Part, offset: int) -> Iterator[_Leaf]:
    match part:
        case Scalar():
            yield _Leaf(offset, part.code, part.size, _order(part))
        case Bytes(size=size):
            yield _Leaf(offset, f"{size}s", size, None)
        case Array(container="ndarray"):
            yield _Leaf(offset, f"{part.size}s", part.size, None)
        case Array(item=Scalar() as item):
            yield _Leaf(offset, f"{part.size // item.size}{item.code}", part.size, _order(item))
        case Array(item=item):
            for at in range(offset, offset + part.size, item.size):
                yield from _leaves(item, at)
        case Struct():
            for field in part.by_offset():
                yield from _leaves(field.part, offset + field.offset)


def _order(part: Scalar) -> ByteOrder | None:
    return part.byteorder if part.size > 1 else None


def _slots(part: Part) -> int:
    """Wire fields of a part."""
    if isinstance(part, Struct):
        return sum(_slots(field.part) for field in part.fields)
    if isinstance(part, Array) and part.container != "ndarray":
        return part.size // part.item.size * _slots(part.item)
    return 1


def owned_array(part: Array) -> Callable[[bytes], npt.NDArray[Any]]:
    """A function from an array's bytes to an array of its own memory."""
    item, shape = part.whole
    dtype = item.dtype
    return lambda data: np.frombuffer(bytearray(data), dtype).reshape(shape) if data else np.empty(shape, dtype)


class _Maker:
    """Generates a function for each record inside a record: of the wire fields, and the number of its first one."""

    def __init__(self) -> None:
        self.source = Source()
        self.slots = 0

    def root(self, record: Struct) -> Callable[[tuple[Any, ...]], Any]:
        self.slots = _slots(record)
        with self.source.block("def root(t):"):
            self.source.line(f"return {self.record(record, 0, '')}")
        root: Callable[[tuple[Any, ...]], Any] = self.source.compile("record reader")["root"]
        return root

    def record(self, record: Struct, first: int, base: str) -> str:
        """The expression of a record whose wire fields are from number `first` after `base`."""
        values, slot = {}, first
        for field in record.by_offset():
            values[field.name] = self.part(field.part, slot, base)
            slot += _slots(field.part)
        ordered = [values[field.name] for field in record.fields]
        cls = self.source.constant(record.cls)
        if not issubclass(record.cls, tuple):
            return f"{cls}({', '.join(ordered)})"
        # Not the class itself: the __new__ of a namedtuple is a function in Python.
        new = self.source.constant(tuple.__new__)
        if ordered == [f"t[{base}{number}]" for number in range(first, slot)]:
            # A record inside may come first too.
            whole = (base, first, slot) == ("", 0, self.slots)
            return f"{new}({cls}, t)" if whole else f"{new}({cls}, t[{base}{first}:{base}{slot}])"
        return f"{new}({cls}, ({', '.join(ordered)},))"

    def part(self, part: Part, slot: int, base: str) -> str:
        match part:
            case Struct():
                return self.record(part, slot, base)
            case Array(container="ndarray"):
                return f"{self.source.constant(owned_array(part))}(t[{base}{slot}])"
            case Array():
                return self.array(part, part.shape, slot, base)
        return f"t[{base}{slot}]"

    def array(self, part: Array, shape: tuple[int, ...], slot: int, base: str) -> str:
        extent, inner = shape[0], shape[1:]
        step = _slots(Array(part.item, inner)) if inner else _slots(part.item)
        end = slot + extent * step
        if not inner and isinstance(part.item, Scalar | Bytes):
            items = f"t[{base}{slot}:{base}{end}]"
            return f"[*{items}]" if part.container == "list" else items
        # Nested: a variable of its own for each level.
        index = self.source.variable()
        item = self.array(part, inner, 0, f"{index}+") if inner else self.part(part.item, 0, f"{index}+")
        items = f"[{item} for {index} in range({base}{slot}, {base}{end}, {step})]"
        return items if part.container == "list" else f"tuple({items})"
