"""Curves of cost over a size or a number of fields, both logarithmic: where one codec's line crosses another's.

1. Only measured places have dots, each with the range of its figure; the lines between are there to follow by eye.
2. The codecs that the picture is about are drawn strong, each with a dash of its own; all others are thin and grey.
3. Each line has its codec's name at its right end, moved up or down where two would lie on each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from zcser.core.units import duration_text
from zcser.decide.interval import Interval
from zcser.report.charts.svg import LABEL, Picture, Scale, at, label, log_scale, picture, ticks_of
from zcser.report.markup import Html, plain_name, tag

__all__ = ["Line", "lines_picture"]

DASHES = (None, "7 3", "2 3", "9 3 2 3", "4 4", "12 4")
_WIDTH, _HEIGHT = 720, 380
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 170, 46, 46
_APART = 13
"""Pixels between two names."""


@dataclass(frozen=True, slots=True)
class Line:
    """A codec's figures in ns by place, ascending; places and figures are above 0."""

    codec: str
    points: tuple[tuple[float, Interval], ...]
    strong: bool


def lines_picture(title: str, lines: Sequence[Line], across: str, text: Callable[[float], str]) -> Picture | None:
    """The picture; None where the lines have fewer than two places.

    Parameters
    ----------
    title, across
        What the picture and its axis show.
    lines
        Codecs.
    text
        Writes a place.
    """
    places = [place for line in lines for place, _ in line.points]
    if len(set(places)) < 2:
        return None
    figures = [one for line in lines for _, one in line.points]
    ends = [end for one in figures for end in (one.low, one.value, one.high) if end > 0]
    x_scale = log_scale(places, _LEFT, _WIDTH - _RIGHT)
    y_scale = log_scale(ends, _HEIGHT - _BOTTOM, _TOP)
    drawn = sorted(lines, key=lambda line: line.strong)
    dashes = {
        line.codec: DASHES[number % len(DASHES)] for number, line in enumerate(one for one in lines if one.strong)
    }
    return picture(
        title,
        f"Lines of {len(lines)} codecs over {across}, from {text(min(places))} to {text(max(places))}, both logarithmic.",
        _WIDTH,
        _HEIGHT,
        label(title, 0, 16, longest=90, font_weight="bold"),
        _axes(x_scale, y_scale, sorted(set(places)), across, text),
        [_line(line, x_scale, y_scale, dashes.get(line.codec)) for line in drawn],
        _names(lines, y_scale),
    )


def _axes(
    x_scale: Scale, y_scale: Scale, places: Sequence[float], across: str, text: Callable[[float], str]
) -> list[Html]:
    low = _HEIGHT - _BOTTOM
    drawn = [label(f"{across} →", _WIDTH - _RIGHT, low + 36, text_anchor="end"), label("↑ cost", 0, _TOP - 12)]
    for value in ticks_of(y_scale):
        y = y_scale(value)
        drawn.append(
            tag("line", x1=_LEFT, y1=at(y), x2=_WIDTH - _RIGHT, y2=at(y), stroke="currentColor", opacity="0.12")
        )
        drawn.append(tag("text", duration_text(value), x=_LEFT - 6, y=at(y + 4), text_anchor="end", opacity="0.7"))
    last = -1e9
    for place in places:
        x = x_scale(place)
        drawn.append(tag("line", x1=at(x), y1=low, x2=at(x), y2=_TOP, stroke="currentColor", opacity="0.12"))
        if x - last > 55:
            drawn.append(tag("text", text(place), x=at(x), y=low + 16, text_anchor="middle", opacity="0.7"))
            last = x
    return drawn


def _line(line: Line, x_scale: Scale, y_scale: Scale, dash: str | None) -> Html:
    corners = " ".join(f"{at(x_scale(place))},{at(y_scale(one.value))}" for place, one in line.points)
    ranges = "".join(
        f"M{at(x_scale(place))} {at(y_scale(max(one.low, y_scale.low)))}V{at(y_scale(one.high))}"
        for place, one in line.points
    )
    color = "#2f5d8a" if line.strong else "currentColor"
    return tag(
        "g",
        tag("polyline", points=corners, fill="none", stroke=color, stroke_dasharray=dash, class_="line"),
        tag("path", d=ranges, fill="none", stroke=color, class_="line"),
        [
            tag("circle", cx=at(x_scale(place)), cy=at(y_scale(one.value)), r=3, fill=color, class_="dot")
            for place, one in line.points
        ],
        stroke_width=2 if line.strong else 1,
        opacity=None if line.strong else "0.35",
        class_="strong" if line.strong else None,
        data_codec=plain_name(line.codec),
    )


def _names(lines: Sequence[Line], y_scale: Scale) -> list[Html]:
    """Names at the right, in the order of the lines' ends, none on another."""
    ends = sorted((y_scale(line.points[-1][1].value) + 4, line.codec, line.strong) for line in lines if line.points)
    places: list[float] = []
    for y, _, _ in ends:
        places.append(max(y, places[-1] + _APART) if places else y)
    # What was pushed out at the bottom goes back up.
    limit = float(_HEIGHT - 4)
    for number in reversed(range(len(places))):
        places[number] = min(places[number], limit)
        limit = places[number] - _APART
    return [
        label(
            codec,
            _WIDTH - _RIGHT + 12,
            y,
            longest=LABEL,
            font_weight="bold" if strong else None,
            opacity=None if strong else "0.75",
            data_codec=plain_name(codec),
        )
        for y, (_, codec, strong) in zip(places, ends, strict=True)
    ]
