"""Figures with an interval, and the one rule by which two of them differ.

1. The interval of a cost is what `zcser.measure.stats.compare` compares it by: its lowest and highest process, or a wide
   margin about a single one.
2. Sums and multiples are interval arithmetic: lows make the low, highs the high. That is wider than chance would have it,
   and never narrower.
3. Two figures differ only where their intervals do not touch and the figures are more than 3% apart: for two costs, that
   is `compare` itself.
4. The relation is an interval order: it is transitive, and a tie is not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from zcser.measure.figures import Cost
from zcser.measure.stats import MIN_RATIO, reach

__all__ = ["Interval", "exact", "interval_of", "ranks"]


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure and how far it may lie from the truth: ``low <= value <= high``."""

    value: float
    low: float
    high: float

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.value + other.value, self.low + other.low, self.high + other.high)

    def times(self, weight: float) -> Interval:
        """A multiple, of a weight that is not negative."""
        return Interval(self.value * weight, self.low * weight, self.high * weight)

    def less(self, other: Interval) -> bool:
        """Whether this is shown to be less than another."""
        return self.high < other.low and other.value > self.value * MIN_RATIO


def exact(value: float) -> Interval:
    """A figure that was counted."""
    return Interval(value, value, value)


def interval_of(cost: Cost) -> Interval | None:
    """The interval of a cost in ns; None where it is not finite, or not above zero, which is under the timer's resolution."""
    low, high = reach(cost)
    if not all(map(math.isfinite, (cost.p10_ns, low, high))) or cost.p10_ns <= 0:
        return None
    # Only a file written by hand has its median outside of its own interval, or a time below nothing.
    return Interval(cost.p10_ns, max(0.0, min(low, cost.p10_ns)), max(high, cost.p10_ns))


def ranks(figures: Sequence[Interval] | Iterable[Interval]) -> tuple[int, ...]:
    """The rank of each: 1 and the number of those shown to be less. Those that share a rank tie with each other."""
    known = tuple(figures)
    return tuple(1 + sum(other.less(one) for other in known) for one in known)
