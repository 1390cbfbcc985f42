"""JSON by the standard library: the baseline that is always there, and the one that carries integers of any size.

Strict RFC 8259 both ways: no NaN tokens, UTF-8 alone, no lone surrogates. Of duplicate keys the last one stands.
"""

from __future__ import annotations

import json
import platform
import re
from typing import Any, NoReturn, TypeVar

from zcser.core.errors import DecodeError
from zcser.core.options import Options
from zcser.schema.model import Schema
from zcser.tree.codec import TreeWriter
from zcser.tree.form import Form

__all__ = ["JsonCodec"]

T = TypeVar("T")

# An escaped surrogate: alone it has no UTF-8 form, and orjson and simdjson refuse it.
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def _no_constant(token: str) -> NoReturn:
    raise ValueError(f"{token} is not JSON")


class JsonCodec(TreeWriter[T]):
    """See the head of this module."""

    name = "json"
    format = "JSON text (RFC 8259)"
    wire = "json"
    library = "json"
    form = Form(native_bytes=False, finite=True, text_keys=True, big_ints=True)
    ends_itself = False

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        # check_circular off: the depth limit of the walk before it has refused cycles already.
        self._encoder = json.JSONEncoder(
            ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=options.guard == "off"
        ).encode
        self._decoder = json.JSONDecoder(parse_constant=_no_constant).decode
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Python's own version; the C scanner and encoder where the interpreter has them."""
        accelerated = getattr(json.encoder, "c_make_encoder", None) is not None
        return platform.python_version(), "C accelerator" if accelerated else "pure Python"

    def _dumps(self, tree: Any, /) -> bytes:
        return self._encoder(tree).encode()

    def _loads(self, data: Any, /) -> Any:
        tree = self._decoder(str(data, "utf-8"))
        if self.options.guard == "on" and _SURROGATE.search(data):
            try:
                self._encoder(tree).encode()
            except UnicodeEncodeError:
                raise DecodeError("a lone surrogate is escaped in a string", codec=self.name) from None
        return tree
