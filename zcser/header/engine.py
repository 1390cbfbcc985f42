"""The engine in C of a schema's layout, where it was built; its twin is what the other modules generate."""

from __future__ import annotations

from typing import Protocol

from zcser.core.buffers import Buffer
from zcser.header.layout import Node
from zcser.native import backend

__all__ = ["Packer", "make_packer"]


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
