"""A sample of traffic: how large its messages are, and which of them stand for all.

1. Up to `DISTINCT` messages are all measured, in their order.
2. Of more, as many are chosen, each for an equal share of them. Messages are sorted by size into `SIZE_STRATA` strata of
   equal number; in a stratum by shape (which of the root's fields are there), then by size, then as they came. That row is
   cut into equal runs, and one message is taken out of each, at a place that a seeded generator says. So every message has
   the same chance, sizes keep their distribution to a sixteenth of its quantiles, shapes their shares within each, and the
   mean over the chosen estimates that over all.
3. Where the message of a run is a repeat of one that was chosen already, the next one of the run that is not stands in.
   Where a run is all repeats, as of a ping that is most of the traffic, the repeat stays: it is part of the mix.
4. The first chosen is from the middle of the row, and each one after it where the row is thinnest: whatever has time for a
   few of them alone has met small and large ones.
"""

from __future__ import annotations

import itertools
import random
from array import array
from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from zcser.core.fidelity import field_names

__all__ = ["DISTINCT", "SIZE_STRATA", "Census", "Sizes", "shape_of"]

DISTINCT: Final = 64
SIZE_STRATA: Final = 16

_SEED: Final = 0
_MOST_SHAPES: Final = 4096
"""Beyond them, and the rest of the messages that they came with, what is new is of one shape."""

_OTHER_SHAPES: Final = -1

_EMPTIABLE = (str, bytes, list, tuple, dict)


class Sizes(NamedTuple):
    """Bytes of the messages of a sample, as given: nearest-rank percentiles."""

    p50: int
    p99: int
    largest: int


def shape_of(value: Any) -> Hashable:
    """What tells messages of one kind from those of another: the fields of the root that are there and not empty."""
    if type(value) is dict:
        return frozenset(
            key for key, item in value.items() if item is not None and (type(item) not in _EMPTIABLE or item)
        )
    names = field_names(value)
    if names is None:
        return type(value).__name__
    return frozenset(name for name in names if getattr(value, name) is not None)


class Census:
    """Size, shape and content of each message that passed: 24 bytes a message."""

    def __init__(self) -> None:
        self._sizes = array("q")
        self._nbytes = 0
        self._shapes = array("q")
        self._contents = array("q")
        self._known: defaultdict[Hashable, int] = defaultdict(itertools.count().__next__)

    def add(self, sizes: Iterable[int], shapes: Iterable[Hashable], contents: Iterable[int]) -> None:
        """Count some messages: where there are very many, none of them should cost more than a call or two."""
        before = len(self._sizes)
        self._sizes.extend(sizes)
        self._nbytes += sum(self._sizes[before:])
        self._contents.extend(contents)
        known = self._known
        self._shapes.extend(
            map(known.__getitem__, shapes)
            if len(known) < _MOST_SHAPES
            else map(known.get, shapes, itertools.repeat(_OTHER_SHAPES))
        )

    @property
    def count(self) -> int:
        """Messages so far."""
        return len(self._sizes)

    @property
    def nbytes(self) -> int:
        """Bytes of all of them."""
        return self._nbytes

    def sizes(self, numbers: list[int] | None = None) -> Sizes:
        """The percentiles of all messages, or of some."""
        found = np.sort(_numpy(self._sizes) if numbers is None else _numpy(self._sizes)[numbers])
        p50, p99 = (int(found[-(-len(found) * percent // 100) - 1]) for percent in (50, 99))
        return Sizes(p50, p99, int(found[-1]))

    def choose(self, most: int, most_bytes: int) -> list[int]:
        """The numbers of the messages that stand for all, by the rules at the head of this module.

        Parameters
        ----------
        most
            How many.
        most_bytes
            What they may have together: half as many are chosen until they do, at least one.
        """
        count = min(most, self.count)
        while True:
            chosen = list(range(count)) if count == self.count else self._drawn(count)
            if count == 1 or int(_numpy(self._sizes)[chosen].sum()) <= most_bytes:
                return chosen
            count //= 2

    def _drawn(self, count: int) -> list[int]:
        sizes = _numpy(self._sizes)
        stratum = np.empty(len(sizes), np.int64)
        stratum[np.argsort(sizes, kind="stable")] = np.arange(len(sizes)) * SIZE_STRATA // len(sizes)
        # The last key is the first to sort by; lexsort is stable, so that what is equal stays as it came.
        row = np.lexsort((sizes, _numpy(self._shapes), stratum)).tolist()
        generator = random.Random(_SEED)  # noqa: S311 - its numbers are the same in every version of Python
        seen: set[int] = set()
        chosen = []
        for run in range(count):
            start, end = run * len(row) // count, (run + 1) * len(row) // count
            drawn = start + int(generator.random() * (end - start))
            candidates = (*range(drawn, end), *range(start, drawn))
            place = next((place for place in candidates if self._contents[row[place]] not in seen), drawn)
            seen.add(self._contents[row[place]])
            chosen.append(row[place])
        return [chosen[(place + count // 2) % count] for place in _spread(count)]


def _numpy(numbers: array[int]) -> npt.NDArray[np.int64]:
    return np.frombuffer(numbers, np.int64)


def _spread(count: int) -> list[int]:
    """0 to `count` - 1, by the van der Corput sequence: any first few are spread evenly."""
    bits = (count - 1).bit_length()
    order = (int(f"{number:0{bits}b}"[::-1], 2) if bits else 0 for number in range(1 << bits))
    return [number for number in order if number < count]
