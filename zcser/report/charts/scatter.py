"""Points of two figures, both better when smaller, and the front of those that nothing beats in both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from zcser.report.charts.svg import Picture, Scale, at, label, log_scale, picture, ticks_of
from zcser.report.markup import Html, plain_name, shorten, tag

__all__ = ["Axis", "Dot", "scatter_picture"]

_WIDTH, _HEIGHT = 720, 380
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 90, 46, 46
_CHARACTER = 7.0
"""Width of a character, about, in the wider ones of the usual fonts; a bold one has a tenth more."""
_LONGEST = 20


@dataclass(frozen=True, slots=True)
class Dot:
    """A codec's two figures, both above 0, the range of the first, and whether it is on the front."""

    codec: str
    x: float
    y: float
    low: float
    high: float
    front: bool


@dataclass(frozen=True, slots=True)
class Axis:
    """What an axis shows, and how its figures are written."""

    title: str
    text: Callable[[float], str]


def scatter_picture(title: str, points: Sequence[Dot], across: Axis, up: Axis) -> Picture | None:
    """The picture; None of no points."""
    if not points:
        return None
    x_scale = log_scale(
        [value for point in points for value in (point.x, point.low, point.high) if value > 0], _LEFT, _WIDTH - _RIGHT
    )
    y_scale = log_scale([point.y for point in points], _HEIGHT - _BOTTOM, _TOP)
    front = sorted((point for point in points if point.front), key=lambda point: (point.x, point.y))
    on_front = ", ".join(f"{shorten(point.codec, 40)} ({across.text(point.x)}, {up.text(point.y)})" for point in front)
    return picture(
        title,
        f"{across.title} across, {up.title} up, both logarithmic; less is better. On the front: {on_front or 'none'}.",
        _WIDTH,
        _HEIGHT,
        label(title, 0, 16, longest=90, font_weight="bold"),
        _axes(x_scale, y_scale, across, up),
        _steps(front, x_scale, y_scale),
        # Names above ranges, so that none is struck through, and below dots, so that none is hidden; the front on top.
        [_range(point, x_scale, y_scale) for point in points],
        _labels(points, x_scale, y_scale),
        [_dot(point, x_scale, y_scale) for point in sorted(points, key=lambda point: point.front)],
    )


def _axes(x_scale: Scale, y_scale: Scale, across: Axis, up: Axis) -> Iterator[Html]:
    low, high = _HEIGHT - _BOTTOM, _TOP
    for value in ticks_of(x_scale):
        x = at(x_scale(value))
        yield tag("line", x1=x, y1=low, x2=x, y2=high, stroke="currentColor", opacity="0.12")
        yield tag("text", across.text(value), x=x, y=low + 16, text_anchor="middle", opacity="0.7")
    for value in ticks_of(y_scale):
        y = y_scale(value)
        yield tag("line", x1=_LEFT, y1=at(y), x2=_WIDTH - _RIGHT, y2=at(y), stroke="currentColor", opacity="0.12")
        yield tag("text", up.text(value), x=_LEFT - 6, y=at(y + 4), text_anchor="end", opacity="0.7")
    yield label(f"{across.title} →", _WIDTH - _RIGHT, low + 36, text_anchor="end")
    yield label(f"↑ {up.title}", 0, _TOP - 12)


def _steps(front: Sequence[Dot], x_scale: Scale, y_scale: Scale) -> Html | None:
    """The border of what the front beats."""
    if not front:
        return None
    path = [f"M{at(x_scale(front[0].x))} {_TOP}V{at(y_scale(front[0].y))}"]
    path += [f"H{at(x_scale(point.x))}V{at(y_scale(point.y))}" for point in front[1:]]
    path.append(f"H{_WIDTH - _RIGHT}")
    return tag("path", d="".join(path), fill="none", stroke="currentColor", stroke_dasharray="5 3", opacity="0.5")


def _range(point: Dot, x_scale: Scale, y_scale: Scale) -> Html:
    y = at(y_scale(point.y))
    left, right = (at(x_scale(max(value, x_scale.low))) for value in (point.low, point.high))
    return tag(
        "line", x1=left, y1=y, x2=right, y2=y, stroke="currentColor", opacity="0.6", data_codec=plain_name(point.codec)
    )


def _dot(point: Dot, x_scale: Scale, y_scale: Scale) -> Html:
    return tag(
        "circle",
        cx=at(x_scale(point.x)),
        cy=at(y_scale(point.y)),
        r=5 if point.front else 3.5,
        fill="#2f5d8a" if point.front else "none",
        stroke="currentColor" if not point.front else None,
        class_="front" if point.front else None,
        data_codec=plain_name(point.codec),
    )


_BEFORE = {"start": 0.0, "middle": 0.5, "end": 1.0}
"""How much of a name is before the place that it is anchored at."""
_PLACES = (
    ("start", 9, 4),
    ("start", 9, -8),
    ("start", 9, 16),
    ("end", -9, 4),
    ("end", -9, -8),
    ("end", -9, 16),
    ("middle", 0, -11),
    ("middle", 0, 21),
)
"""Where a name may stand beside its dot, the best place first."""

Box = tuple[float, float, float, float]


def _labels(points: Sequence[Dot], x_scale: Scale, y_scale: Scale) -> Iterator[Html]:
    """Names beside their dots, those of the front first; one that would lie over another is left to the table."""
    dots = [(x_scale(point.x), y_scale(point.y)) for point in points]
    taken: list[Box] = [(x - 6, y - 6, x + 6, y + 6) for x, y in dots]
    for point in sorted(points, key=lambda point: not point.front):
        x, y = x_scale(point.x), y_scale(point.y)
        width = _CHARACTER * min(len(point.codec), _LONGEST) * (1.1 if point.front else 1)
        for anchor, dx, dy in _PLACES:
            start = x + dx - width * _BEFORE[anchor]
            box = (start, y + dy - 10, start + width, y + dy + 3)
            if _inside(box) and not any(_meet(box, other) for other in taken):
                taken.append(box)
                yield label(
                    point.codec,
                    x + dx,
                    y + dy,
                    longest=_LONGEST,
                    text_anchor=None if anchor == "start" else anchor,
                    font_weight="bold" if point.front else None,
                    data_codec=plain_name(point.codec),
                )
                break


def _inside(box: Box) -> bool:
    left, top, right, bottom = box
    return left >= 0 and top >= _TOP and right <= _WIDTH and bottom <= _HEIGHT - _BOTTOM + 4


def _meet(left: Box, right: Box) -> bool:
    return left[0] < right[2] and right[0] < left[2] and left[1] < right[3] and right[1] < left[3]
