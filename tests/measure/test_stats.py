"""Percentiles, costs and comparisons, against numpy and arithmetic by hand."""

from __future__ import annotations

import numpy as np
import pytest

from zcser.measure.cost import process_cost
from zcser.measure.stats import ProcessCost, compare, cost_difference, cost_of, latency_of, percentile


def processes(*p10_ns: float) -> list[ProcessCost]:
    return [ProcessCost(value, batches=8, dirty_batches=1, operations=80) for value in p10_ns]


@pytest.mark.parametrize("permille", [500, 900, 990, 999])
@pytest.mark.parametrize("count", [10_007, 12_343, 31_337])
def test_percentiles_are_those_of_numpy(count, permille):
    samples = np.sort(np.random.default_rng(count).lognormal(8, 1, count).astype(np.int64))
    assert percentile(samples, permille) == np.percentile(samples, permille / 10, method="inverted_cdf")


@pytest.mark.parametrize(("permille", "least"), [(500, 20), (900, 100), (990, 1_000), (999, 10_000)])
def test_a_percentile_is_shown_from_ten_samples_above_it_on(permille, least):
    # n (1 - q) >= 10: 20, 100, 1,000 and 10,000 samples.
    assert percentile(np.arange(least), permille) is not None
    assert percentile(np.arange(least - 1), permille) is None


def test_latency_of_a_thousand_known_samples():
    latency = latency_of([np.random.default_rng(0).permutation(np.arange(1, 1001))])
    assert (latency.n, latency.p50_ns, latency.p90_ns, latency.p99_ns) == (1000, 500, 900, 990)
    assert latency.p999_ns is None
    assert latency.max_ns == 1000
    # 100 lie above the p90, which suffices; 10 above the p99, which does not.
    assert latency.uncertain == ("p99",)
    assert sum(count for _, count in latency.histogram) == 1000


def test_each_process_has_percentiles_by_the_number_of_its_own_samples():
    # 1,000 samples have ten above their p99, 999 have not; 19 have not ten above their median.
    latency = latency_of([np.arange(1000, 0, -1), np.arange(1, 1000), np.arange(1, 20)])
    assert latency.process_p50_ns == (500, 500, None)
    assert latency.process_p90_ns == (900, 900, None)
    assert latency.process_p99_ns == (990, None, None)
    assert latency.process_p999_ns == (None, None, None)
    assert latency.n == 2018


def test_one_slow_sample_is_never_dropped():
    latency = latency_of([np.array([100] * 99 + [50_000_000])])
    assert latency.max_ns == 50_000_000
    assert latency.histogram[-1][1] == 1


def test_cost_is_the_median_of_processes():
    cost = cost_of(processes(100.0, 104.0, 98.0, 300.0))
    assert (cost.p10_ns, cost.low_ns, cost.high_ns) == (102.0, 98.0, 300.0)
    assert (cost.batches, cost.dirty_batches, cost.operations) == (32, 4, 320)
    assert cost.process_p10_ns == (100.0, 104.0, 98.0, 300.0)


def test_difference_of_costs_may_be_negative():
    cost = cost_difference([100.0, 110.0, 90.0], [105.0, 104.0, 100.0])
    assert cost.process_p10_ns == (-5.0, 6.0, -10.0)
    assert cost.p10_ns == -5.0
    assert cost.batches == 0


def test_cost_of_a_process_is_the_p10_of_its_clean_batches():
    means = [100.0, 90.0, 400.0, 110.0, 105.0, 50.0]
    dirty = [False, False, True, False, False, True]
    cost = process_cost(means, dirty, 600)
    assert cost.p10_ns == np.percentile([100.0, 90.0, 110.0, 105.0], 10)
    assert (cost.batches, cost.dirty_batches, cost.operations) == (6, 2, 600)


def test_where_no_batch_is_clean_all_are_used():
    cost = process_cost([10.0, 20.0], [True, True], 2)
    assert cost.p10_ns == 11.0
    assert cost.dirty_batches == cost.batches == 2


@pytest.mark.parametrize(
    ("left", "right", "verdict"),
    [
        ((100, 101, 102), (110, 111, 112), "less"),
        ((110, 111, 112), (100, 101, 102), "more"),
        ((100, 101, 111), (110, 112, 113), "tie"),  # they overlap
        ((100, 101, 102), (103, 103.5, 104), "tie"),  # apart, but by less than 3%
        ((100, 101, 102), (100, 101, 102), "tie"),
        ((100,), (200, 201), "less"),  # a lone process reaches 25% either way: 75 to 125
        ((100,), (120, 121), "tie"),
        ((100,), (160,), "tie"),  # 125 against 120
        ((100,), (170,), "less"),  # 125 against 127.5
    ],
)
def test_costs_differ_only_where_processes_do_not_overlap(left, right, verdict):
    assert compare(cost_of(processes(*left)), cost_of(processes(*right))) == verdict
