"""Where the data of vectors and strings are found by generated readers: in the one buffer of a message, or in its segments.

Code has the place of a vector in ``q``, and what `zcser.flat.pure.read_code` says besides. It leaves the number of items,
or of bytes, in ``n``; what is returned are expressions of the buffer and of places in it.
"""

from __future__ import annotations

from typing import Any

from zcser.core.source import Source
from zcser.flat.pure.read_state import nested_state
from zcser.flat.segments import Segments

__all__ = ["SegmentData", "WholeData"]


class WholeData:
    """Writes for messages in one buffer, ``b``."""

    in_segments = False
    shared = "_, t, W, text = s"
    """Takes apart what the functions share about a message."""

    def __init__(self, source: Source) -> None:
        self.source = source
        source.namespace["nested_state"] = self.nested_state

    @staticmethod
    def nested_state(buffer: Any, state: list[Any]) -> list[Any]:
        """What is shared about a nested message."""
        return nested_state(buffer, state)

    def offsets(self, head: int) -> tuple[str, str]:
        """A vector whose length takes `head` bytes: its buffer, and the place of its items, which are not bounded here."""
        self.source.line(f"n = U{8 * head}(b, q)[0]")
        self.source.line(f"if q & {head - 1}: refuse()")
        return "b", f"q + {head}"

    def items(self, head: int, width: int) -> tuple[str, str]:  # noqa: ARG002 - for segments
        """The same of items that are no offsets, of `width` bytes."""
        return self.offsets(head)

    def span(self, head: int) -> tuple[str, str, str]:
        """Bytes: their buffer, and where they begin and end in it."""
        line = self.source.line
        line("n = U64(b, q)[0]; x = q + 8 + n" if head == 8 else "n = W[q >> 2]; x = q + 4 + n")
        line(f"if q & {head - 1} or x > len(b): refuse()")
        return "b", f"q + {head}", "x"

    def tensor(self) -> tuple[str, str]:
        """Bytes, their number in ``i``: their buffer, and where they begin."""
        self.source.line("i = U32(b, q)[0]")
        self.source.line("if q & 3 or q + 4 + i > len(b): refuse()")
        return "b", "q + 4"

    def text(self) -> str:
        """The string; that its terminator is there is that it ends inside the buffer."""
        self.source.line("n = W[q >> 2]; x = q + 4 + n")
        self.source.line("if q & 3 or b[x]: refuse()")
        return "text(b[q + 4:x])"


class SegmentData(WholeData):
    """Writes for messages in segments; ``b`` is the first, and the last item of the state `Segments`."""

    in_segments = True
    shared = "_, t, W, text, _ = s"

    @staticmethod
    def nested_state(buffer: Any, state: list[Any]) -> list[Any]:
        """What is shared about a nested message, which is whole."""
        return [*nested_state(buffer, state), Segments([buffer])]

    def items(self, head: int, width: int) -> tuple[str, str]:
        """See `WholeData.items`."""
        self.source.line(f"_, y, i, n = s[4].find(q, {head}, {width})")
        return "y", "i"

    def span(self, head: int) -> tuple[str, str, str]:
        """See `WholeData.span`."""
        return *self.items(head, 1), "i + n"

    def tensor(self) -> tuple[str, str]:
        """See `WholeData.tensor`."""
        self.source.line("_, y, q, i = s[4].find(q, 4, 1)")
        return "y", "q"

    def text(self) -> str:
        """See `WholeData.text`."""
        self.source.line("_, y, i, n = s[4].find(q, 4, 1, 1)")
        return "str(y[i:i + n], 'utf-8')"
