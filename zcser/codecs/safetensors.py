"""safetensors: a message's tensors and bytes as the format stores them, all its other fields as metadata.

1. `zcser.safetensors` is the format and how a message stands in it: a class of tensors is written as other programs write
   their weights, and read from what they wrote. It is Python over the standard library's ``json``; the reference library
   gives no buffers that alias, and is what the tests compare with.
2. Segments are the header, then each tensor's own memory; joined, they are the message.
3. A view parses the header, and the text of each field; tensors and bytes are read where they lie.
"""

from __future__ import annotations

import json
import platform
from typing import Any, TypeVar

from zcser.core.options import Options
from zcser.safetensors.header import pack_header, unpack_header
from zcser.safetensors.parts import Layout
from zcser.schema.model import Schema
from zcser.tree.split import DataOf, Head, MemoryOf, SplitCodec
from zcser.tree.text import tree_of_text

__all__ = ["SafetensorsCodec"]

T = TypeVar("T")


class SafetensorsCodec(SplitCodec[T]):
    """See the head of this module, and `SplitCodec` for copies and lifetimes."""

    name = "safetensors"
    format = "safetensors"
    wire = "safetensors"
    library = "json"

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        self._layout = Layout(schema, tree_of_text)
        self._others = options.unknown_fields == "refuse"
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Python's own version; the C scanner and encoder where the interpreter has them."""
        accelerated = getattr(json.encoder, "c_make_encoder", None) is not None
        return platform.python_version(), "C accelerator" if accelerated else "pure Python"

    def _take_apart(self, tree: Any) -> list[bytes | memoryview]:
        entries, metadata, data = self._layout.take_apart(tree)
        return [pack_header(entries, metadata), *data]

    def _read_head(self, data: memoryview) -> Head:
        entries, metadata, start = unpack_header(data, self.name)
        return Head((entries, metadata), start, [entry.stop - entry.start for entry in entries.values()])

    def _put_together(self, parsed: Any, data_of: DataOf, _memory_of: MemoryOf) -> Any:
        entries, metadata = parsed
        return self._layout.put_together(entries, metadata, data_of, others=self._others)
