"""The arms: one field of a large document, all of its fields, and arrays of numbers."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import simdjson

import zcser
from benchmarks.flat.arms import Arm, Effort, prove, rotating
from zcser.measure.access import touch
from zcser.payloads import get

__all__ = ["GROUPS", "NUMBERS", "documents"]

PATH = "/records/5000/label"
DOCUMENTS = 4

NUMBERS: dict[str, Callable[[np.random.Generator], npt.NDArray[Any]]] = {
    "10,000 floats": lambda rng: rng.standard_normal(10_000),
    "10,000 integers": lambda rng: rng.integers(0, 1 << 40, 10_000),
    "50,000 floats": lambda rng: rng.standard_normal(50_000),
}


@functools.cache
def documents() -> list[bytes]:
    """Texts of 10,000 records and about 1.1 MB, of the built-in payload `records-10k`."""
    payload = get("records-10k")
    encode = zcser.codec("orjson", payload.schema).encode
    return [encode(payload.make(number)) for number in range(DOCUMENTS)]


def field(effort: Effort) -> list[Arm]:
    """One field of a document."""
    codec = zcser.codec("simdjson", get("records-10k").schema)
    parse = simdjson.Parser().parse
    return _arms(
        effort,
        "one field",
        {
            "pointer": codec.pointer(PATH),
            "view": lambda data: codec.view(data)["records"][5000]["label"],
            "pysimdjson": lambda data: parse(data).at_pointer(PATH),
            "pysimdjson, steps": lambda data: parse(data)["records"][5000]["label"],
            "orjson": lambda data: orjson.loads(data)["records"][5000]["label"],
        },
        documents(),
    )


def whole(effort: Effort) -> list[Arm]:
    """All of a document: read through the view, or decoded; trusting dicts show what the wrapper alone costs."""
    schema = get("records-10k").schema
    codec, other = zcser.codec("simdjson", schema), zcser.codec("orjson", schema)
    trusting = zcser.codec("simdjson", dict[str, list[dict[str, int | float | str | bool | None]]], guard="off")
    parse = simdjson.Parser().parse
    operation = "all fields"
    values = [other.decode(data) for data in documents()]
    prove("decode by simdjson", [codec.decode(data) for data in documents()], values)
    prove("view", [zcser.to_value(codec.view(data)) for data in documents()], values)
    calls: dict[str, Callable[[bytes], Any]] = {
        "view": lambda data: touch(codec.view(data)),
        "decode": codec.decode,
        "orjson codec, decode": other.decode,
        "load": trusting.load,
        "pysimdjson": lambda data: parse(data, True),
        "orjson": orjson.loads,
    }
    return [rotating(effort, operation, name, call, documents()) for name, call in calls.items()]


def numbers(effort: Effort) -> list[Arm]:
    """An array of numbers to numpy."""
    return list(itertools.chain.from_iterable(_of_numbers(effort, name) for name in NUMBERS))


def _of_numbers(effort: Effort, name: str) -> list[Arm]:
    texts = [orjson.dumps(NUMBERS[name](np.random.default_rng(seed)).tolist()) for seed in range(DOCUMENTS)]
    kind: Any = int if "integers" in name else float
    codec = zcser.codec("simdjson", list[kind])
    parse = simdjson.Parser().parse
    of_type, dtype = ("i", np.int64) if kind is int else ("d", np.float64)
    return _arms(
        effort,
        name,
        {
            "view": lambda data: np.asarray(codec.view(data)),
            "pysimdjson": lambda data: np.frombuffer(parse(data).as_buffer(of_type=of_type), dtype),
            "orjson": lambda data: np.array(orjson.loads(data)),
        },
        texts,
    )


def _arms(
    effort: Effort, operation: str, calls: dict[str, Callable[[bytes], Any]], texts: Sequence[bytes]
) -> list[Arm]:
    wanted = [calls["orjson"](data) for data in texts]
    for name, call in calls.items():
        prove(f"{operation} by {name}", [call(data) for data in texts], wanted)
    return [rotating(effort, operation, name, call, texts) for name, call in calls.items()]


GROUPS: dict[str, Callable[[Effort], list[Arm]]] = {"field": field, "whole": whole, "numbers": numbers}
"""Arms that are timed together, in one process."""
