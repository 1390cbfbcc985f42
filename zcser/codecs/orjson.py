"""JSON by orjson: the fastest writer and full reader of JSON in Python.

orjson alone writes NaN as null and rounds integers over 64 bits; the guard refuses the first before it is written, and
the second where it is read into an int field.
"""

from __future__ import annotations

from typing import Any, TypeVar

import orjson

from zcser.core.options import Options
from zcser.schema.model import Schema
from zcser.tree.codec import TreeWriter
from zcser.tree.form import Form

__all__ = ["OrjsonCodec"]

T = TypeVar("T")


class OrjsonCodec(TreeWriter[T]):
    """See the head of this module."""

    name = "orjson"
    format = "JSON text (RFC 8259)"
    wire = "json"
    library = "orjson"
    form = Form(native_bytes=False, finite=True, text_keys=True, big_ints=False)
    ends_itself = False

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Version of orjson, which is Rust alone."""
        return orjson.__version__, "Rust extension"

    def _dumps(self, tree: Any) -> bytes:
        return orjson.dumps(tree)

    def _loads(self, data: Any) -> Any:
        return orjson.loads(data)
