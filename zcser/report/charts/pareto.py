"""Cost against size: which codecs nothing beats in both, by the rules of `zcser.decide.pareto`."""

from __future__ import annotations

from zcser.core.units import bytes_text, duration_text
from zcser.decide.figures import Figures
from zcser.decide.pareto import SIZE, Point, pareto
from zcser.report.charts.scatter import Axis, Dot, scatter_picture
from zcser.report.charts.svg import Picture

__all__ = ["COSTS", "pareto_picture"]

COSTS = {"encode": "cost of encode", "read-field": "cost of one field", "decode": "cost of decode"}
"""Operations of which there is a picture, and what each cost is called."""


def pareto_picture(figures: Figures, operation: str) -> Picture | None:
    """The picture of one of `COSTS`; None where fewer than two codecs have a cost and a size.

    What takes bytes on trust is not in it.
    """
    found = pareto(figures, (operation, SIZE))
    dots = [_dot(one, one.codec in found.front) for one in found.points]
    if len(dots) < 2:
        return None
    title = COSTS[operation]
    return scatter_picture(
        f"{figures.payload}: {title} against size of the message",
        dots,
        Axis(title, duration_text),
        Axis("size", bytes_text),
    )


def _dot(point: Point, front: bool) -> Dot:
    cost, size = point.values
    return Dot(point.codec, cost.value, size.value, cost.low, cost.high, front)
