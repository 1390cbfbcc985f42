"""The arithmetic of the A/A check against tables and hand computation; its groups against made results."""

from __future__ import annotations

import dataclasses
import itertools
import math

import pytest

from tests.report.results import cell, cost, result
from zcser.measure import doctor
from zcser.measure.doctor import diagnose, smallest_change, t_quantile, variation_of
from zcser.measure.plan import Key, MeasureError

KEY = Key("llm-chunk", "json", "encode")


@pytest.mark.parametrize(
    ("share", "freedom", "quantile"),
    [
        # Table of critical values in the NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
        (0.975, 6, 2.447),
        (0.975, 14, 2.145),
        (0.975, 18, 2.101),
        (0.975, 100, 1.984),
        (0.90, 6, 1.440),
        (0.90, 14, 1.345),
        (0.90, 18, 1.330),
    ],
)
def test_quantiles_are_those_of_published_tables(share, freedom, quantile):
    assert t_quantile(share, freedom) == pytest.approx(quantile, abs=0.001)


def test_smallest_change_is_that_of_the_stated_formula():
    # By hand, from the table's quantiles: (2.145 + 1.345) * 0.02 * sqrt(2/8) = 0.0349, and e**0.0349 - 1.
    assert smallest_change(0.02, 8) == pytest.approx(0.03552, abs=1e-4)
    # (2.101 + 1.330) * 0.02 * sqrt(2/10) = 0.03069.
    assert smallest_change(0.02, 10) == pytest.approx(0.03116, abs=1e-4)
    assert smallest_change(0.0, 8) == 0.0


def test_variation_is_that_within_the_groups():
    left = [100 * math.exp(0.01 * (-1) ** number) for number in range(8)]
    found = variation_of(KEY, [2 * one for one in left], left)
    # Sum of squares 8 * 0.01**2 over 7 degrees of freedom, in both groups; the shift between them is not in it.
    assert found.sd == pytest.approx(math.sqrt(8e-4 / 7))
    assert found.ratio == pytest.approx(2.0)
    # 2.145 * 0.0106904 * sqrt(2/8) = 0.011465.
    assert found.low == pytest.approx(2 * math.exp(-0.011465), rel=1e-5)
    assert found.high == pytest.approx(2 * math.exp(0.011465), rel=1e-5)
    assert (found.processes, found.codec) == (8, "json")


@pytest.fixture
def made(monkeypatch):
    """Let each pair have the p10 of two processes that a function of its number gives."""

    def use(pair):
        def run(request):
            cells = [cell("json", "encode", cost(*pair(request.seed)), payload="llm-chunk")]
            return result(cells)

        monkeypatch.setattr(doctor, "run", run)

    return use


def test_groups_change_places_so_that_drift_falls_on_both(made):
    # Every second process is half as slow again; each group has four of these.
    made(lambda _: (100.0, 150.0))
    (found,) = diagnose().cells
    assert found.processes == 8
    assert found.ratio == pytest.approx(1.0)


def test_group_is_the_same_processes_in_every_pair(made):
    made(lambda number: (100.0, 200.0) if number % 2 == 0 else (200.0, 100.0))
    (found,) = diagnose().cells
    assert found.ratio == pytest.approx(0.5)
    assert found.sd == pytest.approx(0.0, abs=1e-9)


def test_process_whose_twin_was_lost_is_left_out(made):
    made(lambda number: (100.0, 101.0) if number != 3 else (500.0,))
    (found,) = diagnose().cells
    assert found.processes == 7
    assert found.p10_ns == 100.5


def test_smallest_change_is_that_of_all_cells_together(monkeypatch):
    def run(request):
        quiet, wild = (100.0, 100.0), (100.0, 100.0 * (1 + request.seed))
        return result(
            [
                cell("json", "encode", cost(*quiet), payload="llm-chunk"),
                cell("json", "decode", cost(*wild), payload="llm-chunk"),
            ]
        )

    monkeypatch.setattr(doctor, "run", run)
    found = diagnose()
    assert found.cells[0].sd == 0.0
    assert found.sd == pytest.approx(found.cells[1].sd / math.sqrt(2))
    assert found.smallest_change == {"8": smallest_change(found.sd, 8), "12": smallest_change(found.sd, 12)}


def test_slow_machine_gets_fewer_pairs_but_enough(made, monkeypatch):
    made(lambda _: (100.0, 101.0))
    # After four pairs 17 s are gone: a fifth would end after 21.
    readings = itertools.count(0.0, 17.0)
    monkeypatch.setattr(doctor.time, "perf_counter", lambda: next(readings))
    told = []
    assert diagnose(progress=lambda done, _: told.append(done)).cells[0].processes == 4
    assert told == [0, 1, 2, 3]


def test_too_few_pairs_are_no_figure(made):
    made(lambda number: (100.0, 101.0) if number < 3 else (100.0,))
    with pytest.raises(MeasureError, match="no cell was measured in 4 pairs"):
        diagnose()


def test_interrupted_check_says_nothing(monkeypatch):
    monkeypatch.setattr(doctor, "run", lambda _: dataclasses.replace(result([]), complete=False))
    with pytest.raises(KeyboardInterrupt):
        diagnose()


def test_workers_go_where_they_were_asked_to(monkeypatch):
    asked = []

    def run(request):
        asked.append((request.pin, request.numa))
        return result([cell("json", "encode", cost(100.0, 101.0), payload="llm-chunk")])

    monkeypatch.setattr(doctor, "run", run)
    cpu = max(doctor.tuning().cpus)
    assert diagnose((cpu,)).evidence.pinned == (cpu,)
    assert set(asked) == {((cpu,), None)}


@pytest.mark.slow
def test_real_processes_give_every_cell(monkeypatch):
    monkeypatch.setattr(doctor, "_MOST_PAIRS", 4)
    found = diagnose()
    names = {(one.codec, one.operation) for one in found.cells}
    assert names >= {("baseline", "struct"), ("json", "encode"), ("json", "decode")}
    assert all(one.low <= one.ratio <= one.high for one in found.cells)
