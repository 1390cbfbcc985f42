"""How much scratch memory an encoder is given, from a histogram of what it will be asked for.

Scratch memory that turns out too small is doubled, and keeps its size; each time counts as a growth. What is reserved
beforehand spares the growths of the first messages, which are the ones that a latency tail is made of.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["PAGE", "reserved_size"]

PAGE = 4096
"""Bytes that reservations are rounded up to."""


def reserved_size(histogram: Mapping[int, int], quantile: float) -> int:
    """Bytes that suffice for a share of all messages.

    Parameters
    ----------
    histogram
        Messages by size in bytes.
    quantile
        The share, above 0 and up to 1.

    Returns
    -------
    int
        The smallest size that so many messages do not pass, rounded up to whole pages.

    Raises
    ------
    ValueError
        The histogram is empty or has a negative number, or the quantile is no share.
    """
    if not 0 < quantile <= 1:
        raise ValueError(f"a quantile lies above 0 and up to 1, not at {quantile!r}")
    total = sum(histogram.values())
    if total < 1 or min(histogram) < 0 or min(histogram.values()) < 0:
        raise ValueError("a histogram needs messages, and neither sizes nor counts are negative")
    seen, found = 0, 0
    for found in sorted(histogram):
        seen += histogram[found]
        if seen >= quantile * total:
            break
    return -(-found // PAGE) * PAGE
