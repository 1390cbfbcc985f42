"""Every call is made and every sample kept; batches with a preemption are told apart. No time itself is asserted."""

from __future__ import annotations

import gc
from array import array

import numpy as np
import pytest

from zcser.measure import clock
from zcser.measure.collector import GcRecorder
from zcser.measure.cost import time_batches
from zcser.measure.inputs import Rotating
from zcser.measure.latency import record_latencies
from zcser.measure.noise import Disturbance, disturbance, preemptions
from zcser.measure.sample import Slot, take_sample

FAR = 1 << 62


def test_one_sample_per_call_in_order():
    seen: list[int] = []
    samples = array("q", [-1] * 5)
    assert record_latencies(seen.append, [3, 1, 2], samples, FAR) == 3
    assert seen == [3, 1, 2]
    assert [sample >= 0 for sample in samples] == [True, True, True, False, False]


def test_a_deadline_in_the_past_leaves_one_sample():
    seen: list[int] = []
    assert record_latencies(seen.append, [3, 1, 2], array("q", bytes(24)), 0) == 1
    assert seen == [3]


def test_batches_with_a_preemption_are_dirty():
    # Read before and after each batch: 0->0, 0->2, 2->2, 2->3.
    readings = iter([0, 0, 0, 2, 2, 2, 2, 3])
    seen: list[int] = []
    means_ns, dirty = time_batches(seen.append, [[1, 2], [3], [4], [5]], FAR, switches=lambda: next(readings))
    assert dirty == [False, True, False, True]
    assert seen == [1, 2, 3, 4, 5]
    assert len(means_ns) == 4


def test_a_batch_gives_the_mean_of_its_calls(monkeypatch):
    ticks = iter([1000, 1300, 1300])
    monkeypatch.setattr("zcser.measure.cost.now_ns", lambda: next(ticks))
    means_ns, _ = time_batches(abs, [[1, 2, 3]], FAR, switches=lambda: 0)
    assert means_ns == [100.0]


def test_a_deadline_ends_batches_after_the_one_that_met_it():
    seen: list[int] = []
    means_ns, _ = time_batches(seen.append, [[1], [2], [3]], 0)
    assert len(means_ns) == 1
    assert seen == [1]


def test_the_recorder_counts_collections_exactly():
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    try:
        with GcRecorder() as recorder:
            for generation in (0, 0, 0, 1, 2, 2):
                gc.collect(generation)
        gc.collect()
    finally:
        if enabled:
            gc.enable()
    assert recorder.counts == (3, 1, 2)
    assert 0 < recorder.pause_max_ns <= recorder.pause_ns
    assert recorder not in gc.callbacks


def rotating(values):
    return Rotating(values.__getitem__, range(len(values)), FAR)


@pytest.fixture
def gc_state():
    yield
    gc.unfreeze()
    gc.enable()


@pytest.mark.usefixtures("gc_state")
def test_a_short_operation_has_all_batches_and_rotates_all_values():
    calls: list[int] = []
    sample = take_sample(calls.append, rotating(list(range(64))), Slot(100_000, 8, 200_000, 500_000))
    assert (sample.cost.batches, sample.values) == (8, 64)
    assert set(calls) == set(range(64))
    # Estimate and warm-up are calls too, but neither cost nor latency.
    assert len(calls) > sample.cost.operations + len(sample.latencies_ns)
    assert sample.collections.operations == len(sample.latencies_ns)
    assert sample.latencies_ns.dtype == np.uint32
    assert not gc.isenabled()


@pytest.mark.usefixtures("gc_state")
def test_a_long_operation_is_called_at_least_once_and_takes_only_the_values_that_it_needs():
    made: list[int] = []

    def make(number: int) -> int:
        made.append(number)
        return number

    def slow(_: int) -> None:
        end = clock.now_ns() + 3_000_000
        while clock.now_ns() < end:
            pass

    sample = take_sample(slow, Rotating(make, range(64), FAR), Slot(1000, 8, 1000, 1000))
    assert (len(sample.latencies_ns), sample.cost.batches, sample.cost.operations) == (1, 1, 1)
    assert sample.capped
    # One for the estimate, one for the sample.
    assert made == [0]
    assert sample.spent_ns >= 6_000_000


@pytest.mark.usefixtures("gc_state")
def test_the_collector_runs_while_calls_are_timed():
    states: set[bool] = set()
    gc.disable()
    take_sample(lambda _: states.add(gc.isenabled()), rotating([1]), Slot(1000, 2, 1000, 1000))
    assert states == {True}


def test_a_slot_shrinks_in_proportion_and_never_grows():
    slot = Slot(3_000, 8, 2_000, 20_000)
    assert slot.total_ns == 39_000
    assert slot.within(19_500) == Slot(1_500, 8, 1_000, 10_000)
    assert slot.within(100_000) == slot


def test_the_lattice_divides_every_difference_of_readings():
    step = clock.lattice_ns()
    readings = [clock.now_ns() for _ in range(1000)]
    assert step >= 1
    assert all((reading - readings[0]) % step == 0 for reading in readings)


def test_disturbance_counts_from_then_to_now():
    assert Disturbance(5, 7, 100, None).since(Disturbance(2, 3, 40, None)) == Disturbance(3, 4, 60, None)
    seen = disturbance().since(disturbance())
    assert seen.involuntary_switches <= 0
    assert preemptions() >= 0
