"""The wire schema of a schema whole, defaults and all: what texts in other schema languages are written from."""

from __future__ import annotations

from zcser.lower.code import Conversion
from zcser.schema.lower import lowering_of
from zcser.schema.model import Schema

__all__ = ["wire_schema"]


def wire_schema(schema: Schema) -> Schema:
    """What a codec of a binary format is given for a schema: itself, where it has nothing to lower."""
    lowering = lowering_of(schema, text=False)
    # The conversion makes the defaults of lowered fields ready.
    return schema if lowering is None else Conversion(lowering).lowering.wire
