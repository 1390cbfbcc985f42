"""Flags of a cell, from samples that call for them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.measure.made import payload
from zcser.measure.job import Ended, Measured
from zcser.measure.merge import cells
from zcser.measure.plan import Key, Request, make_plan
from zcser.measure.result import Cell
from zcser.measure.sample import Sample
from zcser.measure.state import State
from zcser.measure.stats import ProcessCost, Timed

PLAN = make_plan(Request(payloads=(payload(),), codecs=("json",), operations=("encode", "encode-unguarded", "guard")))


def timed(latencies_ns, collections=(0, 0, 0), pause_ns=0, pause_max_ns=0, struck=()) -> Timed:
    return Timed(np.array(latencies_ns), collections, pause_ns, pause_max_ns, np.array(struck, np.uint32))


def sample(p10_ns: float, count: int = 100, **changes) -> Sample:
    values = {
        "cost": ProcessCost(p10_ns, 8, 2, 800),
        "single": timed(np.full(count, 50), (3, 2, 1), 700, 300),
        "retained": None,
        "op_ns": 50,
        "spent_ns": 1000,
        "values": 64,
        "capped": False,
    }
    return Sample(**{**values, **changes})


DISTURBED = sample(300, cost=ProcessCost(300, 8, 6, 800))


def merged(*samples: Sample, operation: str = "encode") -> Cell:
    state = State(PLAN)
    for number, one in enumerate(samples):
        state.take(Measured("points", operation, one), "json", number)
    (cell,) = [cell for cell in cells(PLAN, state.records) if cell.operation == operation]
    return cell


@pytest.mark.parametrize(
    ("samples", "flags"),
    [
        ([sample(100)] * 4, ()),
        ([sample(100)] * 3, ("few-processes",)),
        ([sample(100, capped=True), *[sample(100)] * 3], ("capped",)),
        ([DISTURBED] * 4, ("all-dirty",)),
        ([DISTURBED, *[sample(100)] * 3], ("few-processes",)),
        ([sample(100, count=24)] * 4, ("few-samples",)),
        ([sample(100, count=25)] * 4, ()),
        ([*[sample(100)] * 3, sample(125)], ()),
        ([*[sample(100)] * 3, sample(126)], ("unstable",)),
    ],
)
def test_flags_follow_the_samples(samples, flags):
    assert merged(*samples).flags == flags


def test_a_guard_is_the_difference_where_both_sides_were_undisturbed():
    state = State(PLAN)
    for number, (guarded, bare) in enumerate(
        [(sample(100), sample(90)), (DISTURBED, sample(90)), (sample(110), sample(95))]
    ):
        state.take(Measured("points", "encode", guarded), "json", number)
        state.take(Measured("points", "encode-unguarded", bare), "json", number)
    (guard,) = [cell for cell in cells(PLAN, state.records) if cell.operation == "guard"]
    assert guard.cost.process_p10_ns == (10, 15)


def test_a_process_that_did_not_know_full_speed_does_not_count():
    cost = merged(
        *(sample(p10, yardstick_ns=ns) for p10, ns in [(170, 1301), (104, 1300), (103, 1000), (102, 1250)])
    ).cost
    assert cost.counted_ns == (104, 103, 102)
    assert cost.dirty_batches == 8 + 3 * 2


def test_a_process_that_was_disturbed_throughout_does_not_count():
    cost = merged(sample(100), DISTURBED, sample(104), sample(103)).cost
    assert (cost.low_ns, cost.p10_ns, cost.high_ns) == (100, 103, 104)
    assert cost.process_p10_ns == (100, 300, 104, 103)
    assert cost.counted_ns == (100, 104, 103)


def test_an_unguarded_cell_is_called_unvalidated():
    assert merged(*[sample(100)] * 4, operation="encode-unguarded").flags == ("unvalidated",)


def test_collections_of_processes_are_added():
    found = merged(sample(100), sample(100, single=timed([50] * 60, (1, 0, 0), 500, 500)))
    assert found.gc.collections == (4, 2, 1)
    assert (found.gc.pause_ns, found.gc.pause_max_ns, found.gc.operations) == (1200, 500, 160)
    assert found.gc.time_share == 1200 / (160 * 50)


def test_latency_keeps_the_percentiles_of_each_process_in_order():
    found = merged(sample(100), sample(100, single=timed([70] * 60)), sample(100, single=timed([9] * 5))).latency
    assert found.process_p50_ns == (50, 70, None)
    assert found.process_p90_ns == (50, None, None)
    assert found.process_p99_ns == found.process_p999_ns == (None, None, None)


def test_percentiles_without_struck_calls_leave_out_exactly_those():
    # 1000 calls of 10 ns, of which the collector made 20 slow; without these every call takes 10 ns.
    latencies_ns = np.full(1000, 10)
    struck = np.arange(0, 1000, 50)
    latencies_ns[struck] = 9000
    found = merged(sample(100, single=timed(latencies_ns, (20, 0, 0), 179_800, 8990, struck)))
    assert found.latency.p99_ns == 9000
    assert (found.gc.free_p99_ns, found.gc.struck) == (None, 20)
    assert found.gc.slowest_struck == 20
    found = merged(*[sample(100, single=timed(latencies_ns, (20, 0, 0), 179_800, 8990, struck))] * 4)
    assert (found.latency.p99_ns, found.gc.free_p99_ns, found.gc.struck) == (9000, 10, 80)
    assert found.gc.slowest_struck == 40


def test_where_a_process_could_not_record_all_pauses_none_is_attributed():
    one = timed([10] * 1000, (40_000, 0, 0), 100, 1)
    found = merged(sample(100), sample(100, single=Timed(one.latencies_ns, one.collections, 100, 1, None)))
    assert found.gc.collections == (40_003, 2, 1)
    assert found.gc.struck is found.gc.time_share is found.gc.free_p99_ns is found.gc.slowest_struck is None


def test_retained_results_have_figures_of_their_own():
    kept = timed([80] * 200, (9, 1, 0), 4000, 900, [5])
    found = merged(sample(100, retained=kept), sample(100))
    assert found.retained.latency.n == found.retained.gc.operations == 200
    assert found.retained.latency.p50_ns == 80
    assert (found.retained.gc.struck, found.gc.collections) == (1, (6, 4, 2))
    assert merged(sample(100)).retained is None


def test_guard_pairs_the_rounds_that_both_have():
    state = State(PLAN)
    for number, on, off in ((0, 110, 100), (2, 130, 90)):
        state.take(Measured("points", "encode", sample(on)), "json", number)
        state.take(Measured("points", "encode-unguarded", sample(off)), "json", number)
    state.take(Measured("points", "encode", sample(999)), "json", 1)
    (guard,) = [cell for cell in cells(PLAN, state.records) if cell.operation == "guard"]
    assert guard.cost.process_p10_ns == (10, 40)


def test_guard_has_the_reason_of_what_it_is_made_of():
    state = State(PLAN)
    state.take(Ended("points", "encode-unguarded", "failed", "why"), "json", 0)
    (guard,) = [cell for cell in cells(PLAN, state.records) if cell.operation == "guard"]
    assert (guard.status, guard.reason, guard.cost) == ("failed", "why", None)


def test_cells_of_which_nothing_is_known_are_left_out():
    assert [cell for cell in cells(PLAN, State(PLAN).records) if cell.status == "ok"] == []
    assert Key("points", "json", "encode") in PLAN.measured
