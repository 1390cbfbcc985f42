"""What zcser adds to pytest-benchmark, by example: ``pytest benchmarks/test_zbench.py --benchmark-only``.

Below pytest-benchmark's own table stands one of percentiles, allocations and garbage collections, measured in fresh
processes. To hold a change to a baseline::

    pytest benchmarks/test_zbench.py --benchmark-only --zcser-preset full --benchmark-json old.json
    pytest benchmarks/test_zbench.py --benchmark-only --zcser-preset full --zcser-baseline old.json \
        --zcser-fail 'p10>5%' --zcser-fail 'allocs>0'
"""

from __future__ import annotations

import json
from typing import Any

import pytest

DOCUMENT = {"model": "llama", "tokens": list(range(64)), "scores": [0.5] * 64}


@pytest.mark.zcser(
    payloads=["llm-chunk", "request-1k"],
    codecs=["json", "orjson", "msgpack", "protobuf"],
    operations=["encode", "decode"],
)
def test_codec(zbench: Any, payload: str, codec: str, operation: str) -> None:
    zbench.benchmark.group = f"{operation} {payload}"
    zbench.codec(codec, payload, operation)


def test_function_of_a_module(zbench: Any) -> None:
    assert json.loads(zbench(json.dumps, DOCUMENT)) == DOCUMENT
