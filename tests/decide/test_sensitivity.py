"""How far a number must move: turns by hand, and against a search that only knows the ranking."""

import dataclasses
import math
import random

import pytest

from tests.decide.results import codec, result
from tests.report.results import realistic
from zcser.decide.figures import figures_of
from zcser.decide.profiles import PROFILES, with_settings
from zcser.decide.score import rank
from zcser.decide.sensitivity import moves, switches
from zcser.decide.verdict import move_texts, switch_text

# Small is 1,000 bytes and takes 10 µs to write and 1 µs to read, large is 5,000 bytes and takes 1 µs each.
CELLS = [*codec("small", 1_000, encode=10_000, decode=1_000), *codec("large", 5_000, encode=1_000, decode=1_000)]
PROFILE = with_settings(PROFILES["custom"], ["bandwidth_out=4GB/s"])


def of(profile, cells=CELLS):
    return {move.parameter: move for move in moves(figures_of(result(cells), "one"), profile)}


def test_turns_are_those_by_hand():
    # large leads by 9,000 ns of core; small by 4,000 bytes, 1,000 ns at 4 GB/s.
    found = of(PROFILE)
    assert found["bandwidth_out"].below.value == pytest.approx(4e9 / 9)
    assert found["bandwidth_out"].below.winner == "small"
    assert found["bandwidth_out"].above is None
    assert found["cpu_share"].above.value == pytest.approx(9)
    assert found["writer_weight"].below.value == pytest.approx(1 / 9)
    # 8,000 ns are left for 4,000 bytes on the way in: 0.5 GB/s, of a number that is infinite now.
    assert (found["bandwidth_in"].now, found["bandwidth_in"].below.value) == (math.inf, pytest.approx(5e8))
    assert found["reader_weight"].below is None
    assert found["reader_weight"].above is None
    assert {"p99_ns", "messages_per_s"}.isdisjoint(found)


def test_tie_begins_where_the_ranges_meet():
    # 9,700 to 9,000 ns of core between them, 1,000 ns of wire at 4 GB/s: a tie from 4e9 / 8.3 down, but for the 3% rule.
    cells = [*codec("small", 1_000, encode=(9_700, 10_000, 10_300), decode=1_000), *CELLS[2:]]
    turn = of(PROFILE, cells)["bandwidth_out"].below
    assert turn.tie > turn.value
    low = rank(figures_of(result(cells), "one"), dataclasses.replace(PROFILE, bandwidth_out=turn.tie * 0.999))
    high = rank(figures_of(result(cells), "one"), dataclasses.replace(PROFILE, bandwidth_out=turn.tie * 1.001))
    assert [len(low.leaders), len(high.leaders)] == [2, 1]


def test_load_turns_where_the_leader_cannot_carry_it():
    # One core over 2,000 ns of large is 500,000 a second; small then takes 11,000 ns, and carries less.
    found = of(with_settings(PROFILE, ["messages_per_s=1000"]))["messages_per_s"]
    assert found.above.value == pytest.approx(500_000)
    assert found.above.winner is None


def test_turns_agree_with_the_ranking_on_either_side():
    rng = random.Random(3)
    made = realistic()
    turned = 0
    for name in ("server", "proxy", "log"):
        for payload in ("request-64k", "batch-meta"):
            figures = figures_of(made, payload)
            profile = dataclasses.replace(PROFILES[name], cpu_share=10 ** rng.uniform(-1, 1))
            winner = rank(figures, profile).scores[0].codec
            for move in moves(figures, profile):
                for turn, way in ((move.below, -1), (move.above, 1)):
                    if turn is None:
                        continue
                    turned += 1
                    near, far = (
                        rank(
                            figures,
                            dataclasses.replace(profile, **{move.parameter: turn.value * (1 + side * way * 1e-6)}),
                        )
                        for side in (-1, 1)
                    )
                    assert (near.scores[0].codec, far.scores[0].codec) == (winner, turn.winner)
    assert turned > 10


def test_texts_say_what_turns_and_what_does_not():
    # The lead of large is shown while 11,000 + 1,000 x is more than 1.03 times 2,000 + 5,000 x, with x ns per byte.
    lines = move_texts(moves(figures_of(result(CELLS), "one"), PROFILE))
    assert "bandwidth_out (4.00 GB/s now): below 444 MB/s small has the lowest total (a tie from 464 MB/s on)" in lines
    assert "bandwidth_in (not counted now): below 500 MB/s small has the lowest total (a tie from 525 MB/s on)" in lines
    assert lines[-1] == "no value changes who has the lowest total: reader_weight, reads_per_write"
    assert moves(figures_of(result([]), "one"), PROFILE) == ()


def test_choices_that_change_the_leaders_are_named():
    cells = [
        *codec("a", 9, encode=100, decode=100),
        *codec("b", 9, encode=200, decode=200, decode_unguarded=1, encode_unguarded=1),
    ]
    assert [switch_text(one) for one in switches(figures_of(result(cells), "one"), PROFILES["custom"])] == [
        "with unvalidated=yes: b is cheapest"
    ]
