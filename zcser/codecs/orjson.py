"""JSON by orjson: the fastest writer and full reader of JSON in Python.

orjson alone writes NaN as null and rounds integers over 64 bits; the guard refuses the first before it is written, and
the second where it is read into an int field.
"""

from __future__ import annotations

import dataclasses
from typing import TypeVar

import orjson

from zcser.core.buffers import Buffer
from zcser.core.errors import DecodeError
from zcser.core.options import Options
from zcser.schema.model import Schema
from zcser.tree.form import Form
from zcser.tree.leaves import RoundedIntError
from zcser.tree.read import tree_reader
from zcser.tree.text import TextWriter

__all__ = ["OrjsonCodec"]

T = TypeVar("T")


class OrjsonCodec(TextWriter[T]):
    """See the head of this module."""

    name = "orjson"
    format = "JSON text (RFC 8259)"
    wire = "json"
    library = "orjson"
    form = Form(native_bytes=False, finite=True, text_keys=True, big_ints=False, rounds_ints=True)
    _dumps = staticmethod(orjson.dumps)
    _loads = staticmethod(orjson.loads)

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        exact = dataclasses.replace(self.form, rounds_ints=False)
        self._read_exact = tree_reader(schema, exact, options, copy=True)
        self._read_exact_nocopy = tree_reader(schema, exact, options, copy=False)
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Version of orjson, which is Rust alone."""
        return orjson.__version__, "Rust extension"

    def decode(self, data: Buffer, *, copy: bool = True) -> T:
        """Decode a message."""
        try:
            return super().decode(data, copy=copy)
        except DecodeError as error:
            if not isinstance(error.__cause__, RoundedIntError):
                raise
        # Rare: a float of 2**63 or more where the schema allows an int too. The strict reader tells which of the two
        # is written there.
        flat = self._flat(data)
        tree = self._load_strictly(flat)
        try:
            value: T = self._read_exact(tree) if copy else self._read_exact_nocopy(tree)
        except Exception as error:
            raise self._not_restored(self._load_strictly(flat), error) from error
        return value
