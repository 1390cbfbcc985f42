"""KServe's Open Inference Protocol: the REST body with Triton's binary tensor data.

1. `zcser.kserve` is the body, how it stands in one buffer, and how a message stands in it. It is Python over the standard
   library's ``json``: the clients of the protocol bring a connection with them.
2. Segments are the header field with the JSON, then the data of each tensor; all of them but the field are what is posted.
3. A view parses the JSON and the lists of scalars; tensors and bytes are read where they lie.
"""

from __future__ import annotations

import json
import platform
from typing import Any, TypeVar

import numpy as np

from zcser.core.dtypes import dtype_named
from zcser.core.options import Options
from zcser.kserve.body import pack_body, unpack_body
from zcser.kserve.parts import Inputs, Layout
from zcser.schema.model import Schema
from zcser.tree.numbers import array_of_numbers
from zcser.tree.split import DataOf, Head, MemoryOf, SplitCodec
from zcser.tree.text import tree_of_text

__all__ = ["KserveCodec"]

T = TypeVar("T")


class KserveCodec(SplitCodec[T]):
    """See the head of this module, and `SplitCodec` for copies and lifetimes; bytes are copied into segments."""

    name = "kserve"
    format = "KServe V2 (Open Inference Protocol) body, binary tensor data"
    wire = "kserve"
    library = "json"

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        self._layout = Layout(schema, self.name)
        self._others = options.unknown_fields == "refuse"
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Python's own version; the C scanner and encoder where the interpreter has them."""
        accelerated = getattr(json.encoder, "c_make_encoder", None) is not None
        return platform.python_version(), "C accelerator" if accelerated else "pure Python"

    def _take_apart(self, tree: Any) -> list[bytes | memoryview]:
        document, data = self._layout.take_apart(tree)
        return [pack_body(document), *data]

    def _read_head(self, data: memoryview) -> Head:
        return Head(*unpack_body(data, self._layout.tensors, tree_of_text, self.name))

    def _put_together(self, parsed: Any, data_of: DataOf, memory_of: MemoryOf) -> Any:
        inputs = Inputs(parsed, data_of, memory_of, _array)
        return self._layout.put_together(inputs, others=self._others)


def _array(numbers: list[Any], dtype: str) -> np.ndarray[Any, Any]:
    return array_of_numbers(numbers, dtype_named(dtype))
