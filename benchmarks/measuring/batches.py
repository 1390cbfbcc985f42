"""How many calls make a batch of a given time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.measuring.operations import WARM_CALLS
from zcser.measure.timer import loops

__all__ = ["batch_of"]


def batch_of(call: Callable[[Any], Any], argument: Any, batch_ns: int) -> list[Any]:
    """Arguments of a batch that takes about `batch_ns`; the call is warm afterwards."""
    values = [argument] * WARM_CALLS
    took_ns = min(loops().time_batch(call, values) for _ in range(3))
    return [argument] * max(1, batch_ns * WARM_CALLS // max(1, took_ns))
