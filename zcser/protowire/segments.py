"""Segments: a message in pieces, some of which are payloads that were never copied.

Pieces alternate: bytes of the message that are none of a payload, a payload, and so on; the last ones may be such bytes
again. Joined they are the message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from zcser.core.buffers import byte_views, write_pieces
from zcser.core.errors import DecodeError
from zcser.protowire.stand_in import Parts, part_of

__all__ = ["Gathered", "Spliced", "gather"]


class Spliced(NamedTuple):
    """A message that is written but for its payloads.

    Attributes
    ----------
    text
        Its bytes without them.
    cuts
        As of `zcser.protowire.engine.Walker.splice`.
    payloads
        By the numbers in `cuts`.
    size
        Bytes of the message.
    """

    text: bytes
    cuts: Sequence[int]
    payloads: Sequence[memoryview]
    size: int

    def segments(self) -> list[memoryview]:
        """The pieces."""
        text, cuts, payloads, _ = self
        view = memoryview(text)
        found: list[memoryview] = []
        done = 0
        for number in range(0, len(cuts), 2):
            place = cuts[number]
            found += (view[done:place], payloads[cuts[number + 1]])
            done = place
        if done < len(text) or not found:
            found.append(view[done:])
        return found

    def write(self, out: memoryview) -> None:
        """Write the message to the beginning of `out`, which has room for it."""
        write_pieces(self.segments(), out, self.size)


@dataclass(frozen=True, slots=True)
class Gathered:
    """Segments as they are read.

    Attributes
    ----------
    pieces
        Those that are not empty.
    size
        Bytes of all.
    """

    pieces: Sequence[memoryview]
    size: int

    def joined(self) -> bytes:
        """The message in one piece."""
        return b"".join(self.pieces)

    def parts(self) -> tuple[Parts, list[tuple[int, int]]]:
        """The parts that stand-ins are to speak of, and the gaps that payloads leave in the first of them."""
        gaps = []
        place = 0
        for number, piece in enumerate(self.pieces):
            if number % 2:
                gaps.append((place, len(piece)))
            place += len(piece)
        return (part_of(b"".join(self.pieces[::2])), *map(part_of, self.pieces[1::2])), gaps


def gather(segments: Any, codec: str) -> Gathered:
    """Take segments of any kind of buffer.

    Raises
    ------
    DecodeError
        They are no buffers, or none.
    """
    pieces = byte_views(segments, codec=codec)
    if not pieces:
        raise DecodeError("there are no segments; an empty message has an empty one", codec=codec)
    pieces = [piece for piece in pieces if len(piece)]
    return Gathered(pieces, sum(map(len, pieces)))
