"""JSON: a document a file, or one a line. Without a schema it is inferred; with one, JSON is read by it.

A schema reads JSON as the codec ``json`` does: bytes and tensors are base64, enums their values, and a field that the
schema does not know is refused rather than lost.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from zcser import registry
from zcser.core.errors import DecodeError
from zcser.payloads.files import Document, JsonFile
from zcser.payloads.sources.base import LIMITS, Block, Message, Source, drain, refuse
from zcser.schema.from_sample import infer
from zcser.schema.model import Schema

__all__ = ["JsonBySchema", "JsonSample", "JsonSource"]


_BLOCK = 256
"""Documents."""


class JsonSource(Source):
    """Documents of JSON files, parsed by Python's json."""

    def __init__(self, files: Sequence[str]) -> None:
        super().__init__(files)
        # One file is read once: what changes it later changes nothing.
        self._only = JsonFile(files[0]) if len(files) == 1 else None
        self._repeated = 0
        self._first_repeated: str | None = None
        if self._only is not None and self._only.one_per_line:
            self.unit = "lines"

    def _open(self, file: str) -> JsonFile:
        return self._only or JsonFile(file)

    @property
    def total_bytes(self) -> int:
        """See `Source`."""
        return super().total_bytes if self._only is None else self._only.nbytes

    @property
    def notes(self) -> tuple[str, ...]:
        """See `Source`."""
        if self._first_repeated is None:
            return ()
        repeated = f"{self._repeated} repeated keys ({self._first_repeated!r})"
        return (f"the root: {repeated}, of which the last value stands",)

    def messages(self) -> Iterator[Message]:
        """See `Source`."""
        for block in self.blocks():
            yield from map(Message, *block)

    def blocks(self) -> Iterator[Block]:
        """See `Source`. The keys of a document are its shape, which costs a tenth of what `shape_of` does."""
        for file in self.files:
            opened = self._open(file)
            documents = opened.documents()
            while some := list(itertools.islice(documents, _BLOCK)):
                yield self._block(file, some)
            self._repeated += opened.repeated
            self._first_repeated = self._first_repeated or opened.first_repeated

    def pick(self, numbers: Collection[int]) -> Iterator[Message]:
        """See `Source`."""
        if self._only is not None:
            yield from map(Message, *self._block(self.files[0], self._only.again(numbers)))
            return
        wanted = frozenset(numbers)
        yield from (message for number, message in enumerate(self.messages()) if number in wanted)

    def _block(self, file: str, documents: Sequence[Document]) -> Block:
        places, texts, parsed = zip(*documents, strict=True)
        return Block(
            places if self._only is not None else (self.place(file, place) for place in places),
            map(len, texts),
            map(hash, texts),
            (tuple(value) if type(value) is dict else type(value).__name__ for value in parsed),
            self._values(file, documents, parsed),
        )

    def _values(self, file: str, documents: Sequence[Document], parsed: Sequence[Any]) -> Sequence[Any]:  # noqa: ARG002
        return parsed


class JsonSample(JsonSource):
    """JSON whose schema is inferred from all documents."""

    def schema(self, values: Iterable[Any]) -> Schema:
        """See `Source`."""
        return infer(values)


class JsonBySchema(JsonSource):
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

    def schema(self, values: Iterable[Any]) -> Schema:
        """See `Source`."""
        return drain(values, self._schema)

    def _values(self, file: str, documents: Sequence[Document], parsed: Sequence[Any]) -> Sequence[Any]:  # noqa: ARG002
        return [self._value(file, document) for document in documents]

    def _value(self, file: str, document: Document) -> Any:
        try:
            return self._decode(document.text.encode())
        except DecodeError as error:
            refuse(file, str(error), document.place)
