"""Identifiers for what a schema names: tables, enums, unions and their members.

1. FlatBuffers takes ``[A-Za-z_][A-Za-z0-9_]*``; a name of other characters has them replaced by ``_``.
2. Two names of one scope are never the same: the later one is numbered.
3. Bytes on the wire do not depend on any name.
"""

from __future__ import annotations

from zcser.schema.names import Scope

__all__ = ["TYPES", "Scope"]

TYPES = (
    "NONE", "bool", "byte", "double", "float", "float32", "float64", "int", "int16", "int32", "int64", "int8", "long",
    "short", "string", "ubyte", "uint", "uint16", "uint32", "uint64", "uint8", "ulong", "ushort",
)  # fmt: skip
"""What flatc reads as a scalar type, or as the absent option of a union, wherever a type may stand."""
