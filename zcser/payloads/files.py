"""The user's JSON files as Python values.

1. ``.json`` holds one document, ``.jsonl`` and ``.ndjson`` one per line; blank lines count for nothing. UTF-8, with or
   without a byte order mark.
2. What JSON does not have, or Python cannot hold unchanged, is refused with its line: NaN and Infinity tokens, floats
   beyond float64, integers of more digits than Python converts, nesting beyond its stack.
3. Of a key that one object repeats the last value stands, as in Python's json; that is noted, not hidden.
4. Lines are read in blocks, and no more is held than a block and the values of its lines: a file of lines may be of any
   size, a document or line of `MAX_BYTES`.
"""

from __future__ import annotations

import difflib
import stat
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Final, NoReturn

from zcser.payloads.base import PayloadError
from zcser.payloads.json_text import NotJsonError, StrictParser, fast_parser, quotes_in

__all__ = ["LINES", "MAX_BYTES", "OTHERS", "SUFFIXES", "JsonFile", "Texts"]

LINES = (".jsonl", ".ndjson")
SUFFIXES = (".json", *LINES)

OTHERS = (".npy", ".npz", ".safetensors", ".csv", ".tsv", ".parquet")
"""Files that `zcser.payloads.sources` reads without a schema."""

MAX_BYTES = 1 << 28
"""Larger documents are refused: their values would take gigabytes in every worker, and a sample says as much."""

_BLOCK: Final = 1 << 16

Texts = list[tuple[int, bytes]]
"""Line and text of some documents that were not parsed yet."""


class JsonFile:
    """A JSON file.

    Parameters
    ----------
    source
        The file's path, as the user wrote it.

    Attributes
    ----------
    name
        The file's own name.
    nbytes
        Its size.
    one_per_line
        Whether each line is a document.
    quotes
        How many quotation marks stand in the text that `documents` has read; see `zcser.payloads.json_text`.
    repeated
        How many keys were repeated in the text that was read strictly, the first of them being `first_repeated`.

    Raises
    ------
    PayloadError
        The file is missing, empty, too large, no regular file, unreadable, or of another suffix.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self._path = Path(source)
        self.name = self._path.name
        self.one_per_line = self._path.suffix.lower() in LINES
        self.nbytes = self._size()
        self.quotes = 0
        self._fast = fast_parser()
        self._strict = StrictParser()

    @property
    def repeated(self) -> int:
        """See the class."""
        return self._strict.repeated

    @property
    def first_repeated(self) -> str | None:
        """See the class."""
        return self._strict.first_repeated

    def documents(self, *, strictly: bool = False) -> Iterator[tuple[Texts, list[Any]]]:
        """The documents of each block, as text and as values. Raises `PayloadError` at the first that is not JSON.

        Unless they are read strictly, `zcser.payloads.json_text.was_read_exactly` says whether they have to be.
        """
        self.quotes = 0
        self._strict = StrictParser()
        for number, block in self._blocks():
            self.quotes += quotes_in(block)
            texts = self._split(number, block)
            yield texts, [self._parsed(at, text) for at, text in texts] if strictly else self._values(texts)

    def texts(self) -> Iterator[Texts]:
        """The documents of each block, which are not parsed."""
        return (self._split(number, block) for number, block in self._blocks())

    def again(self, numbers: Collection[int]) -> Iterator[tuple[Texts, list[Any]]]:
        """The documents of these numbers (from 0) once more, strictly, as `documents` gives them."""
        wanted, count = frozenset(numbers), 0
        for texts in self.texts():
            chosen = [text for number, text in enumerate(texts, count) if number in wanted]
            count += len(texts)
            yield chosen, [self._parsed(at, text) for at, text in chosen]

    def place(self, number: int) -> str:
        """What a document is called by: "line 3"; "" where the file is one document."""
        return f"line {number}" if self.one_per_line else ""

    def refuse(self, reason: str, number: int = 0) -> NoReturn:
        """Raise `PayloadError` for the file, or for the document of a line."""
        raise PayloadError(
            f"{self.source}: {f'{self.place(number)}: ' if number and self.one_per_line else ''}{reason}"
        )

    def _values(self, texts: Texts) -> list[Any]:
        try:
            return list(map(self._fast, [text for _, text in texts]))
        except (ValueError, RecursionError):
            # Which document it was is found here, and the strict parser has the last word.
            return [self._value(number, text) for number, text in texts]

    def _value(self, number: int, text: bytes) -> Any:
        try:
            return self._fast(text)
        except (ValueError, RecursionError):
            return self._parsed(number, text)

    def _parsed(self, number: int, text: bytes) -> Any:
        try:
            return self._strict(text, one_line=self.one_per_line)
        except NotJsonError as error:
            self.refuse(str(error), number)

    def _split(self, number: int, block: bytes) -> Texts:
        if not self.one_per_line:
            return [(number, block)]
        # Not bytes.splitlines: a line ends with a line feed and nothing else.
        return [(at, line) for at, line in enumerate(block.split(b"\n"), number) if line and not line.isspace()]

    def _blocks(self) -> Iterator[tuple[int, bytes]]:
        """Number of the first line, and text, of blocks of whole lines; the whole of a file that is one document."""
        if not self.one_per_line:
            data = self._path.read_bytes()
            if not data.strip():
                self.refuse("the file holds blanks alone")
            yield 1, data
            return
        number, blank = 1, True
        for block in self._whole_lines():
            blank = blank and (not block or block.isspace())
            yield number, block
            number += block.count(b"\n") + 1
        if blank:
            self.refuse("the file holds blanks alone")

    def _whole_lines(self) -> Iterator[bytes]:
        """Blocks that end before a line feed, or with the file."""
        parts, held = [], 0
        with self._path.open("rb", buffering=0) as file:
            while data := file.read(_BLOCK):
                end = data.rfind(b"\n")
                if end < 0:
                    parts.append(data)
                    held += len(data)
                else:
                    parts.append(data[:end])
                    yield b"".join(parts)
                    parts = [data[end + 1 :]]
                    held = len(parts[0])
                if held > MAX_BYTES:
                    self.refuse(f"a line is longer than {MAX_BYTES:,} bytes")
        if held:
            yield b"".join(parts)

    def _size(self) -> int:
        try:
            status = self._path.stat()
            if stat.S_ISDIR(status.st_mode):
                self.refuse("this is a directory; name a file in it")
            if self._path.suffix.lower() not in SUFFIXES:
                self.refuse(
                    f"only {', '.join(SUFFIXES + OTHERS)} files are read without --schema; "
                    "other data comes from a module:function"
                )
            if not stat.S_ISREG(status.st_mode):
                self.refuse("this is no regular file")
            if status.st_size > MAX_BYTES and not self.one_per_line:
                self.refuse(
                    f"{status.st_size:,} bytes are more than {MAX_BYTES:,}; take a sample of the file, or put a document "
                    "on each line of a .jsonl file, which is read in blocks"
                )
            with self._path.open("rb"):
                pass
        except FileNotFoundError:
            self.refuse(f"there is no such file{_hint(self.source)}")
        except OSError as error:
            self.refuse(f"cannot be read: {error.strerror or error}")
        except PayloadError:
            raise
        except ValueError as error:  # a NUL character in the path
            self.refuse(f"cannot be read: {error}")
        if not status.st_size:
            self.refuse("the file is empty")
        return status.st_size


def _hint(source: str) -> str:
    from zcser.payloads import names

    near = difflib.get_close_matches(source, names(), n=1, cutoff=0.6)
    return f"; the built-in {near[0]} is asked for with --payload {near[0]}" if near else ""
