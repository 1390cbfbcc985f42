"""Where one codec stops being cheaper than another: over sizes of a payload, or over the number of fields that are read.

1. Both are measured at the same places. Between two of these a curve is a line: of logarithms over sizes, plain over fields.
   Beyond the first and the last nothing is said.
2. A crossover is claimed only between two places at which the costs differ, one way and then the other
   (`zcser.decide.interval`). Its interval reaches from where the ranges of the two curves meet to where they part.
3. Sizes are those of `zcser.decide.figures.Figures.message_bytes`, one scale for all formats. The payloads of a sweep have
   one schema.
4. Validated and unvalidated reads are never set against each other unless that is asked for.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from zcser.decide.figures import Figures, figures_of, payloads_of
from zcser.decide.interval import Interval
from zcser.decide.profiles import Profile
from zcser.decide.score import Score, score
from zcser.measure.result import Result

__all__ = [
    "Comparison",
    "Crossing",
    "Relation",
    "break_even",
    "compare_curves",
    "over_fields",
    "over_sizes",
    "over_sizes_by_profile",
    "reading",
    "sweeps_of",
]

Relation = Literal["less", "more", "tie"]
Curve: TypeAlias = Mapping[float, Interval]
Unit = Literal["bytes", "fields"]

_SMALLEST = 1e-300


@dataclass(frozen=True, slots=True)
class Crossing:
    """A crossover: the left one is cheaper below it, or above where `falling`; ``low <= at <= high``."""

    at: float
    low: float
    high: float
    falling: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two curves at all places that both have.

    Attributes
    ----------
    left, right
        Their names.
    unit
        What the places are.
    places
        Ascending.
    relations
        At each place, whether the left one costs less, more, or neither can be said.
    crossings
        Ascending.
    """

    left: str
    right: str
    unit: Unit
    places: tuple[float, ...]
    relations: tuple[Relation, ...]
    crossings: tuple[Crossing, ...]


def compare_curves(left: str, right: str, curves: tuple[Curve, Curve], unit: Unit) -> Comparison:
    """Set two curves against each other.

    Parameters
    ----------
    left, right
        Names.
    curves
        Figures by place, which is above 0; of the left one, then of the right one.
    unit
        Of the places; that of bytes is logarithmic.
    """
    mine, its = curves
    places = tuple(sorted(mine.keys() & its.keys()))
    relations = tuple(_relation(mine[place], its[place]) for place in places)
    told = [index for index, relation in enumerate(relations) if relation != "tie"]
    crossings = []
    for first, last in itertools.pairwise(told):
        if relations[first] != relations[last]:
            falling = relations[first] == "more"
            below, above = (its, mine) if falling else (mine, its)
            crossings.append(_crossing(places[first : last + 1], below, above, unit, falling=falling))
    return Comparison(left, right, unit, places, relations, tuple(crossings))


def _relation(left: Interval, right: Interval) -> Relation:
    return "less" if left.less(right) else "more" if right.less(left) else "tie"


def _crossing(places: Sequence[float], below: Curve, above: Curve, unit: Unit, *, falling: bool) -> Crossing:
    """The crossover of two curves, the first of which is lower at the first place and higher at the last."""
    scale, back = (math.log, math.exp) if unit == "bytes" else (float, float)
    at = [scale(place) for place in places]

    def differences(mine: Callable[[Interval], float], its: Callable[[Interval], float]) -> list[float]:
        pairs = [(mine(below[place]), its(above[place])) for place in places]
        return [scale(max(one, _SMALLEST)) - scale(max(other, _SMALLEST)) for one, other in pairs]

    plain = differences(lambda one: one.value, lambda one: one.value)
    middle = (_first_zero(at, plain) + _last_zero(at, plain)) / 2
    low = _first_zero(at, differences(lambda one: one.high, lambda one: one.low))
    high = _last_zero(at, differences(lambda one: one.low, lambda one: one.high))
    return Crossing(back(middle), back(low), back(high), falling)


def _first_zero(at: Sequence[float], heights: Sequence[float]) -> float:
    """Where a broken line from below zero first reaches it."""
    index = next(index for index, height in enumerate(heights) if height >= 0)
    rise = heights[index] - heights[index - 1]
    return at[index] - heights[index] / rise * (at[index] - at[index - 1])


