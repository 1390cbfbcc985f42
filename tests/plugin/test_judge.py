"""The rules of --zcser-fail, on figures made by hand and in whole sessions."""

import dataclasses
import json

import pytest

from tests.plugin.conftest import session_of
from tests.report import results
from zcser.gate.rules import RuleError
from zcser.measure.allocations import EXACT, EXACT_PYTHON
from zcser.measure.figures import Allocations, Collections, Cost, Latency
from zcser.measure.result import Cell
from zcser.native import zcount
from zcser.pytest_plugin.figures import Figures
from zcser.pytest_plugin.judge import BaselineError, make_judge

pytest_plugins = ["pytester"]

needs_counter = pytest.mark.skipif(zcount.load() is None, reason="memory is judged where the C helper counts it")

CALM = (100.0, 101.0, 99.0, 100.0, 100.5, 99.5, 100.0, 100.0)


def figures(p10s=CALM, *, p99s=None, allocs=(3.0, 2.0), **changes):
    python, native = allocs
    p10s = tuple(p10s)
    p99s = p10s if p99s is None else p99s
    made = Figures(
        where="workers",
        reason=None,
        cell=None,
        preset="full",
        timer="C loop",
        python="CPython 3.11.7",
        values=1,
        cost=Cost(p10s, 100.0, 99.0, 101.0, 96, 0, 1000),
        latency=Latency(1000, 100.0, 110.0, 120.0, None, 130.0, (), (), p10s, p10s, tuple(p99s), (None,) * len(p10s)),
        gc=Collections((0, 0, 0), 0, 0, 1000),
        retained=None,
        allocations=Allocations(EXACT, 64, 1, python_allocations=python, python_bytes=100.0, native_allocations=native),
        capped=False,
        all_dirty=False,
    )
    return dataclasses.replace(made, **changes)


def verdict(tmp_path, rule, old, new):
    path = tmp_path / "old.json"
    path.write_text(json.dumps({"benchmarks": [{"fullname": "t", "extra_info": {"zcser": old.to_json()}}]}))
    (found,) = make_judge([rule], str(path)).judge({"t": new})
    assert found.benchmark == "t"
    return found.judgement.verdict, str(found)


@pytest.mark.parametrize(
    ("rule", "factor", "kind"),
    [
        # CALM lies within 1% of 100, so that 2% beyond the limit is more than six standard errors.
        ("p10>10%", 1.12, "regressed"),
        ("p10>10%", 1.09, "same"),
        ("p10>10%", 0.5, "improved"),
        ("p10>5", 1.07, "regressed"),
        ("p10>5", 1.04, "same"),
        (" p50 > 10 % ", 1.12, "regressed"),
    ],
)
def test_a_time_regresses_where_its_processes_lie_beyond_the_limit(tmp_path, rule, factor, kind):
    new = figures([time * factor for time in CALM])
    assert verdict(tmp_path, rule, figures(), new)[0] == kind


def test_tails_are_judged_by_the_percentiles_of_processes(tmp_path):
    new = figures(p99s=[time * 2 for time in CALM])
    assert verdict(tmp_path, "p99>50%", figures(), new)[0] == "regressed"
    assert verdict(tmp_path, "p10>5%", figures(), new)[0] == "same"
    kind, detail = verdict(tmp_path, "p999>50%", figures(), new)
    assert kind == "unknown"
    assert "0 and 0 processes have a p999; 8 a side are needed" in detail


def test_two_slow_processes_of_eight_are_no_regression(tmp_path):
    restless = (100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 300.0, 300.0)
    assert verdict(tmp_path, "p10>5%", figures(), figures(restless))[0] == "unknown"


def test_fewer_than_eight_processes_cannot_tell(tmp_path):
    slow = [time * 9 for time in CALM]
    kind, detail = verdict(tmp_path, "p10>5%", figures(), figures(slow[:7]))
    assert kind == "unknown"
    assert "8 and 7 processes" in detail
    assert verdict(tmp_path, "p10>5%", figures(CALM[:7]), figures(slow))[0] == "unknown"


