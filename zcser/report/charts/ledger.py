"""Where the cost of encode and of decode goes, as stacked bars: the library's own step apart from what is around it.

1. Encode is guard, conversion from the user's objects, and the library (convert has the guard in it, so that it is taken
   out); decode is the library and conversion to the user's objects. A part below 0, which noise can make of a small
   one, is drawn as nothing.
2. The parts were measured each by itself, so that they need not add up to the whole: a tick stands where the whole is.
3. A codec that is fused has one part, which says so.
4. The scale is linear, as lengths are added. A bar beyond its end is cut, and marked as cut.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from zcser.core.units import duration_text
from zcser.report.cells import Grid
from zcser.report.charts.svg import LABEL, MOST, Picture, Scale, at, label, picture, ticks_of
from zcser.report.markup import Html, plain_name, tag

__all__ = ["Bar", "bars_of", "ledger_picture"]

COLORS = {"guard": "#b35900", "convert": "#7a9cc6", "restore": "#7a9cc6", "library": "#2f5d8a", "fused": "#7f7f7f"}
WORDS = {
    "guard": "guard",
    "convert": "conversion from your objects",
    "restore": "conversion to your objects",
    "library": "the library's own step",
    "fused": "fused, all in one step",
}
_WIDTH, _LABELS, _FIGURES = 720, 160, 80
_ROW, _BAR, _HEAD, _FOOT = 24, 14, 46, 26
_CUT = 4
"""How many times the median a bar may be long."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One codec: its parts in ns, in their order, and the whole as it was measured."""

    codec: str
    parts: tuple[tuple[str, float], ...]
    whole_ns: float


def bars_of(grid: Grid, operation: str, fused: frozenset[str]) -> tuple[Bar, ...]:
    """The bars of ``"encode"`` or ``"decode"``, fastest first; codecs without a cost are left out."""
    bars = []
    for codec in grid.codecs:
        whole = grid.cost(codec, operation)
        if whole is not None and whole > 0:
            bars.append(Bar(codec, tuple(_parts(grid, codec, operation, whole, fused)), whole))
    return tuple(sorted(bars, key=lambda bar: bar.whole_ns))


def _parts(grid: Grid, codec: str, operation: str, whole: float, fused: frozenset[str]) -> list[tuple[str, float]]:
    def cost(part: str) -> float:
        return max(0.0, grid.cost(codec, part) or 0.0)

    if operation == "encode":
        guard = min(cost("guard"), whole)
        convert, dump = grid.cost(codec, "convert"), grid.cost(codec, "dump")
        if convert is not None and dump is not None:
            return [("guard", guard), ("convert", max(0.0, convert - guard)), ("library", max(0.0, dump))]
        return [("guard", guard), ("fused" if codec in fused else "library", whole - guard)]
    load, restore = grid.cost(codec, "load"), grid.cost(codec, "restore")
    if load is not None and restore is not None:
        return [("library", max(0.0, load)), ("restore", max(0.0, restore))]
    return [("fused" if codec in fused else "library", whole)]


def ledger_picture(grid: Grid, operation: str, fused: frozenset[str]) -> Picture | None:
    """The picture of one operation; None where no codec has a cost."""
    bars = bars_of(grid, operation, fused)
    if not bars:
        return None
    lengths = [max(bar.whole_ns, sum(time for _, time in bar.parts)) for bar in bars]
    longest = min(max(lengths), _CUT * statistics.median(lengths), MOST)
    scale = Scale(0, longest, _LABELS, _WIDTH - _FIGURES)
    bottom = _HEAD + _ROW * len(bars) + 2
    title = f"{grid.payload}: where the cost of {operation} goes"
    return picture(
        title,
        "Stacked bars, fastest first, of the library's own step and of what is around it. "
        + "; ".join(f"{bar.codec} {duration_text(bar.whole_ns)}" for bar in bars),
        _WIDTH,
        bottom + _FOOT,
        label(title, 0, 16, longest=80, font_weight="bold"),
        _legend(bars),
        [
            (
                tag("line", x1=x, y1=_HEAD, x2=x, y2=bottom, stroke="currentColor", opacity="0.15"),
                tag(
                    "text",
                    duration_text(time) if time else "0",
                    x=x,
                    y=bottom + 16,
                    text_anchor="middle",
                    opacity="0.7",
                ),
            )
            for time, x in ((time, at(scale(time))) for time in ticks_of(scale))
        ],
        [_row(bar, scale, _HEAD + _ROW * number) for number, bar in enumerate(bars)],
    )


def _legend(bars: Sequence[Bar]) -> list[Html]:
    drawn = []
    x = 0.0
    for part, color in COLORS.items():
        if any(name == part and time > 0 for bar in bars for name, time in bar.parts):
            drawn += [
                tag("rect", x=at(x), y=25, width=10, height=10, fill=color, class_=part),
                label(WORDS[part], x + 14, 34, opacity="0.8"),
            ]
            x += 28 + 6.2 * len(WORDS[part])
    drawn += [
        tag("line", x1=at(x + 4), y1=23, x2=at(x + 4), y2=37, stroke="currentColor", stroke_width=1.5),
        label("the whole", x + 10, 34, opacity="0.8"),
    ]
    return drawn


def _row(bar: Bar, scale: Scale, top: float) -> Html:
    drawn = []
    start = 0.0
    for part, time in bar.parts:
        left, right = scale(start), scale(start + time)
        start += time
        if right - left > 0:
            bar_path = f"M{at(left)} {top + 3}h{at(right - left)}v{_BAR}H{at(left)}"
            drawn.append(tag("path", d=bar_path, fill=COLORS[part], class_=part))
    if max(start, bar.whole_ns) > scale.high * 1.001:
        drawn.append(label("»", scale.stop - 8, top + 15, font_weight="bold", class_="cut"))
    else:
        x = at(scale(bar.whole_ns))
        drawn.append(tag("line", x1=x, y1=top + 1, x2=x, y2=top + _BAR + 5, stroke="currentColor", stroke_width=1.5))
    return tag(
        "g",
        label(bar.codec, 0, top + 14, longest=LABEL),
        drawn,
        label(duration_text(bar.whole_ns), _WIDTH, top + 14, text_anchor="end"),
        data_codec=plain_name(bar.codec),
        data_row=_ROW,
    )
