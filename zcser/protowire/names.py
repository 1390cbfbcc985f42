"""Identifiers for what a schema names: fields, messages, enums and their values.

1. protobuf takes ``[A-Za-z_][A-Za-z0-9_]*``; a name of other characters has them replaced by ``_``.
2. Two names of one scope that differ only in case or underscores are one to some protobuf runtimes (their JSON names
   and C++ accessors would collide): the later one is numbered.
3. A field is not named by a Python keyword or by a method of messages, so that ``message.name`` always is the field.
4. Bytes on the wire do not depend on any name.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable

from zcser.schema.names import LONGEST, identifier

__all__ = [
    "Scope",
    "field_name",
    "map_entry_name",
    "place_name",
    "snake_case",
    "synthetic_oneof_name",
]

_METHODS = frozenset({
    "ByteSize", "Clear", "ClearExtension", "ClearField", "CopyFrom", "DESCRIPTOR", "DiscardUnknownFields", "Extensions",
    "FindInitializationErrors", "FromString", "HasExtension", "HasField", "IsInitialized", "ListFields", "MergeFrom",
    "MergeFromString", "ParseFromString", "RegisterExtension", "SerializePartialToString", "SerializeToString",
    "SetInParent", "UnknownFields", "WhichOneof",
})  # fmt: skip


class Scope:
    """The names of one scope, each given once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {_folded(name) for name in taken}

    def take(self, wanted: str) -> str:
        """`wanted`, or the first of ``wanted_2``, ``wanted_3`` that is free."""
        name, number = wanted, 1
        while _folded(name) in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(_folded(name))
        return name


def _folded(name: str) -> str:
    return name.replace("_", "").lower()


def field_name(name: str) -> str:
    """The nearest identifier that can be read as an attribute of a message."""
    text = identifier(name)
    return text + "_" if keyword.iskeyword(text) or text in _METHODS else text


def snake_case(name: str) -> str:
    """``finish_reason`` for ``FinishReason``: fields, and in capitals the prefix of an enum's values."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def map_entry_name(field: str) -> str:
    """The name that protoc gives to the entry message of a map field (``MapEntryName`` in its parser)."""
    return "".join(part[:1].upper() + part[1:] for part in field.split("_")) + "Entry"


def synthetic_oneof_name(field: str, taken: Iterable[str]) -> str:
    """The name that protoc gives to the oneof of a proto3 ``optional`` (``GenerateSyntheticOneofs`` in its parser)."""
    name = field if field.startswith("_") else "_" + field
    while name in taken:
        name = "X" + name
    return name


def place_name(path: str) -> str:
    """A name for the message of a union, by the place of its first use: ``ParamValue`` for ``Param/value``."""
    parts = re.findall(r"[A-Za-z0-9]+", path)
    return identifier("".join(part[:1].upper() + part[1:] for part in parts)[:LONGEST] or "Union")
