"""The clock that every time in a result was read from."""

from __future__ import annotations

import itertools
import math
import time
from pathlib import Path

__all__ = ["lattice_ns", "now_ns", "source"]

now_ns = time.perf_counter_ns
"""Monotonic nanoseconds. Bound once, so that timing loops and recorders cannot read different clocks."""


def lattice_ns(readings: int = 2000) -> int:
    """The step of the clock: the largest whole number of nanoseconds that divides all differences of readings.

    The smallest difference itself would not do, since reading takes longer than most clocks' steps.
    """
    taken = [now_ns() for _ in range(readings)]
    return math.gcd(*(after - before for before, after in itertools.pairwise(taken)))


def source() -> str:
    """Where readings come from, as Linux names its clock sources; elsewhere the call behind them."""
    try:
        named = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource").read_text().strip()
    except OSError:
        named = ""
    return named or time.get_clock_info("perf_counter").implementation
