"""The histogram loses less than 3% of a sample and no sample at all."""

from __future__ import annotations

import math

import numpy as np
import pytest

from zcser.measure.histogram import histogram

MOST = 2 ** (1 / 24)


def test_every_sample_is_counted_in_a_bucket_that_begins_within_three_percent_below_it():
    samples = np.unique(np.random.default_rng(1).uniform(0, 40, 20_000).__rpow__(2.0).astype(np.int64))
    for sample in samples[:: len(samples) // 500].tolist():
        ((low, count),) = histogram(np.array([sample]))
        assert count == 1
        assert low <= sample < max(low + 1, low * MOST)


def test_first_nanoseconds_of_buckets_follow_the_formula():
    lows = [low for low, _ in histogram(np.arange(1, 5000))]
    assert lows == sorted({math.ceil(2 ** (i / 24)) for i in range(24 * 13) if math.ceil(2 ** (i / 24)) < 5000})


@pytest.mark.parametrize("sample", [0, 1, 2, 34])
def test_short_times_are_kept_exactly(sample):
    assert histogram(np.array([sample, sample])) == ((sample, 2),)


def test_counts_add_up_and_empty_buckets_are_left_out():
    samples = np.concatenate([np.full(70, 1000), np.full(30, 2_000_000_000), [2**60]])
    found = histogram(samples)
    assert [count for _, count in found] == [70, 30, 1]
    assert found[-1][0] == 2**48
