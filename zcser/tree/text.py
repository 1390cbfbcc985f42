"""JSON text as every codec of the wire takes it: the strict reader that has the last word, and messages line by line.

1. RFC 8259 alone: UTF-8 without a byte order mark, one value, no NaN or infinities, no lone surrogates. Of duplicate keys
   the last one stands.
2. What a fast library refuses is asked of the strict reader, which is the standard library's and holds integers of any
   size. So all codecs accept the same text, and an error says at which byte the text ends to be JSON.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, TypeVar

from zcser.core.buffers import Buffer, byte_view
from zcser.core.errors import DecodeError
from zcser.tree.codec import TreeReader, TreeWriter

__all__ = ["TextReader", "TextWriter", "in_line", "text_lines", "tree_of_text"]

T = TypeVar("T")

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
# Escapes one after the other; the group is a surrogate that has no partner.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_STRING_OR_CONSTANT = re.compile(rf"{_STRING}|(-?Infinity|NaN)", re.DOTALL)
_NO_BRACKET = re.compile(rf'{_STRING}|[^\[\]{{}}"]+', re.DOTALL)
_MOST_LEVELS = 1024
"""Where orjson and simdjson end. Python's own limit depends on its version and on the stack below."""
_LINE = re.compile(rb"[^\n]+")
_BLANK = b" \t\r"


class _NotJsonError(ValueError):
    def __init__(self, message: str, offset: int | None) -> None:
        super().__init__(message)
        self.offset = offset


def _no_constant(token: str) -> NoReturn:
    raise _NotJsonError(f"{token} is not JSON", None)


_decode = json.JSONDecoder(parse_constant=_no_constant).decode


def tree_of_text(data: Any) -> Any:
    """The tree of a text.

    Parameters
    ----------
    data
        Bytes, or a flat memoryview of them.

    Raises
    ------
    ValueError, RecursionError
        It is no JSON text, or is nested too deeply.
    """
    tree = _decode(str(data, "utf-8"))
    if _SURROGATE.search(data):
        for escape in _ESCAPE.finditer(data):
            if escape[1]:
                raise _NotJsonError("a lone surrogate is escaped in a string", escape.start())
    return tree


def _fault(error: Exception, data: Any, codec: str) -> DecodeError:
    """The words and the place of what `tree_of_text` raised."""
    if isinstance(error, RecursionError):
        return DecodeError("nested deeper than the library and Python's stack can read", codec=codec)
    reason, offset = str(error) or type(error).__name__, None
    if isinstance(error, json.JSONDecodeError):
        reason, offset = error.msg, len(error.doc[: error.pos].encode())
    elif isinstance(error, UnicodeDecodeError):
        reason, offset = f"not UTF-8: {error.reason}", error.start
    elif isinstance(error, _NotJsonError):
        offset = _constant(str(data, "utf-8")) if error.offset is None else error.offset
    if data[:3] == b"\xef\xbb\xbf":
        reason, offset = "the text starts with a byte order mark; strip it", 0
    return DecodeError(reason, codec=codec, offset=offset)


def _bound_levels(text: str) -> None:
    """Refuse JSON text that nests too deeply, by `RecursionError`."""
    if text.count("[") + text.count("{") <= _MOST_LEVELS:
        return
    if max(itertools.accumulate(1 if mark in "[{" else -1 for mark in _NO_BRACKET.sub("", text))) > _MOST_LEVELS:
        raise RecursionError


def _constant(text: str) -> int | None:
    found = (match for match in _STRING_OR_CONSTANT.finditer(text) if match[1])
    return next((len(text[: match.start()].encode()) for match in found), None)


def text_lines(data: Buffer, codec: str) -> Iterator[tuple[int, int, bytes]]:
    """Number (from 1), offset and text of each line that is not blank.

    A line feed cannot stand inside of JSON text but as white space, and not at all in a message of NDJSON.
    """
    flat = byte_view(data, codec=codec)
    number, end = 0, -1
    for match in _LINE.finditer(flat):
        # Empty lines between are no match, but are lines.
        number += match.start() - end
        end = match.end()
        line = match[0]
        if bytes(line).strip(_BLANK):
            yield number, match.start(), bytes(line)


def in_line(error: DecodeError, number: int, offset: int) -> DecodeError:
    """An error of one line as one of the whole text."""
    return DecodeError(
        error.reason, codec=error.codec, path=error.path, offset=offset + (error.offset or 0), line=number
    )


class _Text(Generic[T]):
    """What reading JSON text is, whether a codec writes it too or not."""

    # No codec itself: a codec's base says of each operation that it lacks that it is missing.
    ends_itself = False

    if TYPE_CHECKING:
        name: ClassVar[str]

        def decode(self, data: Buffer, *, copy: bool = True) -> T: ...
        def _loads(self, data: Any, /) -> Any: ...

    def _load(self, flat: Any) -> Any:
        try:
            return self._loads(flat)
        except Exception:  # noqa: BLE001 - whatever a library has against a text, the strict reader decides
            return self._load_strictly(flat)

    def _load_strictly(self, flat: Any) -> Any:
        try:
            tree = tree_of_text(flat)
            _bound_levels(str(flat, "utf-8"))
        except Exception as error:
            raise _fault(error, flat, self.name) from error
        return tree

    def decode_lines(self, data: Buffer, *, copy: bool = True) -> Iterator[T]:
        """Decode one message a line. See `zcser.Codec`."""
        for number, offset, line in text_lines(data, self.name):
            try:
                value = self.decode(line, copy=copy)
            except DecodeError as error:
                raise in_line(error, number, offset) from error
            yield value


class TextReader(_Text[T], TreeReader[T]):
    """A codec that reads JSON text."""


class TextWriter(_Text[T], TreeWriter[T]):
    """A codec that writes it too."""

    def encode_lines(self, values: Iterable[T]) -> bytes:
        """Encode one message a line. See `zcser.Codec`."""
        # No library is asked to indent, so that there is no line feed in a message.
        return b"".join([self.encode(value) + b"\n" for value in values])
