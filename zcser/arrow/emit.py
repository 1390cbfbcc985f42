"""The Arrow schema of a schema, as a text that people and programs read.

What `pyarrow.Schema.to_string` prints nothing reads back, and Arrow has no schema language. So the text is JSON, and says
the same twice:

1. ``schema`` is the form of Arrow's integration tests ("Integration Testing", section "JSON test data format"), which every
   implementation of Arrow reads in its tests; it can be read, compared and reviewed.
2. ``ipc`` is base64 of the encapsulated schema message of the columnar format: the bytes that a stream of the codec begins
   with, for ``pyarrow.ipc.read_schema``.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pyarrow import types

from zcser.arrow.types import columns_of
from zcser.schema.from_python import schema_of

__all__ = ["emit_arrow"]


def emit_arrow(schema: Any) -> str:
    """The columns of a schema as JSON text.

    Parameters
    ----------
    schema
        A `zcser.Schema`, or what one can be made from.

    Returns
    -------
    str
        Ends in a newline. The same schema gives the same text.

    Raises
    ------
    SchemaError
        A type has no form in Arrow.
    """
    arrow = columns_of(schema_of(schema), "arrow").arrow_schema
    document = {
        "schema": {"fields": [_field(field) for field in arrow]},
        "ipc": base64.b64encode(arrow.serialize()).decode("ascii"),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _field(field: pa.Field) -> dict[str, Any]:
    type_, metadata = field.type, dict(field.metadata or {})
    if isinstance(type_, pa.BaseExtensionType):
        # The one extension type that is used, and its metadata as Arrow's "Canonical Extension Types" has them.
        shape = json.dumps({"shape": list(type_.shape)}, separators=(",", ":"))
        metadata |= {
            b"ARROW:extension:name": type_.extension_name.encode(),
            b"ARROW:extension:metadata": shape.encode(),
        }
        type_ = type_.storage_type
    found = {"name": field.name, "nullable": field.nullable, "type": _type(type_), "children": _children(type_)}
    return {**found, **_metadata(metadata)}


def _metadata(metadata: Mapping[bytes, bytes]) -> dict[str, Any]:
    pairs = [{"key": key.decode(), "value": value.decode()} for key, value in metadata.items()]
    return {"metadata": pairs} if pairs else {}


def _children(type_: pa.DataType) -> list[dict[str, Any]]:
    return [_field(type_.field(number)) for number in range(type_.num_fields)]


def _type(type_: pa.DataType) -> dict[str, Any]:
    """The name of a type and what belongs to it; of the types that `zcser.arrow.types` uses."""
    if types.is_integer(type_):
        return {"name": "int", "bitWidth": type_.bit_width, "isSigned": types.is_signed_integer(type_)}
    if types.is_floating(type_):
        return {"name": "floatingpoint", "precision": {16: "HALF", 32: "SINGLE", 64: "DOUBLE"}[type_.bit_width]}
    if types.is_fixed_size_binary(type_):
        return {"name": "fixedsizebinary", "byteWidth": type_.byte_width}
    if types.is_fixed_size_list(type_):
        return {"name": "fixedsizelist", "listSize": type_.list_size}
    if types.is_map(type_):
        return {"name": "map", "keysSorted": type_.keys_sorted}
    if types.is_union(type_):
        return {"name": "union", "mode": type_.mode.upper(), "typeIds": list(type_.type_codes)}
    return {"name": {"string": "utf8"}.get(str(type_), str(type_).partition("<")[0])}
