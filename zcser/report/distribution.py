"""How latencies are distributed, as one line of characters or as an SVG picture; both out of a result's histograms.

1. All codecs of an operation share one axis, the logarithm of time, so that lines below each other can be compared.
2. Height is the logarithm of the count: a tail of one sample in ten thousand is what the picture is for, and would be
   nothing on a linear scale. Any sample at all shows; only no sample is blank.
3. p50 and p99 are the exact ones of the result, marked where they are valid, each in the column that it falls into.
4. The SVG needs nothing from outside: no font, no script, no style sheet. It takes the colour of the text around it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from zcser.core.units import duration_text
from zcser.measure.result import Latency
from zcser.report.cells import Grid
from zcser.report.model import ABSENT, Column, Entry, Table, one_line

__all__ = ["P50_MARK", "P99_MARK", "Axis", "axis_of", "distribution_svg", "distribution_table", "sparkline"]

RAMP = ".:-=+*#@"
"""From one sample to as many as the fullest column of the line has; plain ASCII, which every log and font shows."""

P50_MARK = "|"
P99_MARK = ">"
COLUMNS = 36
OPERATIONS = ("encode", "decode")


@dataclass(frozen=True, slots=True)
class Axis:
    """A range of times, in ns, that is divided into columns of equal ratio; `low_ns` is at least 1."""

    low_ns: float
    high_ns: float

    def position(self, time_ns: float) -> float:
        """Where a time lies: 0 at the low end, 1 at the high end, and the ends for what is beyond."""
        span = math.log(self.high_ns / self.low_ns)
        place = math.log(max(time_ns, self.low_ns) / self.low_ns) / span if span > 0 else 0.0
        return min(place, 1.0)

    def column(self, time_ns: float, columns: int) -> int:
        """The column of a time, from 0."""
        return min(int(self.position(time_ns) * columns), columns - 1)


def axis_of(latencies: Sequence[Latency]) -> Axis:
    """The axis on which all samples of some latencies lie; at least one has a histogram."""
    lows = [latency.histogram[0][0] for latency in latencies if latency.histogram]
    return Axis(max(1.0, float(min(lows))), max(1.0, *(latency.max_ns for latency in latencies)))


def _column_counts(latency: Latency, axis: Axis, columns: int) -> list[int]:
    counts = [0] * columns
    for low_ns, count in latency.histogram:
        counts[axis.column(low_ns, columns)] += count
    return counts


def _heights(counts: Sequence[int], levels: int) -> list[int]:
    """0 where there is nothing, 1 for one sample, `levels` for the most."""
    most = max(counts, default=0)
    step = math.log(most) / (levels - 1) if most > 1 else 1.0
    return [0 if count < 1 else 1 + min(levels - 1, int(math.log(count) / step + 1e-9)) for count in counts]


def sparkline(latency: Latency, axis: Axis, columns: int = COLUMNS) -> str:
    """One line of `columns` characters.

    A mark stands for its column's height; where p50 and p99 share a column, p99 is shown.
    """
    line = [" "] * columns
    for column, height in enumerate(_heights(_column_counts(latency, axis, columns), len(RAMP))):
        line[column] = RAMP[height - 1] if height else " "
    for mark, time_ns in ((P50_MARK, latency.p50_ns), (P99_MARK, latency.p99_ns)):
        if time_ns is not None:
            line[axis.column(time_ns, columns)] = mark
    return "".join(line)


def _latencies(grid: Grid, operation: str) -> dict[str, Latency]:
    """By codec, in the order of the grid's tables."""
    found = ((codec, grid.cells.get((codec, operation))) for codec in grid.codecs)
    return {
        codec: cell.latency
        for codec, cell in found
        if cell is not None and cell.status == "ok" and cell.latency is not None and cell.latency.histogram
    }


