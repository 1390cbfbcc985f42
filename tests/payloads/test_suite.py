"""The built-in payloads: names, sizes, determinism, and that their values differ as caches must be shown."""

from __future__ import annotations

import base64
import dataclasses
import enum
import hashlib
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

from zcser.core.fidelity import equal
from zcser.core.view import at
from zcser.payloads import get, names
from zcser.payloads.base import PayloadError
from zcser.payloads.messages import BatchMeta
from zcser.payloads.places import leaves
from zcser.schema.normal import normal

# Sizes as compact JSON with base64 tensors, of the shapes in the table of PAYLOADS.md: 4/3 of the tensor bytes, and
# the metadata.
JSON_BYTES = {
    "request-1k": (1_365 + 350, 1_365 + 700),
    "request-64k": (87_381 + 350, 87_381 + 700),
    "request-1m": (1_398_101 + 350, 1_398_101 + 700),
    "llm-chunk": (200, 500),
    "telemetry-1k": (900, 1_200),
    "records-10k": (900_000, 1_200_000),
    "batch-meta": (300, 400),
    "embedding": (81_920 + 100, 81_920 + 400),
}


def plain(value):
    """The value as JSON can say it."""
    if dataclasses.is_dataclass(value):
        return {item.name: plain(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, np.ndarray):
        return base64.b64encode(value.tobytes()).decode()
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def text_of(value):
    return json.dumps(plain(value), separators=(",", ":"), ensure_ascii=False).encode()


def test_names_are_those_of_the_expected_table():
    assert set(names()) == set(JSON_BYTES)


@pytest.mark.parametrize("name", names())
def test_a_value_has_the_size_that_its_name_says(name):
    low, high = JSON_BYTES[name]
    for value in get(name).values(3):
        assert low <= len(text_of(value)) <= high


@pytest.mark.parametrize("name", names())
def test_values_are_normal_and_of_the_schema(name):
    payload = get(name)
    for value in payload.values(3):
        assert equal(normal(payload.schema, value), value)


@pytest.mark.parametrize("name", names())
def test_the_first_64_values_differ_and_are_fresh_objects(name):
    payload = get(name)
    count = 4 if name == "records-10k" else 64
    digests = {hashlib.sha256(text_of(payload.make(number))).digest() for number in range(count)}
    assert len(digests) == count
    assert payload.make(1) is not payload.make(1)
    assert equal(payload.make(1), payload.make(1))


def test_the_first_64_windows_of_records_differ():
    firsts = {value.records[0].id for value in get("records-10k").values(64)}
    assert len(firsts) == 64


@pytest.mark.parametrize("name", [name for name in names() if name != "batch-meta"])
def test_values_vary_in_lengths(name):
    lengths = {len(leaf) for value in get(name).values(8) for _, leaf in leaves(value) if isinstance(leaf, str)}
    assert len(lengths) > 1


@pytest.mark.parametrize("name", ["llm-chunk", "telemetry-1k", "records-10k", "embedding"])
def test_optionals_are_absent_in_some_values_and_present_in_others(name):
    # By path, so that one optional is both; records-10k has them by row.
    kinds: dict[tuple, set[bool]] = {}
    for value in get(name).values(8):
        for steps, leaf in leaves(value):
            kinds.setdefault(steps, set()).add(leaf is None)
    assert {True, False} in kinds.values()


def test_the_order_of_map_keys_varies():
    orders = {tuple(value.labels) for value in get("telemetry-1k").values(16)}
    assert len(orders) > 4
    assert len({frozenset(order) for order in orders}) == 1


@pytest.mark.parametrize("name", names())
def test_the_field_and_the_tensor_exist_in_every_value(name):
    payload = get(name)
    assert payload.fields == (payload.field,)
    for value in payload.values(64):
        assert isinstance(at(value, payload.field), str | int)
        if payload.tensor is not None:
            assert isinstance(at(value, payload.tensor), np.ndarray)
            assert np.isfinite(at(value, payload.tensor)).all()


def test_payloads_are_the_same_in_another_process():
    code = (
        "import pickle, sys\n"
        "payload = pickle.load(sys.stdin.buffer)\n"
        "sys.stdout.buffer.write(pickle.dumps([payload.make(3), payload.make(63)]))\n"
    )
    for name in ("telemetry-1k", "request-1k", "records-10k"):
        payload = get(name)
        there = subprocess.run(
            [sys.executable, "-c", code], input=pickle.dumps(payload), capture_output=True, check=True
        ).stdout
        assert equal(pickle.loads(there), [payload.make(3), payload.make(63)])


def test_a_pickled_payload_is_small():
    assert all(len(pickle.dumps(get(name))) < 4_000 for name in names())


def test_batch_meta_is_64_bytes_in_natural_alignment_without_a_gap():
    widths = {"uint64": 8, "int64": 8, "uint32": 4, "float32": 4, "uint16": 2, "int8": 1, "bool": 1}
    offset = 0
    schema = get("batch-meta").schema
    for item in schema.record("BatchMeta").fields:
        width = widths.get(str(item.type), 1)  # the one enum has four members: one byte
        assert offset % width == 0, item.name
        offset += width
    assert offset == 64
    assert len(dataclasses.fields(BatchMeta)) == 16


def test_an_unknown_name_offers_the_nearest():
    with pytest.raises(PayloadError, match=r"no built-in payload is named 'request-1mb'; did you mean request-1m"):
        get("request-1mb")
    with pytest.raises(PayloadError, match="known: request-1k, request-64k"):
        get("zzz")
