"""``zcser env``: this machine as a result file records it, and how noisy it is at the moment."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from zcser import registry
from zcser.cli.screen import screen
from zcser.core.codec import CodecInfo
from zcser.core.units import number_text
from zcser.measure.env import environment
from zcser.measure.noise import Disturbance, disturbance
from zcser.report.model import Column, Entry, Table, one_line

__all__ = ["run"]

SPIN_S = 0.5
QUIET_PER_S = 20
"""Preemptions of a busy thread per second up to which a machine is called quiet: most 2 ms batches stay clean."""


def run(_: argparse.Namespace) -> int:
    """Print the environment and the noise."""
    found = registry.available()
    known = environment(info for info in found.values() if isinstance(info, CodecInfo))
    rows = [*_flat("", asdict(known)), *_noise(*_spin())]
    columns = (Column("what", align="left"), Column("here", align="left"))
    screen().table(Table("", columns, tuple((Entry(one_line(name)), Entry(one_line(text))) for name, text in rows)))
    return 0


def _flat(prefix: str, values: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(f"{prefix}{name} ", value)
        else:
            yield prefix + name, "unknown" if value is None else str(value)


def _spin() -> tuple[Disturbance, float]:
    """Keep this thread busy for a while, and see what disturbs it."""
    before, start = disturbance(), time.perf_counter()
    while time.perf_counter() - start < SPIN_S:
        pass
    return disturbance().since(before), time.perf_counter() - start


def _noise(seen: Disturbance, seconds: float) -> Iterator[tuple[str, str]]:
    rate = seen.involuntary_switches / seconds
    yield (
        "noise",
        f"{'quiet' if rate <= QUIET_PER_S else 'noisy'}: a busy thread is preempted {number_text(rate)} times a second",
    )
    if seen.stalled_us is not None:
        yield "noise waiting", f"tasks waited for a CPU {100 * seen.stalled_us / 1e6 / seconds:.0f}% of the time"
    if seen.throttled_us:
        yield "noise throttled", f"by the cgroup's quota {100 * seen.throttled_us / 1e6 / seconds:.0f}% of the time"
