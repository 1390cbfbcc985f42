"""JSON Schema (2020-12) of a schema: the messages of every codec of JSON text are valid by it.

1. What `zcser.tree.form` says stands where it stands: bytes and tensors as base64, unions tagged where they must be.
2. Records are definitions under ``$defs``; they are closed, and ``required`` is what a message always has.
3. What JSON Schema has no word for stands beside what it has: ``x-zcser-id``, a field's number; ``x-zcser-type``, the type
   of a scalar or tensor as `zcser.schema.document` writes it; ``x-zcser-key``, that of a map's keys;
   ``x-zcser-container``, where a list's values are tuples; ``x-zcser-tagged`` at a union whose options stand under their
   names; ``x-zcser-boxed`` at an option that stands in an object of one property, as `zcser.schema.lower` says.
   `zcser.load_json_schema` reads them; everything else passes over them.
4. A set has unique items, and its ``x-zcser-container`` says set or frozenset. Dates and their like are what they stand as
   in text. A ``format`` is said where every message keeps it: ``date-time`` of a datetime that is aware, ``date``, ``uuid``,
   ``ipv4``. A naive datetime is no ``date-time`` by RFC 3339, nor a time without offset a ``time``; an IPv6 address may
   have a scope, which ``ipv6`` has not.
"""

from __future__ import annotations

import json
from typing import Any, Final, cast

from zcser.core.errors import SchemaError
from zcser.core.options import Limits, Options
from zcser.lower.code import Conversion
from zcser.schema.document import type_tree
from zcser.schema.from_python import schema_of
from zcser.schema.lower import BOXED, lowering_of
from zcser.schema.model import (
    Bool,
    Bytes,
    Enum,
    Field,
    Float,
    Int,
    List,
    Logical,
    Map,
    Null,
    Optional,
    Record,
    Ref,
    Schema,
    Set,
    Str,
    Tensor,
    Type,
    Union,
)
from zcser.schema.normal import Normaliser
from zcser.schema.values import wire_form
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
        defaults that JSON text has no form for. Fields that have an alias have that name, and a RootModel is its root.
    """
    return json.dumps(_Emitter(schema_of(schema)).document(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


class _Emitter:
    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.lowering = lowering_of(schema, text=True)
        self.conversion = None if self.lowering is None else Conversion(self.lowering)
        self.wire = schema if self.lowering is None else self.lowering.wire

    def document(self) -> dict[str, Any]:
        tree: dict[str, Any] = {"$schema": DIALECT, **self.type_(self.schema.root)}
        if self.schema.records:
            tree["$defs"] = {record.name: self.record(record) for record in self.schema.records}
        return tree

    def record(self, record: Record) -> dict[str, Any]:
        doc = {"description": record.doc} if record.doc else {}
        if record.transparent:
            return {**self.type_(record.fields[0].type), **doc}
        tree: dict[str, Any] = {"type": "object", **doc}
        pairs = list(zip(record.fields, self.wire.record(record.name).fields, strict=True))
        tree["properties"] = {wired.name: self.property_(item, wired) for item, wired in pairs}
        required = [wired.name for item, wired in pairs if item.required]
        if required:
            tree["required"] = required
        return {**tree, "additionalProperties": False}

    def property_(self, item: Field, wired: Field) -> dict[str, Any]:
        tree = {**self.type_(item.type), "x-zcser-id": item.id}
        if item.has_default:
            normaliser = Normaliser(
                Schema(item.type, self.schema.records), strict=False, finite=True, limits=Limits(), codec=None
            )
            part = Schema(wired.type, self.wire.records)
            write = tree_writer(
                part, JSON, Options(), Normaliser(part, strict=False, finite=True, limits=Limits(), codec=None)
            )
            try:
                value = normaliser(item.make_default())
            except ValueError:  # NaN and the infinities, and what is no value of its type
                return tree
            if self.conversion is not None:
                value = self.conversion.lower(item.type)(value)
            tree["default"] = value if write is None else write(value)
        return tree

    def type_(self, type_: Type) -> dict[str, Any]:
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
            case Logical():
                form = wire_form(type_, text=True).type
                return _marked(type_, **(_int(form) if isinstance(form, Int) else {"type": "string"}), **_format(type_))
            case Enum(members=members):
                return _marked(Enum(type_.name, members), enum=[value for _, value in members])
            case Tensor():
                return _marked(type_, **_TENSOR)
            case Optional(item):
                return {"anyOf": [self.type_(item), {"type": "null"}]}
            case List(item, length, container):
                tree = {"type": "array", "items": self.type_(item)}
                if length is not None:
                    tree |= {"minItems": length, "maxItems": length}
                return tree if container == "list" else {**tree, "x-zcser-container": container}
            case Set(item, frozen):
                tree = {"type": "array", "items": self.type_(item), "uniqueItems": True}
                return {**tree, "x-zcser-container": "frozenset" if frozen else "set"}
            case Map(key, value):
                return {"type": "object", **_key(key), "additionalProperties": self.type_(value)}
            case Union():
                return self.union(type_)
            case Ref(name):
                return {"$ref": f"#/$defs/{_escaped(name)}"}
        raise SchemaError(f"{type_} has no form in JSON Schema")

    def union(self, union: Union) -> dict[str, Any]:
        wired = union if self.lowering is None else self.lowering.unions[union]
        options = [self.option(option, union) for option in union.options]
        if not is_tagged(wired, JSON):
            return {"anyOf": options}
        return {"anyOf": list(map(_object, wired.names, options)), "x-zcser-tagged": True}

    def option(self, option: Type, union: Union) -> dict[str, Any]:
        tree = self.type_(option)
        if self.lowering is None or (union, option) not in self.lowering.boxes:
            return tree
        box = _object(BOXED, tree)
        # What is in the box of a RootModel no Python type tells apart: for who reads this, the box is a record.
        return box if isinstance(option, Ref) else {**box, "x-zcser-boxed": True}


def _marked(type_: Type, **tree: Any) -> dict[str, Any]:
    return {**tree, "x-zcser-type": type_tree(type_)}


def _int(type_: Int) -> dict[str, Any]:
    if type_.bits is None:
        return _marked(type_, type="integer", **({} if type_.signed else {"minimum": 0}))
    return {"type": "integer", "minimum": type_.low, "maximum": type_.high}


def _key(type_: Type) -> dict[str, Any]:
    names: dict[str, Any]
    match wire_form(type_, text=True, key=True).type if isinstance(type_, Logical) else type_:
        case Str(None) if type_ == Str():
            return {}
        case Str(None):
            names = _format(cast("Logical", type_))
        case Str(size):
            names = {"maxLength": size}
        case Int(signed=signed):
            names = {"pattern": f"^(0|{'-?' if signed else ''}[1-9][0-9]*)$"}
        case _:
            names = {"enum": ["false", "true"]}
    return {**({"propertyNames": names} if names else {}), "x-zcser-key": type_tree(type_)}


def _object(name: str, tree: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {name: tree}, "required": [name], "additionalProperties": False}


def _format(type_: Logical) -> dict[str, str]:
    return {"format": _FORMATS[type_.name]} if type_.name in _FORMATS else {}


def _escaped(name: str) -> str:
    """A step of a JSON Pointer in a URI fragment."""
    from urllib.parse import quote

    return quote(name.replace("~", "~0").replace("/", "~1"))


_FORMATS = {"datetime_utc": "date-time", "date": "date", "uuid": "uuid", "ipv4": "ipv4"}

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