@pytest.mark.parametrize(
    ("rule", "allocs", "kind"),
    [
        ("allocs>0", (3.0, 2.0), "same"),
        ("allocs>0", (2.0, 3.0), "same"),
        ("allocs>0", (3.0, 2.5), "regressed"),
        ("allocs>10%", (3.0, 2.5), "same"),
        ("allocs>10%", (3.0, 2.6), "regressed"),
        ("allocs>1", (4.0, 2.0), "same"),
        ("bytes>0", (9.0, 9.0), "same"),
        ("allocs>0", (None, None), "unknown"),
    ],
)
def test_counts_are_exact(tmp_path, rule, allocs, kind):
    assert verdict(tmp_path, rule, figures(), figures(allocs=allocs))[0] == kind


@pytest.mark.parametrize(
    "change", [{"where": "in-process"}, {"preset": "quick"}, {"timer": "Python loop"}, {"python": "CPython 3.12.1"}]
)
def test_times_taken_in_other_ways_are_not_compared(tmp_path, change):
    slow = figures([time * 9 for time in CALM], **change)
    kind, detail = verdict(tmp_path, "p10>5%", figures(), slow)
    assert kind == "refused"
    assert next(iter(change.values())) in detail


def test_counts_of_other_methods_are_not_compared(tmp_path):
    other = dataclasses.replace(figures().allocations, method=EXACT_PYTHON, python_allocations=99.0)
    kind, detail = verdict(tmp_path, "allocs>0", figures(), figures(allocations=other))
    assert kind == "unknown"
    assert EXACT in detail
    assert EXACT_PYTHON in detail
    assert verdict(tmp_path, "allocs>0", figures(), figures(allocations=None))[0] == "unknown"


def test_a_benchmark_that_the_baseline_lacks_cannot_be_told(tmp_path):
    path = tmp_path / "old.json"
    path.write_text(json.dumps({"benchmarks": [{"fullname": "t", "extra_info": {"zcser": figures().to_json()}}]}))
    (found,) = make_judge(["p10>5%"], str(path)).judge({"other": figures()})
    assert str(found) == "unknown: other: p10>5%: the baseline does not have it"


def test_a_result_of_compare_is_a_baseline_for_the_cells_that_it_has(tmp_path):
    path = tmp_path / "result.json"
    old = figures()
    cell = Cell("p", "json", "encode", "ok", cost=old.cost, latency=old.latency, allocations=old.allocations)
    made = results.result([cell], preset="full")
    # Measured with the same things as `figures`: the hand-made result runs on CPython 3.11.7 too.
    dataclasses.replace(made, method=dataclasses.replace(made.method, timer="C loop")).save(path)
    judge = make_judge(["p10>5%", "p99>5%", "allocs>0"], str(path))
    slow = figures([time * 2 for time in CALM], allocs=(4.0, 2.0), cell=("p", "json", "encode"))
    kinds = [(one.judgement.rule.text, one.judgement.verdict) for one in judge.judge({"t": slow})]
    assert kinds == [("p10>5%", "regressed"), ("p99>5%", "regressed"), ("allocs>0", "regressed")]
    other = dataclasses.replace(slow, cell=("p", "orjson", "encode"))
    assert {one.judgement.verdict for one in judge.judge({"t": other})} == {"unknown"}
    assert {one.judgement.verdict for one in judge.judge({"t": dataclasses.replace(slow, cell=None)})} == {"unknown"}


@pytest.mark.parametrize("text", ["", "p10", "p10<5%", "mean>5%", "size>0"])
def test_what_is_no_rule_of_a_benchmark_is_refused(tmp_path, text):
    path = tmp_path / "old.json"
    path.write_text(json.dumps({"benchmarks": [{"fullname": "t", "extra_info": {"zcser": figures().to_json()}}]}))
    with pytest.raises(RuleError):
        make_judge([text], str(path))


