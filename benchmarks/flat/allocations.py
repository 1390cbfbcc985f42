"""What `encode_into` allocates, counted exactly in a preloaded process of its own."""

from __future__ import annotations

from typing import Any

from benchmarks.flat import subjects, values
from benchmarks.flat.tensors import SIZES, aligned, writer
from benchmarks.support.figures import Figure, Goal, not_measured
from benchmarks.support.fresh import MeasuringError, in_fresh_process
from zcser.measure.allocations import EXACT, count_allocations
from zcser.native import zcount
from zcser.payloads.messages import InferRequest

__all__ = ["allocations", "count"]

_SIZES = ("64 KB", "16 MB")


def count(which: subjects.Which) -> dict[str, tuple[float, float]]:
    """In this process: allocations and bytes of one call, by size of the tensor.

    Raises
    ------
    MeasuringError
        Not everything was counted.
    """
    engine = subjects.engines(InferRequest)[which]
    found: dict[str, tuple[float, float]] = {}
    for size in _SIZES:
        value = values.with_tensor(0, SIZES[size])
        counted = count_allocations(writer(engine, aligned(engine.encoded_size(value))), value)
        native = counted.native_allocations, counted.native_bytes
        python = counted.python_allocations, counted.python_bytes
        if counted.method != EXACT or None in native or None in python:
            raise MeasuringError(f"encode_into was counted by {counted.method}")
        calls, size_bytes = ((ours or 0) + (theirs or 0) for ours, theirs in zip(python, native, strict=True))
        found[size] = calls, size_bytes
    return found


def allocations() -> tuple[list[Figure], dict[str, Any]]:
    """For each engine: whether the count depends on the size, and the bytes beside those of the smallest payload."""
    figures: list[Figure] = []
    raw: dict[str, Any] = {}
    for which in subjects.ENGINES:
        same = f"encode_into, {which}: allocations at 16 MB less those at 64 KB"
        small = f"encode_into, {which}: bytes allocated at 16 MB, of 64 KB"
        absent = which == "native" and not subjects.has_native()
        if absent or zcount.load() is None:
            reason = "the C extension was not built" if absent else "the C helper was not built"
            figures += [not_measured(same, reason, Goal("within", 0)), not_measured(small, reason, Goal("<", 1), "x")]
            continue
        raw[which] = counted = in_fresh_process(count, which, preload=True)
        (few, _), (many, many_bytes) = (counted[size] for size in _SIZES)
        share = many_bytes / SIZES["64 KB"]
        figures += [
            Figure(same, "", many - few, many - few, many - few, f"of {few:g} for each call", Goal("within", 0)),
            Figure(small, "x", share, share, share, f"{many_bytes:g} bytes for each call", Goal("<", 1)),
        ]
    return figures, raw
