"""A figure, its goal, and whether it was met; and the table of all."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

__all__ = ["Figure", "Goal", "bootstrapped", "geometric_mean", "markdown", "not_measured", "spread_of"]

T = TypeVar("T")

Unit = Literal["x", "ns", "µs", "%", "s", "GB/s", ""]

_DIGITS: dict[Unit, int] = {"x": 3, "ns": 1, "µs": 2, "%": 2, "s": 1, "GB/s": 2, "": 0}
_RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Goal:
    """A bound; "within" bounds the size of a figure that may have either sign."""

    relation: Literal["<", "<=", "within"]
    limit: float

    def met_by(self, value: float) -> bool:
        """Whether a value is on the right side."""
        if self.relation == "<":
            return value < self.limit
        return (abs(value) if self.relation == "within" else value) <= self.limit


@dataclass(frozen=True, slots=True)
class Figure:
    """One row.

    Attributes
    ----------
    name, unit
        What it is.
    value, low, high
        The figure and its spread; None: not measured.
    over
        What the spread is over; where nothing was measured, why.
    goal
        None for a row that explains another one.
    """

    name: str
    unit: Unit
    value: float | None
    low: float | None
    high: float | None
    over: str
    goal: Goal | None = None

    @property
    def met(self) -> bool | None:
        """Whether the goal was met; None without a goal or a value."""
        return None if self.goal is None or self.value is None else self.goal.met_by(self.value)


def spread_of(name: str, unit: Unit, values: Sequence[float], over: str, goal: Goal | None = None) -> Figure:
    """The median of some values, and how far they reach."""
    return Figure(name, unit, statistics.median(values), min(values), max(values), over, goal)


def not_measured(name: str, reason: str, goal: Goal | None = None, unit: Unit = "") -> Figure:
    """The row of a figure that could not be taken."""
    return Figure(name, unit, None, None, None, reason, goal)


def bootstrapped(
    name: str,
    unit: Unit,
    observed: Sequence[T],
    over: str,
    goal: Goal | None,
    *,
    figure: Callable[[Sequence[T]], float],
) -> Figure:
    """A figure of observations, and the middle 95% of what it is over resamples of these."""
    rng = random.Random(1)  # noqa: S311 - a resampling, no secret
    resampled = sorted(figure(rng.choices(observed, k=len(observed))) for _ in range(_RESAMPLES))
    low, high = resampled[int(0.025 * _RESAMPLES)], resampled[int(0.975 * _RESAMPLES)]
    return Figure(name, unit, figure(observed), low, high, over, goal)


def geometric_mean(ratios: Iterable[float]) -> float:
    """Of positive numbers, at least one."""
    return math.exp(statistics.fmean(map(math.log, ratios)))


def markdown(figures: Sequence[Figure]) -> str:
    """The table, GitHub-flavoured."""
    rows = ["| figure | goal | measured | spread | met |", "|:---|---:|---:|:---|:---|"]
    rows += [
        f"| {one.name} | {_goal(one)} | {_text(one.value, one.unit)} | {_spread(one)} | {_met(one)} |"
        for one in figures
    ]
    return "\n".join(rows) + "\n"


def _text(value: float | None, unit: Unit) -> str:
    return "-" if value is None else f"{value:.{_DIGITS[unit]}f} {unit}".rstrip()


def _goal(figure: Figure) -> str:
    return "" if figure.goal is None else f"{figure.goal.relation} {figure.goal.limit:g} {figure.unit}".rstrip()


def _spread(figure: Figure) -> str:
    if figure.value is None or figure.low == figure.high:
        return figure.over
    return f"{_text(figure.low, figure.unit)} to {_text(figure.high, figure.unit)} {figure.over}"


def _met(figure: Figure) -> str:
    if figure.goal is None:
        return ""
    return {True: "yes", False: "no", None: "not measured"}[figure.met]
