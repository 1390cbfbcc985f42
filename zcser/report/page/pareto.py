"""Cost against size: which codecs nothing beats in both, by the rules of `zcser.decide.pareto`."""

from __future__ import annotations

from collections.abc import Iterator

from zcser.core.units import bytes_text, duration_text
from zcser.decide.figures import Figures
from zcser.decide.pareto import SIZE, Point, pareto
from zcser.report.charts.scatter import Axis, Dot, scatter_svg
from zcser.report.markup import Html, tag
from zcser.report.page.tables import scrolling

__all__ = ["pareto_charts"]

SHOWN = {"encode": "cost of encode", "read-field": "cost of one field", "decode": "cost of decode"}


def pareto_charts(figures: Figures, key: str) -> Iterator[Html]:
    """A picture per operation of which two codecs or more have a cost and a size; `key` begins the identifiers.

    What takes bytes on trust is in none of them.
    """
    for operation, title in SHOWN.items():
        found = pareto(figures, (operation, SIZE))
        dots = [_dot(one, one.codec in found.front) for one in found.points]
        drawn = scatter_svg(
            f"{figures.payload}: {title} against size of the message",
            dots,
            Axis(title, duration_text),
            Axis("size", bytes_text),
        )
        if drawn is not None and len(dots) > 1:
            yield scrolling(f"{key}-pareto-{operation}", f"picture of {title} against size", tag("figure", drawn))


def _dot(point: Point, front: bool) -> Dot:
    cost, size = point.values
    return Dot(point.codec, cost.value, size.value, cost.low, cost.high, front)
