"""simdjson's parsers: lent to one document each, and back in the pool when the last view of that document is gone.

1. A parser holds one document, and pysimdjson refuses to parse again while a proxy of it lives. So a document owns its
   parser, every view of it keeps the document alive, and a parser that somebody holds is not in the pool: neither threads
   nor views can share one. Only a document that was released gives its parser back before its other views are gone; it
   is of use again when they are, and until then its borrower makes another.
2. The pool is bounded, in parsers and in bytes. A parser keeps room for the largest document that it has seen, some 15
   bytes for each of its own, so that large and small documents have shelves of their own.
3. What simdjson refuses goes to the strict reader, whose tree takes the place of proxies: an integer over 64 bits is no
   reason to refuse a text.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import simdjson

__all__ = ["Document", "ParserPool"]

_LONGEST_ARRAY = 0xFFFFFE
"""Items of the longest array whose length simdjson's tape holds; pysimdjson writes past the list that it makes of more."""


class ParserPool:
    """Idle parsers. Threads may share it: a deque's pop and append are atomic."""

    __slots__ = ("_large", "_small")
    # Of the class: documents that live until the interpreter ends come back when this module's globals are gone.
    _small_bytes, _small_idle = 64 << 10, 16
    _large_bytes, _large_idle = 16 << 20, 2

    def __init__(self) -> None:
        # A full deque drops its oldest parser for the new one.
        self._small: deque[simdjson.Parser] = deque(maxlen=self._small_idle)
        self._large: deque[simdjson.Parser] = deque(maxlen=self._large_idle)

    def lend(self, size_bytes: int) -> simdjson.Parser:
        """A parser that nobody else has."""
        try:
            return (self._small if size_bytes <= self._small_bytes else self._large).pop()
        except IndexError:
            return simdjson.Parser()

    def take_back(self, parser: simdjson.Parser, size_bytes: int) -> None:
        """A parser that its borrower is done with, after a document of so many bytes."""
        if size_bytes <= self._small_bytes:
            self._small.append(parser)
        elif size_bytes <= self._large_bytes:
            self._large.append(parser)

    def __len__(self) -> int:
        return len(self._small) + len(self._large)

    def tree(self, text: Any) -> Any:
        """A text as builtins.

        Raises
        ------
        Exception
            Any, where simdjson refuses the text.
        """
        _refuse(text)
        parser = self.lend(len(text))
        try:
            return _parse(parser, text, True)
        finally:
            self.take_back(parser, len(text))

    def open(self, text: Any, otherwise: Callable[[Any], Any], *, for_arrays: bool) -> Document:
        """A text as a document.

        Parameters
        ----------
        text
            Bytes, or a flat memoryview of them.
        otherwise
            Makes a tree of what simdjson refuses.
        for_arrays
            Whether to find out if arrays stand in arrays. Before the text is parsed, which has to read it anyway.
        """
        nests_arrays = not for_arrays or _nests_arrays(text)
        parser = self.lend(len(text))
        try:
            _refuse(text)
            return Document(_parse(parser, text, False), len(text), parser, self, nests_arrays)
        except Exception:  # noqa: BLE001 - whatever simdjson has against a text, the strict reader decides
            self.take_back(parser, len(text))
        return Document(otherwise(text), len(text), None, self, nests_arrays)


def _parse(parser: simdjson.Parser, text: Any, recursive: Any) -> Any:
    try:
        return parser.parse(text, recursive)
    except RuntimeError as error:
        if "re-use" not in str(error):
            raise
    # The parser's last document was released under other views, or an iterator over it is only just dying in another
    # thread. They keep the parser.
    return simdjson.Parser().parse(text, recursive)


def _refuse(text: Any) -> None:
    """Leave to the strict reader what simdjson would not read, or pysimdjson not survive."""
    if text[:3] == b"\xef\xbb\xbf":
        raise ValueError("a byte order mark, which simdjson skips")
    size = len(text)
    if size > 2 * _LONGEST_ARRAY and np.count_nonzero(np.frombuffer(text, np.uint8) == ord(",")) >= _LONGEST_ARRAY:
        raise OverflowError("an array may have more items than simdjson counts")


class Document:
    """A parsed text: what all views of it share.

    Attributes
    ----------
    root
        A proxy or, where simdjson refused the text or it is a scalar, a builtin. Dropped by the view that takes it, since
        a document must not outlive its proxies.
    alive
        False once a view was released.
    size_bytes
        Of the text.
    nests_arrays
        Whether an array may stand in an array somewhere: False is certain.
    """

    __slots__ = ("_parser", "_pool", "alive", "nests_arrays", "root", "size_bytes")

    def __init__(
        self, root: Any, size_bytes: int, parser: simdjson.Parser | None, pool: ParserPool, nests_arrays: bool
    ) -> None:
        self.root = root
        self.alive = True
        self.size_bytes = size_bytes
        self.nests_arrays = nests_arrays
        self._parser = parser
        self._pool = pool

    def take_root(self) -> Any:
        """The root, once."""
        root, self.root = self.root, None
        return root

    def end(self) -> None:
        """Give the parser back. The view that calls this has let go of its proxies."""
        self.alive = False
        self.root = None
        parser, self._parser = self._parser, None
        if parser is not None:
            self._pool.take_back(parser, self.size_bytes)

    def __del__(self) -> None:
        self.end()


_SPACES = b" \t\r\n"
_MOST_SPACES = 64
"""White space before a bracket that is looked through."""
_FEW_BRACKETS = 32
"""So many are found faster one by one."""


def _nests_arrays(text: Any) -> bool:
    # Behind a colon an array is the value of a key, and behind nothing it is the root. A bracket in a string may only
    # look like an array in an array.
    place = -1
    for _ in range(_FEW_BRACKETS if text.__class__ is bytes else 0):
        place = text.find(b"[", place + 1)
        if place < 0:
            return False
        before = text[max(0, place - _MOST_SPACES) : place].rstrip(_SPACES)
        if before[-1:] != b":" and (before or place > _MOST_SPACES):
            return True
    octets = np.frombuffer(text, np.uint8)
    places = np.flatnonzero(octets == ord("[")) - 1
    places = places[places >= 0]
    spaces = np.frombuffer(_SPACES, np.uint8)
    for _ in range(_MOST_SPACES):
        places = places[octets[places] != ord(":")]
        if not places.size:
            return False
        if not np.isin(octets[places], spaces).all():
            return True
        places = places[places > 0] - 1
    return True
