"""How far one number of a profile must move, alone, before another codec has the lowest total.

1. A total is a line in each number, or in the reciprocal of a bandwidth or a share of cores: where two totals meet is exact,
   to rounding. Where a codec begins to miss the objective or the load is found by bisection, since each of these gets only
   better, or only worse, as one number grows.
2. The lowest total is that of the figures. Before it passes to another codec the two tie; where that begins is found by
   bisection, and is said too.
3. A number is looked at over its whole range (`zcser.decide.profiles.RANGES`). One that is not asked for is not moved.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from zcser.decide.figures import COMPRESSIONS, Figures
from zcser.decide.profiles import RANGES, Profile
from zcser.decide.score import Score, Standings, rank, score

__all__ = ["Move", "Switch", "Turn", "moves", "switches"]

_RECIPROCAL = ("cpu_share", "bandwidth_in", "bandwidth_out")
_HALVINGS = 100
_TIE_WITHIN = 1e-4
"""How closely the beginning of a tie is sought: it comes from the spread of a handful of processes."""
_REFERENCE = {"bandwidth_in": 1e-9, "bandwidth_out": 1e-9}
"""A second place to draw a line through where the number is infinite now, in its reciprocal: 1 GB/s."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Where another codec gets the lowest total.

    Attributes
    ----------
    value
        Of the number.
    winner
        The codec beyond; None where all are out.
    tie
        From where on, short of `value`, the lead is not shown any more; None where it is not shown now, or up to `value`.
    """

    value: float
    winner: str | None
    tie: float | None


@dataclass(frozen=True, slots=True)
class Move:
    """One number of a profile: what it is now, and the nearest turns below and above, None where there is none."""

    parameter: str
    now: float
    below: Turn | None
    above: Turn | None


@dataclass(frozen=True, slots=True)
class Switch:
    """A choice of the profile that has other leaders: ``"compression=zstd"``, and who leads then."""

    setting: str
    leaders: tuple[str, ...]


def moves(figures: Figures, profile: Profile) -> tuple[Move, ...]:
    """Every number of a profile, in the order of `RANGES`; none where no codec has a score."""
    standings = rank(figures, profile)
    if not standings.scores:
        return ()
    return tuple(_Search(figures, standings, name).move() for name in RANGES if getattr(profile, name) is not None)


def switches(figures: Figures, profile: Profile) -> tuple[Switch, ...]:
    """The choices that are not numbers, with which others lead."""
    now = _names(rank(figures, profile))
    choices: list[tuple[str, bool | str]] = [("unvalidated", not profile.unvalidated)]
    choices += [("compression", name) for name in ("none", *COMPRESSIONS) if name != profile.compression]
    found = []
    for name, value in choices:
        leaders = _names(rank(figures, _changed(profile, name, value)))
        if leaders and leaders != now:
            shown = value if isinstance(value, str) else "yes" if value else "no"
            found.append(Switch(f"{name}={shown}", leaders))
    return tuple(found)


def _changed(profile: Profile, name: str, value: Any) -> Profile:
    return dataclasses.replace(profile, **{name: value})


def _names(standings: Standings) -> tuple[str, ...]:
    return tuple(one.codec for one in standings.leaders)


class _Search:
    """The search over one number; places are the number itself, or its reciprocal where the totals are lines in that."""

    def __init__(self, figures: Figures, standings: Standings, name: str) -> None:
        self._figures = figures
        self._profile = standings.profile
        self._name = name
        self._winner = standings.scores[0].codec
        self._leads_alone = len(standings.leaders) == 1
        self._reciprocal = name in _RECIPROCAL
        least, most = map(self._flip, RANGES[name])
        self._ends = (most, least) if self._reciprocal else (least, most)
        self._now = self._flip(getattr(standings.profile, name))

    def _flip(self, value: float) -> float:
        """A place from a number, or a number from a place."""
        if not self._reciprocal:
            return value
        return 1 / value if value else math.inf

    def _at(self, place: float) -> Profile:
        least, most = RANGES[self._name]
        return _changed(self._profile, self._name, min(max(self._flip(place), least), most))

    def move(self) -> Move:
        lower, upper = (self._turn(end) for end in self._ends)
        below, above = (upper, lower) if self._reciprocal else (lower, upper)
        return Move(self._name, getattr(self._profile, self._name), below, above)

    def _turn(self, end: float) -> Turn | None:
        """The nearest place on the way to an end of the range behind which another codec has the lowest total."""
        if end == self._now:
            return None
        between = {place for place in self._breaks(end) if min(self._now, end) < place < max(self._now, end)}
        places = [self._now, *sorted(between, reverse=end < self._now), end]
        for near, far in itertools.pairwise(places):
            winner = self._lowest(_middle(near, far))
            if winner != self._winner:
                return Turn(self._flip(near), winner, self._tie(near) if self._leads_alone else None)
        return None

    def _lowest(self, place: float) -> str | None:
        scores = rank(self._figures, self._at(place)).scores
        return scores[0].codec if scores else None

    def _breaks(self, end: float) -> Iterator[float]:
        """Where the winner's total meets another one, and where a codec comes in or goes out."""
        lines = {one.codec: self._line(one.codec) for one in self._figures.candidates}
        mine = lines.pop(self._winner)
        for line in lines.values():
            if mine is not None and line is not None and mine[1] != line[1]:
                yield (line[0] - mine[0]) / (mine[1] - line[1])
        for one in self._figures.candidates:
            here = self._is_in(one.codec, self._now)
            if here != self._is_in(one.codec, end):
                yield _bisect(functools.partial(self._is_as, one.codec, here), self._now, end)

    def _line(self, codec: str) -> tuple[float, float] | None:
        """A total without any bound on it, as its height at place 0 and its slope; None where the figures do not make one."""
        other = 2 * self._now or _REFERENCE.get(self._name, 1.0)
        first, second = (self._free_total(codec, place) for place in (self._now, other))
        if first is None or second is None:
            return None
        slope = (second - first) / (other - self._now)
        return first - slope * self._now, slope

    def _free_total(self, codec: str, place: float) -> float | None:
        free = dataclasses.replace(self._at(place), p99_ns=None, messages_per_s=None)
        found = self._score(codec, free)
        return None if found is None else found.total_ns.value

    def _is_in(self, codec: str, place: float) -> bool:
        return self._score(codec, self._at(place)) is not None

    def _is_as(self, codec: str, here: bool, place: float) -> bool:
        return self._is_in(codec, place) == here

    def _score(self, codec: str, profile: Profile) -> Score | None:
        candidate = self._figures.candidate(codec)
        found = None if candidate is None else score(self._figures, candidate, profile)
        return found if isinstance(found, Score) else None

    def _tie(self, turn: float) -> float | None:
        def leads(place: float) -> bool:
            return _names(rank(self._figures, self._at(place))) == (self._winner,)

        place = _bisect(leads, self._now, turn, within=_TIE_WITHIN)
        return None if math.isclose(place, turn, rel_tol=2 * _TIE_WITHIN) else self._flip(place)


def _middle(one: float, other: float) -> float:
    """A place between two: of their logarithms where they are far apart, since ranges span many powers of ten."""
    return math.sqrt(one * other) if one > 0 and other > 0 else (one + other) / 2


def _bisect(holds: Callable[[float], bool], inside: float, outside: float, *, within: float = 1e-10) -> float:
    """The place up to which a condition holds that holds at `inside` and ceases to once, on the way to `outside`."""
    for _ in range(_HALVINGS):
        middle = _middle(inside, outside)
        if middle in {inside, outside} or abs(outside - inside) <= within * max(abs(inside), abs(outside)):
            break
        if holds(middle):
            inside = middle
        else:
            outside = middle
    return inside
