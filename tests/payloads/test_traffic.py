"""Which messages stand for a sample of traffic: shares, sizes, repeats, order."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from zcser.payloads.traffic import SIZE_STRATA, Census, shape_of


def census(messages):
    counted = Census()
    counted.add(*zip(*messages, strict=True))
    return counted


def test_few_messages_are_all_taken_in_their_order():
    assert census((9 - n, n, n) for n in range(9)).choose(64, 10**6) == list(range(9))


def test_every_stratum_of_size_has_its_share():
    sizes = list(range(1, 1601))
    random.Random(1).shuffle(sizes)
    chosen = census((size, 0, size) for size in sizes).choose(64, 10**9)
    assert len(set(chosen)) == 64
    strata = Counter((sizes[number] - 1) * SIZE_STRATA // 1600 for number in chosen)
    assert set(strata.values()) == {64 // SIZE_STRATA}


def test_shapes_have_their_shares_within_sizes():
    # One size, three shapes: 3/4, 3/16 and 1/16 of the messages, which of 64 are 48, 12 and 4.
    messages = [(100, "often" if n % 16 < 12 else "some" if n % 16 < 15 else "rare", n) for n in range(1600)]
    chosen = census(messages).choose(64, 10**9)
    counts = Counter(messages[number][1] for number in chosen)
    assert counts["often"] == 48
    assert abs(counts["rare"] - 4) <= 1
    assert abs(counts["some"] - 12) <= 1


@pytest.mark.parametrize("spread", [1.0, 2.0])
def test_the_mean_of_the_chosen_is_near_that_of_all(spread):
    generator = random.Random(2)
    sizes = [1 + int(generator.lognormvariate(5, spread)) for _ in range(20_000)]
    chosen = census((size, size % 3, number) for number, size in enumerate(sizes)).choose(64, 10**9)
    mean, own = sum(sizes) / len(sizes), sum(sizes[number] for number in chosen) / 64
    # Each is one of a run of 1/64: what they can be off by is about what the largest run spans.
    assert abs(own - mean) < (0.15 if spread == 1.0 else 0.5) * mean


def test_a_repeat_stands_only_where_its_run_is_all_repeats():
    # 64 runs of 4 messages each; in all but one, one message of four is new.
    messages = [(10, 0, 0 if number % 4 or number < 4 else number) for number in range(256)]
    contents = [messages[number][2] for number in census(messages).choose(64, 10**6)]
    assert contents.count(0) == 1
    assert len(set(contents)) == 64


def test_the_choice_is_the_same_each_time():
    messages = [(n * 7919 % 1009, n % 5, n) for n in range(5000)]
    assert census(messages).choose(64, 10**9) == census(messages).choose(64, 10**9)


def test_the_first_few_of_the_chosen_are_spread_over_the_sizes():
    chosen = census((size, 0, size) for size in range(6400)).choose(64, 10**9)
    for count in (2, 4, 8, 16):
        assert {number * count // 6400 for number in chosen[:count]} == set(range(count))


def test_what_is_kept_is_bounded():
    counted = census((1000, 0, number) for number in range(200))
    assert len(counted.choose(64, 64_000)) == 64
    assert len(counted.choose(64, 63_999)) == 32
    assert len(counted.choose(64, 10)) == 1


def test_percentiles_are_of_nearest_rank():
    counted = census((size, 0, size) for size in range(1, 201))
    assert counted.sizes() == (100, 198, 200)
    assert counted.sizes([0, 9]) == (1, 10, 10)
    assert counted.nbytes == 20_100


def test_a_shape_is_the_fields_that_are_there_and_not_empty():
    assert shape_of({"a": 0, "b": None, "c": [], "d": "", "e": "x"}) == {"a", "e"}
    assert shape_of([1]) == shape_of([2, 3]) == "list"
    assert shape_of(1) != shape_of("1")


def test_shapes_beyond_those_that_are_kept_are_one():
    counted = Census()
    for start in range(0, 10_000, 1000):
        counted.add([1] * 1000, range(start, start + 1000), range(start, start + 1000))
    assert counted.count == 10_000
    assert len(set(counted.choose(64, 10**6))) == 64
