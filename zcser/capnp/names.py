"""Identifiers for what a schema names: structs, enums, fields and enumerants.

1. Cap'n Proto takes ``UserId`` for a type and ``userId`` for a field or an enumerant: letters and digits of ASCII,
   without underscores. Its parser ends the process over any other name.
2. Two names of one scope are never the same: the later one is numbered.
3. Bytes on the wire do not depend on any name.
"""

from __future__ import annotations

import re

__all__ = ["TYPES", "Scope", "member_name", "struct_name"]

TYPES = (
    "AnyList", "AnyPointer", "AnyStruct", "Bool", "Capability", "Data", "Float32", "Float64", "Int16", "Int32", "Int64",
    "Int8", "List", "Text", "UInt16", "UInt32", "UInt64", "UInt8", "Void",
)  # fmt: skip
"""What the language names already. A declaration of such a name would hide it."""


class Scope:
    """The names of one scope, each given once; `taken` are none of them."""

    def __init__(self, *taken: str) -> None:
        self._taken = set(taken)

    def take(self, wanted: str, *beside: str) -> str:
        """The first of ``wanted``, ``wanted2``, ... that is free, itself and with each prefix of `beside`; all are taken."""
        name, number = wanted, 1
        while not self._taken.isdisjoint(made := {name, *(prefixed(prefix, name) for prefix in beside)}):
            number += 1
            name = f"{wanted}{number}"
        self._taken |= made
        return name


def prefixed(prefix: str, name: str) -> str:
    """``hasCount`` for ``has`` and ``count``."""
    return prefix + name[:1].upper() + name[1:]


def _words(name: str) -> list[str]:
    """The words of a name; those in capitals alone, as of constants, are written small."""
    words = re.findall(r"[A-Za-z0-9]+", name)
    return [word.lower() if word.isupper() else word for word in words]


def member_name(name: str) -> str:
    """The nearest name of a field or an enumerant: ``finishReason`` for ``finish_reason``, ``red`` for ``RED``."""
    first, *rest = _words(name) or [""]
    text = first[:1].lower() + first[1:] + "".join(word[:1].upper() + word[1:] for word in rest)
    return text if text[:1].isalpha() else "f" + text


def struct_name(name: str) -> str:
    """The nearest name of a struct or an enum: ``FinishReason`` for ``finish_reason``."""
    words = re.findall(r"[A-Za-z0-9]+", name)
    text = "".join(word[:1].upper() + word[1:] for word in words)
    return text if text[:1].isalpha() else "T" + text
