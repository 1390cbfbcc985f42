"""The Pareto front: the codecs that no other one beats for every purpose.

1. An axis is a task, of which less time is better, or `SIZE`, of which fewer bytes are.
2. A codec is beaten by another that has no higher figure on any axis, and on one axis at least is shown to be lower. Figures
   that tie beat nobody: what noise alone would put behind stays on the front.
3. A codec that lacks the figure of an axis is on no front, and is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from zcser.decide.figures import Candidate, Figures
from zcser.decide.interval import Interval, exact

__all__ = ["AXES", "SIZE", "Front", "Point", "pareto"]

SIZE = "size"
AXES = ("encode", "decode", SIZE)


@dataclass(frozen=True, slots=True)
class Point:
    """A codec's figures, one for each axis."""

    codec: str
    values: tuple[Interval, ...]

    def beats(self, other: Point) -> bool:
        """Whether rule 2 puts the other one behind this."""
        pairs = list(zip(self.values, other.values, strict=True))
        return all(mine.value <= its.value for mine, its in pairs) and any(mine.less(its) for mine, its in pairs)


@dataclass(frozen=True, slots=True)
class Front:
    """Codecs by whether another one beats them.

    Attributes
    ----------
    axes
        What was looked at.
    points
        All codecs that have every figure.
    front
        Names of those that nobody beats, in the order of points.
    lacking
        Names of the codecs that lack a figure.
    """

    axes: tuple[str, ...]
    points: tuple[Point, ...]
    front: tuple[str, ...]
    lacking: tuple[str, ...]


def pareto(figures: Figures, axes: Sequence[str] = AXES, *, unvalidated: bool = False) -> Front:
    """The front of a payload.

    Parameters
    ----------
    figures
        Of the payload.
    axes
        Tasks, and `SIZE`.
    unvalidated
        Whether steps that take their input on trust count.
    """
    points, lacking = [], []
    for one in figures.candidates:
        values = [_value(figures, one, axis, unvalidated=unvalidated) for axis in axes]
        known = tuple(value for value in values if value is not None)
        if len(known) == len(values):
            points.append(Point(one.codec, known))
        else:
            lacking.append(one.codec)
    front = tuple(one.codec for one in points if not any(other.beats(one) for other in points))
    return Front(tuple(axes), tuple(points), front, tuple(lacking))


def _value(figures: Figures, candidate: Candidate, axis: str, *, unvalidated: bool) -> Interval | None:
    if axis == SIZE:
        return None if candidate.wire_bytes is None else exact(candidate.wire_bytes)
    step = figures.step(candidate, axis, unvalidated=unvalidated)
    return None if step is None else step.cost
