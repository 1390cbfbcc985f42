"""A schema from JSON samples, with the reasons for what was decided.

1. Every sample conforms to the schema that is inferred from it. A key that some objects lack is a field that may be
   absent; a None among values is an `Optional`; several kinds at one place are a `Union`, in which lists share one item
   type and objects one record or one map.
2. Ints are int64; uint64 where some need it and none is negative; else unbounded. Ints among floats become float64, and
   are reported, where each of them is exact as such; otherwise, or with ``numbers="exact"``, both stay in a union.
3. Field ids count from 1 in the order in which keys first appear, options of a union stand in that order too: further
   samples append to a record and renumber nothing. (Below a map the order is entry by entry, so there they may.)
4. A record is named after the nearest key above it, in CamelCase of ASCII letters and digits; a name that is taken gets
   2, 3, ... Places of the same shape stay separate records, and nothing is guessed to be recursive.

Records against maps. The objects of a place are a map where both the keys and the values say so.

*Keys.* A **code** is a key that starts with a digit or its sign and goes on with digits and punctuation (``42``,
``2024-01-31T12:00Z``, ``1.2.3``), or one of `HASH_DIGITS` or more hex digits and dashes with a digit among them.
A **name** is at most `NAME_LENGTH` characters: words joined by single ``-``, ``.``, ``:`` or blanks, the first of them
starting with a letter or ``_``, or with ``$`` or ``@`` before it. A key that is no name is **odd**. **Fill** is the
mean share of a place's distinct keys that one of its objects has. The keys say map where

a. all of them are codes, however few; or
b. there are `ODD_KEYS` or more, at least half of them odd, and either only one object or a fill up to `ODD_FILL`; or
c. there are `SPARSE_KEYS` or more and the fill is up to `SPARSE_FILL`: each object brings keys of its own; or
d. there are `RECORD_KEYS` or more, and every value is an object or None.

*Values* say map where taking them together makes no union that none of them was before (ints and floats are one kind;
of lists, the items count), and where objects among them have a fill of `SHARED_FILL` or more, or keys that say map.

Beyond `MAX_FIELDS` keys, where field ids end, objects are a map in any case.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, Literal, get_args

from zcser.core.errors import SchemaError
from zcser.schema.model import (
    Bool,
    Field,
    Float,
    Int,
    List,
    Map,
    Null,
    Optional,
    Record,
    Ref,
    Schema,
    Str,
    Type,
    Union,
)
from zcser.schema.observe import EACH, Place, Steps, merged, observe, shown

__all__ = ["Numbers", "decide", "infer", "record_name", "survey"]

Numbers = Literal["float64", "exact"]

HASH_DIGITS: Final = 16
NAME_LENGTH: Final = 64
ODD_KEYS: Final = 4
ODD_FILL: Final = 0.5
SPARSE_KEYS: Final = 8
SPARSE_FILL: Final = 0.25
RECORD_KEYS: Final = 32
SHARED_FILL: Final = 0.5

_CODE = re.compile(rf"[+-]?[0-9][0-9.,:/TZ_+ -]*|(?=[^0-9]*[0-9])[0-9a-fA-F-]{{{HASH_DIGITS},}}")
_NAME = re.compile(r"[$@]?[^\W\d]\w*([-.: ]\w+)*")
_INT64 = range(-(2**63), 2**63)
_UINT64 = range(2**64)
_NONE = type(None)


def infer(values: Iterable[Any], *, name: str = "Root", numbers: Numbers = "float64") -> Schema:
    """Infer the schema that all of some JSON values conform to.

    Parameters
    ----------
    values
        Parsed JSON documents; read once, so a generator over a large file will do. One document is ``[document]``.
    name
        Name of the root record, or of the records in a root that is a list or map; made an identifier like the others.
    numbers
        What ints and floats at one place become. "float64": floats, where that changes no number; "exact": a union.

    Returns
    -------
    Schema
        Records are plain dicts (``cls`` is None). ``notes`` holds a line per decision, which starts with the path.

    Raises
    ------
    SchemaError
        No values; a value that JSON does not have; a key with a lone surrogate; nested deeper than `MAX_DEPTH`.
    ValueError
        Another word for `numbers`.

    Notes
    -----
    Memory: what the structure takes, plus a batch of documents; not the data.
    """
    if numbers not in get_args(Numbers):
        raise ValueError(f"numbers must be one of 'float64', 'exact', not {numbers!r}")
    return decide(survey(values), name=name, numbers=numbers)


def survey(values: Iterable[Any]) -> Place:
    """The first half of `infer`: what was seen in the samples. Raises as `infer` does."""
    if isinstance(values, Mapping | str | bytes):
        raise SchemaError(f"samples are a list of documents, not one {type(values).__name__}; pass [document]")
    root = observe(values, _settle_early)
    if not root.kinds:
        raise SchemaError("there is no sample to infer a schema from; give at least one document")
    return root


def decide(root: Place, *, name: str = "Root", numbers: Numbers = "float64") -> Schema:
    """The second half: the schema that all that was seen conforms to."""
    return _Decision(name, numbers).schema(root)


class _Decision:
    """The second half: from what was seen to types, with the notes."""

    def __init__(self, name: str, numbers: Numbers) -> None:
        self.name = name
        self.numbers = numbers
        self.records: dict[str, Record] = {}
        self.names: Counter[str] = Counter()
        self.notes: list[str] = []

    def schema(self, root: Place) -> Schema:
        type_ = self._type(root, (), self.name)
        return Schema(type_, tuple(self.records.values()), tuple(self.notes))

    def _note(self, steps: Steps, text: str) -> None:
        self.notes.append(f"{shown(steps) or 'the root'}: {text}")

    def _type(self, place: Place, steps: Steps, key: str) -> Type:
        kinds = place.kinds
        nulls = kinds.get(_NONE, 0)
        if nulls == place.seen:
            self._note(steps, f"null, nothing but None was seen ({nulls})")
            return Null()
        if nulls:
            self._note(steps, f"optional, None in {nulls} of {place.seen}")
        options: list[Type] = []
        for kind in self._kinds_kept(place, steps):
            if kind is dict:
                options.append(self._object(place, steps, key))
            elif kind is list:
                options.append(self._list(place, steps, key))
            else:
                options.append(self._scalar(place, kind, steps))
        type_ = options[0] if len(options) == 1 else Union(tuple(options))
        return Optional(type_) if nulls else type_

    def _kinds_kept(self, place: Place, steps: Steps) -> list[type]:
        """The kinds that the type is made of: without None, and without int where floats take the ints in."""
        kinds = [kind for kind in place.kinds if kind is not _NONE]
        if int in kinds and float in kinds:
            ints, both = place.kinds[int], place.kinds[int] + place.kinds[float]
            if self.numbers == "exact":
                self._note(steps, f"{ints} of {both} numbers were ints: kept apart, as exact numbers were asked for")
            elif place.inexact is not None:
                size = place.inexact.bit_length()
                which = f"an int of {size} bits" if size > 64 else str(place.inexact)
                self._note(steps, f"{ints} of {both} numbers were ints: kept apart, as float64 cannot hold {which}")
            else:
                self._note(steps, f"float64, {ints} of {both} numbers were ints: normalised to float")
                # The float stands where the first number stood, so that the other options keep their rank.
                kinds = list(dict.fromkeys(float if kind is int else kind for kind in kinds))
        if len(kinds) > 1:
            seen = ", ".join(f"{kind.__name__} {place.kinds[kind]}" for kind in kinds)
            self._note(steps, f"a union, several kinds were seen ({seen})")
        return kinds

    def _scalar(self, place: Place, kind: type, steps: Steps) -> Type:
        if kind is int:
            return self._int(place, steps)
        if kind is float:
            if place.nonfinite:
                text = f"{place.nonfinite} of {place.kinds[float]} floats were NaN or infinite, which JSON text lacks"
                self._note(steps, text)
            return Float()
        if kind is str:
            if place.surrogates:
                text = f"{place.surrogates} of {place.kinds[str]} strings held a lone surrogate, which no wire carries"
                self._note(steps, text)
            return Str()
        return Bool()

    def _int(self, place: Place, steps: Steps) -> Int:
        if place.low in _INT64 and place.high in _INT64:
            return Int()
        if place.low in _UINT64 and place.high in _UINT64:
            self._note(steps, "uint64, some ints are beyond int64 and none is negative")
            return Int(signed=False)
        self._note(steps, "unbounded int, some ints are beyond 64 bits: only JSON text carries it")
        return Int(bits=None)

    def _list(self, place: Place, steps: Steps, key: str) -> List:
        if place.item is None:
            self._note(steps, f"list of null, no list had an item ({place.kinds[list]})")
            return List(Null())
        return List(self._type(place.item, (*steps, EACH), key))

    def _free_name(self, key: str) -> str:
        """A record name from a key; the first free one of Name, Name2, Name3, ..."""
        name = record_name(key)
        self.names[name] += 1
        free = name if self.names[name] == 1 else f"{name}{self.names[name]}"
        return free if free not in self.records else self._free_name(key)

    def _object(self, place: Place, steps: Steps, key: str) -> Type:
        _settle(place)
        if place.entries is not None:
            # The note about the map comes before those about its values, but needs their type.
            position = len(self.notes)
            value = self._type(place.entries, (*steps, EACH), key)
            self._note(steps, f"a map, not a record: {place.reason}; values {value}")
            self.notes.insert(position, self.notes.pop())
            return Map(Str(), value)
        name = self._free_name(key)
        # Takes the name and the rank now; the fields follow when the records below are known.
        self.records[name] = Record(name, ())
        objects = place.kinds[dict]
        if not place.fields:
            self._note(steps, f"a record without fields, no object had a key ({objects})")
        elif (reason := _keys_say_map(place)) is not None:
            self._note(steps, f"a record, not a map: {reason}, but their values differ")
        fields = []
        for number, (label, child) in enumerate(place.fields.items(), 1):
            below = (*steps, label)
            absent = objects - child.seen
            if absent:
                self._note(below, f"may be absent, missing from {absent} of {objects}")
            fields.append(Field(label, self._type(child, below, label), number, required=not absent))
        self.records[name] = Record(name, tuple(fields))
        return Ref(name)


def _settle(place: Place) -> None:
    """Make a map of a place's objects where keys and values say so."""
    if place.entries is not None:
        return
    reason = _keys_say_map(place)
    if reason is not None:
        parts = place.fields.values()
        entries = merged(parts)
        if _values_say_map(entries, parts):
            place.become_map(entries, reason)


