"""The tail of a message: what its head left to it, and where that stands.

An entry of a tail is a triple. Of a tensor, and of `bytes` as any: the place in the head of the offset that leads there,
the data, and None. Of all else: pairs of the bytes of an offset and its place, the data, and a pair of the bytes of the
length and what the data's place is a multiple of.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, TypeAlias

from zcser.flat.program import ALIGNMENT

__all__ = ["Item", "Tail", "lay_out"]

Tail: TypeAlias = Sequence[tuple[Any, memoryview, tuple[bytes, int] | None]]
"""In the order in which it was met."""

Item: TypeAlias = tuple[bytes, memoryview]
"""The zeros and the length before data, and the data."""

_put = struct.Struct("<I").pack_into
_put_wide = struct.Struct("<Q").pack_into

_LOW = 0xFFFF_FFFF
"""Of an offset or length that does not fit, for which the caller refuses the message."""


def lay_out(buffer: bytearray | memoryview, end: int, tail: Tail) -> tuple[list[Item], int, int]:
    """Find the places of a tail, and lead there.

    Parameters
    ----------
    buffer
        Holds the head.
    end
        Of the head.
    tail
        What is to follow.

    Returns
    -------
    tuple
        The items, the end of the message, and the end of all that offsets of 4 bytes lead to.
    """
    items, reach = [], end
    for slots, data, far in tail:
        if far is None:
            at = end + 4 + ALIGNMENT - 1 & -ALIGNMENT
            _put(buffer, slots, at - 4 - slots & _LOW)
            items.append((bytes(at - 4 - end) + (len(data) & _LOW).to_bytes(4, "little"), data))
            reach = end = at + len(data)
            continue
        length, align = far
        start = (end + len(length) + align - 1 & -align) - len(length)
        for size, slot in slots:
            if size == 8:
                _put_wide(buffer, slot, start - slot)
            else:
                _put(buffer, slot, start - slot & _LOW)
        items.append((bytes(start - end) + length, data))
        end = start + len(length) + len(data)
        if slots[0][0] == 4:
            reach = end
    return items, end, reach
