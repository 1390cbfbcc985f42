"""The study of the measuring core on tiny counts: the shape of its table, and figures whose answer is known."""

from __future__ import annotations

import math

import pytest

from benchmarks.measuring import callback, counter, dhat, recorder, tail, variation
from benchmarks.measuring.effort import Effort
from benchmarks.measuring.operations import OPERATIONS, prepare
from benchmarks.measuring.study import matrix
from benchmarks.support.figures import Figure, Goal, bootstrapped, geometric_mean, markdown, not_measured
from benchmarks.support.fresh import MeasuringError, in_fresh_process
from zcser.measure.sample import Slot
from zcser.native import zcount

TINY = Effort(
    processes=2, pairs=2, counting_processes=2, batches=2, batch_ns=50_000, samples=1000, rounds=2, dhat_calls=1
)
needs_helper = pytest.mark.skipif(zcount.load() is None, reason="the C helper was not built")


def test_the_table_has_a_row_of_five_cells_for_each_figure():
    figures = [
        Figure("cost", "x", 1.25, 1.0, 1.5, "over 3 pairs", Goal("<=", 1.1)),
        Figure("shift", "%", -4.0, -4.0, -4.0, "alone", Goal("within", 5)),
        Figure("beside", "ns", 2.0, 1.0, 3.0, "over 2 processes"),
        not_measured("blocks", "no valgrind", Goal("<=", 0)),
    ]
    assert markdown(figures).splitlines() == [
        "| figure | goal | measured | spread | met |",
        "|:---|---:|---:|:---|:---|",
        "| cost | <= 1.1 x | 1.250 x | 1.000 x to 1.500 x over 3 pairs | no |",
        "| shift | within 5 % | -4.00 % | alone | yes |",
        "| beside |  | 2.0 ns | 1.0 ns to 3.0 ns over 2 processes |  |",
        "| blocks | <= 0 | - | no valgrind | not measured |",
    ]


@pytest.mark.parametrize(
    ("goal", "value", "met"),
    [
        (Goal("<", 2), 2, False),
        (Goal("<=", 2), 2, True),
        (Goal("<=", 2), -3, True),
        (Goal("within", 2), -3, False),
        (Goal("within", 2), -2, True),
    ],
)
def test_a_goal_bounds_on_its_own_side(goal, value, met):
    assert goal.met_by(value) is met


def test_a_geometric_mean_is_the_root_of_the_product():
    assert math.isclose(geometric_mean([1, 2, 4]), 2)


def test_a_bootstrap_of_equal_observations_has_no_spread():
    figure = bootstrapped("name", "x", [3.0] * 5, "over 5", None, figure=max)
    assert (figure.value, figure.low, figure.high) == (3.0, 3.0, 3.0)


def test_all_operations_run():
    assert len(OPERATIONS) == 10
    for name in OPERATIONS:
        call, argument = prepare(name)
        assert call(argument) is not None


def test_a_function_that_raises_in_a_fresh_process_is_named(capfd):
    with pytest.raises(MeasuringError, match="count_blocks"):
        in_fresh_process(dhat.count_blocks, "bytes(1000)", 1)
    assert "not preloaded" in capfd.readouterr().err


@needs_helper
@pytest.mark.further
def test_the_counter_is_timed_with_and_without():
    (overall, by_operation), raw = counter.overhead(TINY)
    assert overall.goal == Goal("<=", 1.10)
    assert overall.low <= overall.high
    assert by_operation.low <= by_operation.value <= by_operation.high
    assert [set(side) for side in raw["counting_ns"] + raw["plain_ns"]] == [set(OPERATIONS)] * 4
    assert min(raw["ratios"].values()) > 0


@needs_helper
def test_counting_without_the_preload_is_refused():
    with pytest.raises(MeasuringError, match="not counted"):
        counter.time_operations(1, 1000, counting=True)


@needs_helper
def test_counts_are_compared_between_processes(monkeypatch):
    counted = [{name: dict.fromkeys(counter._COUNTED, 1.0) for name in OPERATIONS} for _ in range(2)]
    counted[1]["bytes(1000)"]["frees"] = 2.0
    monkeypatch.setattr(counter, "in_fresh_process", lambda *_, **__: counted.pop())
    (figure,), raw = counter.identity(TINY)
    assert (figure.value, figure.met, raw["differing"]) == (1, False, ["bytes(1000): frees"])


def test_without_valgrind_the_row_says_so(monkeypatch):
    monkeypatch.setattr(dhat.shutil, "which", lambda _: None)
    monkeypatch.setattr(dhat.zcount, "load", object)
    (figure,), _ = dhat.agreement(TINY)
    assert (figure.value, figure.met, figure.over) == (None, None, "valgrind is not installed")


@needs_helper
def test_blocks_of_bytes_are_counted_in_a_preloaded_process():
    # One block: the object with its data (see tests/native).
    assert in_fresh_process(dhat.count_blocks, "bytes(1000)", 10, preload=True) == 1


def test_the_recorder_shows_its_parts():
    figures, raw = recorder.recorder(TINY)
    assert [figure.goal is None for figure in figures] == [False, True, True, True]
    assert len(raw["processes"]) == TINY.processes
    # A recorded call holds the call, and a period holds its window.
    assert all(process["batch_ns"] > 0 and process["each_ns"] > process["window_ns"] for process in raw["processes"])


def test_the_callback_is_timed_on_operations_without_collections():
    (ratio, collection), raw = callback.callback(TINY)
    assert ratio.goal == Goal("<=", 1.02)
    assert collection.goal is None
    assert all(process["ratios"] and set(process["ratios"]) <= set(OPERATIONS) for process in raw["processes"])


def test_costs_of_a_process_have_every_operation():
    found, best_ns, waited_ns = variation.costs(Slot(warm_ns=0, batches=2, batch_ns=20_000, latency_ns=0), 1, 0)
    assert (best_ns, waited_ns) == (1, 0)
    assert set(found) == set(OPERATIONS)
    assert all(cost["p10_ns"] > 0 and 0 <= cost["dirty"] <= 1 for cost in found.values())


def test_variation_is_the_deviation_by_the_mean():
    # Mean 2, and a sample's deviation sqrt((1 + 1) / 1): 70.7%.
    processes = [
        {name: {"p10_ns": value, "dirty": 0.0, "undisturbed": 1.0} for name in OPERATIONS} for value in (1.0, 3.0)
    ]
    figure = variation._figure("idle", processes, "p10_ns")
    assert math.isclose(figure.value, 100 * math.sqrt(2) / 2)


def test_busy_processes_end_with_the_block():
    with variation.busy(2) as processes:
        assert [process.poll() for process in processes] == [None, None]
    assert all(process.poll() is not None for process in processes)


def test_a_tail_is_injected_in_every_500th_call():
    took_ns, slow_ns = tail.tail_samples(1000)
    assert took_ns.shape == (1000,)
    assert min(took_ns[499], took_ns[999], *slow_ns) >= tail.WAIT_NS


def test_too_few_samples_for_the_tail_are_not_a_figure():
    (figure,), _ = tail.tail(TINY)
    assert (figure.value, figure.over) == (None, "too few samples for a p99.9")


def test_a_matrix_that_is_not_there_is_not_measured(tmp_path):
    (figure,), raw = matrix(tmp_path / "none.json")
    assert (figure.value, figure.met, raw) == (None, None, {})
    assert "none.json" in figure.over