def test_many_times_are_corrected_for_their_number(tmp_path):
    # The logarithms of these have a standard deviation of 0.14: 20% more is 2.6 standard errors of the difference of two
    # means, a one-sided p value of 0.01. One alone is called at 0.025, one of forty is not.
    wide = (80.0, 120.0, 85.0, 115.0, 90.0, 110.0, 95.0, 105.0)
    old, new = figures(wide), figures([time * 1.2 for time in wide])
    names = [f"t{number}" for number in range(40)]
    path = tmp_path / "old.json"
    entries = [{"fullname": name, "extra_info": {"zcser": old.to_json()}} for name in names]
    path.write_text(json.dumps({"benchmarks": entries}))
    judge = make_judge(["p10>5%"], str(path))
    assert [one.judgement.verdict for one in judge.judge({"t0": new})] == ["regressed"]
    assert {one.judgement.verdict for one in judge.judge(dict.fromkeys(names, new))} == {"unknown"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot read the baseline"),
        (b"{", "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"[1]", "neither"),
        (b'{"benchmarks": 7}', "neither"),
        (b'{"benchmarks": [{"fullname": "t"}]}', "neither"),
        (b'{"benchmarks": []}', "holds no figures"),
        (b'{"benchmarks": [{"fullname": "t", "extra_info": {}}]}', "holds no figures"),
        (b'{"benchmarks": [{"fullname": "t", "extra_info": {"zcser": 5}}]}', "schema_version 1"),
        (b'{"benchmarks": [{"fullname": "t", "extra_info": {"zcser": {"schema_version": 1}}}]}', "not the figures"),
        (b'{"schema_version": 99}', "schema_version"),
    ],
)
def test_a_baseline_that_cannot_be_used_is_refused(tmp_path, content, message):
    path = tmp_path / "old.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BaselineError, match=message):
        make_judge(["p10>5%"], str(path))


BLOCK = """
def block(size):
    return bytes(size)
def test_block(zbench):
    zbench(block, 1000)
"""
LARGER = BLOCK.replace("1000", "2000")


@pytest.fixture(scope="module")
def baseline(tmp_path_factory):
    """The option that names the figures of `BLOCK`."""
    session = session_of(tmp_path_factory.mktemp("baseline"), BLOCK)
    assert "test_block" in session.entries
    return f"--zcser-baseline={session.folder / 'out.json'}"


@needs_counter
@pytest.mark.further
def test_a_regression_fails_the_session(project, baseline):
    rules = ("--zcser-fail=bytes>0", "--zcser-fail=p10>1%", baseline)
    result = project.run(LARGER, *rules)
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "regressed: test_it.py::test_block: bytes>0: 1,033 -> 2,033",
            "unknown: test_it.py::test_block: p10>1%: 1 and 1 processes; *",
        ]
    )


@needs_counter
def test_what_holds_or_cannot_be_told_fails_nothing(project, baseline):
    result = project.run(LARGER, "--zcser-fail=bytes>1000", "--zcser-fail=p10>1%", baseline)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["same: test_it.py::test_block: bytes>1000: 1,033 -> 2,033"])


def test_a_session_without_figures_says_that_nothing_was_judged(project, baseline):
    result = project.run(LARGER, "--benchmark-skip", "--zcser-fail=bytes>0", baseline)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["nothing to judge: no figures were taken in this session"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--zcser-fail=p10>5%", "--zcser-baseline=absent.json"], "*cannot read the baseline absent.json*"),
        pytest.param(
            ["--zcser-fail=p10>5%", "--zcser-baseline=test_it.py"],
            "*test_it.py is not JSON*",
            marks=pytest.mark.further,
        ),
        (["--zcser-fail=p10>5%"], "*--zcser-fail needs --zcser-baseline too"),
        pytest.param(
            ["--zcser-baseline=out.json"], "*--zcser-baseline needs --zcser-fail too", marks=pytest.mark.further
        ),
        (["--zcser-preset=fast"], "*--zcser-preset 'fast' is none; presets are quick, full*"),
    ],
)
def test_wrong_options_end_the_session_before_the_first_test(project, options, message):
    result = project.run(BLOCK, *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])
    assert "collected" not in result.stdout.str()
