"""Fingerprints of data: equal for equal data wherever it is made, different for any other."""

from __future__ import annotations

import functools
import hashlib
import math
import os
import struct
import subprocess
import sys
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.measure import made
from zcser import payloads
from zcser.measure import data
from zcser.measure.data import data_fingerprint
from zcser.payloads.base import Payload
from zcser.schema.from_python import schema_of


@dataclass
class Cat:
    name: str


@dataclass
class Dog:
    name: str


@dataclass
class Everything:
    text: str = ""
    whole: int = 0
    real: float = 0.0
    raw: bytes = b""
    some: list[str] | None = None
    pairs: dict[str, int] | None = None
    array: np.ndarray | None = None
    pet: Cat | Dog | None = None


def same(number: int, *, value: Any) -> Any:
    return value


def fingerprint(value: Any, **changes: Any) -> str | None:
    """Of a payload of one value."""
    values = {"make": functools.partial(same, value=value), "distinct": 1, "rotation": "copies", **changes}
    return data_fingerprint(Payload("p", "", schema_of(Everything), field="/text", **values), 64)


def test_the_digest_is_of_tags_lengths_and_content():
    expected = b"1 values" + b"r10:Everything" + b"s2:\xc3\xa4" + b"i-ff;" + b"d" + struct.pack("<d", 0.5) + b"b1:\x00"
    expected += b"l2:s1:as0:" + b"m1:s1:ki7;" + b"auint16 (1, 2)4:\x01\x00\x02\x00" + b"r3:Dogs0:"
    value = Everything("ä", -255, 0.5, b"\0", ["a", ""], {"k": 7}, np.array([[1, 2]], np.uint16), Dog(""))
    assert fingerprint(value) == hashlib.blake2b(expected, digest_size=8).hexdigest()


class Span(NamedTuple):
    day: date
    took: timedelta


def test_dates_decimals_and_sets_have_tags_of_their_own():
    value = [Span(date(2026, 1, 2), timedelta(seconds=1)), {8, 0}, Decimal("1.50")]
    schema = schema_of(list[Span | set[int] | Decimal])
    expected = b"1 values" + b"l3:" + b"r4:Span" + b"vdate10:2026-01-02" + b"vtimedelta7:1000000"
    expected += b"u2:i0;i8;" + b"vdecimal4:1.50"
    payload = Payload("p", "", schema, functools.partial(same, value=value), field="", distinct=1, rotation="copies")
    assert data_fingerprint(payload, 64) == hashlib.blake2b(expected, digest_size=8).hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        {"text": "b"},
        {"whole": 1},
        {"real": -0.0},
        {"real": math.nan},
        {"raw": b"\0"},
        {"some": []},
        {"some": ["", "a"]},
        {"pairs": {"b": 2, "a": 1}},
        {"array": np.zeros((2, 1), np.int16)},
        {"array": np.zeros((1, 2), np.uint16)},
        {"array": np.ones((1, 2), np.int16)},
        {"pet": Dog("x")},
        {"pet": None},
    ],
)
def test_any_difference_shows(change):
    start = {"some": ["a", ""], "pairs": {"a": 1, "b": 2}, "array": np.zeros((1, 2), np.int16), "pet": Cat("x")}
    assert fingerprint(Everything(**{**start, **change})) != fingerprint(Everything(**start))


def test_what_the_normal_form_makes_equal_is_equal():
    array = np.arange(6, dtype=np.int32).reshape(2, 3)
    plain = Everything(whole=3, real=2.0, raw=b"x", array=array)
    other = Everything(whole=np.int64(3), real=2, raw=bytearray(b"x"), array=np.asfortranarray(array.astype(">i4")))
    assert fingerprint(plain) == fingerprint(other) is not None


def test_all_values_count_and_so_does_their_number():
    base = made.payload(distinct=3)
    assert data_fingerprint(base, 64) != data_fingerprint(made.payload(distinct=2), 64)
    assert data_fingerprint(base, 64) == data_fingerprint(base, 3) != data_fingerprint(base, 2)


def test_a_large_payload_is_looked_at_as_far_as_the_bound(monkeypatch):
    asked = []

    def make(number: int) -> made.Point:
        asked.append(number)
        return made.point(number)

    monkeypatch.setattr(data, "ENOUGH_BYTES", 100)
    assert data_fingerprint(made.payload(make), 64)
    # "r5:Points7:point 0l0:" has 21 bytes, and each number of a list 3 more: 21 + 24 + 27 + 30 reach 100.
    assert asked == [0, 1, 2, 3]


def test_other_processes_agree():
    script = (
        "from zcser import payloads; from zcser.measure.data import data_fingerprint; "
        "print(data_fingerprint(payloads.get('request-1k'), 64))"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout.strip()
        for seed in ("1", "2")
    }  # fmt: skip
    assert seen == {data_fingerprint(payloads.get("request-1k"), 64)}


@pytest.mark.parametrize("make", [made.raising, made.misfit])
def test_values_that_cannot_be_made_or_do_not_fit_have_none(make):
    assert data_fingerprint(made.payload(make), 64) is None
