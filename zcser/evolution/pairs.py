"""The kinds of change, each as a small pair of schemas: the rows of ``docs/EVOLUTION.md``.

1. A pair differs in one thing, as the developer sees it. ``x`` is what changes; what stands around it does not.
2. Records are plain dicts with ids of their own, but where a change is about classes that have none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from zcser.evolution.model import Outcome
from zcser.evolution.run import evolve
from zcser.schema.model import (
    MISSING,
    Bool,
    Bytes,
    Enum,
    Field,
    Float,
    Int,
    List,
    Map,
    Optional,
    Record,
    Ref,
    Schema,
    Str,
    Tensor,
    Type,
    Union,
)

__all__ = ["PAIRS", "Pair", "matched_by"]


@dataclass(frozen=True, slots=True)
class Pair:
    """A change.

    Attributes
    ----------
    group, name
        Its section and its row.
    old, new
        The schemas.
    """

    group: str
    name: str
    old: Schema
    new: Schema


_I32, _I64, _TEXT = Int(32), Int(64), Str(8)
_NOTE = Field("note", _TEXT, 1)


def _schema(*fields: Field, more: tuple[Record, ...] = ()) -> Schema:
    return Schema(Ref("Message"), (Record("Message", fields), *more))


def _x(type_: Type, *, id_: int = 2, name: str = "x", default: Any = MISSING, required: bool = True) -> Field:
    return Field(name, type_, id_, required, default)


def _typed(group: str, name: str, old: Type, new: Type, *more: Record, after: tuple[Record, ...] | None = None) -> Pair:
    """A field of another type, between two that stay."""
    end = Field("end", _I32, 3)
    return Pair(
        group,
        name,
        _schema(_NOTE, _x(old), end, more=more),
        _schema(_NOTE, _x(new), end, more=more if after is None else after),
    )


def _both_ways(group: str, name: str, back: str, old: Type, new: Type, *more: Record) -> Iterator[Pair]:
    yield _typed(group, name, old, new, *more)
    yield _typed(group, back, new, old, *more)


def _fields() -> Iterator[Pair]:
    group = "Fields"
    plain = _schema(_NOTE)
    for name, item in (
        ("required", _x(_I32)),
        ("with a default", _x(_I32, default=5)),
        ("optional", _x(Optional(_I32))),
        ("that may be absent", _x(_I32, required=False)),
        ("list", _x(List(_I32))),
        ("list with a default", Field("x", List(_I32), 2, default_factory=lambda: [1])),
    ):
        yield Pair(group, f"add a field: {name}", plain, _schema(_NOTE, item))
        yield Pair(group, f"remove a field: {name}", _schema(_NOTE, item), plain)
    before = (_x(_I32, id_=1, name="a"), _x(_I32, id_=2, name="b"))
    middle = (before[0], _x(_I32), _x(_I32, id_=3, name="b"))
    yield Pair(group, "add a required field in the middle, ids by order", _schema(*before), _schema(*middle))
    optional = (before[0], _x(Optional(_I32)), _x(_I32, id_=3, name="b"))
    yield Pair(group, "add an optional field in the middle, ids by order", _schema(*before), _schema(*optional))
    yield Pair(group, "rename", _schema(_NOTE, _x(_I32)), _schema(_NOTE, _x(_I32, name="y")))
    yield Pair(
        group,
        "rename an optional field",
        _schema(_NOTE, _x(Optional(_I32))),
        _schema(_NOTE, _x(Optional(_I32), name="y")),
    )
    yield Pair(group, "reorder, ids kept", _schema(*before), _schema(*reversed(before)))
    swapped = (_x(_I32, id_=2, name="a"), _x(_I32, id_=1, name="b"))
    yield Pair(group, "reorder, ids by order", _schema(*before), _schema(*reversed(swapped)))
    yield Pair(group, "swap two numbers, order kept", _schema(*before), _schema(*swapped))
    yield Pair(group, "another number, order kept", _schema(*before), _schema(before[0], _x(_I32, id_=3, name="b")))
    yield Pair(group, "give the id of a removed field to another", _schema(_NOTE, _x(_I32)), _schema(
        _NOTE, _x(Optional(_TEXT), name="other")))  # fmt: skip


def _presence() -> Iterator[Pair]:
    group = "Presence and defaults"
    yield from _both_ways(group, "required to optional", "optional to required", _I32, Optional(_I32))
    yield from _both_ways(group, "required text to optional", "optional text to required", _TEXT, Optional(_TEXT))
    one, other = _schema(_NOTE, _x(_I32)), _schema(_NOTE, _x(_I32, required=False))
    yield Pair(group, "always there to may be absent", one, other)
    yield Pair(group, "may be absent to always there", other, one)
    fallback = _schema(_NOTE, _x(_I32, default=5))
    yield Pair(group, "default added", one, fallback)
    yield Pair(group, "default removed", fallback, one)
    yield Pair(group, "default changed", fallback, _schema(_NOTE, _x(_I32, default=6)))


def _numbers() -> Iterator[Pair]:
    group = "Numbers and text"
    for old, new in (
        (Int(16), _I32),
        (_I32, _I64),
        (Float(32), Float(64)),
        (_I32, Float(64)),
    ):
        yield from _both_ways(group, f"widen: {old} to {new}", f"narrow: {new} to {old}", old, new)
    yield _typed(group, "uint32 to int32", Int(32, signed=False), _I32)
    yield _typed(group, "uint32 to int64", Int(32, signed=False), _I64)
    yield from _both_ways(group, "bool to int32", "int32 to bool", Bool(), _I32)
    yield from _both_ways(group, "int32 to str", "str to int32", _I32, Str())
    yield from _both_ways(group, "str to bytes", "bytes to str", Str(), Bytes())


def _lists() -> Iterator[Pair]:
    group = "Lists, maps and tensors"
    inner = Record("Inner", (Field("a", _I32, 1),))
    yield from _both_ways(group, "int32 to list", "list to int32", _I32, List(_I32))
    yield from _both_ways(group, "str to list", "list to str", Str(), List(Str()))
    yield from _both_ways(group, "record to list", "list to record", Ref("Inner"), List(Ref("Inner")), inner)
    yield _typed(group, "items widened: list of int32 to int64", List(_I32), List(_I64))
    yield _typed(group, "items optional", List(_I32), List(Optional(_I32)))
    yield _typed(group, "fixed list of 2 to 3", List(_I32, length=2), List(_I32, length=3))
    yield _typed(group, "map values widened: int32 to int64", Map(Str(), _I32), Map(Str(), _I64))
    yield _typed(group, "tensor dtype: float32 to float64", Tensor("float32", (2,)), Tensor("float64", (2,)))
    yield _typed(group, "tensor shape: [2] to [3]", Tensor("float32", (2,)), Tensor("float32", (3,)))
    yield _typed(group, "tensor dtype: float32 to any", Tensor("float32"), Tensor())


def _enums() -> Iterator[Pair]:
    group = "Enums"
    old = Enum("Mode", (("OFF", 0), ("SLOW", 1)))
    grown = Enum("Mode", (*old.members, ("FAST", 2)))
    yield from _both_ways(group, "member added", "member removed", old, grown)
    yield _typed(group, "members renumbered", old, Enum("Mode", (("OFF", 1), ("SLOW", 0))))
    yield _typed(group, "member renamed, number kept", old, Enum("Mode", (("OFF", 0), ("LOW", 1))))
    words = Enum("Mode", (("OFF", "off"), ("SLOW", "slow")))
    longer = Enum("Mode", (*words.members, ("FAST", "fast")))
    yield from _both_ways(group, "member added, of strs", "member removed, of strs", words, longer)
    yield _typed(group, "member added in front, of strs", words, Enum("Mode", (("FAST", "fast"), *words.members)))
    yield from _both_ways(group, "enum to int32", "int32 to enum", old, _I32)
    yield from _both_ways(group, "enum of strs to str", "str to enum of strs", words, Str())


def _unions() -> Iterator[Pair]:
    group = "Unions and records"
    two, three = Union((_I32, Str())), Union((_I32, Str(), Bool()))
    yield from _both_ways(group, "union option added", "union option removed", two, three)
    yield _typed(group, "union options reordered", two, Union((Str(), _I32)))
    yield from _both_ways(group, "int32 to a union that has it", "a union to one of its options", _I32, two)
    inner = Record("Inner", (Field("a", _I32, 1),))
    other = Record("Other", inner.fields)
    yield _typed(group, "record renamed", Ref("Inner"), Ref("Other"), inner, after=(other,))
    flat = _schema(_NOTE, _x(_I32, name="street"), _x(_I32, id_=3, name="city"))
    pair = Record("Address", (_x(_I32, id_=1, name="street"), _x(_I32, id_=2, name="city")))
    nested = _schema(_NOTE, _x(Ref("Address"), id_=4, name="address"), more=(pair,))
    optional = _schema(_NOTE, _x(Optional(Ref("Address")), id_=4, name="address"), more=(pair,))
    yield Pair(group, "fields split off into a record", flat, nested)
    yield Pair(group, "fields split off into an optional record", flat, optional)
    yield Pair(group, "fields taken out of a record", nested, flat)


PAIRS: tuple[Pair, ...] = (*_fields(), *_presence(), *_numbers(), *_lists(), *_enums(), *_unions())
"""Every kind of change."""


@cache
def matched_by(codec: str) -> str:
    """How a codec finds a field: by its ``"name"``, ``"number"`` or ``"position"``; ``"?"`` where it cannot be told.

    Found by running: what goes by name does not survive a rename, and what goes by number not another number. The
    position is that of the declaration, or of the number among the others.
    """
    by_name = {pair.name: pair for pair in PAIRS}
    for name, answer in (("rename", "name"), ("another number, order kept", "number")):
        (report,) = evolve(by_name[name].old, by_name[name].new, codecs=[codec]).codecs
        if report.refusal:
            return "?"
        if any(set(tally.counts) != {Outcome.WORKS} for tally in report.whole.values()):
            return answer
    return "position"
