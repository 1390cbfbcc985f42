"""A layout as a few calls of ``struct``.

1. A message's wire fields are one flat tuple, in the order of their places. Gaps are ``x`` in the format, which writes
   zeros.
2. A *run* is packed and unpacked by one compound ``struct.Struct``. A *hole* is a place whose bytes are moved as they
   are: a memoryview in the tuple. A layout without holes is one run, and one call.
3. Runs and holes lie side by side and cover the whole message, so that their bytes, joined, are the message.
"""

from __future__ import annotations

import bisect
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zcser.header.layout import Array, Blob, Items, Node, Scalar, Struct

__all__ = ["INLINE", "Hole", "Plan", "Run", "big", "movable"]

INLINE = 256
"""Bytes and tensors of this many bytes and more are holes when written: below it a segment costs more than a copy."""


def big(node: Node) -> bool:
    """Holes for writing, and for reading with copies."""
    return isinstance(node, Array | Blob) and node.size >= INLINE


def movable(node: Node) -> bool:
    """Holes for reading without copies."""
    return isinstance(node, Array | Blob)


@dataclass(frozen=True, slots=True)
class Run:
    """Wire fields `first` to `last` - 1, packed together."""

    offset: int
    size: int
    first: int
    last: int
    struct: struct.Struct


@dataclass(frozen=True, slots=True)
class Hole:
    """One wire field that is moved as it is."""

    offset: int
    size: int
    slot: int


class Plan:
    """Runs and holes of one layout.

    Attributes
    ----------
    size
        Bytes of a message.
    parts
        Runs and holes, in order.
    whole
        The one struct of a layout without holes, else None.
    pack
        ``pack(*native)`` is the message of some wire fields. Copies: everything, once.
    """

    def __init__(self, node: Node, is_hole: Callable[[Node], bool]) -> None:
        self.size = node.size
        self.parts = tuple(_split(node, is_hole))
        first = self.parts[0] if len(self.parts) == 1 else None
        self.whole = first.struct if isinstance(first, Run) else None
        self.pack: Callable[..., bytes] = self._join if self.whole is None else self.whole.pack
        # Tuples of bound methods and numbers, for the loops below. The method of a hole is None.
        runs = [part for part in self.parts if isinstance(part, Run)]
        holes = [part for part in self.parts if isinstance(part, Hole)]
        self._runs = [(run.struct.pack_into, run.offset, run.first, run.last) for run in runs]
        self._holes = [(hole.offset, hole.offset + hole.size, hole.slot) for hole in holes]
        self._pieces_of = [
            (part.struct.pack, part.first, part.last) if isinstance(part, Run) else (None, part.slot, 0)
            for part in self.parts
        ]
        self._steps = [
            (part.struct.unpack_from if isinstance(part, Run) else None, part.offset, part.offset + part.size)
            for part in self.parts
        ]

    def pack_into(self, out: memoryview, native: Sequence[Any]) -> None:
        """Write the message at the start of `out`."""
        if self.whole is not None:
            self.whole.pack_into(out, 0, *native)
            return
        if len(self._holes) > 1 and self._may_overlap(out, native):
            # One hole would be written over another that is still to be moved.
            out[: self.size] = self._join(*native)
            return
        # Holes first: they may lie where the runs, which are numbers by now, will.
        for start, end, slot in self._holes:
            # Through the memoryview: a slice assignment to a bytearray would copy twice.
            out[start:end] = native[slot]
        for pack_into, offset, first, last in self._runs:
            pack_into(out, offset, *native[first:last])

    def _may_overlap(self, out: memoryview, native: Sequence[Any]) -> bool:
        target = np.frombuffer(out, np.uint8, self.size)
        holes = [native[slot] for _, _, slot in self._holes if native[slot].__class__ is not bytes]
        return any(np.may_share_memory(target, np.frombuffer(hole, np.uint8)) for hole in holes)

    def segments(self, native: Sequence[Any]) -> list[memoryview]:
        """The message in pieces, the holes' as they are."""
        return [memoryview(piece) for piece in self._pieces(native)]

    def _join(self, *native: Any) -> bytes:
        return b"".join(self._pieces(native))

    def _pieces(self, native: Sequence[Any]) -> list[Any]:
        return [native[first] if pack is None else pack(*native[first:last]) for pack, first, last in self._pieces_of]

    def unpack_from(self, buffer: memoryview, base: int = 0) -> tuple[Any, ...]:
        """The wire fields of the message that starts at `base`; holes alias `buffer`."""
        if self.whole is not None:
            return self.whole.unpack_from(buffer, base)
        native: list[Any] = []
        for unpack_from, start, end in self._steps:
            if unpack_from is None:
                native.append(buffer[base + start : base + end])
            else:
                native += unpack_from(buffer, base + start)
        return tuple(native)

    def gather(self, segments: Sequence[memoryview]) -> tuple[Any, ...]:
        """The wire fields of a message that is cut as `segments` cuts it; holes alias the segments."""
        native: list[Any] = []
        for part, segment in zip(self.parts, segments, strict=True):
            if isinstance(part, Run):
                native += part.struct.unpack(segment)
            else:
                native.append(segment)
        return tuple(native)

    def gather_from(self, cut: Plan, segments: Sequence[memoryview]) -> tuple[Any, ...]:
        """The same where the segments are cut by another plan of the layout, whose holes are holes here too."""
        native: list[Any] = []
        starts = [part.offset for part in cut.parts]
        for part in self.parts:
            # The last part that starts here or before: an empty one holds nothing.
            index = bisect.bisect_right(starts, part.offset) - 1
            start = part.offset - starts[index]
            if isinstance(part, Run):
                native += part.struct.unpack_from(segments[index], start)
            else:
                native.append(segments[index][start : start + part.size])
        return tuple(native)


def _split(node: Node, is_hole: Callable[[Node], bool]) -> Iterator[Run | Hole]:
    codes: list[str] = []
    start = end = first = slot = 0

    def run(until: int) -> Run:
        if until > end:
            codes.append(f"{until - end}x")
        return Run(start, until - start, first, slot, struct.Struct("<" + "".join(codes)))

    for offset, leaf, count in _leaves(node, 0):
        if is_hole(leaf):
            if offset > start or slot > first:
                yield run(offset)
            yield Hole(offset, leaf.size, slot)
            codes.clear()
            slot += 1
            start = end = offset + leaf.size
            first = slot
            continue
        if offset > end:
            codes.append(f"{offset - end}x")
        codes.append(f"{count}{leaf.code}" if isinstance(leaf, Scalar) else f"{leaf.size}s")
        slot += count
        end = offset + count * leaf.size
    if node.size > start or slot > first or start == 0:
        yield run(node.size)


def _leaves(node: Node, offset: int) -> Iterator[tuple[int, Node, int]]:
    """Places of the wire fields; equal numbers in a row are one entry with their count."""
    if node.slots == 0:
        return
    if isinstance(node, Struct):
        for member in node.members:
            yield from _leaves(member.node, offset + member.offset)
    elif not isinstance(node, Items):
        yield offset, node, 1
    elif isinstance(node.item, Scalar):
        yield offset, node.item, node.length
    else:
        for number in range(node.length):
            yield from _leaves(node.item, offset + number * node.item.size)
