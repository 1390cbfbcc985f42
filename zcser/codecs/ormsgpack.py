"""MessagePack by ormsgpack: orjson's design for this wire.

ormsgpack alone passes over whatever stands behind a message. So a message is read as the first item of an array whose
second one is a mark: where bytes are left over, the mark is not what follows.
"""

from __future__ import annotations

from typing import Any, TypeVar

import ormsgpack

from zcser.core.errors import DecodeError
from zcser.core.options import Options
from zcser.schema.model import Schema
from zcser.tree.packed import PackedCodec
from zcser.tree.splice import NONCE

__all__ = ["OrmsgpackCodec"]

T = TypeVar("T")

_ARRAY_OF_TWO = b"\x92"
# Nobody else knows the nonce, so that no message ends in what follows it here.
_MARK = b"\xc4" + bytes([len(NONCE)]) + NONCE


class OrmsgpackCodec(PackedCodec[T]):
    """See the head of this module, and `PackedCodec` for copies and lifetimes."""

    name = "ormsgpack"
    library = "ormsgpack"

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        # Without the option it refuses keys that are no text.
        self._option = ormsgpack.OPT_NON_STR_KEYS if self._has_other_keys else 0
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Version of ormsgpack, which is Rust alone."""
        return ormsgpack.__version__, "Rust extension"

    def _dumps(self, tree: Any, /) -> bytes:
        return ormsgpack.packb(tree, option=self._option)

    def _loads(self, data: Any, /) -> Any:
        if self.options.guard == "off":
            return ormsgpack.unpackb(data, option=self._option)
        pair = ormsgpack.unpackb(b"".join((_ARRAY_OF_TWO, data, _MARK)), option=self._option)
        if pair[1] != NONCE:
            raise DecodeError("the message ends before its bytes do", codec=self.name)
        return pair[0]
