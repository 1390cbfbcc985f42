"""The differences of two schemas, in words and by path."""

from __future__ import annotations

from collections.abc import Iterator

from zcser.core.fidelity import difference
from zcser.core.words import brief
from zcser.evolution.matching import Correspondence, Matching, Moved, match_options
from zcser.evolution.model import Change, ChangeKind
from zcser.evolution.values import plain
from zcser.schema.model import (
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
    Set,
    Str,
    Tensor,
    Type,
    Union,
)

__all__ = ["changes_between"]

_Words = Iterator[tuple[ChangeKind, str]]

_EXACT_BITS = {32: 24, 64: 53}
"""Bits of the integers that a float of so many bits holds exactly (IEEE 754)."""


def changes_between(matched: Correspondence) -> tuple[Change, ...]:
    """Every difference, from the root on.

    Parameters
    ----------
    matched
        Two schemas and what is the same in them.

    Returns
    -------
    tuple of Change
        Empty where messages of one are messages of the other in every format.
    """
    found = [Change(kind, "", detail) for kind, detail in _of_types(matched.old.root, matched.new.root)]
    for (one, other), matching in matched.records.items():
        found += _of_records(matched.old.record(one), matched.new.record(other), matching)
    return tuple(found)


def _of_records(old: Record, new: Record, matching: Matching) -> Iterator[Change]:
    place = (old.name, new.name)
    for item in matching.added:
        kind = f"{item.type}, id {item.id}, {_presence(item)}"
        reused = next((gone for gone in matching.removed if gone.id == item.id), None)
        again = f"; the id was that of {reused.name!r}" if reused is not None else ""
        yield Change(ChangeKind.ADD, f"{new.name}/{item.name}", kind + again, place, (), (item.name,))
    for item in matching.removed:
        detail = f"{item.type}, id {item.id}, {_presence(item)}"
        yield Change(ChangeKind.REMOVE, f"{old.name}/{item.name}", detail, place, (item.name,), ())
    for one, other in matching.pairs:
        for kind, detail in _of_fields(one, other):
            yield Change(kind, f"{old.name}/{one.name}", detail, place, (one.name,), (other.name,))
    for move in matching.split:
        yield _move(ChangeKind.SPLIT, old.name, move, place)
    for move in matching.merged:
        yield _move(ChangeKind.MERGE, old.name, move, place)
    yield from _of_order(old, new, matching)


def _move(kind: ChangeKind, record: str, move: Moved, place: tuple[str, str]) -> Change:
    names = tuple(item.name for item in move.fields)
    detail = f"{', '.join(names)}, record {move.record}"
    old, new = (names, (move.holder.name,)) if kind is ChangeKind.SPLIT else ((move.holder.name,), names)
    return Change(kind, f"{record}/{move.holder.name}", detail, place, old, new)


def _of_order(old: Record, new: Record, matching: Matching) -> Iterator[Change]:
    """What changed of the ids and the order of fields that both records have."""
    place = (old.name, new.name)
    moved = [(one, other) for one, other in matching.pairs if one.id != other.id]
    if moved:
        detail = ", ".join(f"{one.name} from id {one.id} to {other.id}" for one, other in moved)
        names = [(one.name, other.name) for one, other in moved]
        old_names, new_names = zip(*names, strict=True)
        yield Change(ChangeKind.RENUMBER, old.name, detail, place, old_names, new_names)
    rank = {item.name: number for number, item in enumerate(new.fields)}
    after = sorted(matching.pairs, key=lambda pair: rank[pair[1].name])
    if [one.name for one, _ in after] != [one.name for one, _ in matching.pairs]:
        names = [(one.name, other.name) for one, other in matching.pairs]
        old_names, new_names = zip(*names, strict=True)
        detail = f"now {', '.join(other.name for _, other in after)}"
        yield Change(ChangeKind.REORDER, old.name, detail, place, old_names, new_names)


def _of_fields(old: Field, new: Field) -> _Words:
    if old.name != new.name:
        yield ChangeKind.RENAME, f"to {new.name}, id {new.id}"
    elif old.wire_name != new.wire_name:
        yield ChangeKind.RENAME, f"in messages, from {old.wire_name} to {new.wire_name}"
    yield from _of_types(old.type, new.type)
    if new.may_be_absent and not old.may_be_absent:
        yield ChangeKind.MAY_BE_ABSENT, ""
    if old.may_be_absent and not new.may_be_absent:
        yield ChangeKind.ALWAYS_PRESENT, ""
    if new.has_default and not old.has_default:
        yield ChangeKind.DEFAULT_ADD, brief(plain(new.make_default()))
    elif old.has_default and not new.has_default:
        yield ChangeKind.DEFAULT_REMOVE, brief(plain(old.make_default()))
    elif old.has_default:
        before, after = plain(old.make_default()), plain(new.make_default())
        if difference(before, after) is not None:
            yield ChangeKind.DEFAULT_CHANGE, f"{brief(before)} to {brief(after)}"


