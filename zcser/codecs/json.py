"""JSON by the standard library: the baseline that is always there, and the one that carries integers of any size."""

from __future__ import annotations

import json
import platform
from typing import Any, TypeVar

from zcser.core.options import Options
from zcser.schema.model import Schema
from zcser.tree.form import Form
from zcser.tree.text import TextWriter, tree_of_text

__all__ = ["JsonCodec"]

T = TypeVar("T")


class JsonCodec(TextWriter[T]):
    """See the head of this module."""

    name = "json"
    format = "JSON text (RFC 8259)"
    wire = "json"
    library = "json"
    form = Form(native_bytes=False, finite=True, text_keys=True, big_ints=True)

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        # check_circular off: the depth limit of the walk before it has refused cycles already.
        self._encoder = json.JSONEncoder(
            ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=options.guard == "off"
        ).encode
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Python's own version; the C scanner and encoder where the interpreter has them."""
        accelerated = getattr(json.encoder, "c_make_encoder", None) is not None
        return platform.python_version(), "C accelerator" if accelerated else "pure Python"

    def _dumps(self, tree: Any, /) -> bytes:
        return self._encoder(tree).encode()

    def _loads(self, data: Any, /) -> Any:
        return tree_of_text(data)
