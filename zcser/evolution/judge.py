"""What became of a message: the value that was written against the value that was read, field by field.

1. What is expected is never taken from a codec: `zcser.evolution.values.carried` says what a change of type means for a value,
   and `zcser.evolution.matching` which field is which.
2. A finding belongs to the changes of the innermost field around it that has any. One outside every changed field that is
   not what was written makes the whole message wrong.
3. Where nothing the reader's type holds means what was written, a stand-in is `lost`, and any other value `wrong`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from zcser.core.fidelity import difference
from zcser.core.words import brief
from zcser.evolution.matching import Correspondence, Moved, match_options
from zcser.evolution.model import Change, Finding, Outcome
from zcser.evolution.values import ABSENT, NOTHING, carried, fields_of, is_zero, option_of, plain, stands_in
from zcser.schema.model import Enum, Field, Float, Kind, List, Map, Optional, Ref, Set, Type, Union

__all__ = ["Judge"]

_WORKS = Finding(Outcome.WORKS)
_FLOAT32 = struct.Struct("<f")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the walk is: whom a finding belongs to, what stands in for nothing there, and its path."""

    owners: tuple[Change, ...]
    item: Field
    path: str

    def at(self, step: str, type_: Type) -> _Place:
        return _Place(self.owners, Field(step, type_, 1), f"{self.path}/{step}")


_Found = Iterator[tuple[tuple[Change, ...], Finding]]


