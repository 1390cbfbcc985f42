"""The user's JSON files as Python values.

1. ``.json`` holds one document, ``.jsonl`` and ``.ndjson`` one per line; blank lines count for nothing. UTF-8, with or
   without a byte order mark.
2. What JSON does not have, or Python cannot hold unchanged, is refused with its line: NaN and Infinity tokens, floats
   beyond float64, integers of more digits than Python converts, nesting beyond its stack.
3. Of a key that one object repeats the last value stands, as in Python's json; that is noted, not hidden.
"""

from __future__ import annotations

import difflib
import io
import json
import math
import stat
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from zcser.payloads.base import PayloadError

__all__ = ["LINES", "MAX_BYTES", "OTHERS", "SUFFIXES", "Document", "JsonFile"]

LINES = (".jsonl", ".ndjson")
SUFFIXES = (".json", *LINES)

OTHERS = (".npy", ".npz", ".safetensors", ".csv", ".tsv", ".parquet")
"""Files that `zcser.payloads.sources` reads without a schema."""

MAX_BYTES = 1 << 28
"""Larger files are refused: their values would take gigabytes in every worker, and a sample says as much."""


class Document(NamedTuple):
    """One document of a file: its place ("line 3"; "" where the file is one document), text and value."""

    place: str
    text: str
    value: Any


class JsonFile:
    """A JSON file, read once.

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
    repeated
        Repeated keys that `documents` has met so far, the first of them being `first_repeated`.

    Raises
    ------
    PayloadError
        The file is missing, empty, too large, no regular file, unreadable, not UTF-8, or of another suffix.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        path = Path(source)
        self.name = path.name
        self.one_per_line = path.suffix.lower() in LINES
        self._data = self._read(path)
        self.nbytes = len(self._data)
        self.repeated = 0
        self.first_repeated: str | None = None
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._object, parse_float=_float, parse_constant=_no_constant
        )

    def documents(self) -> Iterator[Document]:
        """Each document. Raises `PayloadError` at the first that is not JSON."""
        for place, data in self.texts():
            yield self._document(data, place)

    def again(self, numbers: Collection[int]) -> list[Document]:
        """The documents of these numbers (from 0) once more, in their order; their repeated keys are not counted again."""
        repeated = self.repeated, self.first_repeated
        wanted = frozenset(numbers)
        found = [self._document(data, place) for number, (place, data) in enumerate(self.texts()) if number in wanted]
        self.repeated, self.first_repeated = repeated
        return found

    def texts(self) -> Iterator[tuple[str, bytes]]:
        """The place and the bytes of each document, unparsed."""
        if not self.one_per_line:
            yield "", self._data
            return
        # Not str.splitlines: U+2028 and its kind may stand inside a JSON string.
        for number, line in enumerate(io.BytesIO(self._data), 1):
            if line.strip():
                yield f"line {number}", line.removesuffix(b"\n")

    def _refuse(self, reason: str, place: str = "") -> NoReturn:
        raise PayloadError(f"{self.source}: {f'{place}: ' if place else ''}{reason}")

    def _read(self, path: Path) -> bytes:
        try:
            status = path.stat()
            if stat.S_ISDIR(status.st_mode):
                self._refuse("this is a directory; name a file in it")
            if path.suffix.lower() not in SUFFIXES:
                self._refuse(
                    f"only {', '.join(SUFFIXES + OTHERS)} files are read without --schema; "
                    "other data comes from a module:function"
                )
            if not stat.S_ISREG(status.st_mode):
                self._refuse("this is no regular file")
            if status.st_size > MAX_BYTES:
                self._refuse(f"{status.st_size:,} bytes are more than {MAX_BYTES:,}; take a sample of the file")
            data = path.read_bytes()
        except FileNotFoundError:
            self._refuse(f"there is no such file{_hint(self.source)}")
        except OSError as error:
            self._refuse(f"cannot be read: {error.strerror or error}")
        except PayloadError:
            raise
        except ValueError as error:  # a NUL character in the path
            self._refuse(f"cannot be read: {error}")
        if not data.strip():
            self._refuse("the file is empty" if not data else "the file holds blanks alone")
        return data

    def _document(self, data: bytes, place: str) -> Document:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            self._refuse(f"not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}", place)
        return Document(place, text, self._parse(text, place))

    def _parse(self, text: str, place: str) -> Any:
        try:
            return self._decoder.decode(text)
        except json.JSONDecodeError as error:
            where = f"column {error.colno}" if place else f"line {error.lineno} column {error.colno}"
            hint = "; a document per line is what .jsonl files hold" if error.msg == "Extra data" and not place else ""
            self._refuse(f"not JSON: {error.msg} at {where}{hint}", place)
        except _RefusedError as error:
            self._refuse(str(error), place)
        except ValueError:  # sys.set_int_max_str_digits; its own message names no place
            self._refuse("an integer has more digits than Python converts (4300 by default)", place)
        except RecursionError:
            self._refuse("nested deeper than Python's json reads", place)

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            self.repeated += len(pairs) - len(found)
            if self.first_repeated is None:
                counts = Counter(key for key, _ in pairs)
                self.first_repeated = next(key for key in found if counts[key] > 1)
        return found


class _RefusedError(Exception):
    """A token that a hook of the decoder refuses; the decoder's caller knows the place."""


def _float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise _RefusedError(f"the number {text if len(text) <= 40 else text[:37] + '...'} is beyond float64")
    return number


def _no_constant(token: str) -> NoReturn:
    raise _RefusedError(f"{token} is not JSON; write null, or return the value from a module:function")


def _hint(source: str) -> str:
    from zcser.payloads import names

    near = difflib.get_close_matches(source, names(), n=1, cutoff=0.6)
    return f"; the built-in {near[0]} is asked for with --payload {near[0]}" if near else ""
