"""The benchmark of frames on tiny counts."""

from __future__ import annotations

import pytest

pytest.importorskip("msgpack")
pytest.importorskip("xxhash")

from benchmarks.flat.arms import Cost, Effort
from benchmarks.frames.study import figures, time_all

TINY = Effort(processes=1, batches=2, batch_ns=20_000)


def test_every_arm_has_a_row_with_its_cost():
    costs = time_all(TINY, seed=1)
    rows = {figure.name: figure for figure in figures([costs, costs])}
    assert len(rows) == len(costs) == 3 * (2 + 3 * 3)
    for cost in costs:
        row = rows[f"{cost.operation}, {cost.subject}"]
        assert row.value == row.low == row.high == cost.p10_ns / 1000 > 0


def test_the_goal_is_on_reading_and_checking_a_small_frame():
    def process(ns):
        return [Cost("read, 1 KB", subject, "class", ns, 4, 0) for subject in ("none", "crc32")]

    met, other = figures([process(900), process(1000), process(2000)])
    assert (met.value, met.met, other.met) == (1.0, True, None)
    assert figures([process(1001)])[0].met is False
