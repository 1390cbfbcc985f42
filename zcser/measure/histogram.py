"""Samples as counts in logarithmic buckets: the form in which a distribution stands in the result file.

Bucket i holds the whole nanoseconds from ``ceil(2**(i/24))`` up to the next bucket's first one, so that its highest and
lowest value differ by less than ``2**(1/24) - 1``, which is 2.93%. Buckets too narrow to hold a whole nanosecond (they
lie below 35 ns) do not exist; 0 has a bucket of its own. The last bucket, from 2**48 ns (78 hours) on, is open.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt

__all__ = ["BUCKETS_PER_OCTAVE", "highest_ns", "histogram"]

BUCKETS_PER_OCTAVE = 24
_OCTAVES = 48

_LOW_NS = np.unique([0, *(math.ceil(2 ** (i / BUCKETS_PER_OCTAVE)) for i in range(_OCTAVES * BUCKETS_PER_OCTAVE + 1))])


def histogram(samples_ns: npt.NDArray[np.integer]) -> tuple[tuple[int, int], ...]:
    """Count samples by bucket.

    Parameters
    ----------
    samples_ns
        Whole nanoseconds, none negative.

    Returns
    -------
    tuple of (int, int)
        First nanosecond of the bucket and samples in it; ascending, without empty buckets.
    """
    places, counts = np.unique(np.searchsorted(_LOW_NS, samples_ns, side="right") - 1, return_counts=True)
    return tuple(zip(_LOW_NS[places].tolist(), counts.tolist(), strict=True))


def highest_ns(low_ns: int) -> int:
    """The last nanosecond of the bucket that begins at `low_ns`, as if the buckets went on beyond the open one."""
    if low_ns == 0:
        return 0
    places = itertools.count(math.floor(BUCKETS_PER_OCTAVE * math.log2(low_ns)))
    firsts = (math.ceil(2 ** (place / BUCKETS_PER_OCTAVE)) for place in places)
    return next(first for first in firsts if first > low_ns) - 1