def _settle_early(place: Place) -> None:
    """The same while documents still pass, so that the keys of a growing map are not kept."""
    _settle(place)
    if place.entries is not None:
        place.reason = f"in the first documents {place.reason}"


def _keys_say_map(place: Place) -> str | None:
    """Rules a to d of the module's head: the rule that holds, in words."""
    keys = place.fields
    count = len(keys)
    if not count:
        return None
    if all(map(_CODE.fullmatch, keys)):
        looks = "key that looks" if count == 1 else "keys that look"
        return f"{count} {looks} like data (numbers, dates or hashes, as {_example(keys)})"
    objects = place.kinds[dict]
    odd = [key for key in keys if len(key) > NAME_LENGTH or not _NAME.fullmatch(key)]
    if count >= ODD_KEYS and 2 * len(odd) >= count and (objects == 1 or place.fill <= ODD_FILL):
        return f"{len(odd)} of {count} keys are no names (as {_example(odd)})"
    if count >= SPARSE_KEYS and place.fill <= SPARSE_FILL:
        return f"{count} keys, of which an object has {place.fill * count:.1f} on average"
    if count >= RECORD_KEYS and all(child.kinds.keys() <= {dict, _NONE} for child in keys.values()):
        return f"{count} keys with objects alone"
    return None


