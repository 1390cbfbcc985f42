"""Engines and schemas for the tests of the whole format, and values from what flatc prints of messages."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest

import zcser
from tests.flat.flatc import INCLUDES
from zcser.core.options import Options
from zcser.flat.bfbs import FlatSchema, normaliser_for, program_for
from zcser.flat.bfbs_definition import attribute
from zcser.flat.engine import Engine
from zcser.flat.reflection import BaseType, EnumDef, FieldDef, ObjectDef, SchemaDef, TypeDef

BACKENDS = ("pure", "native")


def engine_of(backend: str, schema: FlatSchema) -> Engine:
    if backend == "native":
        pytest.importorskip("zcser.native._flat")
        from zcser.flat.native.engine import make_engine as make
    else:
        from zcser.flat.pure.engine import make_engine as make
    options = Options()
    normal = normaliser_for(schema, options, codec="flatbuffers")
    return make(program_for(schema), options, codec="flatbuffers", normal=normal)


@functools.cache
def schema_of(path: Path, root: str | None = None) -> FlatSchema:
    return zcser.load_fbs(path, include=INCLUDES, root=root)


class Reader:
    """Values of a schema from what flatc prints of messages: enums by name, a union as two keys."""

    def __init__(self, schema: FlatSchema) -> None:
        self.content: SchemaDef = schema.definition.schema
        self.objects = {item.name: item for item in self.content.objects}
        self.schema = schema

    def value(self, found: dict[str, Any]) -> dict[str, Any]:
        """The value of a whole document."""
        return self.record(self.objects[str(self.schema.root)], found)

    def record(self, of: ObjectDef, found: dict[str, Any]) -> dict[str, Any]:
        made, used = {}, set()
        for item in of.fields:
            if item.deprecated or self.is_number(item):
                used.add(item.name)
            elif item.name in found:
                used.add(item.name)
                is_null = found[item.name] is None  # flatc prints it of optional scalars
                kind = found.get(f"{item.name}_type")
                made[item.name] = None if is_null else self.field(of, item, found[item.name], kind)
        assert used >= set(found), f"flatc prints more of {of.name}: {set(found) - used}"
        return made

    def is_number(self, item: FieldDef) -> bool:
        return BaseType.UTYPE in (item.type.base_type, item.type.element)

    def field(self, of: ObjectDef, item: FieldDef, found: Any, kind: Any) -> Any:
        type_ = item.type
        if type_.base_type == BaseType.UNION:
            return self.option(self.content.enums[type_.index], kind, found)
        if type_.base_type in (BaseType.VECTOR, BaseType.VECTOR64, BaseType.ARRAY):
            nested = attribute(item.attributes, "nested_flatbuffer")
            if nested is not None:
                return self.record(self.schema.definition.table(nested, "", within=of.name), found)
            if attribute(item.attributes, "flexbuffer") is not None:
                return found
            if type_.element == BaseType.UNION:
                return [
                    self.option(self.content.enums[type_.index], each, inner)
                    for each, inner in zip(kind, found, strict=True)
                ]
            if type_.element == BaseType.UBYTE and type_.index < 0 and type_.base_type != BaseType.ARRAY:
                return bytes(found)
            return [self.one(type_.element, type_.index, inner) for inner in found]
        return self.one(type_.base_type, type_.index, found)

    def one(self, base: int, index: int, found: Any) -> Any:
        if base == BaseType.OBJECT:
            return self.record(self.content.objects[index], found)
        if base in (BaseType.FLOAT, BaseType.DOUBLE):
            return float(found)
        if isinstance(found, str) and base != BaseType.STRING:
            members = {member.name: member.value for member in self.content.enums[index].values}
            number = sum(members[name] for name in found.split())
            return number & 0xFFFF_FFFF_FFFF_FFFF if base == BaseType.ULONG else number
        return found

    def option(self, union: EnumDef, kind: str, found: Any) -> Any:
        if kind == "NONE":
            return None
        (member,) = (member for member in union.values if member.name == kind)
        type_: TypeDef = member.union_type  # type: ignore[assignment]
        return {kind: self.one(type_.base_type, type_.index, found)}


def rounded(value: Any) -> Any:
    """A value with its floats to the 6 decimals that flatc prints of a float."""
    if isinstance(value, float):
        return round(value, 5) if abs(value) < 1e30 else value
    if isinstance(value, list):
        return [rounded(item) for item in value]
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return value


def without(value: Any, *names: str) -> Any:
    """A value less some fields, wherever they stand."""
    if isinstance(value, list):
        return [without(item, *names) for item in value]
    if isinstance(value, dict):
        return {key: without(item, *names) for key, item in value.items() if key not in names}
    return value


def json_of(content: Any) -> str:
    return json.dumps(content).replace('"nan"', "nan").replace('"-inf"', "-inf").replace('"inf"', "inf")
