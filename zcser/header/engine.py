"""The engine in C of a schema's layout, where it was built; its twin is what the other modules generate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from zcser.core.buffers import Buffer
from zcser.core.view import RecordView
from zcser.header.layout import Node, Struct
from zcser.header.read import Reader
from zcser.header.view import Message
from zcser.native import backend

__all__ = ["Packer", "Reading", "make_packer", "make_reading"]


class Packer(Protocol):
    """Writes values that fit as they are."""

    def pack(self, value: object, /) -> bytes | None:
        """The message of a value; None where the value does not fit as it is."""

    def pack_into(self, value: object, out: Buffer, offset: int, /) -> int | None:
        """Write the message and return its size; None, with nothing written, where value or buffer do not fit."""


def make_packer(root: Node, alignment: int) -> Packer | None:
    """The writer of a layout, whose address is to be a multiple of `alignment`; None where there is none in C."""
    if backend == "pure":
        return None
    from zcser.header.native import make_packer as make_native

    return make_native(root, alignment)


class Reading(Protocol):
    """Reads whole messages that are bytes, or read-only memoryviews of bytes, of the layout's length."""

    def unpack_from(self, buffer: Message, offset: int = 0) -> Any:
        """The value of a message, with copies."""

    def view(self, buffer: Message, offset: int = 0) -> RecordView:
        """A view of a message."""


def make_reading(root: Node, reader: Reader[Any], codec: str, fallback: Callable[[Any, Any], Any]) -> Reading | None:
    """What reads a layout in C; None where there is none, or not for this one: see `native_read`.

    Parameters
    ----------
    root
        The layout.
    reader
        Of the same layout, with copies.
    codec
        Name that an error carries.
    fallback
        Takes the arguments of `Reading.unpack_from`, and does the same or raises the error, where C fails.
    """
    if backend == "pure" or not isinstance(root, Struct):
        return None
    from zcser.header.native_read import make_reading as make_native

    return make_native(root, reader, codec, fallback)