def _presence(item: Field) -> str:
    if item.has_default:
        return f"default {brief(plain(item.make_default()))}"
    return "may be absent" if item.may_be_absent else "no default"


def _of_types(old: Type, new: Type) -> _Words:
    words = f"{old} to {new}"
    match old, new:
        case Optional(one), Optional(other):
            yield from _of_types(one, other)
        case Optional(one), _:
            yield ChangeKind.TO_REQUIRED, words
            yield from _of_types(one, new)
        case _, Optional(other):
            yield ChangeKind.TO_OPTIONAL, words
            yield from _of_types(old, other)
        case Set(), Set():
            if old.frozen != new.frozen:
                yield ChangeKind.SHAPE, words
            yield from _of_types(old.item, new.item)
        case (Set(), _) | (_, Set()):
            yield ChangeKind.KIND, words
        case List(), List():
            if (old.length, old.container) != (new.length, new.container):
                yield ChangeKind.SHAPE, words
            yield from _of_types(old.item, new.item)
        case List(item=one), _:
            yield ChangeKind.FROM_LIST, words
            yield from _of_types(one, new)
        case _, List(item=other):
            yield ChangeKind.TO_LIST, words
            yield from _of_types(old, other)
        case Map(), Map():
            if old.key != new.key:
                yield ChangeKind.KIND, words
            yield from _of_types(old.value, new.value)
        case Enum(), Enum():
            yield from _of_enums(old, new)
        case Union(), Union():
            yield from _of_unions(old, new)
        case Union(options), _ if any(option.kind is new.kind for option in options):
            yield ChangeKind.OPTION_REMOVE, words
        case _, Union(options) if any(option.kind is old.kind for option in options):
            yield ChangeKind.OPTION_ADD, words
        case Ref(), Ref():
            if old != new:
                yield ChangeKind.RECORD_RENAME, words
        case _:
            if old != new:
                yield _of_scalars(old, new), words


def _of_scalars(old: Type, new: Type) -> ChangeKind:
    if _holds(new, old):
        return ChangeKind.WIDEN
    if _holds(old, new):
        return ChangeKind.NARROW
    match old, new:
        case (Str(), Str()) | (Bytes(), Bytes()):
            return ChangeKind.SHAPE
        case Tensor(), Tensor() if old.dtype == new.dtype:
            return ChangeKind.SHAPE
    return ChangeKind.KIND


def _holds(wide: Type, narrow: Type) -> bool:
    """Whether every number or array of one type is one of another, exactly."""
    match wide, narrow:
        case Int(), Int():
            low = wide.low is None or (narrow.low is not None and wide.low <= narrow.low)
            return low and (wide.high is None or (narrow.high is not None and wide.high >= narrow.high))
        case Float(), Float():
            return wide.bits >= narrow.bits
        case Float(), Int():
            return narrow.bits is not None and narrow.bits - narrow.signed <= _EXACT_BITS[wide.bits]
        case Tensor(), Tensor():
            return wide.dtype in {None, narrow.dtype} and wide.shape in {None, narrow.shape}
    return False


def _of_enums(old: Enum, new: Enum) -> _Words:
    before, after = dict(old.members), dict(new.members)
    gone = {name: value for name, value in before.items() if name not in after}
    come = {name: value for name, value in after.items() if name not in before}
    for name, value in list(gone.items()):
        renamed = next((other for other, same in come.items() if same == value and type(same) is type(value)), None)
        if renamed is not None:
            yield ChangeKind.ENUM_RENAME, f"{old}: {name} to {renamed}, both {value!r}"
            del gone[name], come[renamed]
    if come:
        yield ChangeKind.ENUM_GROW, f"{new}: {_members(come)}"
    if gone:
        yield ChangeKind.ENUM_SHRINK, f"{old}: {_members(gone)}"
    moved = [name for name in before if name in after and before[name] != after[name]]
    if moved:
        detail = ", ".join(f"{name} from {before[name]!r} to {after[name]!r}" for name in moved)
        yield ChangeKind.ENUM_RENUMBER, f"{new}: {detail}"


def _members(members: dict[str, int | str]) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in members.items())


def _of_unions(old: Union, new: Union) -> _Words:
    pairs = match_options(old, new)
    come = [other for other in new.options if not any(other is pair[1] for pair in pairs)]
    gone = [one for one in old.options if not any(one is pair[0] for pair in pairs)]
    if come:
        yield ChangeKind.OPTION_ADD, ", ".join(map(str, come))
    if gone:
        yield ChangeKind.OPTION_REMOVE, ", ".join(map(str, gone))
    places = [next(n for n, other in enumerate(new.options) if other is pair[1]) for pair in _in_order(old, pairs)]
    if places != sorted(places):
        yield ChangeKind.OPTION_REORDER, f"now {', '.join(map(str, new.options))}"
    for one, other in pairs:
        yield from _of_types(one, other)


def _in_order(old: Union, pairs: list[tuple[Type, Type]]) -> list[tuple[Type, Type]]:
    return [pair for one in old.options for pair in pairs if pair[0] is one]
