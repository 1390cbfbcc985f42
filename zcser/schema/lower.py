"""A schema in terms of what every codec carries: the *wire schema* of one that has more.

1. A logical value stands as its wire form (`zcser.schema.values`), a set as the list of its items. A record on the way to
   one is a plain dict, as is every record whose class is not made by its fields' names; it keeps its name, its ids and
   its order. All else stays as it is, class and all, and is never touched.
2. In a union the Python type must still tell the options apart. A record there has a stand-in class of its own; a logical
   value or a set whose wire form is another option's is *boxed*: in a record of one field, ``value``.
3. A field that has an alias has it for its name.
4. A transparent record, as a RootModel is, stands as its one field. In a union it is boxed where that is None, a union, or
   of another option's Python type.
5. Where nothing has to be lowered there is no lowering.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from zcser.core.errors import SchemaError
from zcser.schema.classes import MISSING, is_pydantic, keywords_of
from zcser.schema.document_values import normal_default
from zcser.schema.model import (
    Field,
    List,
    Logical,
    Map,
    Null,
    Optional,
    Record,
    Ref,
    Schema,
    Set,
    Type,
    Union,
    walk,
)
from zcser.schema.values import WireForm, wire_form

__all__ = ["BOXED", "Lowering", "StandIn", "WireDefault", "lowered", "lowering_of"]

BOXED = "value"
"""The field of a box."""


class StandIn:
    """The base of the classes of records in unions."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


class WireDefault:
    """The default of a lowered field, lowered: who compiles the conversion of the schema gives it `lower`."""

    def __init__(self, schema: Schema, item: Field, path: str) -> None:
        self.schema = schema
        self.item = item
        self.path = path
        self.lower: Callable[[Any], Any] | None = None

    def __call__(self) -> Any:
        """A fresh default. Raises `SchemaError` where the field's default is no value of its type."""
        if self.lower is None:
            raise SchemaError("a wire schema makes defaults once its conversion is compiled", path=self.path)
        value = self.item.make_default()
        try:
            return self.lower(value)
        except Exception:  # noqa: BLE001 - of a default that is not normal, or no value of its type
            return self.lower(normal_default(self.schema, self.item.type, value, self.path))


@dataclass(frozen=True)
class Lowering:
    """A schema, and its wire schema.

    Attributes
    ----------
    schema, wire
        Of the values, and of what a codec is given for them.
    text
        Whether wire forms are those of formats of text.
    records
        Names of the records that are lowered.
    boxes
        The record of the wire schema that an option of a union is boxed in.
    unions
        What each union of the schema is in the wire schema.
    """

    schema: Schema
    wire: Schema
    text: bool
    records: frozenset[str]
    boxes: Mapping[tuple[Union, Type], Record]
    unions: Mapping[Union, Union]

    def touches(self, type_: Type) -> bool:
        """Whether values of a type are changed."""
        return _touches(type_, self.records)

    def form(self, logical: Logical, *, key: bool = False) -> WireForm:
        """See `zcser.schema.values.wire_form`."""
        return wire_form(logical, text=self.text, key=key)

    def names(self, record: Record) -> dict[str, str]:
        """The names of a lowered record's fields in messages."""
        return {item.name: item.wire_name for item in record.fields}


def lowered(schema: Schema, *, text: bool) -> Schema:
    """The wire schema of a schema: the schema itself where every codec carries it.

    Parameters
    ----------
    schema
        Of values.
    text
        For a format of text; see `zcser.schema.values`.
    """
    lowering = lowering_of(schema, text=text)
    return schema if lowering is None else lowering.wire


def lowering_of(schema: Schema, *, text: bool) -> Lowering | None:
    """How a schema is lowered; None where every codec carries it as it is."""
    records = _on_the_way(schema)
    if not records and not _touches(schema.root, records):
        return None
    return _Lowerer(schema, text=text, records=records).lowering()


def _on_the_way(schema: Schema) -> frozenset[str]:
    found = {record.name for record in schema.records if _is_made_apart(record)}
    while True:
        more = {
            record.name
            for record in schema.records
            if record.name not in found and any(_touches(item.type, found) for item in record.fields)
        }
        if not more:
            return frozenset(found)
        found |= more


def _is_made_apart(record: Record) -> bool:
    """Whether values are not made by a call, or a dict, with their fields by the names that they have in messages."""
    if record.transparent or any(item.alias is not None for item in record.fields):
        return True
    return record.cls is not None and (is_pydantic(record.cls) or bool(keywords_of(record.cls)))


