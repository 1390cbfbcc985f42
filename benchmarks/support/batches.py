"""How many calls make a batch of a given time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.support import WARM_CALLS
from zcser.measure.timer import loops

__all__ = ["batch_of", "call_ns"]


def call_ns(call: Callable[[Any], Any], values: Sequence[Any]) -> float:
    """Nanoseconds of a call, about: the least mean of three passes over the values. It is warm afterwards, if they are many."""
    return max(1, min(loops().time_batch(call, values) for _ in range(3))) / len(values)


def batch_of(call: Callable[[Any], Any], argument: Any, batch_ns: int) -> list[Any]:
    """Arguments of a batch that takes about `batch_ns`; the call is warm afterwards."""
    return [argument] * max(1, int(batch_ns / call_ns(call, [argument] * WARM_CALLS)))
