"""Bytes near to FlatBuffers messages: what chance does to them, and what malice would.

A message is made of u16 (vtables), u32 (offsets, lengths) and 8-byte words at addresses that are multiples of their size;
most changes keep to that, as bytes that the reader refuses at the first word find nothing.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Sequence

__all__ = ["mutant"]

_U32 = struct.Struct("<I")
_SMALL = (0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 64, 255, 256)
_EDGES_16 = (*_SMALL, 0x7FFF, 0x8000, 0xFFFC, 0xFFFF)
_EDGES_32 = (*_SMALL, 0xFFFF, 2**16, 2**29, 2**30, 2**31 - 8, 2**31 - 1, 2**31, 2**32 - 64, 2**32 - 4, 2**32 - 1)

Messages = Sequence[bytes]


def mutant(rng: random.Random, messages: Messages) -> bytes:
    """One of the messages after a few changes.

    Parameters
    ----------
    rng
        Decides everything: the same state and messages give the same bytes.
    messages
        At least one; splices take from all of them.
    """
    data = bytearray(rng.choice(messages))
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5))):
        if len(data) < 8:
            break
        rng.choice(_CHANGES)(rng, data, messages)
    return bytes(data)


def _place(rng: random.Random, data: bytearray, size: int) -> int:
    """A place of a word of `size` bytes, aligned to it."""
    return rng.randrange(len(data) // size) * size


def _flip_bit(rng: random.Random, data: bytearray, _: Messages) -> None:
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _set_byte(rng: random.Random, data: bytearray, _: Messages) -> None:
    data[rng.randrange(len(data))] = rng.choice((0, 1, 2, 3, 4, 0x7F, 0x80, 0xC0, 0xED, 0xF4, 0xFF, rng.randrange(256)))


def _set_u16(rng: random.Random, data: bytearray, _: Messages) -> None:
    number = rng.choice(_EDGES_16) if rng.random() < 0.6 else rng.randrange(min(len(data), 0x10000))
    struct.pack_into("<H", data, _place(rng, data, 2), number)


def _set_u32(rng: random.Random, data: bytearray, _: Messages) -> None:
    place = _place(rng, data, 4)
    left = len(data) - place
    number = rng.choice((*_EDGES_32, left, left - 4, left // 4, left // 8, left + 1, rng.randrange(len(data))))
    _U32.pack_into(data, place, number & 0xFFFFFFFF)


def _nudge_u32(rng: random.Random, data: bytearray, _: Messages) -> None:
    """Make an offset or a length a little larger or smaller than it was."""
    place = _place(rng, data, 4)
    (number,) = _U32.unpack_from(data, place)
    _U32.pack_into(data, place, (number + rng.choice((-8, -4, -2, -1, 1, 2, 4, 8))) & 0xFFFFFFFF)


def _cut(rng: random.Random, data: bytearray, _: Messages) -> None:
    del data[max(1, rng.randrange(len(data)) & (-4 if rng.random() < 0.5 else -1)) :]


def _move(rng: random.Random, data: bytearray, _: Messages) -> None:
    """Overwrite some words with others of the same message."""
    size = rng.choice((2, 4, 4, 8, 16))
    if len(data) >= 2 * size:
        target, source = (rng.randrange(len(data) // 2) * 2 for _ in range(2))
        data[target : target + size] = data[source : source + size]


def _splice(rng: random.Random, data: bytearray, messages: Messages) -> None:
    """The beginning of one message and the end of another, which keeps its place half of the time."""
    other = rng.choice(messages)
    place = _place(rng, data, 4)
    data[place:] = other[place if rng.random() < 0.5 else rng.randrange(len(other) // 4 + 1) * 4 :]


def _point_at_another(rng: random.Random, data: bytearray, _: Messages) -> None:
    """Make one offset lead where another leads: tables that are shared, that contain themselves, or are of another type."""
    places = [
        place for place in range(0, len(data) - 3, 4) if 4 <= _U32.unpack_from(data, place)[0] < len(data) - place
    ]
    if len(places) < 2:
        return
    changed, other = rng.sample(places, 2)
    target = other + _U32.unpack_from(data, other)[0]
    if target > changed:
        _U32.pack_into(data, changed, target - changed)
    else:  # a table's way to its vtable is signed, and leads back where it is positive
        _U32.pack_into(data, changed, changed - target)


_CHANGES: tuple[Callable[[random.Random, bytearray, Messages], None], ...] = (
    _flip_bit,
    _flip_bit,
    _set_byte,
    _set_u16,
    _set_u16,
    _set_u32,
    _set_u32,
    _nudge_u32,
    _nudge_u32,
    _cut,
    _move,
    _splice,
    _point_at_another,
    _point_at_another,
)
