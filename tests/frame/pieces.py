"""A codec whose messages are pieces that only it can put together, for frames that keep segments apart."""

from __future__ import annotations

from typing import Any, ClassVar

from zcser.core.codec import Codec
from zcser.core.options import Options
from zcser.schema.from_python import schema_of

__all__ = ["PIECES", "JoinedPieces", "Pieces"]


class Pieces(Codec[list[Any]]):
    """A list of buffers is its own segments."""

    name: ClassVar[str] = "pieces"
    format: ClassVar[str] = "pieces"
    wire: ClassVar[str] = "pieces"
    library: ClassVar[str] = "none"

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        return "0", "Python"

    def encode_segments(self, value):
        return [memoryview(piece).cast("B") for piece in value]

    def decode_segments(self, segments, *, copy=True):
        return [bytes(segment) for segment in segments] if copy else list(segments)

    def view_segments(self, segments, *, verify=True):
        return list(segments)


class JoinedPieces(Pieces):
    """The same, where the pieces joined are a message too."""

    name: ClassVar[str] = "joined-pieces"
    joinable: ClassVar[bool] = True

    def encode(self, value):
        return b"".join(value)

    def decode(self, data, *, copy=True):
        return [bytes(data)]


SCHEMA = schema_of(list[bytes])
PIECES = Pieces(SCHEMA, Options())
