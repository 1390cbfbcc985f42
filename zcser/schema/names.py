"""Names that a schema gives to what formats must name: ``[A-Za-z][A-Za-z0-9_]*``, from whatever a user calls things."""

from __future__ import annotations

import re
from collections.abc import Sequence

from zcser.schema.model import Bool, Bytes, Enum, Float, Int, List, Map, Optional, Ref, Str, Type, Union

__all__ = ["LONGEST", "Scope", "distinct", "identifier", "type_name"]

LONGEST = 80
"""Characters of a made name; a longer one is cut, and numbered where that makes two alike."""


def identifier(name: str) -> str:
    """The nearest identifier that starts with a letter."""
    text = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return text if text[:1].isalpha() else "f" + text


def type_name(type_: Type) -> str:
    """A name for what wraps a type: ``Int64List``, ``OptionalStr``, ``StrFloat64Map``, ``IntOrStr``."""
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
    return text[:LONGEST]


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


def distinct(names: Sequence[str], *taken: str) -> dict[str, str]:
    """Each name of one scope with its identifier; no two are the same, and one that is an identifier is its own."""
    scope = Scope(*taken)
    own = {name for name in names if identifier(name) == name and name not in taken}
    for name in own:
        scope.take(name)
    return {name: name if name in own else scope.take(identifier(name)) for name in names}
