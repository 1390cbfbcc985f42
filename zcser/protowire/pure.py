"""The walk over a message's wire form in Python; zcser/native/protowire is its twin in C.

1. A walk notes edits, in the order of the wire: lengths that change, and payloads. What stands between them is copied.
2. Tags and lengths have 5 bytes at most and numbers 10, as in upb. Everything else about bytes that are stepped over is
   upb's to judge.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from typing import Any

from zcser.core.buffers import Buffer
from zcser.protowire.nesting import MAX_NESTING
from zcser.protowire.padding import PADDING_BYTES, padding, padding_before
from zcser.protowire.routes import TENSOR, Node
from zcser.protowire.stand_in import STAND_IN_SIZE, place_of, stand_in

__all__ = ["PureWalker"]

_MOST_SIZE_BYTES = 5
_MOST_NUMBER_BYTES = 10
_STAND_IN_LENGTH = bytes((STAND_IN_SIZE,))
_VARINT, _FIXED64, _LENGTH, _GROUP, _GROUP_END, _FIXED32 = range(6)


class _UnwalkableError(Exception):
    """The bytes are no message, or not one that can be walked."""


_Edit = tuple[int, int, int, int, int, int, int]
"""A place where a message is changed.

Where the field's tag stands, its length, and what follows that; its length as it was, and as it is to be; where it
leads, as in `Node`, and of a payload the number of its buffer. A plain tuple: there is one for each level of each payload.
"""


class PureWalker:
    """See `zcser.protowire.engine.Walker`."""

    def __init__(self, nodes: Sequence[Node], root: int) -> None:
        self._nodes = [dict(node) for node in nodes]
        self._root = self._nodes[root]

    def cut(self, data: Buffer, least: int, gaps: Sequence[tuple[int, int]] = (), /) -> bytes | None:
        """See `Walker.cut`."""
        size = len(data)
        if gaps:
            size += sum(gap for _, gap in gaps)
            places = {place: (n, gap) for n, (place, gap) in enumerate(gaps, 1)}
            walk = _Walk(self._nodes, _Sparse(data, gaps), least, places)
        else:
            walk = _Walk(self._nodes, data, least, {})
        try:
            walk.message(self._root, 0, size, 1)
            return walk.cut(size)
        except (_UnwalkableError, IndexError):
            return None

    def splice(self, head: bytes, aligned: bool, /) -> tuple[bytes, list[int]] | None:
        """See `Walker.splice`."""
        walk = _Walk(self._nodes, head, None, {}, PADDING_BYTES if aligned else 0)
        try:
            walk.message(self._root, 0, len(head), 1)
        except (_UnwalkableError, IndexError):
            return None
        return walk.splice()


class _Sparse:
    """A message of which parts lie elsewhere: an IndexError for whoever reads these."""

    def __init__(self, data: Buffer, gaps: Sequence[tuple[int, int]]) -> None:
        self._starts = [0, *(place + size for place, size in gaps)]
        self._ends = [*(place for place, _ in gaps), len(data) + sum(size for _, size in gaps)]
        self._moves = [0, *itertools.accumulate(size for _, size in gaps)]
        self._data: Any = data

    def __getitem__(self, place: int | slice) -> Any:
        first, last = (place.start, place.stop) if isinstance(place, slice) else (place, place + 1)
        piece = bisect.bisect_right(self._starts, first) - 1
        if last > self._ends[piece]:
            raise IndexError(place)
        move = self._moves[piece]
        return self._data[first - move : last - move] if isinstance(place, slice) else self._data[first - move]


class _Walk:
    def __init__(
        self,
        nodes: Sequence[dict[int, int]],
        data: Any,
        least: int | None,
        gaps: dict[int, tuple[int, int]],
        padding_bytes: int = 0,
    ) -> None:
        self.nodes = nodes
        self.data = data
        self.least = least
        self.gaps = gaps
        self.padding_bytes = padding_bytes
        self.edits: list[_Edit] = []

    def message(self, node: dict[int, int], at: int, end: int, depth: int) -> int:
        """Walk a message that ends at `end`; how many bytes it grows by."""
        data = self.data
        growth = 0
        while at < end:
            first = at
            tag = data[at]
            at += 1
            if tag > 127:
                tag, at = self.varint(first, _MOST_SIZE_BYTES)
            wire = tag & 7
            if wire == _LENGTH:
                length = at
                size = data[at]
                at += 1
                if size > 127:
                    size, at = self.varint(length, _MOST_SIZE_BYTES)
                body = at
                at += size
                if at > end:
                    raise _UnwalkableError
                target = node.get(tag)
                if target is not None:
                    growth += self.field((first, length, body), size, target, depth)
            elif wire == _VARINT:
                number = at
                while data[at] > 127:
                    at += 1
                at += 1
                if at - number > _MOST_NUMBER_BYTES:
                    raise _UnwalkableError
            elif wire == _FIXED64:
                at += 8
            elif wire == _FIXED32:
                at += 4
            elif wire == _GROUP:
                at = self.group_end(at, end)
            else:
                raise _UnwalkableError
        if at > end:
            raise _UnwalkableError
        return growth

    def field(self, places: tuple[int, int, int], size: int, target: int, depth: int) -> int:
        """Note what a field that leads to a payload needs; how many bytes it grows by."""
        edits = self.edits
        tag, length, body = places
        payload = 0
        if target >= 0:
            if depth == MAX_NESTING:
                raise _UnwalkableError
            place = len(edits)
            growth = self.message(self.nodes[target], body, body + size, depth + 1)
            if len(edits) == place:
                return 0
            new = size + growth
            edits.insert(place, (tag, length, body, size, new, target, 0))
        elif self.least is None:
            if size != STAND_IN_SIZE:
                return 0
            payload, _, new = place_of(self.data[body : body + size])
            growth = new - size
            edits.append((tag, length, body, size, new, target, payload))
            if target == TENSOR:
                growth += self.padding_bytes
        else:
            gap = self.gaps.get(body)
            if gap is not None and gap[1] == size:
                payload = gap[0]
            elif size < self.least and size != STAND_IN_SIZE:
                return 0
            elif self.gaps:
                self.data[body : body + size]  # no gap lies in it
            new = STAND_IN_SIZE
            growth = new - size
            edits.append((tag, length, body, size, new, target, payload))
        return growth + (1 if new < 128 else len(_varint(new))) - (body - length)

    def varint(self, at: int, most: int) -> tuple[int, int]:
        """A number, and where it ends."""
        data = self.data
        end = at + most
        number = shift = 0
        while at < end:
            byte = data[at]
            at += 1
            if byte < 128:
                return number | byte << shift, at
            number |= (byte & 127) << shift
            shift += 7
        raise _UnwalkableError

    def step_over_varint(self, at: int) -> int:
        for place in range(at, at + _MOST_NUMBER_BYTES):
            if self.data[place] < 128:
                return place + 1
        raise _UnwalkableError

    def group_end(self, at: int, end: int) -> int:
        """Where a group ends whose content begins at `at`."""
        open_groups = 1
        while open_groups:
            if at >= end:
                raise _UnwalkableError
            tag, at = self.varint(at, _MOST_SIZE_BYTES)
            match tag & 7:
                case 0:
                    at = self.step_over_varint(at)
                case 1:
                    at += 8
                case 2:
                    size, at = self.varint(at, _MOST_SIZE_BYTES)
                    at += size
                case 3:
                    open_groups += 1
                case 4:
                    open_groups -= 1
                case 5:
                    at += 4
                case _:
                    raise _UnwalkableError
        return at

    def cut(self, size: int) -> bytes:
        """The message with stand-ins for payloads."""
        data = self.data
        pieces: list[Any] = []
        done = elsewhere = 0
        for _, length, body, old, new, target, payload in self.edits:
            if target < 0:
                place = 0 if payload else body - elsewhere
                pieces += (data[done:length], _STAND_IN_LENGTH, stand_in(payload, place, old))
                done = body + old
                elsewhere += old if payload else 0
            else:
                pieces += (data[done:length], _varint(new))
                done = body
        pieces.append(data[done:size])
        return b"".join(pieces)

    def splice(self) -> tuple[bytes, list[int]]:
        """The message less its payloads, and where these belong."""
        text = bytearray()
        cuts: list[int] = []
        done = spliced = 0
        for tag, length, body, _, new, target, payload in self.edits:
            size = _varint(new)
            is_padded = self.padding_bytes and target == TENSOR
            if is_padded:
                text += self.data[done:tag]
                done = tag
                before = padding_before(len(text) + spliced + (length - tag) + len(size))
                text += padding(before)
            text += self.data[done:length]
            text += size
            done = body
            if target < 0:
                cuts += (len(text), payload)
                spliced += new
                done += STAND_IN_SIZE
            if is_padded:
                text += padding(self.padding_bytes - before)
        text += self.data[done:]
        return bytes(text), cuts


def _varint(number: int) -> bytes:
    if number < 128:
        return bytes((number,))
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    found.append(number)
    return bytes(found)
