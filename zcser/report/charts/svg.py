"""The frame of a picture, and its axes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from zcser.report.markup import Child, Html, join, shorten, tag

__all__ = ["LABEL", "MOST", "Picture", "Scale", "at", "label", "log_scale", "picture", "ticks_of"]

LABEL = 22
"""Characters of a codec's name beside a row."""
FONTS = "system-ui, -apple-system, Segoe UI, Roboto, sans-serif"
"""Those of the reader's own system: a picture brings none."""


def at(position: float) -> str:
    """A coordinate, to a tenth of a pixel."""
    return f"{position:.1f}".removesuffix(".0")


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn, from 0 to `width` and `height`, with a name and a description for those who do not see it."""

    title: str
    description: str
    width: float
    height: float
    body: Html

    def svg(self, *before: Child, margin: int = 0) -> Html:
        """The ``<svg>``: `before` lies below what is drawn, and a margin of so many pixels around it."""
        width, height = (at(size + 2 * margin) for size in (self.width, self.height))
        return tag(
            "svg",
            tag("title", self.title),
            tag("desc", self.description),
            before,
            self.body,
            xmlns="http://www.w3.org/2000/svg",
            role="img",
            viewBox=f"{-margin} {-margin} {width} {height}",
            width=width,
            height=height,
            font_family=FONTS,
            font_size="12",
            fill="currentColor",
        )


def picture(title: str, description: str, width: float, height: float, *parts: Child) -> Picture:
    """A picture of these parts."""
    return Picture(shorten(title, 200), shorten(description, 500), width, height, join(parts))


def label(text: str, x: float, y: float, *, longest: int = 60, **attributes: str | float | None) -> Html:
    """A text; one that is cut has the whole beside it, as its title."""
    shown = shorten(text, longest)
    whole = shorten(text, 200)
    return tag("text", shown, None if shown == whole else tag("title", whole), x=at(x), y=at(y), **attributes)


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to pixels. `low` is below `high`; on a logarithmic scale both are above 0."""

    low: float
    high: float
    start: float
    stop: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """The pixel of a value, and the nearer end for one that is beyond."""
        bounded = min(max(value, self.low), self.high)
        if self.logarithmic:
            share = math.log(bounded / self.low) / math.log(self.high / self.low)
        else:
            share = (bounded - self.low) / (self.high - self.low)
        return self.start + share * (self.stop - self.start)


LEAST, MOST = 1e-3, 1e18
"""What a logarithmic scale shows at the most, in ns, bytes or fields: a file written by hand may hold anything."""


def log_scale(values: Iterable[float], start: float, stop: float) -> Scale:
    """A logarithmic scale that holds these values, at least one, with room around them; it spans two thirds at the least."""
    bounded = [min(max(value, LEAST), MOST) for value in values]
    low, high = min(bounded), max(bounded)
    room = max(1.12, (high / low) ** 0.06)
    if high / low < 1.8:
        middle = math.sqrt(low * high)
        low, high = middle / 1.35, middle * 1.35
    return Scale(low / room, high * room, start, stop, logarithmic=True)


def ticks_of(scale: Scale) -> Iterator[float]:
    """Round values on a scale: some five in equal steps, or on a long logarithmic one powers of ten and 2 and 5 times these."""
    decades = math.log10(scale.high / scale.low) if scale.logarithmic else 0.0
    if decades < 0.7:
        step = 10 ** math.floor(math.log10((scale.high - scale.low) / 4))
        step *= next(factor for factor in (1, 2, 5, 10) if (scale.high - scale.low) / (factor * step) <= 6)
        for number in range(math.ceil(scale.low / step), math.floor(scale.high / step) + 1):
            yield number * step
        return
    factors = (1, 2, 5) if decades < 2.5 else (1,)
    every = max(1, math.ceil(decades / 8))
    for power in range(math.floor(math.log10(scale.low)), math.ceil(math.log10(scale.high)) + 1):
        for factor in factors:
            value = factor * 10.0**power
            if power % every == 0 and scale.low <= value <= scale.high:
                yield value
