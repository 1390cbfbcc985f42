"""Latencies of one operation as a picture: a row per codec, fastest first, the time along the bottom.

Both scales are logarithmic, as those of `zcser.report.distribution` and for the same reasons.
"""

from __future__ import annotations

from collections.abc import Iterator

from zcser.core.units import duration_text
from zcser.measure.result import Latency
from zcser.report.cells import Grid
from zcser.report.charts.svg import LABEL, Picture, Scale, at, label, picture, ticks_of
from zcser.report.distribution import Axis, axis_of, column_counts, heights, latencies
from zcser.report.markup import Html, plain_name, tag

__all__ = ["distribution_picture"]

# Pixels of the picture, and of its rows.
_WIDTH, _LABELS, _MARGIN = 720, 160, 32
_ROW, _HEIGHT, _HEAD, _FOOT = 30, 24, 28, 26
_BAR = 4
_BARS = (_WIDTH - _LABELS - _MARGIN) // _BAR
_LEVELS = 64
COLORS = {"p50": "#1a7f37", "p99": "#cf222e"}
_LEAST = 3
"""Pixels of a single sample, so that it can be seen."""


def distribution_picture(grid: Grid, operation: str) -> Picture | None:
    """The picture; None where no codec has a latency."""
    found = latencies(grid, operation)
    if not found:
        return None
    axis = axis_of(list(found.values()))
    bottom = _HEAD + _ROW * len(found) + 4
    title = f"{grid.payload}: latency of {operation}, every sample"
    facts = (f"{codec} p50 {_text(one.p50_ns)}, p99 {_text(one.p99_ns)}" for codec, one in found.items())
    return picture(
        title,
        f"One row per codec, fastest first, from {duration_text(axis.low_ns)} to {duration_text(axis.high_ns)}. "
        + "; ".join(facts),
        _WIDTH,
        bottom + _FOOT,
        label(title, 0, 16, longest=80, font_weight="bold"),
        _legend(),
        _grid_lines(axis, bottom),
        [
            _row(codec, latency, axis, _HEAD + _ROW * (number + 1))
            for number, (codec, latency) in enumerate(found.items())
        ],
    )


def _text(time_ns: float | None) -> str:
    return "not shown, as samples are too few" if time_ns is None else duration_text(time_ns)


def _x(axis: Axis, time_ns: float) -> float:
    return _LABELS + axis.position(time_ns) * (_WIDTH - _LABELS - _MARGIN)


def _grid_lines(axis: Axis, bottom: float) -> Iterator[Html]:
    """A thin line at round times, and at the ends of the axis where none is near."""
    high_ns = max(axis.high_ns, axis.low_ns * 1.001)
    marks = list(ticks_of(Scale(axis.low_ns, high_ns, 0, 1, logarithmic=True)))
    for end in (axis.low_ns, axis.high_ns):
        if all(abs(_x(axis, end) - _x(axis, mark)) > 60 for mark in marks):
            marks.append(end)
    for time_ns in sorted(marks):
        x = at(_x(axis, time_ns))
        yield tag("line", x1=x, y1=_HEAD, x2=x, y2=bottom, stroke="currentColor", opacity="0.15")
        yield tag("text", duration_text(time_ns), x=x, y=bottom + 16, text_anchor="middle", opacity="0.7")


def _row(codec: str, latency: Latency, axis: Axis, base: int) -> Html:
    # Strokes from the base up, each begun where the last one ended: the shortest text for what is most of a page.
    strokes = []
    x, y = 0, 0
    for column, height in enumerate(heights(column_counts(latency, axis, _BARS), _LEVELS)):
        if height:
            tall = round(_LEAST + (_HEIGHT - _LEAST) * (height - 1) / (_LEVELS - 1))
            place = _LABELS + _BAR * column + _BAR // 2
            strokes.append(f"m{place - x} {base - y}v{-tall}")
            x, y = place, base - tall
    marks = [
        _mark(name, COLORS[name], _x(axis, time_ns), base, _HEIGHT)
        for name, time_ns in (("p50", latency.p50_ns), ("p99", latency.p99_ns))
        if time_ns is not None
    ]
    return tag(
        "g",
        label(codec, 0, base - 6, longest=LABEL),
        tag("path", d="".join(strokes), stroke="currentColor", stroke_width=_BAR, opacity="0.4", class_="samples"),
        marks,
        data_codec=plain_name(codec),
        data_row=_ROW,
    )


def _legend() -> list[Html]:
    """What the marks are, at the right of the title."""
    drawn = []
    for number, (name, color) in enumerate(COLORS.items()):
        x = _WIDTH - _MARGIN - 110 + 60 * number
        drawn.append(_mark(name, color, x, 18, 14))
        drawn.append(label(name, x + 6, 16, opacity="0.8"))
    return drawn


def _mark(name: str, color: str, x: float, base: float, height: float) -> Html:
    """A line where a percentile is: p50 whole, p99 dashed."""
    return tag(
        "path",
        d=f"M{at(x)} {at(base)}v{at(-height)}",
        stroke=color,
        stroke_width=2,
        stroke_dasharray=None if name == "p50" else "4 2",
        class_=name,
    )
