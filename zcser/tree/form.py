"""How a value stands in the tree of builtins that JSON-like libraries take and give: the tree column of the mapping table.

1. Null, bool, int, float, str, list and dict stand as themselves. A record is a dict of its fields; an absent field has
   no key. A tuple is a list.
2. An enum stands by its value.
3. Bytes stand as bytes where the wire has them, else as base64 text (RFC 4648, padded).
4. A tensor is ``{"dtype": name, "shape": [...], "data": bytes}``, or ``"base64": text`` in place of data; elements
   little-endian, in C order. Where numbers are asked for, text has ``"data": [numbers]``: see `zcser.tree.numbers`.
5. A map's keys stand as themselves where the wire has such keys; else an int as its decimal digits, a bool as "true" or
   "false".
6. A union stands as its value wherever the Python type read back tells the options apart; where it does not (two
   records, str and base64), as ``{option name: value}``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from zcser.core.errors import SchemaError
from zcser.schema.model import (
    Bytes,
    Enum,
    Int,
    Kind,
    List,
    Map,
    Optional,
    Ref,
    Schema,
    Tensor,
    Type,
    Union,
    walk,
)

__all__ = [
    "BIG",
    "Form",
    "is_plain",
    "is_plain_tree",
    "is_tagged",
    "may_be_big",
    "parts_of",
    "refuse_unbounded",
    "refuse_unfit",
    "stands_as_itself",
    "widens",
    "wire_class",
]


@dataclass(frozen=True, slots=True)
class Form:
    """What one wire's trees can hold.

    Attributes
    ----------
    native_bytes
        Bytes stand as they are.
    finite
        There is no form for NaN and the infinities.
    text_keys
        Keys of maps are text.
    big_ints
        Integers of any size.
    rounds_ints
        The reader gives an integer over 64 bits as the nearest float, so that such a float may have been either.
    shares
        One object may stand in several places of a tree that was read.
    keeps_tuples
        The library would write a tuple as one, so that it must be given a list.
    surrogates
        The library writes and reads lone surrogates, which are refused.
    tags_unions
        A union stands as ``{option name: value}`` wherever it is one (rule 6).
    out_of_band
        What is made of a tensor's bytes, and of many bytes, in a tree that is written; None: nothing.
    tensor
        What a tensor stands as in a tree that is written, where that is not the map of rule 4, or not of its bytes as
        they lie in memory. It is read as that map; None: it is written as that map too.
    wide_int
        What an integer over 63 bits stands as in a tree that is written. It is read as an int; None: it is written as
        one too.
    key_fault
        Why a text cannot be a key, or None where it can; None: any text can.
    """

    native_bytes: bool
    finite: bool
    text_keys: bool
    big_ints: bool
    rounds_ints: bool = False
    shares: bool = False
    keeps_tuples: bool = False
    surrogates: bool = False
    tags_unions: bool = False
    out_of_band: Callable[[bytes | memoryview], Any] | None = None
    tensor: Callable[[npt.NDArray[Any]], Any] | None = None
    wide_int: Callable[[int], Any] | None = None
    key_fault: Callable[[str], str | None] | None = None


def wire_class(type_: Type, form: Form) -> type:
    """The Python class that a type's values have in a tree read back."""
    match type_.kind:
        case Kind.NULL:
            return type(None)
        case Kind.BOOL:
            return bool
        case Kind.INT:
            return int
        case Kind.FLOAT:
            return float
        case Kind.BYTES:
            return bytes if form.native_bytes else str
        case Kind.STR:
            return str
        case Kind.LIST:
            return list
    if isinstance(type_, Enum):
        return int if type_.of_ints else str
    return dict  # tensor, map, record


def is_tagged(union: Union, form: Form) -> bool:
    """Whether a union needs its option's name beside its value."""
    return form.tags_unions or len({wire_class(option, form) for option in union.options}) < len(union.options)


def stands_as_itself(type_: Type, schema: Schema, form: Form, _seen: frozenset[str] = frozenset()) -> bool:
    """Whether every normal value of a type is its own tree, so that nothing need be built."""
    match type_:
        case Enum(cls=cls):
            return cls is None
        case Int():
            return not widens(type_, form)
        case List(container="tuple") if form.keeps_tuples:
            return False
        case Optional(item) | List(item=item):
            return stands_as_itself(item, schema, form, _seen)
        case Map(key, value):
            keys = not form.text_keys or key.kind is Kind.STR
            return keys and stands_as_itself(value, schema, form, _seen)
        case Union(options):
            return not is_tagged(type_, form) and all(stands_as_itself(o, schema, form, _seen) for o in options)
        case Ref(name):
            if name in _seen:
                return True  # decided by the fields that are being looked at already
            record = schema.resolve(type_)
            return record.cls is None and all(
                stands_as_itself(item.type, schema, form, _seen | {name}) for item in record.fields
            )
    return type_.kind is not Kind.TENSOR and (type_.kind is not Kind.BYTES or form.native_bytes)


def widens(type_: Type, form: Form) -> bool:
    """Whether values of a type may be integers that do not stand as themselves."""
    return form.wide_int is not None and isinstance(type_, Int) and (type_.high is None or type_.high >= 1 << 63)


def parts_of(schema: Schema) -> list[Type]:
    """Every type in a schema, records by their references."""
    types = [schema.root, *(item.type for record in schema.records for item in record.fields)]
    return [part for type_ in types for part in walk(type_)]


BIG = 4096
"""Bytes of a payload from which on splicing (`zcser.tree.splice`) is quicker than the library's own copies."""


def may_be_big(type_: Type) -> bool:
    """Whether values of a type may be a payload of `BIG` bytes or more."""
    return isinstance(type_, Tensor) or (isinstance(type_, Bytes) and (type_.size is None or type_.size >= BIG))


def is_plain(schema: Schema, form: Form) -> bool:
    """Whether every normal value is its own tree, and holds no payload: records are dicts, whose keys keep their order."""
    return not any(map(may_be_big, parts_of(schema))) and stands_as_itself(schema.root, schema, form)


def is_plain_tree(schema: Schema, form: Form) -> bool:
    """Whether every tree holds builtins alone, but for what tensors stand as; records are of any class."""
    for part in parts_of(schema):
        if form.out_of_band is not None and may_be_big(part):
            return False
        match part:
            case Bytes() if not form.native_bytes:
                return False
            case Int() if widens(part, form):
                return False
            case List(container="tuple") if form.keeps_tuples:
                return False
            case Map(key=key) if form.key_fault is not None or (form.text_keys and key.kind is not Kind.STR):
                return False
            case Union() if is_tagged(part, form):
                return False
    return True


def refuse_unbounded(schema: Schema, codec: str | None) -> None:
    """Raise `SchemaError` for integers of any size."""
    places = [(f"{record.name}/{item.name}", item.type) for record in schema.records for item in record.fields]
    for path, type_ in [("", schema.root), *places]:
        if any(isinstance(part, Int) and part.bits is None for part in walk(type_)):
            raise SchemaError("integers over 64 bits have no form; use json, or a str", path=path, codec=codec)


def refuse_unfit(schema: Schema, form: Form, codec: str) -> None:
    """Raise `SchemaError` for what no tree of this form can hold."""
    if not form.big_ints:
        refuse_unbounded(schema, codec)
    if form.key_fault is not None:
        for record in schema.records:
            for item in record.fields:
                fault = form.key_fault(item.name)
                if fault is not None:
                    raise SchemaError(fault, path=f"{record.name}/{item.name}", codec=codec)
