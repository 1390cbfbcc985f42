"""JSON files: a document a file, or one a line. Without a schema it is inferred; with one, JSON is read by it.

1. A schema reads JSON as the codec ``json`` does: bytes and tensors are base64, enums their values, and a field that the
   schema does not know is refused rather than lost.
2. What is inferred from is read fast, and again strictly where that changed something (`zcser.payloads.json_text`).
3. The shape of a document is its keys, which costs a tenth of what `shape_of` does; read by a schema, that of its value.
"""

from __future__ import annotations

import codecs
import itertools
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any

from zcser import registry
from zcser.core.errors import DecodeError
from zcser.payloads.files import JsonFile, Texts
from zcser.payloads.json_text import was_read_exactly
from zcser.payloads.sources.base import LIMITS, Block, Message, Source, brief, drain
from zcser.payloads.traffic import shape_of
from zcser.schema.from_sample import decide, survey
from zcser.schema.model import Schema

__all__ = ["JsonBySchema", "JsonSample"]

_text = itemgetter(1)


class _JsonFiles(Source):
    """Documents, read in blocks."""

    def __init__(self, files: Sequence[str]) -> None:
        super().__init__(files)
        # What is wrong with a name is said before anything is read.
        self._opened = [JsonFile(file) for file in files]
        if all(file.one_per_line for file in self._opened):
            self.unit = "lines"

    def messages(self) -> Iterator[Message]:
        """See `Source`."""
        return itertools.chain.from_iterable(map(Message, *block) for block in self.blocks())

    def blocks(self) -> Iterator[Block]:
        """See `Source`."""
        for file in self._opened:
            for texts, values in self._documents(file):
                yield self._block(file, texts, values)

    def _block(self, file: JsonFile, texts: Texts, values: list[Any]) -> Block:
        data = list(map(_text, texts))
        return Block(
            (self.place(file.source, file.place(number)) for number, _ in texts),
            map(len, data),
            map(hash, data),
            self._shapes(values),
            values,
        )

    @abstractmethod
    def _documents(self, file: JsonFile) -> Iterator[tuple[Texts, list[Any]]]:
        """Blocks of documents as text and as values."""

    @abstractmethod
    def _shapes(self, values: list[Any]) -> Iterable[Any]:
        """The shape of each value."""


class JsonSample(_JsonFiles):
    """JSON whose schema is inferred from all documents."""

    def __init__(self, files: Sequence[str]) -> None:
        super().__init__(files)
        self._strictly = False

    @property
    def notes(self) -> tuple[str, ...]:
        """See `Source`."""
        first = next((file.first_repeated for file in self._opened if file.first_repeated is not None), None)
        if first is None:
            return ()
        count = sum(file.repeated for file in self._opened)
        return (f"the root: {count} repeated keys ({first!r}), of which the last value stands",)

    def schema(self, read: Callable[[], Iterable[Any]]) -> Schema:
        """See `Source`."""
        seen = survey(read())
        if not was_read_exactly(seen.totals(), sum(file.quotes for file in self._opened)):
            self._strictly = True
            seen = survey(read())
        return decide(seen)

    def pick(self, numbers: Collection[int]) -> Iterator[Message]:
        """See `Source`."""
        if len(self._opened) > 1:
            yield from (message for number, message in enumerate(self.messages()) if number in numbers)
            return
        for texts, values in self._opened[0].again(numbers):
            yield from map(Message, *self._block(self._opened[0], texts, values))

    def _documents(self, file: JsonFile) -> Iterator[tuple[Texts, list[Any]]]:
        return file.documents(strictly=self._strictly)

    def _shapes(self, values: list[Any]) -> Iterable[Any]:
        if {dict}.issuperset(map(type, values)):
            return map(tuple, values)
        return (tuple(value) if type(value) is dict else type(value).__name__ for value in values)


class JsonBySchema(_JsonFiles):
    """JSON that a schema reads.

    Parameters
    ----------
    files
        As for `Source`.
    schema
        What the values are to be.
    decode
        Reads the text of a document, and raises `DecodeError`; the codec ``json`` of the schema where None.
    """

    def __init__(self, files: Sequence[str], schema: Schema, decode: Callable[[bytes], Any] | None = None) -> None:
        super().__init__(files)
        self._schema = schema
        self._decode = decode or registry.codec("json", schema, unknown_fields="refuse", limits=LIMITS).decode
        has_own_layout = bool(schema.notes) and any(record.cls is not None for record in schema.records)
        # As msgspec's tags, which the text may hold.
        self._hint = "; zcser schema says what of its class's layout is not read" if has_own_layout else ""

    def schema(self, read: Callable[[], Iterable[Any]]) -> Schema:
        """See `Source`."""
        return drain(read(), self._schema)

    def pick(self, numbers: Collection[int]) -> Iterator[Message]:
        """See `Source`."""
        wanted, count = frozenset(numbers), 0
        for file in self._opened:
            for texts in file.texts():
                chosen = [text for number, text in enumerate(texts, count) if number in wanted]
                count += len(texts)
                yield from map(Message, *self._block(file, chosen, self._read(file, chosen)))

    def _documents(self, file: JsonFile) -> Iterator[tuple[Texts, list[Any]]]:
        return ((texts, self._read(file, texts)) for texts in file.texts())

    def _shapes(self, values: list[Any]) -> Iterable[Any]:
        return map(shape_of, values)

    def _read(self, file: JsonFile, texts: Texts) -> list[Any]:
        values = []
        for number, text in texts:
            try:
                values.append(self._decode(text.removeprefix(codecs.BOM_UTF8)))
            except DecodeError as error:
                file.refuse(" ".join(brief(error).split()) + self._hint, number)
        return values
