"""JSON: a document a file, or one a line. Without a schema it is inferred; with one, JSON is read by it.

A schema reads JSON as the codec ``json`` does: bytes and tensors are base64, enums their values, and a field that the
schema does not know is refused rather than lost.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from zcser import registry
from zcser.core.errors import DecodeError
from zcser.payloads.files import Document, JsonFile
from zcser.payloads.sources.base import LIMITS, Message, Source, drain, refuse
from zcser.schema.from_sample import infer
from zcser.schema.model import Schema

__all__ = ["JsonBySchema", "JsonSample", "JsonSource"]


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
        for file in self.files:
            opened = self._open(file)
            for document in opened.documents():
                yield self._message(file, document)
            self._repeated += opened.repeated
            self._first_repeated = self._first_repeated or opened.first_repeated

    def pick(self, numbers: Collection[int]) -> Iterator[Message]:
        """See `Source`."""
        if self._only is not None:
            yield from (self._message(self.files[0], document) for document in self._only.again(numbers))
            return
        number = 0
        for file in self.files:
            for document in JsonFile(file).documents():
                if number in numbers:
                    yield self._message(file, document)
                number += 1

    def _message(self, file: str, document: Document) -> Message:
        value = self._value(file, document)
        parsed = document.value
        # The keys of a document are its shape, at a tenth of the cost of `shape_of`: there may be very many.
        shape = tuple(parsed) if type(parsed) is dict else type(parsed).__name__
        place = document.place if self._only is not None else self.place(file, document.place)
        return Message(place, len(document.text), hash(document.text), shape, value)

    def _value(self, file: str, document: Document) -> Any:  # noqa: ARG002 - for those below
        return document.value


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

    def _value(self, file: str, document: Document) -> Any:
        try:
            return self._decode(document.text.encode())
        except DecodeError as error:
            refuse(file, str(error), document.place)
