"""What is timed of one size: writing a request, and reading its tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.flat.arms import Arm, Cost, Effort, prove, rotating, time_arms
from benchmarks.flat.tensors import aligned
from benchmarks.protowire import subjects
from zcser.codecs.protobuf import ProtobufCodec
from zcser.payloads.messages import InferRequest

__all__ = ["BY_HAND", "SIZES", "time_size"]

SIZES = {"4 KB": 1 << 12, "64 KB": 1 << 16, "1 MB": 1 << 20, "16 MB": 1 << 24}
"""Bytes of the tensor."""

BY_HAND = "by hand"

_COUNTS = {"4 KB": 64, "64 KB": 64, "1 MB": 8, "16 MB": 4}


def time_size(size: str, effort: Effort, seed: int) -> list[Cost]:
    """In this process: make the arms of a size, and time them."""
    requests = subjects.values(_COUNTS[size], SIZES[size])
    codecs = subjects.codecs()
    arms = [*_by_hand(effort, codecs["pure"], requests)]
    for walk, codec in codecs.items():
        arms += _writing(effort, walk, codec, requests)
        arms += _reading(effort, walk, codec, requests)
    return time_arms(arms, seed)


def _by_hand(effort: Effort, codec: ProtobufCodec[InferRequest], requests: Sequence[InferRequest]) -> list[Arm]:
    build, read = subjects.builder(codec), subjects.reader(codec)
    data = [build(value) for value in requests]
    prove("FromString by hand", [read(message) for message in data], [value.tensors[0].data for value in requests])
    copied = aligned(max(map(len, data)))

    def copy(message: bytes) -> None:
        copied[: len(message)] = message

    return [
        rotating(effort, "build and SerializeToString", BY_HAND, build, requests),
        rotating(effort, "FromString and numpy", BY_HAND, read, data),
        rotating(effort, "memcpy", BY_HAND, copy, data),
    ]


def _writing(
    effort: Effort, walk: str, codec: ProtobufCodec[InferRequest], requests: Sequence[InferRequest]
) -> list[Arm]:
    build = subjects.builder(codec)
    wanted = [build(value) for value in requests]
    out = aligned(max(map(len, wanted)))
    encode_into = codec.encode_into

    def into(value: InferRequest) -> int:
        return encode_into(value, out)

    calls: dict[str, tuple[Callable[[Any], Any], Callable[[Any], bytes]]] = {
        "encode": (codec.encode, codec.encode),
        "encode_segments": (codec.encode_segments, lambda value: b"".join(codec.encode_segments(value))),
        "encode_into": (into, lambda value: bytes(out[: into(value)])),
    }
    arms = []
    for operation, (call, whole) in calls.items():
        prove(f"{operation}, {walk}", [whole(value) for value in requests], wanted)
        arms.append(rotating(effort, operation, walk, call, requests))
    return arms


def _reading(
    effort: Effort, walk: str, codec: ProtobufCodec[InferRequest], requests: Sequence[InferRequest]
) -> list[Arm]:
    view: Callable[..., Any] = codec.view
    decode = codec.decode
    calls: dict[str, Callable[[Any], Any]] = {
        "view and tensor, verified": lambda data: view(data).tensors[0].data,
        "view and tensor": lambda data: view(data, verify=False).tensors[0].data,
        "decode(copy=False)": lambda data: decode(data, copy=False).tensors[0].data,
        "decode": lambda data: decode(data).tensors[0].data,
    }
    messages = [codec.encode(value) for value in requests]
    arms = []
    for operation, call in calls.items():
        wanted = [np.ascontiguousarray(value.tensors[0].data) for value in requests]
        prove(f"{operation}, {walk}", [call(message) for message in messages], wanted)
        arms.append(rotating(effort, operation, walk, call, messages))
    return arms
