"""JSON by msgspec: reads and writes at about orjson's speed, and integers of any size.

1. An encoder and a decoder are made once, as its documentation advises.
2. Decoding is untyped: msgspec's typed decoder takes 1.0 for an int and refuses a repeated key by its first value, where
   every other codec of the wire answers otherwise.
3. msgspec alone writes NaN as null; the guard refuses it before it is written.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from zcser.core.options import Options
from zcser.schema.model import Schema
from zcser.tree.form import Form
from zcser.tree.text import TextWriter

__all__ = ["MsgspecJsonCodec"]

T = TypeVar("T")

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder()


class MsgspecJsonCodec(TextWriter[T]):
    """See the head of this module."""

    name = "msgspec-json"
    format = "JSON text (RFC 8259)"
    wire = "json"
    library = "msgspec"
    form = Form(native_bytes=False, finite=True, text_keys=True, big_ints=True)
    _dumps = staticmethod(_ENCODER.encode)
    _loads = staticmethod(_DECODER.decode)

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Version of msgspec, which is C alone."""
        return msgspec.__version__, "C extension"