class Judge:
    """The judge of messages that one side writes and the other reads.

    Parameters
    ----------
    matched
        From the writer's schema to the reader's.
    changes
        All that differs between them.
    inverse
        Whether the writer's schema is the new one.
    """

    def __init__(self, matched: Correspondence, changes: tuple[Change, ...], *, inverse: bool) -> None:
        self.matched = matched
        self.changes = changes
        self.inverse = inverse
        self._root = tuple(change for change in changes if not change.path)

    def __call__(self, written: Any, read: Any) -> tuple[Finding, dict[Change, Finding]]:
        """The worst finding of a message, and the worst of each change that it holds something of."""
        root = Field("", self.matched.new.root, 1)
        place = _Place(self._root, root, "")
        by_change: dict[Change, Finding] = {}
        broken: Finding | None = None
        for owners, finding in self._value(self.matched.old.root, self.matched.new.root, written, read, place):
            for change in owners:
                by_change[change] = _worse(by_change.get(change), finding)
            if not owners and finding.outcome is not Outcome.WORKS:
                # What no change touches came back as something else: nothing of this message is to be trusted.
                broken = Finding(Outcome.WRONG, f"a field that did not change: {finding.reason}")
        if broken is not None:
            by_change = dict.fromkeys(by_change, broken)
        whole = max(by_change.values(), key=lambda finding: finding.rank, default=broken or _WORKS)
        return whole, by_change

    def _owners(self, pair: tuple[str, str], written: Iterable[str], read: Iterable[str]) -> tuple[Change, ...]:
        """The changes of fields of a pair of records, the writer's and the reader's."""
        place = (pair[1], pair[0]) if self.inverse else pair
        old, new = (set(read), set(written)) if self.inverse else (set(written), set(read))
        return tuple(
            change for change in self.changes if change.place == place and (old & {*change.old} or new & {*change.new})
        )

    def _record(self, one: Ref, other: Ref, written: Any, read: Any, place: _Place) -> _Found:
        pair = (one.name, other.name)
        matching = self.matched.records[pair]
        before, after = fields_of(written), fields_of(read)

        def inside(old: Iterable[Field], new: Iterable[Field], item: Field) -> _Place:
            owners = self._owners(pair, (f.name for f in old), (f.name for f in new))
            return _Place(owners or place.owners, item, f"{place.path}/{item.name}")

        for old, new in matching.pairs:
            here = inside([old], [new], new)
            yield from self._field(old, new, before.get(old.name, ABSENT), after.get(new.name, ABSENT), here)
        for old in matching.removed:
            if before.get(old.name, ABSENT) is not ABSENT:
                reason = f"{place.path}/{old.name}: the reader has no such field"
                yield inside([old], [], old).owners, Finding(Outcome.LOST, reason, meant=True)
        for new in matching.added:
            yield self._stand_in(after.get(new.name, ABSENT), inside([], [new], new), Outcome.DEFAULT, "nothing")
        for move in matching.split:
            here = inside(move.fields, [move.holder], move.holder)
            yield from self._split(move, before, after.get(move.holder.name, ABSENT), here)
        for move in matching.merged:
            here = inside([move.holder], move.fields, move.holder)
            yield from self._merged(move, before.get(move.holder.name, ABSENT), after, here)

    def _field(self, old: Field, new: Field, written: Any, read: Any, place: _Place) -> _Found:
        if written is ABSENT and read is ABSENT and old.may_be_absent:
            yield place.owners, _WORKS
        elif written is ABSENT:
            yield self._stand_in(read, place, Outcome.DEFAULT, "nothing")
        elif read is ABSENT:
            outcome = Outcome.DEFAULT if written is None else Outcome.LOST
            yield place.owners, Finding(outcome, _words(place.path, written, read))
        else:
            yield from self._value(old.type, new.type, written, read, place)

    def _stand_in(self, read: Any, place: _Place, outcome: Outcome, written: str) -> tuple[tuple[Change, ...], Finding]:
        """Where the writer had nothing that the reader could have: its own value, or one out of thin air."""
        how = stands_in(self.matched.new, place.item, read)
        words = f"{place.path or 'the root'}: {written} was written"
        if how is None:
            return place.owners, Finding(Outcome.WRONG, f"{words}, {_shown(read)} was read")
        return place.owners, Finding(outcome, f"{words}, {_shown(read)} was read, {how}")

    def _split(self, move: Moved, before: Mapping[str, Any], read: Any, place: _Place) -> _Found:
        """Fields that stand alone at the writer, and in a record at the reader."""
        if read is ABSENT or read is None:
            nothing = all(before.get(item.name) is None for item in move.fields)
            outcome = Outcome.DEFAULT if nothing else Outcome.LOST
            yield self._stand_in(read, place, outcome, "each field alone")
            return
        inner = fields_of(read)
        for new in self.matched.new.record(move.record).fields:
            old = next(item for item in move.fields if item.name == new.name)
            here = _Place(place.owners, new, f"{place.path}/{new.name}")
            yield from self._field(old, new, before.get(old.name, ABSENT), inner.get(new.name, ABSENT), here)

    def _merged(self, move: Moved, written: Any, after: Mapping[str, Any], place: _Place) -> _Found:
        """Fields that stand in a record at the writer, and alone at the reader."""
        inner = {} if written is ABSENT or written is None else fields_of(written)
        record = self.matched.old.record(move.record)
        for new in move.fields:
            here = _Place(place.owners, new, f"{place.path}/{new.name}")
            old = record.by_name[new.name]
            yield from self._field(old, new, inner.get(new.name, ABSENT), after.get(new.name, ABSENT), here)

    def _value(self, old: Type, new: Type, written: Any, read: Any, place: _Place) -> _Found:
        match old, new:
            case Optional(), _:
                if written is None:
                    if read is None:
                        yield place.owners, _WORKS
                    else:
                        yield self._stand_in(read, place, Outcome.DEFAULT, "None")
                else:
                    yield from self._value(old.item, new, written, read, place)
            case _, Optional():
                if read is None:
                    yield place.owners, Finding(Outcome.LOST, _words(place.path, written, read))
                else:
                    yield from self._value(old, new.item, written, read, place)
            case (
                (Set(item=one), Set(item=other)) | (Set(item=one), List(item=other)) | (List(item=one), Set(item=other))
            ):
                yield place.owners, self._set(one, other, written, read, place)
            case List(), List():
                yield from self._list(old, new, written, read, place)
            case List(), _:
                yield from self._one_of(old, new, written, read, place)
            case _, List():
                yield from self._value(List(old), new, [written], read, place)
            case Map(), Map():
                yield from self._map(old, new, written, read, place)
            case Union(), _:
                yield from self._union(old, new, written, read, place)
            case _, Union():
                yield from self._into_union(old, new, written, read, place)
            case Ref(), Ref() if (old.name, new.name) in self.matched.records:
                yield place.owners, _WORKS
                yield from self._record(old, new, written, read, place)
            case _:
                yield place.owners, self._scalar(old, new, written, read, place)

    def _list(self, old: List, new: List, written: Any, read: Any, place: _Place) -> _Found:
        if len(written) != len(read):
            lost = len(read) < len(written) and all(is_zero(self.matched.new, new.item, item) for item in read)
            outcome = Outcome.LOST if lost else Outcome.WRONG
            yield place.owners, Finding(outcome, _words(place.path, written, read))
            return
        yield place.owners, _WORKS
        for number, (one, other) in enumerate(zip(written, read, strict=True)):
            yield from self._value(old.item, new.item, one, other, place.at(str(number), new.item))

    def _set(self, old: Type, new: Type, written: Any, read: Any, place: _Place) -> Finding:
        """Items in no order."""
        expected = [carried(old, new, item) for item in written]
        got = [plain(item) if new.kind is Kind.ENUM else item for item in read]
        same = len(got) == len(set(written)) and {(type(i), i) for i in expected} == {(type(i), i) for i in got}
        if same:
            return _WORKS
        return Finding(Outcome.WRONG if got else Outcome.LOST, _words(place.path, written, read))

    def _one_of(self, old: List, new: Type, written: Any, read: Any, place: _Place) -> _Found:
        """A list that became a field: its one item, or what is left of many."""
        if not written:
            yield self._stand_in(read, place, Outcome.DEFAULT, "an empty list")
        elif len(written) == 1:
            yield from self._value(old.item, new, written[0], read, place)
        elif any(self._matches(old.item, new, item, read, place) for item in written):
            yield place.owners, Finding(Outcome.LOST, _words(place.path, written, read))
        else:
            yield self._stand_in(read, place, Outcome.LOST, brief(plain(written)))

    def _matches(self, old: Type, new: Type, written: Any, read: Any, place: _Place) -> bool:
        return all(finding.outcome is Outcome.WORKS for _, finding in self._value(old, new, written, read, place))

    def _map(self, old: Map, new: Map, written: Any, read: Any, place: _Place) -> _Found:
        keys = {key: carried(old.key, new.key, key) for key in written}
        if not read and written:
            yield place.owners, Finding(Outcome.LOST, _words(place.path, written, read))
            return
        expected = {(type(key), key) for key in keys.values() if key is not NOTHING}
        if expected != {(type(key), key) for key in read} or len(expected) != len(written):
            yield place.owners, Finding(Outcome.WRONG, _words(place.path, written, read))
            return
        yield place.owners, _WORKS
        for key, item in written.items():
            yield from self._value(old.value, new.value, item, read[keys[key]], place.at(str(key), new.value))

    def _union(self, old: Union, new: Type, written: Any, read: Any, place: _Place) -> _Found:
        option = option_of(self.matched.old, old.options, written)
        if not isinstance(new, Union):
            yield from self._value(option, new, written, read, place)
            return
        partner = next((other for one, other in match_options(old, new) if one is option), None)
        got = option_of(self.matched.new, new.options, read)
        if partner is None:
            yield place.owners, Finding(Outcome.WRONG, _words(place.path, written, read))
        elif got is not partner:
            yield place.owners, Finding(Outcome.WRONG, f"{_words(place.path, written, read)}, as {got}, not {partner}")
        else:
            yield from self._value(option, partner, written, read, place)

    def _into_union(self, old: Type, new: Union, written: Any, read: Any, place: _Place) -> _Found:
        got = option_of(self.matched.new, new.options, read)
        if got.kind is old.kind:
            yield from self._value(old, got, written, read, place)
        else:
            yield place.owners, Finding(Outcome.WRONG, f"{_words(place.path, written, read)}, as {got}")

    def _scalar(self, old: Type, new: Type, written: Any, read: Any, place: _Place) -> Finding:
        expected = carried(old, new, written)
        if expected is not NOTHING and difference(expected, plain(read)) is None:
            return _WORKS
        words = _words(place.path, written, read)
        if isinstance(old, Float) and new == Float(32) and type(read) is float and _rounded(written) == read:
            return Finding(Outcome.LOST, f"{words}: rounded")
        if place.item.has_default:
            dropped = stands_in(self.matched.new, place.item, read) is not None
        else:
            # An enum's first member says something else than the one written; a zero says little.
            dropped = not isinstance(new, Enum) and is_zero(self.matched.new, new, read)
        return Finding(Outcome.LOST if dropped else Outcome.WRONG, words)


def _worse(one: Finding | None, other: Finding) -> Finding:
    return other if one is None or other.rank > one.rank else one


def _rounded(number: float) -> float:
    try:
        rounded: float = _FLOAT32.unpack(_FLOAT32.pack(number))[0]
    except OverflowError:
        rounded = float("inf") if number > 0 else -float("inf")
    return rounded


def _shown(value: Any) -> str:
    return "nothing" if value is ABSENT else brief(plain(value))


def _words(path: str, written: Any, read: Any) -> str:
    return f"{path or 'the root'}: {_shown(written)} was written, {_shown(read)} was read"
