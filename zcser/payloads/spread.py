"""Which leaves the partial reads of a payload take.

1. Leaves count in document order, as `zcser.payloads.places` has them. Reading k of n takes those at the middles of k equal
   parts: leaf number ``(2 i + 1) n // (2 k)``, for i from 0. So k = 1 is the middle, and k = n all of them.
2. A leaf that is chosen holds something in the first value and in all others that are looked at: as many as come to
   `ENOUGH_BYTES`, the first two at least. Where it does not, the nearest one that does stands for it, the later first.
3. Fields that the user named come first among 1 and 2.
4. All leaves are listed where every value that is looked at has the same ones, and no more than `MOST_READ`; so many are
   taken at most where a tenth is more.
5. Nothing else enters: the same payload has the same places in every process.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from zcser.core.paths import pointer
from zcser.payloads.base import Payload, Places
from zcser.payloads.places import MOST_LEAVES, Steps, leaves, outward

__all__ = ["ENOUGH_BYTES", "MOST_READ", "PARTS", "places_of"]

PARTS = ("1", "2", "10%", "all")
"""How much is read."""

MOST_READ = 2_000
"""Leaves that are read at most by code that names each."""

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
    return Places(leaves=len(every), reads=reads)


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
