"""Messages of a FlatBuffers schema: binary, read by zcser's own engine; as JSON, by flatc."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from zcser import registry
from zcser.core.errors import SchemaError
from zcser.flat.from_json import binaries
from zcser.payloads.files import JsonFile
from zcser.payloads.sources.base import LIMITS, Frame, Framed, content, drain, refuse
from zcser.payloads.sources.streams import prefixed
from zcser.schema.model import Schema

if TYPE_CHECKING:
    from zcser.flat.bfbs import FlatSchema

__all__ = ["FlatBinary", "FlatJson"]


class FlatBinary(Framed):
    """Binary messages.

    Parameters
    ----------
    files
        As for `Source`.
    schema
        What they are.
    delimited
        Whether a file holds many, each behind its size; the schema says so then too (``size_prefixed``).
    """

    def __init__(self, files: Sequence[str], schema: FlatSchema, *, delimited: bool = False) -> None:
        super().__init__(files)
        self._schema = schema
        self._delimited = delimited
        self._decode = registry.codec("flatbuffers", schema, limits=LIMITS).decode

    def schema(self, read: Callable[[], Iterable[Any]]) -> Schema:
        """See `Source`."""
        return drain(read(), self._schema)

    def frames(self, file: str) -> Iterator[Frame]:
        """See `Framed`."""
        return prefixed(file) if self._delimited else iter((Frame("", content(file)),))

    def value(self, data: bytes | memoryview) -> Any:
        """See `Framed`."""
        return self._decode(data)


class FlatJson(FlatBinary):
    """Messages in flatc's JSON, a document a file or one a line; the sizes are of their binary form."""

    def __init__(self, files: Sequence[str], schema: FlatSchema) -> None:
        super().__init__(files, schema)
        self._made: dict[str, list[Frame]] = {}

    def frames(self, file: str) -> Iterator[Frame]:
        """See `Framed`. flatc has made them all before the first is given, and they are kept."""
        if file not in self._made:
            opened = JsonFile(file)
            texts = [text for block in opened.texts() for text in block]
            try:
                made = binaries(self._schema, [text for _, text in texts])
            except SchemaError as error:
                refuse(file, error.reason)
            self._made[file] = [
                Frame(opened.place(number), data) for (number, _), data in zip(texts, made, strict=True)
            ]
        return iter(self._made[file])
