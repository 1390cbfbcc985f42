"""Arms over messages that are a tensor with little around it: views, and writing against copying."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.flat import subjects, values
from benchmarks.flat.arms import Arm, Effort, prove, rotating
from zcser.core.buffers import address
from zcser.flat.engine import Engine
from zcser.flat.program import ALIGNMENT
from zcser.payloads import get
from zcser.payloads.messages import InferRequest

__all__ = ["SIZES", "aligned", "misaligned", "tensors"]

SIZES = {"64 KB": 1 << 16, "1 MB": 1 << 20, "16 MB": 1 << 24}
"""Bytes of the tensor."""

_COUNTS = {"64 KB": values.DISTINCT, "1 MB": 8, "16 MB": 4}
"""How many values rotate: some ten or tens of megabytes."""

_FEW = 4
"""Values on both sides of a ratio between sizes."""


def aligned(size_bytes: int) -> memoryview:
    """Writable memory whose address is a multiple of `ALIGNMENT`, and which is there: each page was written."""
    block = np.ones(size_bytes + ALIGNMENT, np.uint8)
    start = -block.ctypes.data % ALIGNMENT
    return block[start : start + size_bytes].data


def tensors(effort: Effort) -> list[Arm]:
    """All sizes."""
    items = {size: [values.with_tensor(number, SIZES[size]) for number in range(_COUNTS[size])] for size in SIZES}
    engines = subjects.engines(InferRequest)
    arms = []
    for name, engine in engines.items():
        arms += _views(effort, name, engine, items)
        arms += _segments(effort, name, engine, items)
    for size, requests in items.items():
        arms += _into(effort, size, engines, requests)
    arms += _bare(effort, engines["pure"], items["64 KB"])
    return arms


def _views(effort: Effort, name: str, engine: Engine, items: dict[str, list[InferRequest]]) -> list[Arm]:
    view = engine.view

    def verified(data: bytes) -> Any:
        return view(data).tensors[0].data

    def unverified(data: bytes) -> Any:
        return view(data, verify=False).tensors[0].data

    arms = []
    for size, count in (("64 KB", None), ("64 KB", _FEW), ("16 MB", _FEW)):
        requests = items[size][:count]
        messages = [engine.encode(value) for value in requests]
        suffix = "" if count is None else f", {count} messages of {size}"
        for operation, call in (("open and tensor, verified", verified), ("open and tensor", unverified)):
            wanted = [value.tensors[0].data for value in requests]
            prove(f"{operation} by {name}", [call(message) for message in messages], wanted)
            arms.append(rotating(effort, operation + suffix, name, call, messages))
    return arms


def _bare(effort: Effort, engine: Engine, requests: Sequence[InferRequest]) -> list[Arm]:
    """`numpy.ndarray` over the same bytes at the same place, whose shape, dtype and offset are known."""
    places = []
    for value in requests:
        message, data = engine.encode(value), value.tensors[0].data
        offset = engine.view(message).tensors[0].data.ctypes.data - address(message)
        places.append((data.shape, data.dtype, message, offset))

    def bare(place: tuple[Any, ...]) -> npt.NDArray[Any]:
        return np.ndarray(*place)

    prove("numpy.ndarray", [bare(place) for place in places], [value.tensors[0].data for value in requests])
    return [rotating(effort, "open and tensor", "numpy", bare, places)]


def _segments(effort: Effort, name: str, engine: Engine, items: dict[str, list[InferRequest]]) -> list[Arm]:
    arms = []
    for size in ("64 KB", "16 MB"):
        requests = items[size][:_FEW]
        joined = [engine.decode(b"".join(engine.encode_segments(value))) for value in requests]
        prove(f"encode_segments by {name}", joined, requests)
        operation = f"encode_segments, {_FEW} values of {size}"
        arms.append(rotating(effort, operation, name, engine.encode_segments, requests))
    return arms


def _into(
    effort: Effort, size: str, engines: dict[subjects.Which, Engine], requests: Sequence[InferRequest]
) -> list[Arm]:
    """Writing a message into memory that is there, and copying its tensor alone to where it lies in that message."""
    out = aligned(max(engines["pure"].encoded_size(value) for value in requests))
    arms = []
    operation = f"encode_into, {size}"
    for name, engine in engines.items():
        into = writer(engine, out)
        prove(f"{operation} by {name}", [engine.decode(out[: into(value)]) for value in requests], requests)
        arms.append(rotating(effort, operation, name, into, requests))
    pairs = []
    for value in requests:
        source = value.tensors[0].data.reshape(-1).view(np.uint8).data
        view = engines["pure"].view(out[: engines["pure"].encode_into(value, out)])
        start = view.tensors[0].data.ctypes.data - address(out)
        pairs.append((out[start : start + len(source)], source))

    def copy(pair: tuple[memoryview, memoryview]) -> None:
        to, source = pair
        to[:] = source

    arms.append(rotating(effort, operation, "memcpy", copy, pairs))
    return arms


def writer(engine: Engine, out: memoryview) -> Callable[[Any], int]:
    """`encode_into` of a value, into one buffer."""
    encode_into = engine.encode_into
    return lambda value: encode_into(value, out)


def misaligned(which: subjects.Which) -> tuple[int, int]:
    """Of messages that lie in aligned memory: how many tensors are misaligned there, and how many were looked at."""
    engine = subjects.engines(InferRequest)[which]
    requests = get("request-1k").values(values.DISTINCT)  # two tensors behind a head of many lengths
    found = looked_at = 0
    for value in requests:
        size = engine.encoded_size(value)
        out = aligned(size)
        engine.encode_into(value, out)
        for tensor in engine.view(out).tensors:
            looked_at += 1
            found += tensor.data.ctypes.data % ALIGNMENT != 0
    return found, looked_at
