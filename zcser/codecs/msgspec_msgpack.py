"""MessagePack by msgspec: the fastest writer of it in Python.

An encoder and a decoder are made once, as its documentation advises. Decoding is untyped, so that what the schema does
not say msgspec does not guess: its typed decoder takes 1.0 for an int.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from zcser.core.options import Options
from zcser.schema.model import Schema
from zcser.tree.packed import PackedCodec

__all__ = ["MsgspecMsgpackCodec"]

T = TypeVar("T")

_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder()


class MsgspecMsgpackCodec(PackedCodec[T]):
    """See the head of this module, and `PackedCodec` for copies and lifetimes."""

    name = "msgspec-msgpack"
    library = "msgspec"
    _dumps = staticmethod(_ENCODER.encode)
    _loads = staticmethod(_DECODER.decode)

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Version of msgspec, which is C alone."""
        return msgspec.__version__, "C extension"
