"""MessagePack by msgpack: JSON's shape with binary numbers, bytes and keys of any scalar type.

A Packer is reused, as its documentation advises: ``packb`` would allocate its 256 KiB buffer anew for each message.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import msgpack

from zcser.core.options import Options
from zcser.schema.model import Schema
from zcser.tree.packed import PackedCodec

__all__ = ["MsgpackCodec"]

T = TypeVar("T")


class MsgpackCodec(PackedCodec[T]):
    """See the head of this module, and `PackedCodec` for copies and lifetimes."""

    name = "msgpack"
    library = "msgpack"

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        self._loads = msgpack.unpackb  # type: ignore[method-assign]
        if self._has_other_keys:
            # It refuses keys that are neither str nor bytes unless it is told that they are meant.
            self._loads = functools.partial(msgpack.unpackb, strict_map_key=False)  # type: ignore[method-assign]
        self._dumps = _packing()  # type: ignore[method-assign]
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Version of msgpack, and whether its C extension runs."""
        pure = msgpack.Packer.__module__ == "msgpack.fallback"
        return ".".join(map(str, msgpack.version)), "pure Python" if pure else "C extension"


def _packing() -> Callable[[Any], bytes]:
    # Idle packers; list.pop and append are atomic, so that threads never share one.
    idle: list[msgpack.Packer] = []
    take, park = idle.pop, idle.append

    def pack(tree: Any) -> bytes:
        try:
            packer = take()
        except IndexError:
            packer = msgpack.Packer()
        # On an exception the packer is dropped: it may hold half a message.
        data: bytes = packer.pack(tree)
        park(packer)
        return data

    return pack
