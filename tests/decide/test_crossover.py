"""Crossovers: where the lines meet by hand, how sure that is, and what is not claimed."""

import dataclasses
import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.decide.results import codec, result
from tests.report.results import payload
from zcser.decide.crossover import break_even, compare_curves, over_fields, over_sizes, over_sizes_by_profile, sweeps_of
from zcser.decide.figures import figures_of
from zcser.decide.interval import Interval, exact
from zcser.decide.profiles import PROFILES
from zcser.decide.verdict import comparison_text


def over_bytes(left, right):
    """Curves of (low, value, high) or exact figures, over 1,000, 10,000 and 100,000 bytes."""
    sizes = (1e3, 1e4, 1e5)
    curves = [
        {
            size: Interval(one[1], one[0], one[2]) if isinstance(one, tuple) else exact(one)
            for size, one in zip(sizes, curve, strict=True)
        }
        for curve in (left, right)
    ]
    return compare_curves("A", "B", (curves[0], curves[1]), "bytes")


def test_lines_of_logarithms_meet_where_they_do_by_hand():
    # A is 10, 100, 1000 and B is 40 throughout: 40 = x / 100 at 4,000 bytes.
    (crossing,) = over_bytes((10, 100, 1_000), (40, 40, 40)).crossings
    assert crossing.at == pytest.approx(4_000)
    assert (crossing.low, crossing.high) == pytest.approx((4_000, 4_000))
    # B from 20 to 80: 20 = x / 100 at 2,000 bytes, 80 at 8,000.
    found = over_bytes((10, 100, 1_000), ((20, 40, 80), (20, 40, 80), (20, 40, 80)))
    assert comparison_text(found) == (
        "A is cheaper below about 4,000 B (2,000 B to 8,000 B), B above (measured between 1,000 B and 100 kB)"
    )


def test_falling_crossover_names_the_other_first():
    assert comparison_text(over_bytes((40, 40, 40), (10, 100, 1_000))).startswith("B is cheaper below about 4,000 B")


AT_3162 = "3,162 B (3,162 B to 3,162 B)"
ENDS = "(measured between 1,000 B and 100 kB)"


@pytest.mark.parametrize(
    ("left", "right", "text"),
    [
        ((1, 1, 1), (2, 2, 2), "no crossover between 1,000 B and 100 kB: A is cheaper throughout, against B"),
        ((2, 2, 2), (1, 1, 1), "no crossover between 1,000 B and 100 kB: B is cheaper throughout, against A"),
        ((1, 1, 1), (1, 1.02, 1), "cannot be told: A and B tie at all sizes between 1,000 B and 100 kB"),
        ((1, 1, 1), (2, 1, 2), "no crossover is shown between 1,000 B and 100 kB: A is cheaper, but they tie at 10.0 kB, against B"),
        ((1, 4, 1), (2, 2, 2), f"A and B cross at about {AT_3162}, 31.6 kB (31.6 kB to 31.6 kB); A is cheaper below the first {ENDS}"),
        ((1, 4, 2), (2, 2, 2), f"A is cheaper below about {AT_3162}, B above, but they tie at 100 kB {ENDS}"),
    ],
)  # fmt: skip
def test_what_the_figures_show_is_said_and_no_more(left, right, text):
    assert comparison_text(over_bytes(left, right)) == text


def test_tie_between_two_sides_widens_the_interval_and_one_place_is_no_curve():
    found = over_bytes((1, (1, 2, 4), 8), (2, (1, 2, 4), 2))
    (crossing,) = found.crossings
    assert crossing.at == pytest.approx(1e4)
    # The upper end of A is 1, 4, 8 and the lower end of B 2, 1, 2: log2 is -1, 2, so a third of the decade on; and back.
    assert crossing.low == pytest.approx(10 ** (3 + 1 / 3))
    assert crossing.high == pytest.approx(10 ** (4 + 1 / 2))
    lone = compare_curves("A", "B", ({1.0: exact(1)}, {1.0: exact(2), 2.0: exact(1)}), "bytes")
    assert comparison_text(lone) == "cannot be told: A and B have no two sizes in common"


bands = st.tuples(st.floats(1, 100), st.floats(1, 2), st.floats(1, 2)).map(
    lambda made: Interval(made[0], made[0] / made[1], made[0] * made[2])
)
curves = st.lists(bands, min_size=5, max_size=5)


