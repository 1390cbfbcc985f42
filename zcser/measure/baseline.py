"""Rows that need no codec: what the timing loop, copying and the struct module cost on this machine, in this run."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from zcser.measure.inputs import Rotating

__all__ = ["BASELINES", "CLOCK", "CODEC", "PAYLOAD", "baseline"]

CODEC = "baseline"
PAYLOAD = "-"
CLOCK = "clock"
"""The baseline that is no call; see `zcser.measure.sample.empty_sample`."""

_HEADER = struct.Struct("<12I2Q")

_COPIED_BYTES = {"memcpy-1k": 1 << 10, "memcpy-64k": 1 << 16, "memcpy-1m": 1 << 20}

BASELINES: dict[str, str] = {
    CLOCK: "two readings of the clock with nothing between them: the floor of every latency",
    "empty": "a call of a Python function that does nothing, through the same loops: what they add to every row",
    "memcpy-1k": "bytes(memoryview) of 1 KiB: allocation, copy, and freeing",
    "memcpy-64k": "bytes(memoryview) of 64 KiB: allocation, copy, and freeing",
    "memcpy-1m": "bytes(memoryview) of 1 MiB: allocation, copy, and freeing",
    "struct": "one struct.Struct.unpack_from of 14 fields out of 64 bytes",
}
"""Names, and what is inside the timed window."""


def _nothing(value: Any) -> None:
    pass


def baseline(name: str, rotation: int, budget_ns: int) -> tuple[Callable[[Any], Any], Rotating]:
    """The call and the arguments of a baseline."""
    if name == "empty":
        return _nothing, Rotating(lambda number: number, range(rotation), budget_ns)
    if name == "struct":
        return _HEADER.unpack_from, Rotating(_block(_HEADER.size), range(rotation), budget_ns)
    block = _block(_COPIED_BYTES[name])
    return bytes, Rotating(lambda number: memoryview(block(number)), range(rotation), budget_ns)


def _block(size_bytes: int) -> Callable[[int], bytes]:
    return lambda number: np.random.default_rng(number).bytes(size_bytes)
