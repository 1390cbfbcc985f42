"""Identifiers for what a schema names: tables, enums, unions and their members.

1. FlatBuffers takes ``[A-Za-z_][A-Za-z0-9_]*``; a name of other characters has them replaced by ``_``.
2. Two names of one scope are never the same: the later one is numbered.
3. Bytes on the wire do not depend on any name.
"""

from __future__ import annotations

import re

from zcser.schema.model import Bool, Bytes, Enum, Float, Int, List, Map, Optional, Ref, Str, Type, Union

__all__ = ["TYPES", "Scope", "identifier", "type_name"]

TYPES = (
    "NONE", "bool", "byte", "double", "float", "float32", "float64", "int", "int16", "int32", "int64", "int8", "long",
    "short", "string", "ubyte", "uint", "uint16", "uint32", "uint64", "uint8", "ulong", "ushort",
)  # fmt: skip
"""What flatc reads as a scalar type, or as the absent option of a union, wherever a type may stand."""

_LONGEST = 80


class Scope:
    """The names of one scope, each given once; `taken` are none of them."""

    def __init__(self, *taken: str) -> None:
        self._taken = set(taken)

    def take(self, wanted: str, *suffixes: str) -> str:
        """The first of ``wanted``, ``wanted_2``, ... that is free, alone and with each of `suffixes`; all are taken."""
        name, number = wanted, 1
        while not self._taken.isdisjoint(made := {name, *(name + suffix for suffix in suffixes)}):
            number += 1
            name = f"{wanted}_{number}"
        self._taken |= made
        return name


def identifier(name: str) -> str:
    """The nearest identifier that starts with a letter."""
    text = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return text if text[:1].isalpha() else "f" + text


def type_name(type_: Type) -> str:
    """A name for a table that wraps a type: ``Int64List``, ``OptionalStr``, ``StrFloat64Map``, ``IntOrStr``."""
    match type_:
        case Ref(name) | Enum(name=name):
            text = identifier(name)
        case Bool() | Int() | Float() | Str() | Bytes():
            text = re.sub(r"\W.*", "", str(type_)).title().replace("Uint", "UInt")
        case Optional(item):
            text = f"Optional{type_name(item)}"
        case List(item=item):
            text = f"{type_name(item)}List"
        case Map(key, value):
            text = f"{type_name(key)}{type_name(value)}Map"
        case Union(options):
            text = "Or".join(type_name(option) for option in options)
        case _:
            text = str(type_.kind).title()
    return text[:_LONGEST]
