"""Every call is made and every sample kept; batches with a preemption are told apart. No time itself is asserted."""

from __future__ import annotations

import gc
import time
import weakref

import numpy as np
import pytest

from zcser.measure import clock, collector, cost, latency, timer
from zcser.measure.collector import GcRecorder, freeze, live_heap
from zcser.measure.cost import time_batches
from zcser.measure.inputs import Fresh, Rotating
from zcser.measure.latency import record_latencies
from zcser.measure.noise import Disturbance, disturbance, preemptions
from zcser.measure.sample import Slot, _batches, empty_sample, take_sample, visit

FAR = 1 << 62


@pytest.fixture(params=["c", "python"])
def both_loops(request, monkeypatch):
    """Run a test on the C loops, and on Python's."""
    if request.param == "python":
        chosen = timer.PythonLoops()
        monkeypatch.setattr(latency, "loops", lambda: chosen)
        monkeypatch.setattr(cost, "loops", lambda: chosen)
    elif isinstance(timer.loops(), timer.PythonLoops):
        pytest.skip("the C helper was not built")


@pytest.mark.usefixtures("both_loops")
def test_one_window_per_call_in_order():
    seen: list[int] = []
    before = clock.now_ns()
    windows = record_latencies(seen.append, [3, 1, 2], FAR)
    after = clock.now_ns()
    assert seen == [3, 1, 2]
    begins = windows.begin_ns.tolist()
    assert [before, *begins, after] == sorted([before, *begins, after])
    # Windows do not overlap.
    assert all(
        begin + took <= follower
        for begin, took, follower in zip(begins, windows.took_ns, [*begins[1:], after], strict=True)
    )


@pytest.mark.usefixtures("both_loops")
def test_a_deadline_in_the_past_leaves_one_sample():
    seen: list[int] = []
    assert len(record_latencies(seen.append, [3, 1, 2], 0).took_ns) == 1
    assert seen == [3]


@pytest.mark.usefixtures("both_loops")
@pytest.mark.parametrize(("keep", "most_alive"), [(False, 1), (True, 50)])
def test_results_live_until_the_last_call_only_where_they_are_kept(keep, most_alive):
    alive: weakref.WeakSet = weakref.WeakSet()
    most = 0

    class Made:
        pass

    def make(_):
        nonlocal most
        made = Made()
        alive.add(made)
        most = max(most, len(alive))
        return made

    record_latencies(make, range(50), FAR, keep=keep)
    assert most == most_alive
    gc.collect()
    assert len(alive) == 0


@pytest.mark.usefixtures("both_loops")
def test_empty_windows_hold_no_call():
    windows = latency.record_empty(100)
    assert len(windows.took_ns) == 100
    assert (np.diff(windows.begin_ns.astype(np.int64)) >= windows.took_ns[:-1].astype(np.int64)).all()


@pytest.mark.usefixtures("both_loops")
def test_a_pause_is_laid_to_the_call_that_it_began_in():
    collecting = {3, 7, 8}
    gc.disable()
    with GcRecorder() as recorder:
        windows = record_latencies(lambda number: gc.collect(1) if number in collecting else None, range(12), FAR)
        # Between two passes: nobody's.
        gc.collect()
    assert recorder.struck(windows).tolist() == [3, 7, 8]
    assert recorder.counts == (0, 3, 1)


def test_several_pauses_in_one_call_strike_one_call():
    gc.disable()
    with GcRecorder() as recorder:
        windows = record_latencies(lambda _: [gc.collect(0) for _ in range(4)], [1, 2], FAR)
    assert recorder.struck(windows).tolist() == [0, 1]
    assert recorder.counts == (8, 0, 0)


def test_more_pauses_than_places_are_counted_and_not_attributed(monkeypatch):
    monkeypatch.setattr(collector, "_CAPACITY", 3)
    recorder = GcRecorder()
    for _ in range(5):
        recorder("start", {"generation": 0})
        recorder("stop", {"generation": 0})
    assert recorder.counts == (5, 0, 0)
    assert recorder.struck(record_latencies(abs, [1], FAR)) is None


def test_a_live_heap_is_so_many_objects_that_the_collector_sees():
    freeze()
    before = len(gc.get_objects())
    with live_heap(1000):
        inside = len(gc.get_objects())
        assert gc.get_count()[0] < 100
    # The heap, and at most the context manager's own frame and generator.
    assert 1000 <= inside - before <= 1010


def test_kept_results_are_a_pass_of_their_own_within_their_bound():
    slot = Slot(100_000, 2, 200_000, 200_000, 200_000)
    assert take_sample(lambda value: [value], rotating([1, 2]), slot).retained is None
    sample = take_sample(lambda value: [value], rotating([1, 2]), slot, most_kept=7)
    assert len(sample.retained.latencies_ns) == 7


def test_the_clock_alone_has_a_sample():
    sample = empty_sample(Slot(1000, 8, 1000, 1000))
    assert sample.cost.batches == 8
    assert sample.cost.operations == len(sample.single.latencies_ns)
    assert 0 < sample.cost.p10_ns < 1_000_000


@pytest.mark.usefixtures("both_loops")
def test_batches_with_a_preemption_are_dirty():
    # Read before and after each batch: 0->0, 0->2, 2->2, 2->3.
    readings = iter([0, 0, 0, 2, 2, 2, 2, 3])
    seen: list[int] = []
    means_ns, dirty = time_batches(seen.append, [[1, 2], [3], [4], [5]], FAR, switches=lambda: next(readings))
    assert dirty == [False, True, False, True]
    assert seen == [1, 2, 3, 4, 5]
    assert len(means_ns) == 4


