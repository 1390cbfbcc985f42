""".bfbs files with any content, for what flatc would never write."""

from __future__ import annotations

import struct
from typing import Any

import zcser
from zcser.flat.reflection import FieldDef, ObjectDef, SchemaDef


def rewritten(content: SchemaDef) -> bytes:
    """A .bfbs file with this content."""
    plain = zcser.codec("flatbuffers", SchemaDef).encode(content)
    # Moved by 8 bytes, which keeps everything aligned, to make room for the identifier.
    return struct.pack("<I", struct.unpack_from("<I", plain)[0] + 8) + b"BFBS" + bytes(4) + plain[4:]


def named(items: list[Any], name: str) -> Any:
    return next(item for item in items if item.name == name)


def object_of(content: SchemaDef, name: str) -> ObjectDef:
    return named(content.objects, f"game.{name}")


def field_of(content: SchemaDef, table: str, name: str) -> FieldDef:
    return named(object_of(content, table).fields, name)
