"""The study of protobuf's payloads: its arms prove themselves, and every row finds its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.flat.arms import Effort
from benchmarks.protowire import subjects
from benchmarks.protowire.arms import BY_HAND, SIZES, time_size
from benchmarks.protowire.memory import growth_bytes
from benchmarks.protowire.study import ROWS


def test_every_row_finds_its_arms():
    costs = time_size("4 KB", Effort(processes=1, batches=2, batch_ns=10_000), 0)
    arms = {(cost.operation, cost.subject) for cost in costs}
    for row in ROWS:
        assert (row.base, BY_HAND) in arms
        assert {(row.operation, walk) for walk in subjects.codecs()} <= arms
        assert {*row.goals, *row.pure_goals} <= set(SIZES)


def test_messages_by_hand_are_those_of_the_codec():
    for codec in subjects.codecs().values():
        for value in subjects.values(3, 1 << 17):
            assert subjects.builder(codec)(value) == codec.encode(value)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux' statm")
@pytest.mark.parametrize("walk", subjects.codecs())
def test_memory_does_not_grow(walk):
    # Keeping one message of each turn would be 6 MB.
    assert growth_bytes(walk, 2000) < 3_000_000
