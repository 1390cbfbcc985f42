"""Aliases are proved on operations of which it is known whether they copy."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
import pytest

from tests.measure import made
from zcser.measure import presets
from zcser.measure.copies import read_aliases, written_aliases
from zcser.measure.plan import Request
from zcser.measure.runner import run

MESSAGE = bytes(range(64))


@dataclass
class Holder:
    first: object
    second: object = None


@pytest.mark.parametrize(
    ("read", "word"),
    [
        (lambda data: np.frombuffer(data, np.uint8), "alias"),
        (lambda data: np.frombuffer(data, np.uint8).copy(), "copy"),
        (lambda data: memoryview(data)[8:16], "alias"),
        (bytes, "copy"),
        (lambda data: {"a": [memoryview(data)[:8]]}, "alias"),
        (lambda data: Holder(memoryview(data), np.frombuffer(data, np.float32)), "alias"),
        # One copied part is enough.
        (lambda data: Holder(memoryview(data), bytes(data)), "copy"),
        (lambda data: memoryview(bytes(data)), "copy"),
        # Nothing that could alias.
        (len, None),
        (lambda data: ["text", 3, b"", np.empty(0)], None),
    ],
)
def test_reading_aliases_where_every_part_lies_in_the_message_and_follows_it(read, word):
    assert read_aliases(read, MESSAGE) == word


def test_writing_aliases_where_every_part_of_the_value_is_a_segment():
    array, data = np.arange(9.0), b"some bytes"
    value = Holder([array], data)
    assert written_aliases([memoryview(b"head"), array.data.cast("B"), memoryview(data)], value) == "alias"
    assert written_aliases([memoryview(b"head"), array.data.cast("B"), memoryview(bytes(list(data)))], value) == "copy"
    assert written_aliases(array.tobytes() + data, value) == "copy"
    assert written_aliases([memoryview(b"text")], Holder("text")) is None


def test_a_run_says_what_each_operation_does_with_the_tensor(monkeypatch):
    monkeypatch.setitem(presets.PRESETS, "quick", dataclasses.replace(made.TINY, rounds=1))
    operations = ("encode", "decode", "decode-nocopy", "tensor", "load")
    result = run(Request(payloads=("request-64k",), codecs=("flatbuffers-official", "msgpack"), operations=operations))
    words = {"encode": "copy", "decode": "copy", "decode-nocopy": "alias", "tensor": "alias"}
    cells = {name: result.cell("request-64k", "flatbuffers-official", name) for name in words}
    assert {cell.reason for cell in cells.values()} == {None}
    assert {name: cell.copies.aliases for name, cell in cells.items()} == words
    assert cells["decode-nocopy"].copies.retained_bytes == cells["tensor"].copies.retained_bytes > 65536
    assert cells["decode"].copies.retained_bytes is None
    assert result.cell("request-64k", "msgpack", "tensor").copies.aliases == "alias"
    assert result.cell("request-64k", "msgpack", "load").copies is None
    ratios = {name: cell.copies.allocated_per_wire_byte for name, cell in cells.items()}
    if None not in ratios.values():
        # A copy of the tensor is one more allocation of nearly all bytes of the message.
        assert 0.9 < ratios["decode"] - ratios["decode-nocopy"] < 1.5
