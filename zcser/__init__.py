"""zcser: a zero-copy codec layer, and an honest bake-off of serialization formats.

Names are resolved on first use, so that importing this package loads no serializer and little else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zcser.core.codec import Codec, CodecInfo
    from zcser.core.errors import DecodeError, EncodeError, SchemaError, UnsupportedOperation, ZcserError
    from zcser.core.fidelity import equal
    from zcser.core.options import Limits
    from zcser.core.view import View, at, lookup, release, retained_bytes, to_value
    from zcser.flat.bfbs import load_bfbs
    from zcser.flat.fbs import load_fbs
    from zcser.native import backend
    from zcser.protowire.load import load_descriptors, load_message, load_proto
    from zcser.registry import available, check, codec
    from zcser.schema.annotations import Id
    from zcser.schema.content_key import ContentKey, content_key
    from zcser.schema.document import emit_schema
    from zcser.schema.from_document import load_schema
    from zcser.schema.model import Schema
    from zcser.schema.normal import normal
    from zcser.tree.json_schema import load_json_schema

__version__ = "0.1.0"

_HOME = {
    "Codec": "zcser.core.codec",
    "CodecInfo": "zcser.core.codec",
    "ContentKey": "zcser.schema.content_key",
    "DecodeError": "zcser.core.errors",
    "EncodeError": "zcser.core.errors",
    "Id": "zcser.schema.annotations",
    "Limits": "zcser.core.options",
    "Schema": "zcser.schema.model",
    "SchemaError": "zcser.core.errors",
    "UnsupportedOperation": "zcser.core.errors",
    "View": "zcser.core.view",
    "ZcserError": "zcser.core.errors",
    "at": "zcser.core.view",
    "available": "zcser.registry",
    "backend": "zcser.native",
    "check": "zcser.registry",
    "codec": "zcser.registry",
    "content_key": "zcser.schema.content_key",
    "emit_schema": "zcser.schema.document",
    "equal": "zcser.core.fidelity",
    "load_bfbs": "zcser.flat.bfbs",
    "load_descriptors": "zcser.protowire.load",
    "load_fbs": "zcser.flat.fbs",
    "load_message": "zcser.protowire.load",
    "load_json_schema": "zcser.tree.json_schema",
    "load_proto": "zcser.protowire.load",
    "load_schema": "zcser.schema.from_document",
    "lookup": "zcser.core.view",
    "normal": "zcser.schema.normal",
    "release": "zcser.core.view",
    "retained_bytes": "zcser.core.view",
    "to_value": "zcser.core.view",
}

__all__ = [
    "Codec",
    "CodecInfo",
    "ContentKey",
    "DecodeError",
    "EncodeError",
    "Id",
    "Limits",
    "Schema",
    "SchemaError",
    "UnsupportedOperation",
    "View",
    "ZcserError",
    "at",
    "available",
    "backend",
    "check",
    "codec",
    "content_key",
    "emit_schema",
    "equal",
    "load_bfbs",
    "load_descriptors",
    "load_fbs",
    "load_json_schema",
    "load_message",
    "load_proto",
    "load_schema",
    "lookup",
    "normal",
    "release",
    "retained_bytes",
    "to_value",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'zcser' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
