"""Which cells a lost worker takes with it, and which are still worth measuring."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.measure.made import payload
from zcser.measure import presets
from zcser.measure.figures import Allocations
from zcser.measure.job import Began, Checked, Ended, Measured
from zcser.measure.plan import Key, Request, make_plan
from zcser.measure.process import WorkerLostError
from zcser.measure.sample import Sample
from zcser.measure.state import State
from zcser.measure.stats import ProcessCost, Timed

A_ENCODE, A_DECODE, B_ENCODE = Key("a", "json", "encode"), Key("a", "json", "decode"), Key("b", "json", "encode")


@pytest.fixture
def state() -> State:
    request = Request(
        payloads=(payload(name="a"), payload(name="b")), codecs=("json",), operations=("encode", "decode")
    )
    return State(make_plan(request))


def sample(op_ns: int, spent_ns: int) -> Sample:
    single = Timed(np.array([op_ns]), (0, 0, 0), 0, 0, np.empty(0, np.uint32))
    cost = ProcessCost(float(op_ns), 8, 0, 8)
    return Sample(cost, single, None, op_ns, spent_ns, 1, capped=False)


@pytest.mark.parametrize(
    ("at", "hung", "guilty"),
    [
        (Began("a", "encode"), False, {A_ENCODE}),
        (Began("a", None), False, {A_ENCODE, A_DECODE}),
        (Began("a", "encode"), True, {A_ENCODE, A_DECODE}),
        (None, False, {A_ENCODE, A_DECODE, B_ENCODE}),
        # It was at a cell that is none of those that were left to it.
        (Began("b", "decode"), False, set()),
    ],
)
def test_a_lost_worker_is_laid_to_the_cell_that_it_was_at(state, at, hung, guilty):
    left = [A_ENCODE, A_DECODE, B_ENCODE]
    remaining = state.blame(WorkerLostError("gone", hung=hung), at, "json", left)
    assert set(remaining) == set(left) - guilty
    assert {key for key, record in state.records.items() if record.problem} == guilty
    assert all(state.records[key].problem == ("failed", "gone") for key in guilty)
    assert guilty.isdisjoint(state.due())


def test_a_problem_of_a_payload_ends_all_of_its_cells(state):
    state.take(Ended("a", None, "refused", "no"), "json", 0)
    assert [key for key in state.due("json") if key.payload == "a"] == []
    assert {key.operation for key in state.due("json")} == {"encode", "decode"}


def test_a_slow_cell_is_left_out_once_another_process_would_pass_its_bound(state):
    # The bound is 250 ms. 100 spent and 2 x 70 to come fit; 120 and 140 do not.
    state.take(Measured("a", "encode", sample(70_000_000, 100_000_000)), "json", 0)
    assert A_ENCODE in state.due("json")
    state.take(Measured("a", "encode", sample(70_000_000, 20_000_000)), "json", 1)
    assert A_ENCODE not in state.due("json")
    assert state.records[A_ENCODE].spent_ns == state.spent_ns == 120_000_000
    assert state.allowed_ns(A_ENCODE) == 130_000_000


def test_a_slow_cell_gets_its_least_number_of_processes_whatever_they_take():
    preset = dataclasses.replace(presets.PRESETS["quick"], rounds=12, least_rounds=3)
    state = State(
        make_plan(Request(payloads=(payload(name="a"),), codecs=("json",), operations=("encode",), preset=preset))
    )
    # The bound of 250 ms is divided among the processes that must be, and met in the first already.
    assert state.allowed_ns(A_ENCODE) == 83_333_333
    for number, left_ns in enumerate((1, 1)):
        state.take(Measured("a", "encode", sample(2_000_000_000, 4_000_000_000)), "json", number)
        assert A_ENCODE in state.due("json")
        assert state.allowed_ns(A_ENCODE) == left_ns
    state.take(Measured("a", "encode", sample(2_000_000_000, 4_000_000_000)), "json", 2)
    assert A_ENCODE not in state.due("json")


def test_a_cell_that_stays_below_its_share_leaves_the_rest_to_later_processes():
    preset = dataclasses.replace(presets.PRESETS["quick"], rounds=12, least_rounds=3)
    state = State(
        make_plan(Request(payloads=(payload(name="a"),), codecs=("json",), operations=("encode",), preset=preset))
    )
    state.take(Measured("a", "encode", sample(1000, 50_000_000)), "json", 0)
    # 200 ms are left to two that must be; then 150 to one, and what is left to any after it.
    assert state.allowed_ns(A_ENCODE) == 100_000_000
    state.take(Measured("a", "encode", sample(1000, 50_000_000)), "json", 1)
    assert state.allowed_ns(A_ENCODE) == 150_000_000
    state.take(Measured("a", "encode", sample(1000, 50_000_000)), "json", 2)
    assert state.allowed_ns(A_ENCODE) == 100_000_000


@pytest.mark.parametrize(
    ("allocations", "most"),
    [
        (None, 0),
        (Allocations("exact", python_bytes=1 << 20, native_bytes=None), 256),
        (Allocations("exact", python_bytes=float(1 << 20), native_bytes=float(3 << 20)), 64),
        (Allocations("fallback", peak_bytes=1 << 28), 1),
        (Allocations("exact", python_bytes=0.0), 256 << 20),
    ],
)
def test_results_are_kept_as_far_as_256_mib_reach(state, allocations, most):
    state.take(Checked("a", "encode", None, None, None, allocations, None, 30, 5), "json", -1)
    assert state.most_kept(A_ENCODE) == most
    assert state.spent_ns == 5
