"""Where the big bins of a MessagePack message lie: a walk from header to header, which reads nothing else.

A message that cannot be walked to its very end (cut short, too long, with a byte of no meaning) has no spans: the library
that reads it next says what is wrong with it. Both engines find the same.

The format is that of https://github.com/msgpack/msgpack/blob/master/spec.md.
"""

from __future__ import annotations

import sys
from typing import Any

from zcser.native import backend

__all__ = ["Spans", "big_spans", "find_spans"]

Spans = list[tuple[int, int, int]]
"""Offsets of a bin: of its header, of its data, and of what follows it."""


def _table() -> list[tuple[int, int, int]]:
    """By first byte: bytes of the length that follows it, bytes of what has no length, items of a container of no length."""
    table = [(0, 0, 0)] * 256
    for byte in range(16):
        table[0x80 | byte] = (0, 0, 2 * byte)
        table[0x90 | byte] = (0, 0, byte)
    for byte in range(32):
        table[0xA0 | byte] = (0, byte, 0)
    for power in range(3):
        table[0xC4 + power] = (1 << power, 0, 0)  # bin
        table[0xC7 + power] = (1 << power, 1, 0)  # ext: its type is a byte more
        table[0xD9 + power] = (1 << power, 0, 0)  # str
    for first, sizes in ((0xCA, (4, 8)), (0xCC, (1, 2, 4, 8)), (0xD0, (1, 2, 4, 8)), (0xD4, (2, 3, 5, 9, 17))):
        for step, size in enumerate(sizes):
            table[first + step] = (0, size, 0)  # float, uint, int, fixext
    return table


_TABLE = _table()
_BIN = (0xC4, 0xC5, 0xC6)
# array16, array32, map16, map32: bytes of the count, and items of each.
_CONTAINERS = {0xDC: (2, 1), 0xDD: (4, 1), 0xDE: (2, 2), 0xDF: (4, 2)}
_NEVER_USED = 0xC1


def find_spans(message: Any, least: int, steps: int) -> Spans:
    """The bins of a message, in their order.

    Parameters
    ----------
    message
        bytes or a flat memoryview.
    least
        Bytes of data that a bin has, or it is passed over.
    steps
        How many objects are walked before the walk is given up, which bounds its time.

    Returns
    -------
    list of tuple
        Empty also where the message is no single whole object, or has more than `steps`.
    """
    table, size = _TABLE, len(message)
    spans: Spans = []
    at, left = 0, 1
    while left:
        if at >= size or not steps:
            return []
        steps -= 1
        left -= 1
        byte = message[at]
        if byte in _CONTAINERS:
            width, each = _CONTAINERS[byte]
            left += each * int.from_bytes(message[at + 1 : at + 1 + width])
            at += 1 + width
        elif byte == _NEVER_USED:
            return []
        else:
            width, more, items = table[byte]
            left += items
            start = at + 1 + width
            stop = start + more
            if width:
                stop += int.from_bytes(message[at + 1 : start])
                if byte in _BIN and stop - start >= least:
                    spans.append((at, start, stop))
            at = stop
        if left > size - at:  # every object takes a byte at least
            return []
    return spans if at == size else []


_FREE_STEPS = 64
_BYTES_OF_A_STEP = 512
"""In Python a message of less than this for each of its objects, and more of them than `_FREE_STEPS`, is not walked: the
library copies in less time than the walk would take."""


def _choose() -> Any:
    if backend == "pure":
        return None
    from zcser.native import _tree

    return _tree.find_spans


_native = _choose()


def big_spans(message: Any, least: int) -> Spans:
    """As `find_spans`, by the C twin where there is one; else none where the walk would not pay."""
    if _native is not None:
        found: Spans = _native(message, least, sys.maxsize)
        return found
    return find_spans(message, least, _FREE_STEPS + len(message) // _BYTES_OF_A_STEP)
