"""JSON by ujson (UltraJSON).

1. Written without its escapes of slashes and of what is not ASCII, so that the text is that of the other codecs of the
   wire. Floats and integers of any size are exact in both directions.
2. ujson reads more than JSON: control characters in strings, NaN and Infinity, lone surrogates, ``01``, ``-`` and ``1.``.
   With the guard on, a text that may hold one of these is read by the strict reader instead, which has the last word.
3. ujson alone writes NaN where it is not told otherwise, one key for 1 and True, and whatever a ``toDict`` or
   ``__json__`` method gives; the guard, which looks at classes, lets none of these come so far.
"""

from __future__ import annotations

import functools
import re
from typing import Any, TypeVar

import ujson

from zcser.core.options import Options
from zcser.schema.model import Schema
from zcser.tree.form import Form
from zcser.tree.text import TextWriter

__all__ = ["UjsonCodec"]

T = TypeVar("T")

# What ujson takes in structure, literals and escapes is JSON already. Of numbers and of strings only JSON's match.
_PLAIN = re.compile(
    rb"""(?:
        [^"\-0-9NI]++
      | "[^"\\\x00-\x1f]*+(?:\\(?:[^u] | u(?:
            [^dD]... | [dD][0-7].. | [dD][89abAB]..\\u[dD][c-fC-F]..
        ))[^"\\\x00-\x1f]*+)*+"
      | -?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+\-]?[0-9]++)?(?![0-9.eE+\-])
    )*+""",
    re.VERBOSE | re.DOTALL,
)


class UjsonCodec(TextWriter[T]):
    """See the head of this module."""

    name = "ujson"
    format = "JSON text (RFC 8259)"
    wire = "json"
    library = "ujson"
    form = Form(native_bytes=False, finite=True, text_keys=True, big_ints=True)

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        self._encoder = functools.partial(
            ujson.dumps, ensure_ascii=False, escape_forward_slashes=False, allow_nan=options.guard == "off"
        )
        self._checks = options.guard == "on"
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Version of ujson, which is C alone."""
        return ujson.__version__, "C extension"

    def _dumps(self, tree: Any, /) -> bytes:
        return self._encoder(tree).encode()

    def _loads(self, data: Any, /) -> Any:
        # As text: UTF-8 is Python's to check, since ujson lets encoded surrogates pass.
        text = str(data, "utf-8")
        if self._checks and _PLAIN.fullmatch(data) is None:
            raise ValueError("the text may not be JSON")
        return ujson.loads(text)