def _last_zero(at: Sequence[float], heights: Sequence[float]) -> float:
    """Where a broken line that ends above zero last reaches it: the first zero seen from the other end."""
    return -_first_zero([-place for place in reversed(at)], [-height for height in reversed(heights)])


def sweeps_of(result: Result) -> tuple[tuple[Figures, ...], ...]:
    """The payloads that have one schema and two sizes or more, ascending; a tuple for each schema."""
    schemas = {record.name: record.fingerprint for record in result.payloads}
    families: dict[str, dict[float, Figures]] = {}
    for name in payloads_of(result):
        if name in schemas:
            figures = figures_of(result, name)
            if figures.message_bytes is not None:
                families.setdefault(schemas[name], {}).setdefault(figures.message_bytes, figures)
    return tuple(tuple(sizes[size] for size in sorted(sizes)) for sizes in families.values() if len(sizes) > 1)


def over_sizes(sweep: Iterable[Figures], left: str, right: str, task: str, *, unvalidated: bool = False) -> Comparison:
    """One task of two codecs over the sizes of a sweep."""

    def cost(figures: Figures, codec: str) -> Interval | None:
        return _cost(figures, codec, task, unvalidated=unvalidated)

    return _over_sizes(sweep, left, right, cost)


def over_sizes_by_profile(sweep: Iterable[Figures], left: str, right: str, profile: Profile) -> Comparison:
    """A profile's total with two codecs over the sizes of a sweep; where one is out, that size is left out."""

    def cost(figures: Figures, codec: str) -> Interval | None:
        candidate = figures.candidate(codec)
        scored = None if candidate is None else score(figures, candidate, profile)
        return scored.total_ns if isinstance(scored, Score) else None

    return _over_sizes(sweep, left, right, cost)


def _over_sizes(
    sweep: Iterable[Figures], left: str, right: str, cost: Callable[[Figures, str], Interval | None]
) -> Comparison:
    sizes = {figures.message_bytes: figures for figures in sweep}
    left_curve, right_curve = (
        {
            size: found
            for size, figures in sizes.items()
            if size is not None and (found := cost(figures, codec)) is not None
        }
        for codec in (left, right)
    )
    return compare_curves(left, right, (left_curve, right_curve), "bytes")


def _cost(figures: Figures, codec: str, task: str, *, unvalidated: bool) -> Interval | None:
    candidate = figures.candidate(codec)
    step = None if candidate is None else figures.step(candidate, task, unvalidated=unvalidated)
    return None if step is None else step.cost


def reading(figures: Figures, codec: str, *, unvalidated: bool = False) -> dict[float, Interval]:
    """What a codec's reads cost by the number of fields; of two that read as many, the one of the partial reads counts."""
    curve: dict[float, Interval] = {}
    names = sorted(figures.leaves, key=lambda name: name in {"read-field", "touch-all"})
    for name in names:
        found = _cost(figures, codec, name, unvalidated=unvalidated)
        if found is not None and figures.leaves[name] > 0:
            curve.setdefault(float(figures.leaves[name]), found)
    return curve


def over_fields(figures: Figures, left: str, right: str, *, unvalidated: bool = False) -> Comparison:
    """Reading k fields with one codec against reading as many with another, each by its fastest way."""
    left_curve, right_curve = (reading(figures, codec, unvalidated=unvalidated) for codec in (left, right))
    return compare_curves(left, right, (left_curve, right_curve), "fields")


def break_even(figures: Figures, lazy: str, whole: str, *, unvalidated: bool = False) -> Comparison:
    """Reading k fields of one codec's view against decoding the whole message with another, or with the same codec.

    The right curve is the cost of ``decode``, of however many fields; reading them from the value is not in it.
    """
    curve = reading(figures, lazy, unvalidated=unvalidated)
    decode = _cost(figures, whole, "decode", unvalidated=unvalidated)
    flat = {} if decode is None else dict.fromkeys(curve, decode)
    return compare_curves(lazy, f"decode of {whole}", (curve, flat), "fields")
