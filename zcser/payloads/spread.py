"""Which leaves the partial reads of a payload take, and which number composite tasks change.

1. Leaves count in document order, as `zcser.payloads.places` has them. Reading k of n takes those at the middles of k equal
   parts: leaf number ``(2 i + 1) n // (2 k)``, for i from 0. So k = 1 is the middle, and k = n all of them.
2. A leaf that is chosen holds something in the first value and in all others that are looked at: as many as come to
   `ENOUGH_BYTES`, the first two at least. Where it does not, the nearest one that does stands for it, the later first.
3. Fields that the user named come first among 1 and 2.
4. All leaves are listed where every value that is looked at has the same ones, and no more than `MOST_READ`; so many are
   taken at most where a tenth is more.
5. The number is a leaf that the schema declares an integer or a float, neither optional nor inside a map or union, that all
   values looked at have and that can be set: the nearest to the middle, the later first.
6. Nothing else enters: the same payload has the same places in every process.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from zcser.core.paths import pointer
from zcser.core.view import at
from zcser.payloads.base import Number, Payload, Places
from zcser.payloads.places import MOST_LEAVES, Steps, change, leaves, outward
from zcser.schema.model import Float, Int, List, Ref, Schema, Type, strip_optional

__all__ = ["CHANGES", "ENOUGH_BYTES", "MOST_READ", "PARTS", "places_of"]

PARTS = ("1", "2", "10%", "all")
"""How much is read."""

MOST_READ = 2_000
"""Leaves that are read at most by code that names each."""

CHANGES = 8
"""Values that a number is changed to."""

ENOUGH_BYTES = 8 << 20
_LEAF_BYTES = 32
"""What a leaf counts besides its own bytes: looking at it takes as long as at so many."""


def places_of(payload: Payload, named: Sequence[str] = ()) -> Places:
    """The places of a payload.

    Parameters
    ----------
    payload
        Its values are made here.
    named
        Pointers of the fields that the user named.
    """
    first, *others = _looked_at(payload)
    every = list(first)
    usable = [steps for steps, leaf in first.items() if leaf is not None and all(type(s) in (str, int) for s in steps)]
    held = [{steps for steps, leaf in other.items() if leaf is not None} for other in others]
    common = {steps for steps in usable if all(steps in one for one in held)}
    tenth = min(-(-len(every) // 10), MOST_READ)
    reads = {part: _filled(named, usable, common, count) for part, count in (("1", 1), ("2", 2))}
    reads["10%"] = tuple(map(pointer, _spread(usable, common, tenth)))
    alike = len(every) <= MOST_READ and all(other.keys() == first.keys() for other in others)
    reads["all"] = tuple(map(pointer, every)) if alike else ()
    number = _number(payload, usable, common) if common else None
    return Places(leaves=len(every), reads=reads, number=number)


def _looked_at(payload: Payload) -> list[dict[Steps, Any]]:
    """The leaves of the values by rule 2."""
    looked, taken = [], 0
    for number in range(payload.distinct):
        found = dict(itertools.islice(leaves(payload.make(number)), MOST_LEAVES))
        looked.append(found)
        taken += sum(map(_weight, found.values()))
        if number and taken >= ENOUGH_BYTES:
            break
    return looked


def _weight(leaf: Any) -> int:
    if isinstance(leaf, np.ndarray):
        return _LEAF_BYTES + leaf.nbytes
    return _LEAF_BYTES + len(leaf) if isinstance(leaf, str | bytes) else _LEAF_BYTES


def _filled(named: Sequence[str], usable: list[Steps], common: set[Steps], count: int) -> tuple[str, ...]:
    """The named fields first, then leaves of the spread."""
    spread = map(pointer, _spread(usable, common, count))
    return tuple(itertools.islice(dict.fromkeys((*named, *spread)), count))


def _spread(usable: list[Steps], common: set[Steps], count: int) -> list[Steps]:
    """So many leaves by rules 1 and 2, in document order; fewer where there are no more."""
    if len(common) <= count:
        return [steps for steps in usable if steps in common]
    taken: set[int] = set()
    for part in range(count):
        middle = (2 * part + 1) * len(usable) // (2 * count)
        near = outward(len(usable), middle)
        taken.add(next(index for index in near if index not in taken and usable[index] in common))
    return [usable[index] for index in sorted(taken)]


def _number(payload: Payload, usable: list[Steps], common: set[Steps]) -> Number | None:
    value = payload.make(0)
    tried: set[Steps] = set()
    for index in outward(len(usable), len(usable) // 2):
        steps = usable[index]
        # Items of one list are alike.
        form = tuple("*" if type(step) is int else step for step in steps)
        kind = None if form in tried or steps not in common else _type_at(payload.schema, steps)
        tried.add(form)
        if isinstance(kind, Int | Float):
            to = int if isinstance(kind, Int) else float
            own = at(value, steps)
            values = tuple(itertools.islice((to(number) for number in range(1, 10) if number != own), CHANGES))
            if _can_change(value, steps, values[0]):
                return Number(pointer(steps), values)
    return None


def _type_at(schema: Schema, steps: Steps) -> Type | None:
    """The declared type of a place; None inside maps, unions and what has no parts."""
    here = schema.root
    for step in steps:
        here, _ = strip_optional(here)
        if isinstance(here, Ref) and step in (by_name := schema.resolve(here).by_name):
            here = by_name[str(step)].type
        elif isinstance(here, List):
            here = here.item
        else:
            return None
    return here


def _can_change(value: Any, steps: Steps, leaf: Any) -> bool:
    try:
        change(value, steps, leaf)
    except Exception:  # noqa: BLE001 - a class of the user's may raise anything
        return False
    return True
