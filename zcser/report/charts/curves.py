"""Cost over a size and over a number of fields: the curves of a picture, and the codecs that it is about."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from zcser.core.units import bytes_text, number_text
from zcser.decide.crossover import reading
from zcser.decide.figures import Figures
from zcser.decide.interval import Interval
from zcser.report.charts.lines import Line, lines_picture
from zcser.report.charts.svg import Picture

__all__ = [
    "STRONG",
    "SWEPT",
    "Curves",
    "curves_over_fields",
    "curves_over_sizes",
    "fields_picture",
    "sizes_picture",
    "strong",
]

Curves = dict[str, dict[float, Interval]]
"""By codec: its cost in ns by place."""

SWEPT = {"encode": "encode", "decode": "decode", "read-field": "read the named fields"}
"""Tasks over sizes, and the verb of each."""
STRONG = 4
"""Codecs that a picture of lines is about, and between which crossovers are looked for."""


def curves_over_fields(figures: Figures) -> Curves:
    """Cost by the number of fields that are read."""
    return {one.codec: reading(figures, one.codec) for one in figures.candidates}


def curves_over_sizes(sweep: Sequence[Figures], task: str) -> Curves:
    """Cost of a task by the size of the message."""
    curves: Curves = {}
    for figures in sweep:
        for one in figures.candidates:
            step = figures.step(one, task)
            if step is not None and figures.message_bytes is not None:
                curves.setdefault(one.codec, {})[figures.message_bytes] = step.cost
    return curves


def strong(curves: Curves) -> list[str]:
    """The codecs that are lowest or second at some place, at most `STRONG`, those lowest at most places first."""
    places = sorted({place for curve in curves.values() for place in curve})
    ordered = [
        sorted((curve[place].value, codec) for codec, curve in curves.items() if place in curve) for place in places
    ]
    firsts, seconds = ([order[number][1] for order in ordered if len(order) > number] for number in (0, 1))
    return list(dict.fromkeys([*firsts, *seconds]))[:STRONG]


def fields_picture(figures: Figures) -> Picture | None:
    """The picture of `curves_over_fields`; None where no codec was read at two places."""
    title = f"{figures.payload}: cost by the number of fields that are read"
    return _picture(title, curves_over_fields(figures), "fields", number_text)


def sizes_picture(sweep: Sequence[Figures], task: str) -> Picture | None:
    """The picture of `curves_over_sizes`; None where no codec did the task at two sizes."""
    title = f"{sweep[0].payload} to {sweep[-1].payload}: cost to {SWEPT[task]}, by size"
    return _picture(title, curves_over_sizes(sweep, task), "size of the message", bytes_text)


def _picture(title: str, curves: Curves, across: str, text: Callable[[float], str]) -> Picture | None:
    about = strong(curves)
    order = [*about, *(codec for codec in curves if codec not in about)]
    lines = [
        Line(codec, tuple(sorted(curves[codec].items())), codec in about) for codec in order if len(curves[codec]) > 1
    ]
    return lines_picture(title, lines, across, text)
