"""The arms, and the rows that are made of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from benchmarks.flat.arms import Arm, Cost, Effort, rotating, time_arms
from benchmarks.support.command import Progress
from benchmarks.support.document import Begin, document
from benchmarks.support.figures import Figure, markdown, spread_of
from benchmarks.support.fresh import MeasuringError, in_fresh_process
from zcser import content_key, registry
from zcser.payloads.messages import InferRequest
from zcser.payloads.seeded import Seeded
from zcser.payloads.suite import BUILTIN

__all__ = ["TENSOR", "arms", "figures", "study", "time_all"]

CODECS = ("json", "msgpack", "protobuf")
ALGORITHMS = ("sha256", "blake3", "xxh3_128")
TENSOR = "tensor"
_COUNT = 64
_TENSOR_BYTES = 16 << 20


def _keys(algorithm: str, schema: Any = None) -> Callable[[Any], Any]:
    def make(value: Any) -> Any:
        return content_key(value, algorithm=algorithm, schema=schema)  # type: ignore[arg-type]

    return make


def _encoded(codec: Any) -> Callable[[Any], bytes]:
    encode, sha256 = codec.encode, hashlib.sha256

    def make(value: Any) -> bytes:
        return sha256(encode(value)).digest()

    return make


def _plain(data: Any) -> bytes:
    return hashlib.sha256(data).digest()


def _message_arms(effort: Effort) -> list[Arm]:
    make = Seeded("request-1k", BUILTIN["request-1k"].build)
    values = [make(number) for number in range(_COUNT)]
    found = [rotating(effort, "message, key", algorithm, _keys(algorithm), values) for algorithm in ALGORITHMS]
    found.append(rotating(effort, "message, key by its schema", "sha256", _keys("sha256", InferRequest), values))
    for name in CODECS:
        codec = registry.codec(name, InferRequest, deterministic=True)
        found.append(rotating(effort, "message, encode and hash", name, _encoded(codec), values))
        if len({content_key(codec.decode(codec.encode(value))) for value in values}) != _COUNT:
            raise MeasuringError(f"two messages of {name} have one key")
    return found


def _token_arms(effort: Effort) -> list[Arm]:
    rng = np.random.default_rng(1)
    values = [rng.integers(0, 128_000, 8192 - number).tolist() for number in range(8)]
    codec = registry.codec("msgpack", list[int])
    return [
        rotating(effort, "8192 token ids, key", "sha256", _keys("sha256"), values),
        rotating(effort, "8192 token ids, encode and hash", "msgpack", _encoded(codec), values),
    ]


def _tensor_arms(effort: Effort) -> list[Arm]:
    array = np.random.default_rng(2).random(_TENSOR_BYTES // 4, np.float32).reshape(2048, -1)
    found = [rotating(effort, f"{TENSOR}, bytes alone", "hashlib's sha256", _plain, [array.data])]
    found += [rotating(effort, f"{TENSOR}, key", algorithm, _keys(algorithm), [array]) for algorithm in ALGORITHMS]
    for layout, other in (
        ("every second row", array[::2]),
        ("transposed", array.T),
        ("big-endian", array.astype(">f4")),
    ):
        found.append(rotating(effort, f"{TENSOR}, key, {layout}", "sha256", _keys("sha256"), [other]))
    return found


def arms(effort: Effort) -> list[Arm]:
    """Made here; that keys are right is the matter of tests."""
    return [*_message_arms(effort), *_token_arms(effort), *_tensor_arms(effort)]


def time_all(effort: Effort, seed: int) -> list[Cost]:
    """In this process: make all arms, and time them."""
    return time_arms(arms(effort), seed)


def figures(processes: Sequence[Sequence[Cost]]) -> list[Figure]:
    """A row for each arm."""
    found = []
    for place, arm in enumerate(processes[0]):
        name, over = f"{arm.operation}, {arm.subject}", f"over {len(processes)} processes"
        costs_ns = [process[place].p10_ns for process in processes]
        if arm.operation.startswith(TENSOR):
            size = _TENSOR_BYTES // 2 if "every second row" in arm.operation else _TENSOR_BYTES
            found.append(spread_of(name, "GB/s", [size / cost for cost in costs_ns], over))
        else:
            found.append(spread_of(name, "µs", [cost / 1000 for cost in costs_ns], over))
    return found


def study(effort: Effort, progress: Progress) -> tuple[str, dict[str, Any]]:
    """Take all figures; the table, and the raw result."""
    begin = Begin()
    processes = []
    for seed in range(effort.processes):
        progress(seed + 1, effort.processes, "all arms")
        processes.append(in_fresh_process(time_all, effort, seed))
    found = figures(processes)
    return markdown(found), document(
        begin,
        CODECS,
        effort=asdict(effort),
        figures=[asdict(one) | {"met": one.met} for one in found],
        raw=[[asdict(cost) for cost in process] for process in processes],
    )
