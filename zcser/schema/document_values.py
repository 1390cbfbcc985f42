"""Values in a schema document: the defaults of fields, as JSON that their types give a meaning.

1. Null, bool, int, str, list and record stand as themselves; an enum's member by its value; bytes as base64 text.
2. A float that JSON lacks stands as ``"NaN"``, ``"Infinity"`` or ``"-Infinity"``.
3. A tensor is ``{"dtype": name, "shape": [...], "base64": text}``; elements little-endian, in C order.
4. A map is an object; its int keys stand as decimal digits, its bool keys as "true" and "false".
5. A union's value is ``{option's name: value}``, whatever the options are.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from zcser.core.dtypes import dtype_name, dtype_named, tensor_bytes
from zcser.core.errors import EncodeError, SchemaError
from zcser.core.options import Limits
from zcser.schema.model import Bool, Bytes, Enum, Float, Int, List, Map, Optional, Ref, Schema, Tensor, Type, Union
from zcser.schema.normal import Normaliser

__all__ = ["from_json", "to_json"]

_FLOATS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
_BOOLS = {"true": True, "false": False}


def to_json(schema: Schema, type_: Type, value: Any, path: str) -> Any:
    """The JSON value of a default. Raises `SchemaError`, at `path`, where it is no value of its type."""
    return _to_json(schema, type_, _normal(schema, type_, value, path))


def from_json(schema: Schema, type_: Type, tree: Any, path: str) -> Any:
    """The inverse; raises `SchemaError`, at `path`, where the JSON value does not stand for a value of the type."""
    try:
        value = _from_json(schema, type_, tree)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise SchemaError(
            f"the default does not stand for {type_}: {type(error).__name__}: {error}", path=path
        ) from error
    return _normal(schema, type_, value, path)


def _normal(schema: Schema, type_: Type, value: Any, path: str) -> Any:
    try:
        return Normaliser(schema, strict=False, finite=False, limits=Limits()).part(type_, value)
    except EncodeError as error:
        raise SchemaError(f"the default does not fit its type: {error}", path=path) from error


def _to_json(schema: Schema, type_: Type, value: Any) -> Any:
    match type_:
        case Float():
            return (
                value if value - value == 0.0 else next(name for name, it in _FLOATS.items() if str(it) == str(value))
            )
        case Bytes():
            return base64.b64encode(value).decode("ascii")
        case Enum(cls=cls):
            return value if cls is None else value.value
        case Tensor():
            data = base64.b64encode(tensor_bytes(value)).decode("ascii")
            return {"dtype": dtype_name(value.dtype), "shape": list(value.shape), "base64": data}
        case Optional(item):
            return None if value is None else _to_json(schema, item, value)
        case List(item=item):
            return [_to_json(schema, item, part) for part in value]
        case Map(key, part):
            return {_key_text(key, name): _to_json(schema, part, below) for name, below in value.items()}
        case Union(options):
            for name, option in zip(type_.names, options, strict=True):
                if type(value) is schema.python_type(option):
                    return {name: _to_json(schema, option, value)}
        case Ref():
            record = schema.resolve(type_)
            have = value if record.cls is None else {item.name: getattr(value, item.name) for item in record.fields}
            fields = ((item.name, item.type) for item in record.fields if item.name in have)
            return {name: _to_json(schema, below, have[name]) for name, below in fields}
    return value


def _from_json(schema: Schema, type_: Type, tree: Any) -> Any:
    match type_:
        case Float():
            return _FLOATS[tree] if isinstance(tree, str) else tree
        case Bytes():
            return base64.b64decode(tree, validate=True)
        case Tensor():
            dtype = dtype_named(tree["dtype"])
            return np.frombuffer(base64.b64decode(tree["base64"], validate=True), dtype).reshape(tree["shape"]).copy()
        case Optional(item):
            return None if tree is None else _from_json(schema, item, tree)
        case List(item=item):
            return [_from_json(schema, item, part) for part in tree] if isinstance(tree, list) else tree
        case Map(key, value):
            return {_key(key, name): _from_json(schema, value, part) for name, part in tree.items()}
        case Union(options):
            ((name, part),) = tree.items()
            return _from_json(schema, options[type_.names.index(name)], part)
        case Ref():
            record = schema.resolve(type_)
            fields = {name: _from_json(schema, record.by_name[name].type, part) for name, part in tree.items()}
            return fields if record.cls is None else record.cls(**fields)
    return tree


def _key_text(type_: Type, key: Any) -> str:
    return str(key).lower() if isinstance(type_, Bool) else str(key)


def _key(type_: Type, text: str) -> Any:
    if isinstance(type_, Bool):
        return _BOOLS[text]
    return int(text) if isinstance(type_, Int) else text
