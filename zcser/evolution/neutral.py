"""Schemas as they are run: with classes of their own, and with one change at a time.

1. A schema's classes are the user's, of which the old and the new cannot stand side by side under one name, and which may
   check what they hold. Records that have a class are dicts for the run; those of unions, which are told apart by their
   class, get a dataclass that is made for it. Enums keep theirs.
2. A change made alone is the old schema with the fields that it touches as they are in the new. Some cannot be: a field put in
   the middle that pushes the numbers of others on.
3. Schemas that come from another format's own files (.fbs, .proto) are run whole and as they are: their codec reads more
   of them than the neutral schema says.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from zcser.core.errors import SchemaError
from zcser.evolution.matching import Correspondence, Matching
from zcser.evolution.model import Change, ChangeKind
from zcser.schema.model import Field, List, Map, Optional, Record, Ref, Schema, Type, Union, walk

__all__ = ["alone", "neutral"]


def neutral(schema: Schema) -> Schema:
    """A schema with classes of its own (rule 1)."""
    if type(schema) is not Schema:
        return schema
    types = [schema.root, *(item.type for record in schema.records for item in record.fields)]
    unions = [part for type_ in types for part in walk(type_) if isinstance(part, Union)]
    options = {option.name for union in unions for option in union.options if isinstance(option, Ref)}
    return Schema(
        schema.root,
        tuple(
            _with_class(record, record.fields) if record.name in options else dataclasses.replace(record, cls=None)
            for record in schema.records
        ),
    )


def _with_class(record: Record, fields: tuple[Field, ...]) -> Record:
    names = [(item.name, Any) for item in fields]
    cls = None if record.cls is None else dataclasses.make_dataclass(record.name, names)
    return dataclasses.replace(record, fields=fields, cls=cls)


def alone(matched: Correspondence, change: Change) -> Schema | None:
    """The old schema with one change; None where it cannot be made alone (rules 2 and 3). Records are renamed all at once."""
    old, new = matched.old, matched.new
    if type(old) is not Schema or type(new) is not Schema:
        return None
    if change.kind is ChangeKind.RECORD_RENAME:
        return _renamed(matched)
    if not change.path or change.kind in {ChangeKind.RENUMBER, ChangeKind.REORDER}:
        return None
    names = {after: before for before, after in matched.records}
    if len(names) != len(matched.records):
        return None
    record, target = old.record(change.place[0]), new.record(change.place[1])
    came = [_translated(target.by_name[name], names) for name in change.new]
    fields = _changed(record, matched.records[change.place], change, came)
    try:
        wanted = {record.name: _with_class(record, fields)}
        for part in (part for item in came for part in walk(item.type)):
            _bring(part, old, new, names, wanted)
        records = tuple(wanted.pop(kept.name, kept) for kept in old.records)
        return Schema(old.root, _reached(Schema(old.root, (*records, *wanted.values()))))
    except SchemaError:
        return None


def _renamed(matched: Correspondence) -> Schema | None:
    """The old schema with the record names of the new."""
    names = dict(matched.records.keys())
    if len(names) != len(matched.records):
        return None
    old = matched.old
    records = []
    for record in old.records:
        fields = tuple(_translated(item, names) for item in record.fields)
        records.append(dataclasses.replace(record, name=names.get(record.name, record.name), fields=fields))
    try:
        return Schema(_type(old.root, names), tuple(records))
    except SchemaError:
        return None


def _changed(record: Record, matching: Matching, change: Change, came: list[Field]) -> tuple[Field, ...]:
    """The fields of the old record, with those of the change in the place of those that they replace."""
    partner = {new.name: old.name for old, new in matching.pairs}
    fresh = {partner.get(item.name, item.name): item for item in came}
    fields = [
        # An id that changed is a change of its own.
        dataclasses.replace(fresh.pop(item.name), id=item.id) if item.name in fresh else item
        for item in record.fields
        if item.name in fresh or item.name not in change.old
    ]
    return (*fields, *fresh.values())


def _translated(item: Field, names: dict[str, str]) -> Field:
    return dataclasses.replace(item, type=_type(item.type, names))


def _type(type_: Type, names: dict[str, str]) -> Type:
    """A type with the records that have another name on the other side by that name."""
    match type_:
        case Ref(name):
            return Ref(names.get(name, name))
        case Optional(item):
            return Optional(_type(item, names))
        case List(item=item):
            return dataclasses.replace(type_, item=_type(item, names))
        case Map(key, value):
            return Map(key, _type(value, names))
        case Union(options):
            return Union(tuple(_type(option, names) for option in options))
    return type_


def _bring(part: Type, old: Schema, new: Schema, names: dict[str, str], wanted: dict[str, Record]) -> None:
    """Add a record of the new schema alone, and what it reaches, to those wanted."""
    if not isinstance(part, Ref) or part.name in wanted or part.name in names.values():
        return
    if any(record.name == part.name for record in old.records):
        return
    record = new.record(part.name)
    fields = tuple(_translated(item, names) for item in record.fields)
    wanted[part.name] = _with_class(record, fields)
    for inner in (inner for item in fields for inner in walk(item.type)):
        _bring(inner, old, new, names, wanted)


def _reached(schema: Schema) -> tuple[Record, ...]:
    """The records that the root reaches: what a change removed takes its records with it."""
    found: dict[str, Record] = {}

    def visit(types: Iterator[Type]) -> None:
        for part in types:
            if isinstance(part, Ref) and part.name not in found:
                found[part.name] = schema.resolve(part)
                for item in found[part.name].fields:
                    visit(walk(item.type))

    visit(walk(schema.root))
    return tuple(found[record.name] for record in schema.records if record.name in found)