def test_a_batch_gives_the_mean_of_its_calls(monkeypatch):
    ticks = iter([1000, 1300])
    monkeypatch.setattr(timer, "now_ns", lambda: next(ticks))
    monkeypatch.setattr(cost, "loops", timer.PythonLoops)
    means_ns, _ = time_batches(abs, [[1, 2, 3]], FAR, switches=lambda: 0)
    assert means_ns == [100.0]


def test_a_deadline_ends_batches_after_the_one_that_met_it():
    seen: list[int] = []
    means_ns, _ = time_batches(seen.append, [[1], [2], [3]], 0)
    assert len(means_ns) == 1
    assert seen == [1]


def test_the_recorder_counts_collections_exactly():
    gc.collect()
    gc.disable()
    with GcRecorder() as recorder:
        for generation in (0, 0, 0, 1, 2, 2):
            gc.collect(generation)
    gc.collect()
    assert recorder.counts == (3, 1, 2)
    assert 0 < recorder.pause_max_ns <= recorder.pause_ns
    assert recorder not in gc.callbacks


def rotating(values):
    return Rotating(values.__getitem__, range(len(values)), FAR)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No phase is cut short, however busy the machine is."""
    monkeypatch.setattr("zcser.measure.sample._PATIENCE", 1000)


@pytest.mark.usefixtures("patient")
def test_a_short_operation_has_all_batches_and_rotates_all_values():
    calls: list[int] = []
    sample = take_sample(calls.append, rotating(list(range(64))), Slot(1_000_000, 8, 2_000_000, 5_000_000))
    assert (sample.cost.batches, sample.values) == (8, 64)
    assert set(calls) == set(range(64))
    # Estimate and warm-up are calls too, but neither cost nor latency.
    assert len(calls) > sample.cost.operations + len(sample.single.latencies_ns)
    assert sample.single.latencies_ns.dtype == np.uint32
    assert not gc.isenabled()


@pytest.mark.parametrize(
    ("per_batch", "batches", "expected"),
    [
        (500, 8, (448, 8)),  # seven turns of 64
        (64, 8, (64, 8)),
        (40, 8, (64, 5)),  # 320 calls are five turns
        (24, 8, (64, 3)),
        (23, 8, (23, 8)),  # 184 calls are less than three
        (1, 8, (1, 8)),
    ],
)
def test_batches_are_whole_turns_through_the_values_where_there_is_room(per_batch, batches, expected):
    assert _batches(per_batch, batches, rotating(list(range(64)))) == expected


@pytest.mark.usefixtures("patient")
def test_each_batch_holds_every_value_alike():
    calls: list[int] = []
    sample = take_sample(calls.append, rotating(list(range(7))), Slot(1000, 8, 20_000, 1000))
    assert sample.cost.operations % (7 * 8) == 0


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
    assert (len(sample.single.latencies_ns), sample.cost.batches, sample.cost.operations) == (1, 1, 1)
    assert sample.capped
    # One for the estimate, one for the sample.
    assert made == [0]
    assert sample.spent_ns >= 6_000_000


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


@pytest.mark.usefixtures("patient")
def test_the_batches_of_a_cell_are_spread_over_visits():
    calls: list[int] = []
    visits = visit(calls.append, rotating(list(range(64))), Slot(1_000_000, 8, 2_000_000, 5_000_000))
    made = []
    while True:
        try:
            next(visits)
        except StopIteration as end:
            sample = end.value
            break
        made.append(len(calls))
    # Four visits, the first with all but the batches; each of the others has calls of its own.
    assert len(made) == 3
    assert made[0] < made[1] < made[2] < len(calls)
    assert sample.cost.batches == 8
    assert len(sample.single.latencies_ns) > 0


def test_no_call_of_any_visit_gets_what_another_used_up():
    fresh = Fresh(lambda item: [item], Rotating(lambda number: number, range(8), FAR), most=1 << 16)
    visits = visit(list.pop, fresh, Slot(1_000_000, 8, 100_000, 100_000))  # of an empty list an IndexError
    assert len(list(visits)) == 3


def test_calls_that_are_batches_of_their_own_are_joined_in_order():
    pauses = iter(range(1, 9))
    visits = visit(lambda _: time.sleep(next(pauses, 1) / 1000), rotating([1]), Slot(0, 4, 100_000, 240_000_000))
    sample = None
    while sample is None:
        try:
            next(visits)
        except StopIteration as end:
            sample = end.value
    assert sample.cost.operations == len(sample.single.latencies_ns) >= 2
    assert sample.single.struck is not None


def test_making_an_argument_for_each_call_takes_no_longer_than_the_cell_may(monkeypatch):
    slot = Slot(warm_ns=200_000, batches=4, batch_ns=200_000, latency_ns=1_000_000, retained_ns=0)
    calls = []
    source = Rotating(lambda number: number, range(2), FAR)
    monkeypatch.setattr(Fresh, "making_ns", 50_000_000)
    fresh = Fresh(lambda item: [item], source, most=1 << 20)
    sample = take_sample(calls.append, fresh, slot)
    # A call takes far less than 0.1 ms, so that 2 ms of them would be hundreds.
    assert 4 + 1 <= len(sample.single.latencies_ns) + sample.cost.operations < 40
