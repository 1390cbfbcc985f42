"""What JSON samples show, place by place: the evidence that `from_sample` decides on.

1. A `Place` is one position in the tree of documents: the root, a key of an object, the items of a list, the entries of
   a map. It counts what was seen there and keeps no value, so memory grows with the structure and not with the data.
2. Documents are read column by column: all values of one place at a time, so that the loops run in C. Objects of the same
   keys are turned into columns together. Keys, and kinds of values, keep the order in which the documents first show them.
3. Nothing recurses over the documents: they may be nested as deep as they like, and `MAX_DEPTH` answers.
4. What JSON does not have (bytes, tuples, keys that are no str, classes of one's own) is refused with its path.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from operator import itemgetter
from typing import Any, Final, NamedTuple

from zcser.core.errors import SchemaError
from zcser.core.options import Limits
from zcser.core.paths import pointer

__all__ = ["EACH", "MAX_DEPTH", "MAX_FIELDS", "Place", "Steps", "Totals", "merged", "observe", "printable", "shown"]

Steps = tuple[str, ...]

EACH: Final = "*"
"""The step of a path that stands for every item of a list or entry of a map."""

MAX_DEPTH: Final = Limits().depth
"""Objects and lists inside each other, the outermost counted as 1: what codecs carry unless asked for more."""

MAX_FIELDS: Final = 18_999
"""Field ids end here (`Record`), so an object with more keys than this is a map whatever they look like."""

TOO_MANY: Final = f"more than {MAX_FIELDS} keys"

# A batch is large enough to forget what it costs by itself, and few enough documents should large ones follow small.
_BATCH_DOCUMENTS = 4096
_BATCH_WEIGHT = 500_000
_REVIEW_KEYS = 1_000
_EXACT_INTS = 2**53  # up to here every int is a float64
_SHOWN_KEY = 48
_NONE = type(None)


class Totals(NamedTuple):
    r"""What tells whether a text was read as it stands.

    Attributes
    ----------
    quotes
        Quotation marks that the strings take as JSON text, keys included, where none is written as ``\u0022``.
    magnitude
        Greatest absolute value of a float; infinity where one is not finite.
    """

    quotes: int
    magnitude: float


@dataclass(slots=True, eq=False)
class Place:
    """Counts of what was seen at one place. Mutable: it grows as documents pass.

    Attributes
    ----------
    kinds
        How many values of each Python type, in order of first appearance.
    low, high
        Least and greatest int, where there was one.
    inexact
        An int that float64 cannot hold, None where there was none.
    nonfinite
        How many floats were NaN or infinite.
    magnitude
        Greatest absolute value of a float; infinity where one is not finite.
    surrogates
        How many strings held a lone surrogate.
    quotes
        Quotation marks inside strings, and inside keys that a map gave up.
    item
        The items of all lists; None while every list was empty.
    fields
        The values of all objects by key; empty once the place is a map.
    entries
        The values of all objects whatever their key, where the place is a map.
    reason
        Why the place is a map.
    review_at
        How many keys it takes to ask again, while documents pass, whether this is a map.
    """

    kinds: dict[type, int] = field(default_factory=dict)
    low: int = 0
    high: int = 0
    inexact: int | None = None
    nonfinite: int = 0
    magnitude: float = 0.0
    surrogates: int = 0
    quotes: int = 0
    item: Place | None = None
    fields: dict[str, Place] = field(default_factory=dict)
    entries: Place | None = None
    reason: str = ""
    review_at: int = _REVIEW_KEYS

    @property
    def seen(self) -> int:
        """How many values were seen here."""
        return sum(self.kinds.values())

    @property
    def fill(self) -> float:
        """Share of (object, key) pairs that are there: 1.0 where every object has every key, or none has any."""
        pairs = self.kinds.get(dict, 0) * len(self.fields)
        return sum(child.seen for child in self.fields.values()) / pairs if pairs else 1.0

    def totals(self) -> Totals:
        """What was seen here and below."""
        quotes, magnitude = 0, 0.0
        pending = [self]
        while pending:
            place = pending.pop()
            quotes += 2 * place.kinds.get(str, 0) + place.quotes
            magnitude = max(magnitude, place.magnitude)
            for key, child in place.fields.items():
                quotes += (2 + key.count('"')) * child.seen
            if place.entries is not None:
                quotes += 2 * place.entries.seen
                pending.append(place.entries)
            pending += place.fields.values()
            if place.item is not None:
                pending.append(place.item)
        return Totals(quotes, magnitude)

    def become_map(self, entries: Place, reason: str) -> None:
        """Give up the keys for what their values have in common."""
        self.quotes += sum(key.count('"') * child.seen for key, child in self.fields.items())
        self.fields = {}
        self.entries = entries
        self.reason = reason

    def overflows(self, more: Mapping[str, Any]) -> bool:
        """Whether these keys and `more` are together too many for a record."""
        together = len(self.fields) + len(more)
        return together > MAX_FIELDS and len(self.fields.keys() | more.keys()) > MAX_FIELDS

    def _add_ints(self, low: int, high: int, inexact: int | None) -> None:
        first = int not in self.kinds
        self.low = low if first else min(self.low, low)
        self.high = high if first else max(self.high, high)
        if self.inexact is None:
            self.inexact = inexact

    def _absorb(self, other: Place) -> None:
        if int in other.kinds:
            self._add_ints(other.low, other.high, other.inexact)
        for kind, count in other.kinds.items():
            self.kinds[kind] = self.kinds.get(kind, 0) + count
        self.nonfinite += other.nonfinite
        self.magnitude = max(self.magnitude, other.magnitude)
        self.surrogates += other.surrogates
        self.quotes += other.quotes
        if other.item is not None:
            self.item = self.item or Place()
            self.item._absorb(other.item)
        self._absorb_objects(other)

    def _absorb_objects(self, other: Place) -> None:
        if self.entries is None and (other.entries is not None or self.overflows(other.fields)):
            self.become_map(merged(self.fields.values()), other.reason or TOO_MANY)
        if self.entries is None:
            for key, child in other.fields.items():
                self.fields.setdefault(key, Place())._absorb(child)
            return
        for key, child in other.fields.items():
            self.quotes += key.count('"') * child.seen
            self.entries._absorb(child)
        if other.entries is not None:
            self.entries._absorb(other.entries)


def merged(places: Iterable[Place]) -> Place:
    """A new place that has seen what each of these has; they stay as they are."""
    result = Place()
    for place in places:
        result._absorb(place)
    return result


def observe(documents: Iterable[Any], judge: Callable[[Place], None]) -> Place:
    """Read documents once, a batch at a time, and keep the counts.

    Parameters
    ----------
    documents
        Parsed JSON values.
    judge
        Called for a place whose objects have come to hold very many keys; it may make a map of it.

    Returns
    -------
    Place
        The root.

    Raises
    ------
    SchemaError
        A value that JSON does not have, or deeper than `MAX_DEPTH`.
    """
    root = Place()
    source = iter(documents)
    size = 1
    while batch := list(islice(source, size)):
        weight = _observe_batch(root, batch, judge)
        size = max(1, min(2 * size, size * _BATCH_WEIGHT // weight, _BATCH_DOCUMENTS))
    return root


def _observe_batch(root: Place, batch: list[Any], judge: Callable[[Place], None]) -> int:
    """Count a batch; returns its weight, in values and characters."""
    weight = 0
    pending: list[tuple[Place, Sequence[Any], Steps]] = [(root, batch, ())]
    while pending:
        place, values, steps = pending.pop()
        weight += len(values)
        for kind, group in _by_kind(values):
            if kind is dict or kind is list:
                _check_depth(steps)
                parts = _object_parts(place, group, steps, judge) if kind is dict else _list_parts(place, group)
                pending.extend((child, below, (*steps, step)) for child, below, step in parts)
            elif kind is str:
                weight += _observe_texts(place, group)
            else:
                _observe_scalars(place, kind, group, steps)
            place.kinds[kind] = place.kinds.get(kind, 0) + len(group)
    return weight


def _by_kind(values: Sequence[Any]) -> Iterable[tuple[type, Sequence[Any]]]:
    """The values of each type, types in order of first appearance."""
    kinds = set(map(type, values))
    if len(kinds) == 1:
        return ((kinds.pop(), values),)
    if len(kinds) == 2 and _NONE in kinds:
        # Where None stands among the kinds decides nothing.
        some = [value for value in values if value is not None]
        return ((type(some[0]), some), (_NONE, [None] * (len(values) - len(some))))
    return [(kind, [value for value in values if type(value) is kind]) for kind in dict.fromkeys(map(type, values))]


def _check_depth(steps: Steps) -> None:
    if len(steps) >= MAX_DEPTH:
        raise SchemaError(
            f"nested deeper than {MAX_DEPTH} levels; split the document, or leave that part out",
            path=f"{shown(steps[:3])}/...",
        )


def _observe_scalars(place: Place, kind: type, group: Sequence[Any], steps: Steps) -> None:
    if kind is int:
        low, high = min(group), max(group)
        small = low >= -_EXACT_INTS and high <= _EXACT_INTS
        place._add_ints(low, high, None if small else next((value for value in group if not _is_float64(value)), None))
    elif kind is float:
        # A sum is finite where all of them are, unless it overflows.
        if math.isfinite(sum(group)):
            least, greatest = min(group), max(group)
            place.magnitude = max(place.magnitude, greatest, -least)
        else:
            place.nonfinite += len(group) - sum(map(math.isfinite, group))
            place.magnitude = math.inf
    elif kind is not bool and kind is not _NONE:
        name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        raise SchemaError(
            f"{name} is no JSON value; samples are None, bool, int, float, str, list and dict of exactly these types",
            path=shown(steps),
        )


def _observe_texts(place: Place, group: Sequence[str]) -> int:
    """Count some texts; returns how many characters they have."""
    whole = "".join(group)
    place.quotes += whole.count('"')
    if not _is_unicode(whole):
        place.surrogates += len(group) - sum(map(_is_unicode, group))
    return len(whole)


_Part = tuple[Place, Sequence[Any], str]


def _list_parts(place: Place, lists: Sequence[list[Any]]) -> Iterable[_Part]:
    items = lists[0] if len(lists) == 1 else list(chain.from_iterable(lists))
    if not items:
        return ()
    place.item = place.item or Place()
    return ((place.item, items, EACH),)


def _object_parts(
    place: Place, objects: Sequence[dict[Any, Any]], steps: Steps, judge: Callable[[Place], None]
) -> Iterable[_Part]:
    if len(place.fields) >= place.review_at:
        place.review_at = 2 * len(place.fields)
        judge(place)
    columns = _columns(objects)
    _check_keys(columns.keys() - place.fields.keys(), steps)
    if place.entries is None and place.overflows(columns):
        place.become_map(merged(place.fields.values()), TOO_MANY)
    if place.entries is None:
        return [(place.fields.setdefault(key, Place()), column, key) for key, column in columns.items()]
    place.quotes += "".join(chain.from_iterable(objects)).count('"')
    values = list(chain.from_iterable(map(dict.values, objects)))
    return ((place.entries, values, EACH),) if values else ()


def _columns_alike(objects: Sequence[dict[Any, Any]]) -> Mapping[Any, Sequence[Any]] | None:
    """The columns of objects that all have the keys of the first; None where they do not."""
    keys = tuple(objects[0])
    if set(map(len, objects)) != {len(keys)}:
        return None
    try:
        if len(keys) > 1:
            return dict(zip(keys, zip(*map(itemgetter(*keys), objects), strict=True), strict=True))
        return {key: [value[key] for value in objects] for key in keys}
    except KeyError:
        return None


def _columns(objects: Sequence[dict[Any, Any]]) -> Mapping[Any, Sequence[Any]]:
    """The values of each key, in the order of the objects where it matters: below objects and lists, and among kinds."""
    alike_columns = _columns_alike(objects)
    if alike_columns is not None:
        return alike_columns
    shapes: dict[tuple[Any, ...], list[dict[Any, Any]]] = defaultdict(list)
    for value in objects:
        shapes[tuple(value)].append(value)
    columns: dict[Any, list[Any]] = {}
    spread = set()
    for keys, alike in shapes.items():
        for key, column in zip(keys, zip(*map(dict.values, alike), strict=True), strict=True):
            if key in columns:
                columns[key] += column
                spread.add(key)
            else:
                columns[key] = list(column)
    for key in spread:
        kinds = set(map(type, columns[key]))
        kinds.discard(_NONE)
        if len(kinds) > 1 or not kinds.isdisjoint((dict, list)):
            columns[key] = [value[key] for value in objects if key in value]
    return columns


def _check_keys(keys: Iterable[Any], steps: Steps) -> None:
    for key in keys:
        if type(key) is not str:
            raise SchemaError(f"the key {key!r} is {type(key).__name__}; JSON's keys are str", path=shown(steps))
        if not _is_unicode(key):
            raise SchemaError(f"the key {key!a} holds a lone surrogate, which no wire carries", path=shown(steps))


def _is_float64(value: int) -> bool:
    try:
        return float(value) == value
    except OverflowError:
        return False


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def printable(text: str) -> str:
    """Text with everything escaped that would move a terminal's cursor, break a line or fail to encode."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def shown(steps: Steps) -> str:
    """A path for people: a JSON Pointer in which long keys are cut short; "" is the root."""
    return printable(pointer(step if len(step) <= _SHOWN_KEY else step[: _SHOWN_KEY - 3] + "..." for step in steps))