def _touches(type_: Type, records: frozenset[str] | set[str]) -> bool:
    return any(
        isinstance(part, Logical | Set) or (isinstance(part, Ref) and part.name in records) for part in walk(type_)
    )


class _Lowerer:
    def __init__(self, schema: Schema, *, text: bool, records: frozenset[str]) -> None:
        self.schema = schema
        self.text = text
        self.records = records
        types = [schema.root, *(item.type for record in schema.records for item in record.fields)]
        # In order, so that boxes have the same names in every process.
        self.unions = list(dict.fromkeys(part for type_ in types for part in walk(type_) if isinstance(part, Union)))
        options = {option for union in self.unions for option in union.options}
        self.stand_ins: dict[str, type] = {
            record.name: type(record.name, (StandIn,), {})
            for record in schema.records
            if record.name in records
            and record.cls is not None
            and not record.transparent
            and Ref(record.name) in options
        }
        self.boxed: dict[tuple[Union, Type], str] = {}
        self.box_names: dict[Type, str] = {}

    def lowering(self) -> Lowering:
        for union in self.unions:
            counts = Counter(map(self.wire_class, union.options))
            for option in union.options:
                if self.is_boxed(option, counts):
                    self.boxed[union, option] = self.box_name(option)
        # What is in a box may hold unions itself, so that all names come first.
        box_of = {option: self.box(name, option) for option, name in self.box_names.items()}
        records = [
            self.record(record) if record.name in self.records else record
            for record in self.schema.records
            if not record.transparent
        ]
        unions = {union: self.union(union) for union in self.unions}
        wire = Schema(self.type_(self.schema.root), (*records, *box_of.values()), self.schema.notes)
        boxes = {(union, option): box_of[option] for union, option in self.boxed}
        return Lowering(self.schema, wire, self.text, self.records, boxes, unions)

    def is_boxed(self, option: Type, counts: Mapping[type | None, int]) -> bool:
        cls = self.wire_class(option)
        if isinstance(option, Ref) and self.schema.resolve(option).transparent:
            return cls is None or counts[cls] > 1
        return isinstance(option, Logical | Set) and counts[cls] > 1

    def wire_class(self, option: Type) -> type | None:
        """The Python class of an option's values in the wire schema, unboxed; None where it has to be boxed."""
        option = self.schema.bare(option)
        match option:
            case Null() | Optional() | Union():
                return None
            case Logical():
                return self.schema.python_type(wire_form(option, text=self.text).type)
            case Set():
                return list
            case Ref(name) if name in self.records:
                return self.stand_ins.get(name, dict)
        return self.schema.python_type(option)

    def box_name(self, option: Type) -> str:
        if option not in self.box_names:
            kept = {record.name for record in self.schema.records if not record.transparent}
            taken = kept.union(self.box_names.values())
            base = option.name if isinstance(option, Ref) else re.sub(r"\W", "", str(option).title())
            name, number = base, 2
            while name in taken:
                name, number = f"{base}{number}", number + 1
            self.box_names[option] = name
        return self.box_names[option]

    def box(self, name: str, option: Type) -> Record:
        return Record(name, (Field(BOXED, self.type_(option), 1),), type(name, (StandIn,), {}))

    def record(self, record: Record) -> Record:
        fields = tuple(self.field(record, item) for item in record.fields)
        return Record(record.name, fields, self.stand_ins.get(record.name), record.doc)

    def field(self, record: Record, item: Field) -> Field:
        item = replace(item, name=item.wire_name, alias=None)
        if not _touches(item.type, self.records):
            return item
        make = WireDefault(self.schema, item, f"{record.name}/{item.name}") if item.has_default else None
        return replace(item, type=self.type_(item.type), default=MISSING, default_factory=make)

    def type_(self, type_: Type) -> Type:
        if not _touches(type_, self.records):
            return type_
        match type_:
            case Logical():
                return wire_form(type_, text=self.text).type
            case Set(item):
                return List(self.type_(item))
            case Optional(item):
                return Optional(self.type_(item))
            case List(item=item):
                return replace(type_, item=self.type_(item))
            case Map(key, value):
                if isinstance(key, Logical):
                    key = wire_form(key, text=self.text, key=True).type  # type: ignore[assignment]  # an Int or Str
                return Map(key, self.type_(value))
            case Union():
                return self.union(type_)
            case Ref() if self.schema.resolve(type_).transparent:
                return self.type_(self.schema.bare(type_))
        return type_

    def union(self, union: Union) -> Union:
        return Union(tuple(self.option(option, union) for option in union.options))

    def option(self, option: Type, union: Union) -> Type:
        box = self.boxed.get((union, option))
        return self.type_(option) if box is None else Ref(box)