def _example(keys: Iterable[str]) -> str:
    key = next(iter(keys))
    return repr(key if len(key) <= NAME_LENGTH else key[: NAME_LENGTH - 3] + "...")


def _values_say_map(whole: Place, parts: Collection[Place]) -> bool:
    """The module's head on values; `whole` is the parts taken together."""
    while True:
        kinds = _kinds(whole)
        if len(kinds) > 1 and all(_kinds(part) != kinds for part in parts):
            return False
        if dict in kinds and whole.entries is None and whole.fill < SHARED_FILL and _keys_say_map(whole) is None:
            return False
        if whole.item is None:
            return True
        parts = [part.item for part in parts if part.item is not None]
        whole = whole.item


def _kinds(place: Place) -> set[type]:
    return {float if kind is int else kind for kind in place.kinds if kind is not _NONE}


def record_name(key: str) -> str:
    """A record's name from a key: CamelCase of the ASCII letters and digits of a key, "Record" where it has none."""
    plain = unicodedata.normalize("NFKD", key).encode("ascii", "ignore").decode()
    words = re.findall(r"[A-Za-z0-9]+", plain)
    joined = "".join(word[0].upper() + word[1:] for word in words)[:NAME_LENGTH].lstrip("0123456789")
    name = joined[:1].upper() + joined[1:] or "Record"
    return f"{name}Record" if keyword.iskeyword(name) else name
