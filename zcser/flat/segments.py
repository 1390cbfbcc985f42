"""Messages that come in segments: which bytes of a vector stand in which segment.

1. The segments follow each other: every place is counted as in the message that they would be together. Each vector and
   string has its length in one segment and its data in one segment, that one or the next; all else stands in the first.
   What lies otherwise is refused: nothing is ever joined.
2. A segment that nothing leads to is refused, unless the message has a field that the schema does not have, whose it may
   be.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from zcser.core.buffers import Buffer, byte_view
from zcser.core.errors import DecodeError
from zcser.flat.checks import Fault

__all__ = ["Segments", "segment_views"]


def segment_views(segments: Sequence[Buffer], *, codec: str | None = None) -> tuple[bytes | memoryview, ...]:
    """Segments as bytes, and read-only memoryviews of bytes.

    Raises
    ------
    DecodeError
        They are no list or tuple, or none, or one of them is no contiguous buffer.

    Notes
    -----
    Copies: none. Lifetime: each keeps the buffer alive.
    """
    if not isinstance(segments, list | tuple):
        raise DecodeError(f"a list of segments is needed, not {type(segments).__name__}", codec=codec)
    if not segments:
        raise DecodeError("a message has one segment at least", codec=codec)
    return tuple(
        segment if segment.__class__ is bytes else byte_view(segment, codec=codec).toreadonly() for segment in segments
    )


class Segments:
    """A message in segments.

    Parameters
    ----------
    buffers
        bytes, or memoryviews of bytes, one at least.

    Attributes
    ----------
    buffers
        As given.
    total
        Bytes of the message.
    """

    __slots__ = ("_reached", "_starts", "buffers", "total")

    def __init__(self, buffers: Sequence[Any]) -> None:
        self.buffers = buffers
        *self._starts, self.total = itertools.accumulate(map(len, buffers), initial=0)
        self._reached = bytearray(len(buffers))
        self._reached[0] = 1

    def unreached(self) -> tuple[int, int, int] | None:
        """Number, place and size of the first segment that nothing led to until now."""
        number = self._reached.find(0)
        return None if number < 0 else (number, self._starts[number], len(self.buffers[number]))

    def find(self, at: int, head: int, width: int, after: int = 0) -> tuple[int, Any, int, int]:
        """Find the vector at a place.

        Parameters
        ----------
        at
            Of its length, in the message.
        head
            Bytes of the length.
        width
            Bytes of an item.
        after
            1: a string, which a 0 follows; else 0.

        Returns
        -------
        tuple
            The number of the segment that its data stand in, the buffer of that, where they begin there, and how many items
            they are.

        Raises
        ------
        Fault
            It is not aligned, leads past the end, crosses segments, or is a string without its 0.
        IndexError
            Its length lies past the end.
        """
        start = at + head
        if start > self.total:
            raise IndexError
        if at & (head - 1):
            raise Fault(f"a vector at byte {at} is not aligned", at)
        number, buffer, local = self._reach(at)
        if local + head > len(buffer):
            raise Fault(f"the length of the vector at byte {at} crosses segments", at)
        count = int.from_bytes(buffer[local : local + head], "little")
        stop = start + width * count
        if stop + after > self.total:
            words = f"up to byte {stop + after}" if head == 4 else f"of {count} items"
            raise Fault(f"a vector {words} leads past the end at {self.total}", at, cut=True)
        first = local + head
        if stop > start and first == len(buffer):
            number, buffer, first = self._reach(start)
        if first + stop - start > len(buffer):
            raise Fault(f"the vector at byte {at} crosses segments: one of them is missing, or cut", at)
        if after:
            _, last, end = self._reach(stop)
            if last[end]:
                raise Fault("a string has no terminator", stop)
        return number, buffer, first, count

    def _reach(self, place: int) -> tuple[int, Any, int]:
        """The segment that a place is in, and the place in it."""
        number = bisect_right(self._starts, place) - 1
        self._reached[number] = 1
        return number, self.buffers[number], place - self._starts[number]
