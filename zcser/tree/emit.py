"""JSON Schema (2020-12) of a schema: the messages of every codec of JSON text are valid by it.

1. What `zcser.tree.form` says stands where it stands: bytes and tensors as base64, unions tagged where they must be.
2. Records are definitions under ``$defs``; they are closed, and ``required`` is what a message always has.
3. What JSON Schema has no word for stands beside what it has: ``x-zcser-id``, a field's number; ``x-zcser-type``, the type
   of a scalar or tensor as `zcser.schema.document` writes it; ``x-zcser-key``, that of a map's keys;
   ``x-zcser-container``, where a list's values are tuples; ``x-zcser-tagged`` at a union whose options stand under their
   names. `zcser.load_json_schema` reads them; everything else passes over them.
"""

from __future__ import annotations

import json
from typing import Any, Final

from zcser.core.errors import SchemaError
from zcser.core.options import Limits, Options
from zcser.schema.document import type_tree
from zcser.schema.from_python import schema_of
from zcser.schema.model import (
    Bool,
    Bytes,
    Enum,
    Field,
    Float,
    Int,
    List,
    Map,
    Null,
    Optional,
    Record,
    Ref,
    Schema,
    Str,
    Tensor,
    Type,
    Union,
)
from zcser.schema.normal import Normaliser
from zcser.tree.form import Form, is_tagged
from zcser.tree.write import tree_writer

__all__ = ["DIALECT", "JSON", "emit_jsonschema"]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

JSON: Final = Form(native_bytes=False, finite=True, text_keys=True, big_ints=True)
"""JSON text as every codec of it reads it."""


def emit_jsonschema(schema: Any) -> str:
    """A schema as the text of a JSON Schema.

    Parameters
    ----------
    schema
        A `zcser.Schema`, or what one can be made from.

    Returns
    -------
    str
        JSON; ends in a newline. `zcser.load_json_schema` makes the same schema of it, but for its classes and for
        defaults that JSON text has no form for.
    """
    found = schema_of(schema)
    tree: dict[str, Any] = {"$schema": DIALECT, **_type(found.root)}
    if found.records:
        tree["$defs"] = {record.name: _record(found, record) for record in found.records}
    return json.dumps(tree, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _record(schema: Schema, record: Record) -> dict[str, Any]:
    tree: dict[str, Any] = {"type": "object"}
    if record.doc:
        tree["description"] = record.doc
    tree["properties"] = {item.name: _property(schema, item) for item in record.fields}
    required = [item.name for item in record.fields if item.required]
    if required:
        tree["required"] = required
    return {**tree, "additionalProperties": False}


def _property(schema: Schema, item: Field) -> dict[str, Any]:
    tree = {**_type(item.type), "x-zcser-id": item.id}
    if item.has_default:
        part = Schema(item.type, schema.records)
        normaliser = Normaliser(part, strict=False, finite=True, limits=Limits(), codec=None)
        write = tree_writer(part, JSON, Options(), normaliser)
        try:
            value = normaliser(item.make_default())
        except ValueError:  # NaN and the infinities, and what is no value of its type
            return tree
        tree["default"] = value if write is None else write(value)
    return tree


def _type(type_: Type) -> dict[str, Any]:
    match type_:
        case Null():
            return {"type": "null"}
        case Bool():
            return {"type": "boolean"}
        case Int():
            return _int(type_)
        case Float(bits):
            return {"type": "number"} if bits == 64 else {"type": "number", "x-zcser-type": str(type_)}
        case Str(size):
            # maxLength counts characters, of which there are never more than bytes.
            return {"type": "string"} if size is None else _marked(type_, type="string", maxLength=size)
        case Bytes(size):
            tree: dict[str, Any] = {"type": "string", "contentEncoding": "base64"}
            length = -(-(size or 0) // 3) * 4
            return tree if size is None else _marked(type_, **tree, minLength=length, maxLength=length)
        case Enum(members=members):
            return _marked(Enum(type_.name, members), enum=[value for _, value in members])
        case Tensor():
            return _marked(type_, **_TENSOR)
        case Optional(item):
            return {"anyOf": [_type(item), {"type": "null"}]}
        case List(item, length, container):
            tree = {"type": "array", "items": _type(item)}
            if length is not None:
                tree |= {"minItems": length, "maxItems": length}
            return tree if container == "list" else {**tree, "x-zcser-container": container}
        case Map(key, value):
            return {"type": "object", **_key(key), "additionalProperties": _type(value)}
        case Union(options):
            if not is_tagged(type_, JSON):
                return {"anyOf": [_type(option) for option in options]}
            named = zip(type_.names, options, strict=True)
            return {"anyOf": [_tagged(name, option) for name, option in named], "x-zcser-tagged": True}
        case Ref(name):
            return {"$ref": f"#/$defs/{_escaped(name)}"}
    raise SchemaError(f"{type_} has no form in JSON Schema")


def _marked(type_: Type, **tree: Any) -> dict[str, Any]:
    return {**tree, "x-zcser-type": type_tree(type_)}


def _int(type_: Int) -> dict[str, Any]:
    if type_.bits is None:
        return _marked(type_, type="integer", **({} if type_.signed else {"minimum": 0}))
    return {"type": "integer", "minimum": type_.low, "maximum": type_.high}


def _key(type_: Str | Int | Bool) -> dict[str, Any]:
    match type_:
        case Str(None):
            return {}
        case Str(size):
            names: dict[str, Any] = {"maxLength": size}
        case Int(signed=signed):
            names = {"pattern": f"^(0|{'-?' if signed else ''}[1-9][0-9]*)$"}
        case _:
            names = {"enum": ["false", "true"]}
    return {"propertyNames": names, "x-zcser-key": type_tree(type_)}


def _tagged(name: str, option: Type) -> dict[str, Any]:
    return {"type": "object", "properties": {name: _type(option)}, "required": [name], "additionalProperties": False}


def _escaped(name: str) -> str:
    """A step of a JSON Pointer in a URI fragment."""
    from urllib.parse import quote

    return quote(name.replace("~", "~0").replace("/", "~1"))


_TENSOR = {
    "type": "object",
    "properties": {
        "dtype": {"type": "string"},
        "shape": {"type": "array", "items": {"type": "integer", "minimum": 0}},
        "base64": {"type": "string", "contentEncoding": "base64"},
        "data": {"type": "array"},
    },
    "required": ["dtype", "shape"],
    "oneOf": [{"required": ["base64"]}, {"required": ["data"]}],
    "additionalProperties": False,
}
