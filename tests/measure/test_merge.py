"""Flags of a cell, from samples that call for them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.measure.made import payload
from zcser.measure.job import Ended, Measured
from zcser.measure.merge import cells
from zcser.measure.plan import Key, Request, make_plan
from zcser.measure.result import Cell, Collections
from zcser.measure.sample import Sample
from zcser.measure.state import State
from zcser.measure.stats import ProcessCost

PLAN = make_plan(Request(payloads=(payload(),), codecs=("json",), operations=("encode", "encode-unguarded", "guard")))


def sample(p10_ns: float, count: int = 100, **changes) -> Sample:
    values = {
        "cost": ProcessCost(p10_ns, 8, 2, 800),
        "latencies_ns": np.full(count, 50),
        "collections": Collections((3, 2, 1), 700, 300, count),
        "op_ns": 50,
        "spent_ns": 1000,
        "values": 64,
        "capped": False,
        "all_dirty": False,
    }
    return Sample(**{**values, **changes})


def merged(*samples: Sample, operation: str = "encode") -> Cell:
    state = State(PLAN)
    for number, one in enumerate(samples):
        state.take(Measured("points", operation, one, None, None), "json", number)
    (cell,) = [cell for cell in cells(PLAN, state.records) if cell.operation == operation]
    return cell


@pytest.mark.parametrize(
    ("samples", "flags"),
    [
        ([sample(100)] * 4, ()),
        ([sample(100)] * 3, ("few-processes",)),
        ([sample(100, capped=True), *[sample(100)] * 3], ("capped",)),
        ([sample(100, all_dirty=True), *[sample(100)] * 3], ("all-dirty",)),
        ([sample(100, count=24)] * 4, ("few-samples",)),
        ([sample(100, count=25)] * 4, ()),
        ([*[sample(100)] * 3, sample(125)], ()),
        ([*[sample(100)] * 3, sample(126)], ("unstable",)),
    ],
)
def test_flags_follow_the_samples(samples, flags):
    assert merged(*samples).flags == flags


def test_an_unguarded_cell_is_called_unvalidated():
    assert merged(*[sample(100)] * 4, operation="encode-unguarded").flags == ("unvalidated",)


def test_collections_of_processes_are_added():
    found = merged(sample(100), sample(100, collections=Collections((1, 0, 0), 500, 500, 60)))
    assert found.gc == Collections((4, 2, 1), 1200, 500, 160)


def test_guard_pairs_the_rounds_that_both_have():
    state = State(PLAN)
    for number, on, off in ((0, 110, 100), (2, 130, 90)):
        state.take(Measured("points", "encode", sample(on), None, None), "json", number)
        state.take(Measured("points", "encode-unguarded", sample(off), None, None), "json", number)
    state.take(Measured("points", "encode", sample(999), None, None), "json", 1)
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
