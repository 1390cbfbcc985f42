"""JSON read by pysimdjson: lazy views over simdjson's tape. It has no encode; json and orjson write its wire.

simdjson copies the input and parses all of it into a tape: a view is lazy, not zero-copy, and is called so. Reading a few
fields of a large message, or its numbers as arrays, is what it is for; whoever reads all of a message decodes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, TypeVar

import simdjson

from zcser.codecs.simdjson.parsers import ParserPool
from zcser.codecs.simdjson.views import Views, tree_of
from zcser.core.buffers import Buffer
from zcser.core.codec import Reads
from zcser.core.errors import DecodeError
from zcser.core.options import Options
from zcser.core.view import View
from zcser.schema.model import Schema
from zcser.tree.form import Form
from zcser.tree.text import TextReader, in_line, text_lines

__all__ = ["SimdjsonCodec"]

T = TypeVar("T")


class SimdjsonCodec(TextReader[T]):
    """See the head of this module."""

    name = "simdjson"
    format = "JSON text (RFC 8259)"
    wire = "json"
    library = "pysimdjson"
    form = Form(native_bytes=False, finite=True, text_keys=True, big_ints=False)
    reads: ClassVar[dict[str, Reads]] = {"str": "parse", "bytes": "parse", "tensor": "parse", "list": "parse"}

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        self._parsers = ParserPool()
        self._views = Views(schema, self.form, options)
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Version of pysimdjson, and the instruction set that simdjson chose."""
        chosen = simdjson.Parser().implementation
        from importlib.metadata import version  # which takes 20 ms to import

        return version("pysimdjson"), f"simdjson, {chosen[0] if isinstance(chosen, tuple) else chosen}"

    def _loads(self, data: Any, /) -> Any:
        return self._parsers.tree(data)

    def view(self, data: Buffer, *, verify: bool = True) -> Any:
        """Open a message lazily.

        Parameters
        ----------
        data
            Any C-contiguous buffer that holds one JSON text.
        verify
            Makes no difference: simdjson has parsed the whole text, and a field is checked when it is read.

        Returns
        -------
        View
            Lists of numbers, and lists of such lists, are taken by ``numpy.asarray``, with the dtype of the schema.

        Raises
        ------
        DecodeError
            The text is no JSON, or its root is not what the schema has.

        Notes
        -----
        Copies: the input, by simdjson. Lifetime: the view keeps the copy, not `data`; its parser goes back to the codec
        with the last view of the message.
        """
        del verify
        flat = self._flat(data)
        document = self._parsers.open(flat, self._load_strictly, for_arrays=self._views.for_arrays)
        root = document.take_root()
        if len(flat) > self.options.limits.elements:
            self._bound_elements(tree_of(root))
        return self._views.open(root, document)

    def view_lines(self, data: Buffer, *, verify: bool = True) -> Iterator[View]:
        """Open one message a line. See `zcser.Codec`."""
        for number, offset, line in text_lines(data, self.name):
            try:
                view = self.view(line, verify=verify)
            except DecodeError as error:
                raise in_line(error, number, offset) from error
            yield view