@given(curves, curves, st.sampled_from(["bytes", "fields"]))
def test_crossover_lies_between_places_where_each_side_is_shown_to_be_cheaper(left, right, unit):
    places = [1.0, 3.0, 10.0, 30.0, 100.0]
    mine, its = (dict(zip(places, curve, strict=True)) for curve in (left, right))
    found = compare_curves("A", "B", (mine, its), unit)
    told = [relation for relation in found.relations if relation != "tie"]
    assert len(found.crossings) == sum(one != other for one, other in itertools.pairwise(told))
    for one in found.crossings:
        assert one.low <= one.at * (1 + 1e-9)
        assert one.at <= one.high * (1 + 1e-9)
        left_of = [place for place in places if place < one.low]
        right_of = [place for place in places if place > one.high]
        below, above = (its, mine) if one.falling else (mine, its)
        assert below[left_of[-1]].high <= above[left_of[-1]].low * (1 + 1e-9)
        assert above[right_of[0]].high <= below[right_of[0]].low * (1 + 1e-9)


def sweep():
    """Three sizes of one schema, another schema, and a codec that lacks one size."""
    cells = [
        *codec("a", 1_000, "s", encode=10), *codec("b", 1_000, "s", encode=40), *codec("c", 1_000, "s", encode=1),
        *codec("a", 10_000, "m", encode=100), *codec("b", 10_000, "m", encode=40),
        *codec("a", 100_000, "l", encode=1_000), *codec("b", 100_000, "l", encode=40), *codec("c", 100_000, "l", encode=1),
        *codec("a", 500, "other", encode=1),
    ]  # fmt: skip
    records = [payload(name) for name in ("l", "s", "m")]
    return result(cells, payloads=(*records, payload("other", fingerprint="f" * 16)))


def test_payloads_of_one_schema_are_a_sweep_and_sizes_are_medians_over_codecs():
    (found,) = sweeps_of(sweep())
    assert [(figures.payload, figures.message_bytes) for figures in found] == [
        ("s", 1_000),
        ("m", 10_000),
        ("l", 100_000),
    ]
    assert over_sizes(found, "a", "b", "encode").crossings[0].at == pytest.approx(4_000)
    assert over_sizes(found, "a", "c", "encode").places == (1_000, 100_000)
    assert over_sizes(found, "a", "nobody", "encode").places == ()


def test_profile_crosses_where_its_totals_do():
    # Core alone, of encode: the same curves as above.
    profile = dataclasses.replace(PROFILES["custom"], reader_weight=0.0)
    assert over_sizes_by_profile(sweeps_of(sweep())[0], "a", "b", profile).crossings[0].at == pytest.approx(4_000)
    assert over_sizes_by_profile(sweeps_of(sweep())[0], "a", "b", PROFILES["server"]).places == ()


def partial():
    # The view reads a field for 100 ns after 200; decode takes 1,000: break-even at 8 fields. "b" takes 50 after 500.
    cells = [*codec("a", 100, encode=1, decode=1_000), *codec("b", 100, encode=1, decode=9_000)]
    costs = {"read-1": (300, 550), "read-2": (400, 600), "read-12": (1_400, 1_100), "read-40": (4_200, 2_500)}
    for operation, (a, b) in costs.items():
        name = operation.replace("-", "_")
        cells += [*codec("a", 0, **{name: (a - 5, a, a + 5)}), *codec("b", 0, **{name: b})]
    return figures_of(result(cells), "one")


def test_break_even_of_fields_is_that_by_hand():
    (crossing,) = break_even(partial(), "a", "a").crossings
    assert crossing.at == pytest.approx(8)
    assert (crossing.low, crossing.high) == pytest.approx((7.95, 8.05))
    assert comparison_text(break_even(partial(), "a", "a")) == (
        "a is cheaper below about 8 fields (7.95 to 8.05), decode of a above (measured between 1 and 40 fields)"
    )
    assert comparison_text(break_even(partial(), "a", "b")).startswith(
        "no crossover between 1 and 40 fields: a is cheaper"
    )


def test_two_formats_cross_at_the_fields_by_hand():
    # 200 + 100 k = 500 + 50 k at 6 fields.
    assert over_fields(partial(), "a", "b").crossings[0].at == pytest.approx(6)


def test_unvalidated_reads_are_apart():
    cells = [*codec("a", 100, encode=1, decode=100, read_1=50, read_8=400, read_1_unverified=10, read_8_unverified=80)]
    cells = [
        dataclasses.replace(one, flags=("unvalidated",)) if "unverified" in one.operation else one for one in cells
    ]
    figures = figures_of(result(cells), "one")
    assert len(break_even(figures, "a", "a").crossings) == 1
    assert break_even(figures, "a", "a", unvalidated=True).crossings == ()
    assert not math.isnan(break_even(figures, "a", "a").crossings[0].at)
