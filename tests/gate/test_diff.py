"""Whole diffs: what may be told, what is refused, and the exit code."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.gate.results import changed, collected, counted, noisy, one, seeded, steady, with_cell
from tests.report.results import cell, codec_record, cost, payload, result
from zcser.gate.diff import GateError, diff
from zcser.gate.rules import METRICS, parse_rules
from zcser.gate.sentence import sentence
from zcser.measure.result import Latency

ALL_RULES = parse_rules([f"{name}>0" for name in METRICS])


def judged(old, new, *rules):
    return diff(old, new, parse_rules(rules or ["p10>3%"]))


def only(found):
    (judgement,) = found.judgements
    return judgement


@given(st.integers(0, 10_000), st.floats(0, 0.3), st.integers(1, 14))
def test_a_file_never_regresses_against_itself(seed, sd, processes):
    made = noisy(seeded(seed), cells=5, sd=sd, processes=processes)
    found = diff(made, made, ALL_RULES)
    assert found.exit_code == 0
    assert not found.of("regressed", "improved")


@given(st.integers(0, 10_000), st.dictionaries(st.integers(0, 9), st.floats(0.5, 2), max_size=6))
def test_swapping_the_sides_turns_regressions_into_improvements(seed, slower):
    rng = seeded(seed)
    old, new = noisy(rng, cells=10), noisy(rng, cells=10, slower=slower)
    there, back = judged(old, new), judged(new, old)
    assert [one.key for one in there.of("regressed")] == [one.key for one in back.of("improved")]
    assert [one.key for one in there.of("improved")] == [one.key for one in back.of("regressed")]
    assert [one.key for one in there.of("unknown")] == [one.key for one in back.of("unknown")]


def test_slower_cell_regresses_and_a_faster_one_improves():
    rng = seeded()
    found = judged(noisy(rng), noisy(rng, slower={7: 1.1, 8: 0.9}))
    assert [one.key for one in found.of("regressed")] == [("one", "protobuf", "op1")]
    assert [one.key for one in found.of("improved")] == [("one", "json", "op1")]
    assert found.exit_code == 1


def test_figures_are_geometric_means_and_the_interval_holds_their_ratio():
    judgement = only(judged(one(*[100.0] * 5, *[400.0] * 5), one(*[10_000.0] * 5, *[40_000.0] * 5)))
    assert (judgement.old, judgement.new) == (pytest.approx(200), pytest.approx(20_000))
    assert judgement.low < 100 < judgement.high


@pytest.mark.parametrize(("old", "new"), [(7, 20), (20, 7), (1, 1), (4, 4)])
def test_fewer_than_eight_processes_a_side_cannot_tell(old, new):
    judgement = only(judged(one(*[1000.0] * old), one(*[2000.0] * new)))
    assert judgement.verdict == "unknown"
    assert "8 a side are needed" in judgement.reason
    assert judged(one(*[1000.0] * old), one(*[2000.0] * new)).exit_code == 0


def test_eight_processes_a_side_can_tell():
    assert judged(one(*[1000.0] * 8), one(*[1040.0] * 8)).exit_code == 1


@pytest.mark.parametrize(
    ("rule", "factor", "verdict"),
    [("p10>3%", 1.029, "same"), ("p10>3%", 1.031, "regressed"), ("p10>0", 1.029, "same"), ("p10>1%", 1.029, "same"),
     ("p10>1%", 1.031, "regressed"), ("p10>10%", 1.09, "same"), ("p10>10%", 1.11, "regressed"),
     ("p10>40", 1.039, "same"), ("p10>40", 1.041, "regressed"), ("p10>10%", 1 / 1.11, "improved")],
)  # fmt: skip
def test_change_must_exceed_the_rule_and_the_floor(rule, factor, verdict):
    assert only(judged(one(*[1000.0] * 10), one(*[1000.0 * factor] * 10), rule)).verdict == verdict


def test_rule_below_the_floor_is_said_to_be_raised():
    assert any("p10>1% is applied as p10>3%" in notice for notice in judged(steady(), steady(), "p10>1%").notices)


def test_change_within_the_noise_cannot_be_told():
    old = one(*(1000.0 * factor for factor in (0.7, 0.8, 0.9, 1, 1, 1, 1.1, 1.2, 1.3, 1.4)))
    new = one(*(1060.0 * factor for factor in (0.7, 0.8, 0.9, 1, 1, 1, 1.1, 1.2, 1.3, 1.4)))
    found = judged(old, new)
    assert only(found).verdict == "unknown"
    assert "vary" in only(found).reason
    assert found.exit_code == 0


def test_single_disturbed_process_does_not_hide_a_change():
    usual = [1000.0 * (1 + 0.005 * step) for step in (-2, -2, -1, -1, 0, 1, 1, 2, 2)]
    assert judged(one(*usual, 3000.0), one(*(1.06 * figure for figure in usual), 1060.0)).exit_code == 1


def test_more_cells_ask_for_more_evidence():
    rng = seeded(5)
    wide = [1000.0 * (1 + 0.02 * step) for step in (-3, -2, -1, -1, 0, 0, 1, 1, 2, 3)]
    pair = cell("orjson", "encode", cost(*wide)), cell("orjson", "encode", cost(*(1.05 * figure for figure in wide)))
    others = noisy(rng, cells=200).cells, noisy(rng, cells=200).cells
    alone = judged(result(pair[:1]), result(pair[1:]))
    among = judged(result([pair[0], *others[0]]), result([pair[1], *others[1]]))
    assert only(alone).verdict == "regressed"
    assert among.of("unknown")[0].key == only(alone).key


def test_drift_of_the_baselines_is_taken_off():
    baselines = [cell("baseline", name, cost(*[100.0] * 10), payload="-") for name in ("empty", "struct", "memcpy-1k")]
    slower = [cell("baseline", one.operation, cost(*[106.0] * 10), payload="-") for one in baselines]
    old = result([*baselines, cell("orjson", "encode", cost(*[1000.0] * 10))])
    same = result([*slower, cell("orjson", "encode", cost(*[1080.0] * 10))])
    worse = result([*slower, cell("orjson", "encode", cost(*[1100.0] * 10))])
    assert judged(old, same).drift == pytest.approx(1.06)
    # 1.06 times 1.03 is 1.0918.
    assert only(judged(old, same)).verdict == "same"
    assert only(judged(old, worse)).verdict == "regressed"
    assert only(judged(worse, old)).verdict == "improved"
    assert only(judged(same, old)).verdict == "same"


def test_time_of_zero_cannot_be_told():
    assert only(judged(one(*[0.0] * 10), one(*[5.0] * 10))).verdict == "unknown"


def tails(p50_ns, p99_ns):
    """A latency of these percentiles by process."""
    none = (None,) * len(p50_ns)
    return {"latency": Latency(9999, 1.0, None, 1.0, None, 1.0, (), (), tuple(p50_ns), none, tuple(p99_ns), none)}


def test_percentiles_are_judged_by_processes():
    old = steady(**tails([500.0] * 10, [900.0] * 10))
    new = steady(**tails([500.0] * 10, [1000.0] * 10))
    found = judged(old, new, "p10>3%", "p50>3%", "p99>10%", "p999>3%")
    assert [one.verdict for one in found.judgements] == ["same", "same", "regressed", "unknown"]
    assert only(judged(old, new, "p99>12%")).verdict == "same"
    assert only(judged(new, old, "p99>5%")).verdict == "improved"


def test_processes_without_a_percentile_do_not_count_as_processes():
    old = steady(**tails([500.0] * 10, [900.0] * 10))
    new = steady(**tails([500.0] * 10, [9000.0] * 7 + [None] * 3))
    judgement = only(judged(old, new, "p99>10%"))
    assert judgement.verdict == "unknown"
    assert "10 and 7 processes have a p99; 8 a side are needed" in judgement.reason


def test_percentile_that_is_not_kept_by_process_cannot_be_told():
    found = judged(steady(), steady(), "p50>5%", "p90>5%", "p99>10%", "p999>10%")
    assert {one.verdict for one in found.judgements} == {"unknown"}
    assert found.exit_code == 0


# -- exact figures


@pytest.mark.parametrize("rule", ["allocs>0", "bytes>0", "size>0"])
def test_one_more_is_a_regression_and_one_less_an_improvement(rule):
    less, more = steady(**counted()), steady(**counted(12.015625, size=101))
    assert only(judged(less, more, rule)).verdict == "regressed"
    assert judged(less, more, rule).exit_code == 1
    assert only(judged(more, less, rule)).verdict == "improved"
    assert only(judged(less, less, rule)).verdict == "same"


def test_native_allocations_count_too():
    assert judged(steady(**counted(native=3.0)), steady(**counted(native=4.0)), "allocs>0").exit_code == 1


def test_exact_counts_need_no_eight_processes():
    assert judged(one(1000.0, **counted(12.0)), one(1000.0, **counted(13.0)), "allocs>0").exit_code == 1


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (counted(99.0, method="exact: Python domains"), "different ways"),
        (counted(99.0, calls=16), "same calls"),
        (counted(99.0, values=15), "same calls"),
        (counted(99.0, blind="maps memory itself"), "blind"),
        ({}, "not counted"),
    ],
)
def test_allocations_that_were_not_counted_alike_cannot_be_told(new, words):
    found = judged(steady(**counted()), steady(**new), "allocs>0")
    assert only(found).verdict == "unknown"
    assert words in only(found).reason
    assert found.exit_code == 0


def test_fallback_counter_cannot_tell():
    rough = counted(method="tracemalloc + getallocatedblocks")
    assert "not counted exactly" in only(judged(steady(**rough), steady(**rough), "allocs>0")).reason


def test_sizes_of_other_numbers_of_values_cannot_be_told():
    new = steady(**(counted(size=900) | {"values": 15}))
    assert only(judged(steady(**counted()), new, "size>0")).verdict == "unknown"


def test_operation_that_writes_nothing_has_no_size_to_judge():
    assert judged(steady(), steady(), "size>0").judgements == ()


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [((28, 2, 0), (28, 2, 0), "same"), ((28, 2, 0), (33, 2, 0), "unknown"), ((28, 2, 0), (80, 8, 0), "regressed"),
     ((80, 8, 0), (28, 2, 0), "improved")],
)  # fmt: skip
def test_collections_are_told_apart_beyond_one_a_process(old, new, verdict):
    # Ten processes on each side: up to ten collections more or less on each mean nothing.
    assert only(judged(steady(**collected(*old)), steady(**collected(*new)), "gc>0")).verdict == verdict


# -- what may be compared


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (
            {"environment": {"python": {"version": "3.12.1", "implementation": "CPython"}}},
            "Python 3.11.7 against 3.12.1",
        ),
        ({"environment": {"python": {"version": "3.11.7", "implementation": "PyPy"}}}, "CPython against PyPy"),
        (
            {"environment": {"python": {"version": "3.11.7", "implementation": "CPython", "free_threaded": True}}},
            "Python with the GIL built in against free-threaded",
        ),
        (
            {"environment": {"python": {"version": "3.11.7", "implementation": "CPython", "gil": False}}},
            "GIL enabled against disabled",
        ),
        ({"settings": {"batch_ms": 10.0}}, "batch ms"),
        ({"settings": {"rotation": 1}}, "rotation"),
    ],
)
def test_results_of_different_kinds_are_refused_as_a_whole(parts, words):
    with pytest.raises(GateError, match=words):
        judged(steady(), changed(steady(), **parts))


def test_different_presets_are_refused_as_a_whole():
    with pytest.raises(GateError, match="preset quick against full"):
        judged(steady(), dataclasses.replace(steady(), preset="full"))


def test_results_without_a_common_cell_are_refused():
    with pytest.raises(GateError, match="no cell"):
        judged(steady(), result([cell("json", "encode", 100)]))


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"method": {"timer": "C loop"}}, "timer"),
        ({"method": {"freeing": "outside"}}, "freeing"),
        ({"environment": {"cpu": "another"}}, "AMD EPYC 7B13 against another"),
        ({"environment": {"libc": "musl 1.2"}}, "musl"),
        ({"environment": {"malloc": {"MALLOC_ARENA_MAX": "1"}}}, "MALLOC_ARENA_MAX=1"),
        ({"environment": {"libraries": {"numpy": "2.5.0"}}}, "numpy 2.4.6 against 2.5.0"),
    ],
)
def test_times_taken_in_other_ways_are_refused_and_sizes_are_not(parts, words):
    found = judged(steady(**counted()), changed(steady(**counted()), **parts), "p10>3%", "size>0")
    assert [(one.rule.text, one.verdict) for one in found.judgements] == [("p10>3%", "refused"), ("size>0", "same")]
    assert words in found.of("refused")[0].reason
    assert found.exit_code == 2
    assert "p10>3%" in found.inapplicable


def test_regression_by_another_rule_comes_before_a_rule_that_applies_to_nothing():
    new = changed(steady(**counted(size=900)), method={"timer": "C loop"})
    assert judged(steady(**counted()), new, "p10>3%", "size>0").exit_code == 1


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ({"codecs": (codec_record("orjson", version="2.0"),)}, "orjson: version 1.0 against 2.0"),
        ({"codecs": (codec_record("orjson", implementation="pure Python"),)}, "C extension against pure Python"),
        ({"codecs": (codec_record("orjson", library="other"),)}, "library"),
        ({"payloads": (payload("one", fingerprint="1" * 16),)}, "payload one: fingerprint"),
        (
            {"payloads": (payload("one", data_fingerprint="e" * 16),)},
            "payload one: other data under this name, fingerprint dddddddddddddddd against eeeeeeeeeeeeeeee",
        ),
        ({"payloads": (payload("one", fields=("/name",)),)}, "payload one: fields /id against /name"),
    ],
)
def test_cells_of_other_libraries_or_payloads_are_refused(records, words):
    found = judged(steady(), dataclasses.replace(one(*[9000.0] * 10), **records))
    assert only(found).verdict == "refused"
    assert words in only(found).reason
    assert found.exit_code == 2


def test_data_that_one_file_does_not_tell_of_is_compared_and_said():
    untold = dataclasses.replace(steady(), payloads=(payload("one", data_fingerprint=None),))
    found = judged(untold, steady())
    assert only(found).verdict == "same"
    assert "OLD does not tell what data it measured: one" in found.notices
    assert "NEW does not tell what data it measured: one" in judged(steady(), untold).notices
    assert not judged(steady(), steady()).notices


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"encoded_by": "json"}, "written by orjson against json"),
        ({"flags": ("unvalidated",)}, "not unvalidated against unvalidated"),
        ({"flags": ("same-as:decode",)}, "same-as:decode"),
    ],
)
def test_cells_that_measured_something_else_are_refused(parts, words):
    assert words in only(judged(steady(), steady(**parts))).reason


def test_refused_cell_leaves_the_others_judged():
    rng = seeded()
    old, new = noisy(rng, cells=10), noisy(rng, cells=10, slower={1: 1.2})
    new = with_cell(new, 0, flags=("unvalidated",))
    found = judged(old, new)
    assert len(found.of("refused")) == 1
    assert len(found.of("regressed")) == 1
    assert found.exit_code == 1


def test_another_kernel_is_compared_with_a_notice():
    found = judged(steady(), changed(steady(), environment={"kernel": "Linux 6.2"}))
    assert only(found).verdict == "same"
    assert any("kernel Linux 6.1 against Linux 6.2" in notice for notice in found.notices)


def test_interrupted_run_is_a_notice():
    found = judged(steady(), dataclasses.replace(steady(), complete=False))
    assert any("NEW is of an interrupted run" in notice for notice in found.notices)


# -- which cells


def test_cells_of_one_file_alone_are_listed_with_their_reason():
    kept = cell("json", "encode", cost(*[1.0] * 10))
    lost = cell("orjson", "decode", cost(*[1.0] * 10))
    failed = cell("orjson", "decode", None, status="failed", reason="it answers 3")
    there, back = (
        judged(result([kept, lost]), result([kept, failed])),
        judged(result([kept, failed]), result([kept, lost])),
    )
    assert there.gone == back.added == ((("one", "orjson", "decode"), "failed: it answers 3"),)
    assert there.added == back.gone == ()
    assert "1 gone" in sentence(there)


def test_derived_cells_baselines_and_second_names_are_not_judged():
    figures = cost(*[100.0] * 10)
    cells = [
        cell("orjson", "decode", figures),
        cell("orjson", "touch-all", figures, flags=("same-as:decode",)),
        cell("orjson", "guard", cost(*[-1.0] * 10), flags=("derived",)),
        cell("baseline", "empty", figures, payload="-"),
    ]
    assert only(judged(result(cells), result(cells))).key == ("one", "orjson", "decode")


def test_second_name_is_judged_where_the_first_was_not_measured():
    made = result([cell("orjson", "touch-all", cost(*[100.0] * 10), flags=("same-as:decode",))])
    assert only(judged(made, made)).key == ("one", "orjson", "touch-all")


# -- the sentence


def test_sentence_names_the_largest_changes_first_and_counts_the_rest():
    rng = seeded()
    found = judged(noisy(rng), noisy(rng, slower={1: 1.1, 2: 1.5, 3: 1.2, 4: 1.3, 9: 0.5}))
    text = sentence(found)
    assert text.startswith("Regression: 4 regressed: protobuf op0 on one (p10 +")
    assert "and 1 more; 1 improved: header op1 on one (p10 -" in text
    assert text.endswith("55 held.")


def test_sentence_of_a_diff_that_tells_nothing_says_so():
    assert sentence(judged(one(1.0), one(2.0))) == "Nothing could be told: 1 could not be told."
