"""Messages to write: seeded values of a schema, drawn until every alternative of it was seen.

A verdict must not hang on luck: an enum's new member, an option of a union, None, an absent field, an end of an integer's
range that no drawn value had would leave a change looking harmless.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from zcser.core.errors import EncodeError
from zcser.evolution.values import ABSENT, fields_of, option_of, plain
from zcser.schema.model import Bool, Bytes, Enum, Float, Int, List, Map, Optional, Ref, Schema, Str, Type, Union
from zcser.schema.normal import normal
from zcser.schema.samples import samples

__all__ = ["messages"]

_PLAIN, _EDGES = 4, 16
"""Values that are taken whatever they show."""

_BATCH, _PATIENCE = 20, 15
"""Further ones are drawn in batches, and taken where they show something new, until so many in a row showed nothing: what
lies too deep in a recursive schema is never drawn."""

_Seen = tuple[str, str]
"""A place in the schema, and an alternative there."""


def messages(schema: Schema) -> list[Any]:
    """Normal values of a schema; the same ones each time."""
    found = [*_normal(schema, samples(schema, "plain", _PLAIN)), *_normal(schema, samples(schema, "edges", _EDGES))]
    left = set(_wanted(schema))
    for value in found:
        left.difference_update(_shown(schema, schema.root, value, ""))
    seed = progress = 0
    while left and seed < progress + _PATIENCE:
        seed += 1
        for value in _normal(schema, samples(schema, "edges", _BATCH, seed=seed)):
            shown = left.intersection(_shown(schema, schema.root, value, ""))
            if shown:
                progress = seed
                left -= shown
                found.append(value)
    return found


def _normal(schema: Schema, values: list[Any]) -> Iterator[Any]:
    for value in values:
        with suppress(EncodeError):  # an edge as a number over float32's range has no normal form
            yield normal(schema, value)


def _wanted(schema: Schema) -> Iterator[_Seen]:
    """Every alternative of a schema."""
    yield from _alternatives(schema.root, "")
    for record in schema.records:
        for item in record.fields:
            place = f"{record.name}/{item.name}"
            yield from _alternatives(item.type, place)
            if item.may_be_absent:
                yield place, "absent"


def _alternatives(type_: Type, place: str) -> Iterator[_Seen]:
    match type_:
        case Bool():
            yield from ((place, "True"), (place, "False"))
        case Int(bits=bits) if bits is not None:
            yield from ((place, str(type_.low)), (place, str(type_.high)))
        case Float(bits=64):
            yield place, "no float32"
        case Str() | Bytes():
            yield place, "some"
            if type_.size is None:
                yield place, "empty"
        case Enum():
            yield from ((place, repr(value)) for _, value in type_.members)
        case Optional(item):
            yield place, "None"
            yield from _alternatives(item, place)
        case List():
            if type_.length is None:
                yield from ((place, "0 items"), (place, "1 items"), (place, "2 items"))
            yield from _alternatives(type_.item, f"{place}/*")
        case Map(value=value):
            yield from _alternatives(value, f"{place}/*")
        case Union(options):
            for option in options:
                yield place, str(option)
                yield from _alternatives(option, f"{place}/{option}")


def _shown(schema: Schema, type_: Type, value: Any, place: str) -> Iterator[_Seen]:
    """The alternatives that a value shows."""
    match type_:
        case Bool() | Int():
            yield place, str(value)
        case Float():
            # The double next to 0.1, of which a float32 has too few bits.
            yield place, "no float32" if value == 0.1 else ""
        case Str() | Bytes():
            yield place, "some" if value else "empty"
        case Enum():
            yield place, repr(plain(value))
        case Optional(item):
            if value is None:
                yield place, "None"
            else:
                yield from _shown(schema, item, value, place)
        case List():
            yield place, f"{len(value)} items"
            for part in value:
                yield from _shown(schema, type_.item, part, f"{place}/*")
        case Map(value=inside):
            for part in value.values():
                yield from _shown(schema, inside, part, f"{place}/*")
        case Union(options):
            option = option_of(schema, options, value)
            yield place, str(option)
            yield from _shown(schema, option, value, f"{place}/{option}")
        case Ref(name):
            fields = fields_of(value)
            for field in schema.resolve(type_).fields:
                part, inner = fields.get(field.name, ABSENT), f"{name}/{field.name}"
                if part is ABSENT:
                    yield inner, "absent"
                else:
                    yield from _shown(schema, field.type, part, inner)
