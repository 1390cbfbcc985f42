"""Every codec over the small payloads, under pytest-benchmark: ``pytest benchmarks --benchmark-only``."""

import itertools

import pytest

from zcser import payloads, registry
from zcser.core.errors import SchemaError

PAYLOADS = ("request-1k", "request-64k", "llm-chunk", "telemetry-1k", "batch-meta")
CELLS = [
    pytest.param(codec, payload, operation, id=f"{operation}-{payload}-{codec}")
    for payload, codec, operation in itertools.product(PAYLOADS, registry.names(), ("encode", "decode"))
]


@pytest.mark.parametrize(("codec", "payload", "operation"), CELLS)
def test_codec(benchmark, codec, payload, operation):
    found = payloads.get(payload)
    try:
        made = registry.codec(codec, found.schema)
    except SchemaError as error:
        pytest.skip(str(error))
    if operation not in made.info.operations or "encode" not in made.info.operations:
        pytest.skip(f"{codec} has no {operation} of its own bytes")
    values = itertools.cycle(found.values(64))
    if operation == "decode":
        values = itertools.cycle([made.encode(value) for value in found.values(64)])
    run = getattr(made, operation)
    benchmark(lambda: run(next(values)))
