"""Who is ahead of whom in one column, and by how much: the only place of the report that compares figures.

1. A column is one operation on one payload, which is one timed boundary. Nothing is ranked across columns.
2. Whether two costs differ is for `zcser.measure.stats.compare` to say; what it does not tell apart ties. Sizes are
   counted, not sampled, but a difference that would not count for a cost is no lead for a size either.
3. A tie is not transitive. The leaders are those that tie with the lowest figure; they are ahead of the next one only
   where each of them differs from it.
4. A cost of zero or below (under the timer's resolution) has no place in a ranking, and neither has a cell without one.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from zcser.measure.result import Cell, Cost
from zcser.measure.stats import MIN_RATIO, compare

__all__ = ["Contestant", "Ranking", "rank_costs", "rank_sizes", "typical"]

Differ: TypeAlias = "Callable[[Contestant, Contestant], bool]"


@dataclass(frozen=True, slots=True)
class Contestant:
    """One codec's figure in one column.

    Attributes
    ----------
    value
        Median over processes in ns; or bytes.
    cost
        What `value` comes from; None for a size.
    validated
        False: the codec took the bytes or the value on trust.
    """

    codec: str
    value: float
    cost: Cost | None = None
    validated: bool = True

    @property
    def processes(self) -> int:
        """How many processes the figure comes from."""
        return len(self.cost.counted_ns) if self.cost is not None else 1


def _costs_differ(ahead: Contestant, behind: Contestant) -> bool:
    return ahead.cost is not None and behind.cost is not None and compare(ahead.cost, behind.cost) == "less"


def _sizes_differ(ahead: Contestant, behind: Contestant) -> bool:
    return behind.value > MIN_RATIO * ahead.value


@dataclass(frozen=True)
class Ranking:
    """The contestants of one column, lowest figure first."""

    order: tuple[Contestant, ...]
    differ: Differ

    @property
    def best(self) -> Contestant:
        """The lowest figure. Only a ranking that is not empty has one."""
        return self.order[0]

    @property
    def leaders(self) -> tuple[Contestant, ...]:
        """The lowest figure and all that tie with it."""
        return tuple(one for one in self.order if one is self.best or not self.differ(self.best, one))

    @property
    def next(self) -> Contestant | None:
        """The first behind the leaders, where every leader differs from it."""
        leaders = self.leaders
        behind = [one for one in self.order if one not in leaders]
        return behind[0] if behind and all(self.differ(leader, behind[0]) for leader in leaders) else None

    @property
    def lead(self) -> float | None:
        """Ratio of `next` to the slowest leader; None where no lead is shown."""
        return None if self.next is None else self.next.value / max(one.value for one in self.leaders)

    def validated(self) -> Ranking:
        """The ranking of those that validate what they read."""
        return Ranking(tuple(one for one in self.order if one.validated), self.differ)

    def standing(self, codec: str) -> tuple[str, float] | None:
        """``("best" | "tie" | "behind", ratio to the lowest figure)``; None for a codec that is not in the ranking."""
        leaders = self.leaders if self.order else ()
        for one in self.order:
            if one.codec == codec:
                word = "behind" if one not in leaders else "best" if len(leaders) == 1 else "tie"
                return word, one.value / self.best.value
        return None


def _ranking(contestants: Iterable[Contestant], differ: Differ) -> Ranking:
    return Ranking(tuple(sorted(contestants, key=lambda one: (one.value, one.codec))), differ)


def rank_costs(cells: Iterable[Cell]) -> Ranking:
    """Rank the cells of one payload and operation by cost."""
    measured = [
        Contestant(cell.codec, cell.cost.p10_ns, cell.cost, "unvalidated" not in cell.flags)
        for cell in cells
        if cell.status == "ok" and cell.cost is not None and cell.cost.p10_ns > 0
    ]
    return _ranking(measured, _costs_differ)


def rank_sizes(cells: Iterable[Cell]) -> Ranking:
    """Rank the encode cells of one payload by wire size."""
    counted = [
        Contestant(cell.codec, cell.size.wire_bytes)
        for cell in cells
        if cell.status == "ok" and cell.size is not None and cell.size.wire_bytes > 0
    ]
    return _ranking(counted, _sizes_differ)


def typical(leads: Iterable[float]) -> float | None:
    """The median lead; None of none."""
    known = list(leads)
    return statistics.median(known) if known else None
