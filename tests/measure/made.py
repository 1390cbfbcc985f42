"""Payloads of this folder's tests; module level, so that workers can unpickle them."""

from __future__ import annotations

import functools
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zcser.measure.presets import Preset
from zcser.measure.sample import Slot
from zcser.payloads.base import Payload
from zcser.schema.from_python import schema_of

# Calls are few, and bounds on time so wide that no busy machine reaches them.
TINY = Preset(
    name="quick",
    rounds=2,
    budget_s=600,
    slot=Slot(warm_ns=20_000, batches=4, batch_ns=30_000, latency_ns=200_000, retained_ns=50_000),
    least_ns=10_000,
    cap_ns=10_000_000_000,
    rotation=8,
    prepare_ns=60_000_000_000,
    verify_ns=1_000_000,
    allocations_ns=1_000_000,
    allocations_op_ns=20_000_000,
    silence_s=120,
)


@dataclass
class Point:
    name: str
    xs: list[int]


def point(number: int) -> Point:
    return Point(f"point {number}", list(range(number)))


def payload(make: Callable[[int], Any] = point, name: str = "points", **changes: Any) -> Payload:
    return Payload(name=name, doc="", schema=schema_of(Point), make=make, field="/name", **changes)


def in_worker() -> bool:
    return sys.argv[0].endswith("worker.py")


def killed(number: int, *, at: int) -> Point:
    """Kills the worker that makes value number `at`."""
    if number >= at and in_worker():
        print("about to go", file=sys.stderr)
        os.kill(os.getpid(), signal.SIGSEGV)
    return point(number)


def killed_at(number: int) -> Callable[[int], Point]:
    return functools.partial(killed, at=number)


def talkative(number: int) -> Point:
    print("standard output is not for messages", number)
    return point(number)


HANGS = "ZCSER_TEST_HANGS"
"""The environment variable with the path of a file that a worker makes when it hangs."""


def hanging(number: int) -> Point:
    if in_worker():
        if HANGS in os.environ:
            Path(os.environ[HANGS]).touch()
        signal.pause()
    return point(number)


def raising(number: int) -> Point:
    raise RuntimeError("no value\ntoday")


def misfit(number: int) -> Any:
    return Point("x", ["not an int"])
