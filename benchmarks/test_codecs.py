"""Encode, decode and partial read of each codec on the small built-in payloads, for pytest-benchmark.

A quick look for regressions while working on a codec: ``pytest benchmarks --benchmark-only``. The figures to compare
formats by come from ``zcser compare``, which measures in fresh processes. Cells that a codec refuses are not made.
"""

from __future__ import annotations

import functools
from typing import Any

import pytest

from zcser import payloads, registry
from zcser.core.codec import Codec, CodecInfo
from zcser.core.errors import SchemaError
from zcser.core.fidelity import equal
from zcser.core.view import at
from zcser.payloads.base import Payload
from zcser.schema.normal import normal

PAYLOADS = ("request-1k", "request-64k", "llm-chunk", "telemetry-1k", "batch-meta")
CODECS = {name: info for name, info in registry.available().items() if isinstance(info, CodecInfo)}


@functools.cache
def made(codec: str, payload: str) -> Codec[Any] | None:
    """The codec for a payload, None where it refuses the schema."""
    try:
        return registry.codec(codec, payloads.get(payload).schema)
    except SchemaError:
        return None


def message(codec: str, payload: Payload) -> bytes:
    """The payload's first value, by the codec or, where that only reads, by another one of its wire."""
    wire = CODECS[codec].wire
    for name in (codec, *(other for other, info in CODECS.items() if info.wire == wire)):
        writer = made(name, payload.name)
        if "encode" in CODECS[name].operations and writer is not None:
            return writer.encode(payload.make(0))
    raise LookupError(f"nothing writes what {codec} reads of {payload.name}")


def cells(operation: str) -> pytest.MarkDecorator:
    """A test for each codec that has the operation and each payload that it carries."""
    found = [
        pytest.param(codec, payload, id=f"{payload}-{codec}")
        for payload in PAYLOADS
        for codec, info in CODECS.items()
        if operation in info.operations and made(codec, payload) is not None
    ]
    return pytest.mark.parametrize(("codec", "payload"), found)


@cells("encode")
def test_encode(benchmark: Any, codec: str, payload: str) -> None:
    benchmark.group = f"encode {payload}"
    source, subject = payloads.get(payload), made(codec, payload)
    assert benchmark(subject.encode, source.make(0)) == message(codec, source)


@cells("decode")
def test_decode(benchmark: Any, codec: str, payload: str) -> None:
    benchmark.group = f"decode {payload}"
    source, subject = payloads.get(payload), made(codec, payload)
    assert equal(benchmark(subject.decode, message(codec, source)), normal(source.schema, source.make(0)))


@cells("view")
def test_view_field(benchmark: Any, codec: str, payload: str) -> None:
    benchmark.group = f"view-field {payload}"
    source, subject = payloads.get(payload), made(codec, payload)
    data = message(codec, source)

    def read() -> Any:
        return at(subject.view(data), source.field)

    assert equal(benchmark(read), at(subject.view(data), source.field))
