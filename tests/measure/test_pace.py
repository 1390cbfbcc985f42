"""The core's speed, with readings and naps that are given."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from zcser.measure import pace as pace_module
from zcser.measure.cost import time_batches
from zcser.measure.pace import UNWATCHED, Pace, Patience, yardstick_ns

FAR = 10_000_000_000


def paced(readings: Iterable[int], *, best_ns: int = 1000, wait_ns: int = 0, naps: list[float] | None = None) -> Pace:
    """A pace with these readings."""
    following = iter(readings)
    return Pace(best_ns, wait_ns, reading=lambda: next(following), nap=(naps if naps is not None else []).append)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """A clock that goes on by 1000 ns with each look at it."""
    ticks = iter(range(0, 10**9, 1000))
    monkeypatch.setattr(pace_module, "now_ns", lambda: next(ticks))
    return lambda: next(ticks)


def test_full_speed_is_the_best_known_and_three_tenths_more():
    assert [paced([reading]).full() for reading in (1000, 1300, 1301, 2000)] == [True, True, False, False]


def test_a_faster_reading_is_the_new_best():
    pace = paced([900, 1180, 1160])
    assert [pace.full(), pace.full(), pace.full()] == [True, False, True]
    assert pace.best_ns == 900
    assert (pace.readings, pace.slow_readings) == (3, 1)


def test_without_a_best_the_fastest_of_several_readings_is_it():
    naps: list[float] = []
    pace = paced([1800, *[1700] * 20, 1010, *[1800] * 18, 1700], best_ns=0, naps=naps)
    assert pace.best_ns == 1010
    assert sum(naps) == pytest.approx(0.195)
    assert not pace.full()


@pytest.mark.usefixtures("clock")
def test_it_waits_until_the_core_is_fast():
    naps: list[float] = []
    pace = paced([2000, 2000, 1500, 1000], wait_ns=FAR, naps=naps)
    assert pace.settle()
    assert len(naps) == 3
    # Two looks at the clock around each nap.
    assert pace.waited_ns == 3 * 1000


@pytest.mark.usefixtures("clock")
def test_waiting_is_bounded():
    naps: list[float] = []
    pace = paced([2000] * 50, wait_ns=2500, naps=naps)
    assert not pace.settle()
    assert len(naps) == 3
    assert not pace.settle()
    assert len(naps) == 3


def test_batches_beside_a_slow_core_are_dirty():
    # Read before and after each batch.
    pace = paced([1000, 1000, 1000, 2000, 2000, 1000, 1020, 1030])
    _, dirty = time_batches(abs, [[1], [2], [3], [4]], FAR, pace=pace, switches=lambda: 0)
    assert dirty == [False, True, True, False]


def test_unwatched_nothing_is_read():
    assert UNWATCHED.settle()
    assert UNWATCHED.full()
    assert UNWATCHED.readings == 0


def test_the_work_takes_time():
    assert yardstick_ns() > 0


def test_waiting_is_shared_out_among_processes():
    patience = Patience(0, 1000, 10)
    assert patience.share_ns == 200
    patience.spend(500, 100)
    assert (patience.best_ns, patience.share_ns) == (500, 200)
    patience.spend(600, 860)
    assert (patience.best_ns, patience.share_ns) == (500, 10)
    for _ in range(8):
        patience.spend(700, 20)
    assert (patience.best_ns, patience.share_ns) == (500, 0)


def test_the_last_process_may_wait_no_longer_than_is_left():
    assert Patience(1, 1000, 1).share_ns == 1000
