"""Messages of a protobuf schema: binary, one a file or a stream of them; in ProtoJSON; in the text format.

A field that the schema does not know is dropped, as every reader of protobuf does, and the user is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from zcser import registry
from zcser.core.errors import DecodeError
from zcser.payloads.sources.base import LIMITS, Frame, Framed, content, drain
from zcser.payloads.sources.json_files import JsonBySchema
from zcser.payloads.sources.streams import varint_delimited
from zcser.schema.model import Schema

if TYPE_CHECKING:
    from zcser.protowire.given import ProtoSchema

__all__ = ["TEXT", "ProtoBinary", "ProtoText", "proto_json"]

TEXT = (".asciipb", ".pbtxt", ".prototext", ".prototxt", ".textpb", ".textproto", ".txtpb")
"""Files that hold a message in the text format."""


class ProtoBinary(Framed):
    """Binary messages.

    Parameters
    ----------
    files
        As for `Source`.
    schema
        What they are.
    delimited
        Whether a file holds many, each behind its length.
    """

    def __init__(self, files: Sequence[str], schema: ProtoSchema, *, delimited: bool) -> None:
        super().__init__(files)
        self._schema = schema
        self._delimited = delimited
        self._strict = registry.codec("protobuf", schema, unknown_fields="refuse", limits=LIMITS)
        self._codec = registry.codec("protobuf", schema, limits=LIMITS)
        self._unknown = 0
        self._first_unknown = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """See `Source`."""
        if not self._unknown:
            return ()
        dropped = f"{self._unknown:,} messages hold fields unknown to the schema, which are dropped"
        return (f"the root: {dropped} (the first: {self._first_unknown})",)

    def schema(self, read: Callable[[], Iterable[Any]]) -> Schema:
        """See `Source`."""
        return drain(read(), self._schema)

    def frames(self, file: str) -> Iterator[Frame]:
        """See `Framed`."""
        return varint_delimited(file) if self._delimited else iter((Frame("", content(file)),))

    def value(self, data: bytes | memoryview) -> Any:
        """See `Framed`."""
        try:
            return self._strict.decode(data)
        except DecodeError as error:
            value = self._codec.decode(data)
            self._unknown += 1
            self._first_unknown = self._first_unknown or error.reason
            return value


class ProtoText(Framed):
    """Messages in the text format, one a file."""

    def __init__(self, files: Sequence[str], schema: ProtoSchema) -> None:
        super().__init__(files)
        self._schema = schema
        self._decode = registry.codec("protobuf", schema, limits=LIMITS).decode
        self._wire = _readers().text_reader(schema)

    def schema(self, read: Callable[[], Iterable[Any]]) -> Schema:
        """See `Source`."""
        return drain(read(), self._schema)

    def frames(self, file: str) -> Iterator[Frame]:
        """See `Framed`."""
        yield Frame("", content(file))

    def value(self, data: bytes | memoryview) -> Any:
        """See `Framed`."""
        return self._decode(self._wire(bytes(data)))


def proto_json(files: Sequence[str], schema: ProtoSchema) -> JsonBySchema:
    """Messages in ProtoJSON, a document a file or one a line."""
    decode: Callable[[bytes], Any] = registry.codec("protobuf", schema, limits=LIMITS).decode
    wire = _readers().json_reader(schema)
    return JsonBySchema(files, schema, lambda text: decode(wire(text)))


def _readers() -> Any:
    from zcser.protowire import text

    return text
