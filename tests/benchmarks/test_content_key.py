"""The benchmark of content keys on tiny counts."""

from __future__ import annotations

import pytest

pytest.importorskip("msgpack")
pytest.importorskip("google.protobuf")
pytest.importorskip("xxhash")
pytest.importorskip("blake3")

from benchmarks.content_key.study import figures, time_all
from benchmarks.flat.arms import Cost, Effort

TINY = Effort(processes=1, batches=1, batch_ns=20_000)


def test_every_arm_has_a_row_with_its_cost():
    costs = time_all(TINY, seed=1)
    rows = figures([costs, costs])
    assert len({row.name for row in rows}) == len(costs) == 7 + 2 + 7
    assert all(row.value == row.low == row.high > 0 for row in rows)


def test_tensors_are_bytes_in_a_second_and_all_else_is_time():
    def rows(ns):
        names = ["message, key", "tensor, key", "tensor, key, every second row"]
        return [Cost(name, "sha256", "class", ns, 1, 0) for name in names]

    message, tensor, half = figures([rows(1 << 24), rows(1 << 25), rows(1 << 26)])
    assert (message.value, message.unit) == ((1 << 25) / 1000, "µs")
    assert (tensor.low, tensor.value, tensor.high, tensor.unit) == (0.25, 0.5, 1.0, "GB/s")
    assert half.value == 0.25
