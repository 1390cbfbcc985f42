"""How latencies are distributed, as one line of characters; `zcser.report.charts.distribution` draws the same.

1. All codecs of an operation share one axis, the logarithm of time, so that lines below each other can be compared.
2. Height is the logarithm of the count: a tail of one sample in ten thousand is what the picture is for, and would be
   nothing on a linear scale. Any sample at all shows; only no sample is blank.
3. p50 and p99 are the exact ones of the result, marked where they are valid, each in the column that it falls into.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from zcser.core.units import duration_text
from zcser.measure.result import Latency
from zcser.report.cells import Grid
from zcser.report.model import ABSENT, Column, Entry, Table, one_line

__all__ = [
    "P50_MARK",
    "P99_MARK",
    "Axis",
    "axis_of",
    "column_counts",
    "distribution_table",
    "heights",
    "latencies",
    "sparkline",
]

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


def axis_of(shown: Sequence[Latency]) -> Axis:
    """The axis on which all samples of some latencies lie; at least one has a histogram."""
    lows = [latency.histogram[0][0] for latency in shown if latency.histogram]
    return Axis(max(1.0, float(min(lows))), max(1.0, *(latency.max_ns for latency in shown)))


def column_counts(latency: Latency, axis: Axis, columns: int) -> list[int]:
    """Samples in each column of an axis."""
    counts = [0] * columns
    for low_ns, count in latency.histogram:
        counts[axis.column(low_ns, columns)] += count
    return counts


def heights(counts: Sequence[int], levels: int) -> list[int]:
    """0 where there is nothing, 1 for one sample, `levels` for the most."""
    most = max(counts, default=0)
    step = math.log(most) / (levels - 1) if most > 1 else 1.0
    return [0 if count < 1 else 1 + min(levels - 1, int(math.log(count) / step + 1e-9)) for count in counts]


def sparkline(latency: Latency, axis: Axis, columns: int = COLUMNS) -> str:
    """One line of `columns` characters.

    A mark stands for its column's height; where p50 and p99 share a column, p99 is shown.
    """
    line = [" "] * columns
    for column, height in enumerate(heights(column_counts(latency, axis, columns), len(RAMP))):
        line[column] = RAMP[height - 1] if height else " "
    for mark, time_ns in ((P50_MARK, latency.p50_ns), (P99_MARK, latency.p99_ns)):
        if time_ns is not None:
            line[axis.column(time_ns, columns)] = mark
    return "".join(line)


def latencies(grid: Grid, operation: str) -> dict[str, Latency]:
    """Latencies of one operation by codec, in the order of the grid's tables."""
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
        found = latencies(grid, operation)
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
