"""Which field of the old schema is which of the new: what is meant by a change, apart from any format.

1. A field is first its name: one that keeps it is the same field, whatever became of its number.
2. What is left is matched by number: another name under the number of a field that is gone is that field, renamed, where the
   types are alike (one kind, but for optionals and lists; or both numbers). Else the number was given to another field.
3. Fields that are gone and stand, name for name, in a record that a new field holds, were split off into it; the other way
   round they were taken out of it.
4. Records are matched by where they stand, not by name.

Formats match differently, each in its own way: by number (protobuf, Thrift, FlatBuffers), by name (those with keys), by
position (fixed layouts). That is what a run shows; see `zcser.evolution.pairs.matched_by`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from zcser.schema.model import Enum, Field, Float, Int, Kind, List, Map, Optional, Record, Ref, Schema, Type, Union

__all__ = ["Correspondence", "Matching", "Moved", "bare", "correspond", "match_options"]


@dataclass(frozen=True, slots=True)
class Moved:
    """Fields that stand in a record of their own on one side.

    Attributes
    ----------
    fields
        Those that stand alone.
    holder
        The field that holds them on the other side, and `record` the name of its record.
    """

    fields: tuple[Field, ...]
    holder: Field
    record: str


@dataclass(frozen=True, slots=True)
class Matching:
    """How the fields of two records correspond.

    Attributes
    ----------
    pairs
        Old and new of the same field, in the old order.
    removed, added
        Those of one side alone.
    split, merged
        Fields that went into a record, and out of one; in none of the above.
    """

    pairs: tuple[tuple[Field, Field], ...]
    removed: tuple[Field, ...]
    added: tuple[Field, ...]
    split: tuple[Moved, ...] = ()
    merged: tuple[Moved, ...] = ()

    def inverse(self) -> Matching:
        """From new to old."""
        pairs = tuple((new, old) for old, new in self.pairs)
        return Matching(pairs, self.added, self.removed, self.merged, self.split)


@dataclass(frozen=True, slots=True)
class Correspondence:
    """Two schemas, and the matching of every pair of records that stand in one place of both."""

    old: Schema
    new: Schema
    records: dict[tuple[str, str], Matching]

    def inverse(self) -> Correspondence:
        """From new to old."""
        records = {(new, old): matching.inverse() for (old, new), matching in self.records.items()}
        return Correspondence(self.new, self.old, records)


def bare(type_: Type) -> Type:
    """What a type holds, less the optionals and lists around it."""
    while isinstance(type_, Optional | List):
        type_ = type_.item
    return type_


def correspond(old: Schema, new: Schema) -> Correspondence:
    """Match two schemas from their roots on."""
    found: dict[tuple[str, str], Matching] = {}
    waiting = list(_pairs_of_records(old.root, new.root))
    while waiting:
        pair = waiting.pop()
        if pair in found:
            continue
        matching = found[pair] = _match(old, new, old.record(pair[0]), new.record(pair[1]))
        for one, other in matching.pairs:
            waiting += _pairs_of_records(one.type, other.type)
    return Correspondence(old, new, found)


def match_options(old: Union, new: Union) -> list[tuple[Type, Type]]:
    """Options that are the same, or of one name; the records that are left are one pair where they are two alone."""
    pairs = [(one, other) for one in old.options for other in new.options if _same_option(one, other)]
    left = [one for one in old.options if isinstance(one, Ref) and not any(one is pair[0] for pair in pairs)]
    right = [one for one in new.options if isinstance(one, Ref) and not any(one is pair[1] for pair in pairs)]
    return [*pairs, (left[0], right[0])] if len(left) == len(right) == 1 else pairs


def _same_option(one: Type, other: Type) -> bool:
    match one, other:
        case (Ref(name=left), Ref(name=right)) | (Enum(name=left), Enum(name=right)):
            return left == right
        case List(container=left), List(container=right):
            return left == right
    return one.kind is other.kind


def _pairs_of_records(old: Type, new: Type) -> Iterator[tuple[str, str]]:
    match bare(old), bare(new):
        case Ref(one), Ref(other):
            yield one, other
        case Map(value=one), Map(value=other):
            yield from _pairs_of_records(one, other)
        case Union() as one, Union() as other:
            for left, right in match_options(one, other):
                yield from _pairs_of_records(left, right)
        case Union(options), other:
            yield from (pair for one in options if _same_option(one, other) for pair in _pairs_of_records(one, other))
        case one, Union(options):
            yield from (pair for other in options if _same_option(one, other) for pair in _pairs_of_records(one, other))


def _match(old: Schema, new: Schema, one: Record, other: Record) -> Matching:
    pairs = [(item, other.by_name[item.name]) for item in one.fields if item.name in other.by_name]
    gone = [item for item in one.fields if item.name not in other.by_name]
    come = [item for item in other.fields if item.name not in one.by_name]
    split = _moved(gone, come, new)
    merged = _moved(come, gone, old)
    gone = _without(gone, [item for move in split for item in move.fields] + [move.holder for move in merged])
    come = _without(come, [item for move in merged for item in move.fields] + [move.holder for move in split])
    by_id = {item.id: item for item in come}
    renamed = [(item, by_id[item.id]) for item in gone if item.id in by_id and _alike(item.type, by_id[item.id].type)]
    place = {item.name: number for number, item in enumerate(one.fields)}
    return Matching(
        tuple(sorted([*pairs, *renamed], key=lambda pair: place[pair[0].name])),
        tuple(_without(gone, [pair[0] for pair in renamed])),
        tuple(_without(come, [pair[1] for pair in renamed])),
        split,
        merged,
    )


def _without(fields: list[Field], gone: list[Field]) -> list[Field]:
    return [item for item in fields if not any(item is other for other in gone)]


def _moved(alone: list[Field], holders: list[Field], schema: Schema) -> tuple[Moved, ...]:
    """Which of the fields that are on one side alone stand in records that fields of the other side hold."""
    by_name = {item.name: item for item in alone}
    found = []
    for holder in holders:
        type_ = holder.type.item if isinstance(holder.type, Optional) else holder.type
        if isinstance(type_, Ref):
            names = [item.name for item in schema.resolve(type_).fields]
            if names and all(name in by_name for name in names):
                found.append(Moved(tuple(by_name.pop(name) for name in names), holder, type_.name))
    return tuple(found)


def _alike(old: Type, new: Type) -> bool:
    one, other = bare(old), bare(new)
    return (
        one.kind is other.kind
        or (isinstance(one, Int | Float) and isinstance(other, Int | Float))
        or (Kind.UNION in {one.kind, other.kind})
    )
