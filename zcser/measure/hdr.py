"""A latency histogram as HdrHistogram's percentile distribution: the ``.hgrm`` text that its plotters read.

1. The format, its levels included, is that of ``AbstractHistogram.outputPercentileDistribution`` in HdrHistogram (Java),
   with 5 ticks per half distance and 3 decimals; `PercentileIterator` there says which percentiles get a line.
2. A bucket stands for the highest nanosecond in it, as it does there, but for the last one: the maximum is exact.
3. Values are in nanoseconds: the format has no place to say so.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from zcser.measure.histogram import BUCKETS_PER_OCTAVE, highest_ns
from zcser.measure.result import Latency, Result, ResultError
from zcser.measure.writing import file_name

__all__ = ["EXTENSION", "percentile_distribution", "write_distributions"]

EXTENSION = ".hgrm"

_TICKS_PER_HALF_DISTANCE = 5
_OCTAVES = 48
"""Powers of two that the histogram reaches over, "Buckets" in the footer; "SubBuckets" is how many it makes of each."""


@dataclass(frozen=True, slots=True)
class _Bucket:
    """Lowest and highest nanosecond of a bucket, its samples, and those up to its end."""

    low_ns: int
    high_ns: int
    count: int
    total: int

    @property
    def middle_ns(self) -> int:
        """What HdrHistogram calls the median equivalent value: of a bucket of one value, that value."""
        return self.low_ns + (self.high_ns - self.low_ns + 1) // 2


def percentile_distribution(latency: Latency) -> str:
    """The text of one histogram.

    Parameters
    ----------
    latency
        Of one cell.

    Returns
    -------
    str
        Lines of value in ns, percentile as a share, samples up to it and 1/(1-percentile); then mean, standard
        deviation, maximum and count.

    Raises
    ------
    ResultError
        The histogram is none: not ascending, or a bucket without samples.
    """
    buckets = _buckets(latency)
    count = buckets[-1].total
    mean_ns = sum(bucket.count * bucket.middle_ns for bucket in buckets) / count
    variance = sum(bucket.count * (bucket.middle_ns - mean_ns) ** 2 for bucket in buckets) / count
    lines = [
        f"{'Value':>12} {'Percentile':>14} {'TotalCount':>10} {'1/(1-Percentile)':>14}",
        "",
        *_lines(buckets),
        f"#[Mean    = {mean_ns:12.3f}, StdDeviation   = {math.sqrt(variance):12.3f}]",
        f"#[Max     = {latency.max_ns:12.3f}, Total count    = {count:12d}]",
        f"#[Buckets = {_OCTAVES:12d}, SubBuckets     = {BUCKETS_PER_OCTAVE:12d}]",
    ]
    return "\n".join(lines) + "\n"


def _buckets(latency: Latency) -> list[_Bucket]:
    # Reading a result checks its types alone.
    lows_ns = [low_ns for low_ns, _ in latency.histogram]
    sound = lows_ns and lows_ns == sorted(set(lows_ns)) and lows_ns[0] >= 0 and lows_ns[-1] < 1 << 63
    if not sound or min(count for _, count in latency.histogram) < 1:
        raise ResultError("a latency histogram of the result is not one: buckets must ascend and hold samples")
    totals = itertools.accumulate(count for _, count in latency.histogram)
    last_ns = int(latency.max_ns)
    return [
        _Bucket(low_ns, max(low_ns, min(highest_ns(low_ns), last_ns)), count, total)
        for (low_ns, count), total in zip(latency.histogram, totals, strict=True)
    ]


def _lines(buckets: list[_Bucket]) -> Iterator[str]:
    count = buckets[-1].total
    level = 0.0
    for bucket in buckets:
        reached = 100.0 * bucket.total / count
        while reached >= level:
            share = level / 100
            yield f"{bucket.high_ns:12.3f} {share:2.12f} {bucket.total:10d} {1 / (1 - share):14.2f}"
            level += _step(level)
            if bucket.total == count:
                break
    yield f"{buckets[-1].high_ns:12.3f} {1:2.12f} {count:10d}"


def _step(level: float) -> float:
    """How far the next percentile is: each halving of the distance to 100 has the same number of them."""
    halvings = int(math.log2(100.0 / (100.0 - level)))
    return 100.0 / (_TICKS_PER_HALF_DISTANCE << (halvings + 1))


def write_distributions(result: Result, folder: Path) -> list[Path]:
    """Write a file for each cell with a latency: ``PAYLOAD.CODEC.OPERATION.hgrm``.

    Returns
    -------
    list of Path
        The files, in the order of the cells.

    Raises
    ------
    ResultError
        A file cannot be written, or the result has no latency or an unsound one.
    """
    found = [(cell, cell.latency) for cell in result.cells if cell.latency is not None and cell.latency.histogram]
    if not found:
        raise ResultError("no cell of this result has a latency histogram")
    written: list[Path] = []
    for cell, latency in found:
        parts = [part for part in (cell.payload, cell.codec, cell.operation) if part != "-"]
        path = folder / file_name(parts, EXTENSION, [path.name for path in written])
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(percentile_distribution(latency), encoding="ascii", newline="\n")
        except OSError as error:
            raise ResultError(f"cannot write {path}: {error.strerror or error}") from None
        written.append(path)
    return written