def distribution_table(grid: Grid) -> Table | None:
    """A line per codec for encode and for decode; None where no cell of the payload has a latency."""
    lines: dict[str, dict[str, str]] = {}
    columns = [Column("codec", align="left")]
    for operation in OPERATIONS:
        found = _latencies(grid, operation)
        if not found:
            continue
        axis = axis_of(list(found.values()))
        lines[operation] = {codec: sparkline(latency, axis) for codec, latency in found.items()}
        ends = duration_text(axis.low_ns), duration_text(axis.high_ns)
        columns.append(Column(f"{operation}: {ends[0]} to {ends[1]}", operation, align="left"))
    if not lines:
        return None
    shown = [codec for codec in grid.codecs if any(codec in found for found in lines.values())]
    rows = tuple(
        (Entry(one_line(codec)), *(_line_entry(found.get(codec)) for found in lines.values())) for codec in shown
    )
    title = f"Distribution: every sample, both scales logarithmic; {P50_MARK} p50, {P99_MARK} p99"
    return Table(title, tuple(columns), rows)


def _line_entry(line: str | None) -> Entry:
    return ABSENT if line is None else Entry(line)


# Pixels of the picture, and of its rows.
_WIDTH, _LABELS, _MARGIN = 720, 150, 14
_ROW, _HEIGHT, _HEAD, _FOOT = 34, 26, 28, 26
_BARS = 180
_LEVELS = 64
_LEAST = 3
"""Pixels of a single sample, so that it can be seen."""


def distribution_svg(grid: Grid, operation: str) -> str | None:
    """A picture of one operation: a row per codec, fastest first, the time along the bottom.

    Returns
    -------
    str or None
        An ``<svg>`` element; None where no codec has a latency.
    """
    found = _latencies(grid, operation)
    if not found:
        return None
    axis = axis_of(list(found.values()))
    height = _HEAD + _ROW * len(found) + _FOOT
    title = escape(one_line(f"{grid.payload}: latency of {operation}, every sample"))
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
            f'height="{height}" font-family="sans-serif" font-size="12" fill="currentColor">'
        ),
        f"<title>{title}</title>",
        f'<text x="{_MARGIN}" y="18" font-weight="bold">{title}</text>',
        *_grid_lines(axis, height - _FOOT),
    ]
    for number, (codec, latency) in enumerate(found.items()):
        parts += _row(codec, latency, axis, _HEAD + _ROW * (number + 1) - 4)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _x(axis: Axis, time_ns: float) -> float:
    return _LABELS + axis.position(time_ns) * (_WIDTH - _LABELS - 2 * _MARGIN)


def _grid_lines(axis: Axis, bottom: int) -> Iterator[str]:
    """A thin line at each power of ten, and the ends of the axis where none is near."""
    powers = range(math.ceil(math.log10(axis.low_ns)), math.floor(math.log10(axis.high_ns)) + 1)
    marks = [10.0**power for power in powers]
    for end in (axis.low_ns, axis.high_ns):
        if all(abs(_x(axis, end) - _x(axis, mark)) > 60 for mark in marks):
            marks.append(end)
    for time_ns in sorted(marks):
        x = _x(axis, time_ns)
        yield f'<line x1="{x:.1f}" y1="{_HEAD}" x2="{x:.1f}" y2="{bottom}" stroke="currentColor" opacity="0.15"/>'
        yield f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle" opacity="0.7">{duration_text(time_ns)}</text>'


def _row(codec: str, latency: Latency, axis: Axis, base: int) -> Iterator[str]:
    yield f'<text x="{_MARGIN}" y="{base - 6}">{escape(one_line(codec))}</text>'
    width = (_WIDTH - _LABELS - 2 * _MARGIN) / _BARS
    bars = []
    for column, height in enumerate(_heights(_column_counts(latency, axis, _BARS), _LEVELS)):
        if height:
            tall = _LEAST + (_HEIGHT - _LEAST) * (height - 1) / (_LEVELS - 1)
            bars.append(f"M{_LABELS + column * width:.1f} {base}v{-tall:.1f}h{width:.1f}v{tall:.1f}z")
    yield f'<path d="{"".join(bars)}" opacity="0.45"/>'
    for name, time_ns, color in (("p50", latency.p50_ns, "#1a7f37"), ("p99", latency.p99_ns, "#cf222e")):
        if time_ns is not None:
            x = _x(axis, time_ns)
            yield (
                f'<line x1="{x:.1f}" y1="{base}" x2="{x:.1f}" y2="{base - _HEIGHT}" stroke="{color}" stroke-width="2">'
                f"<title>{name} {duration_text(time_ns)}</title></line>"
            )
