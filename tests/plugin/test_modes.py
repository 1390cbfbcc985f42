"""pytest-benchmark's modes, other plugins, and sessions that use nothing of ours."""

import pytest

from tests.plugin.conftest import modules_after

pytest_plugins = ["pytester"]

BOTH = """
calls = []
def work():
    calls.append(1)
    return len(calls)
def test_bench(zbench):
    zbench(work)
def test_once(zbench):
    zbench(work)
    assert len(calls) == 2
def test_plain():
    pass
"""


@pytest.mark.parametrize(
    ("options", "outcomes"),
    [
        (["--benchmark-skip"], {"passed": 1, "skipped": 2}),
        (["--benchmark-disable"], {"passed": 3}),
        # pytest-benchmark warns of xdist, which disables it.
        pytest.param(["-n1", "-W", "default::pytest.PytestWarning"], {"passed": 3}, marks=pytest.mark.further),
    ],
)
def test_where_nothing_is_benchmarked_there_are_no_figures(project, options, outcomes):
    result = project.run(BOTH, "-q", *options)
    result.assert_outcomes(**outcomes)
    assert "zcser" not in result.stdout.str()


def test_benchmark_only_runs_those_with_the_fixture(project):
    result = project.run("def test_b(zbench):\n    zbench(bytes, 9)\ndef test_plain():\n    pass\n", "--benchmark-only")
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["test_b *workers"])


def test_a_session_without_the_fixture_shows_nothing(project):
    result = project.run("def test_plain():\n    pass\n", "-q", "--strict-markers")
    assert "zcser" not in result.stdout.str() + result.stderr.str()


def test_a_session_without_the_fixture_loads_neither_numpy_nor_the_measuring_core(pytester):
    pytester.makepyfile("def test_plain():\n    pass\n")
    loaded = modules_after(pytester.path)
    assert "numpy" not in loaded
    assert {name for name in loaded if name.partition(".")[0] == "zcser"} == {
        "zcser",
        "zcser.pytest_plugin",
        "zcser.pytest_plugin.hooks",
        "zcser.pytest_plugin.session",
    }


def test_without_pytest_benchmark_only_the_fixture_says_what_is_missing(pytester):
    pytester.makepyfile("def test_bench(zbench):\n    pass\ndef test_plain():\n    pass\n")
    result = pytester.runpytest_subprocess("-q", "-p", "no:benchmark", "-W", "error")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*pip install 'pytest-benchmark>=5.3,<6'*"])


@pytest.mark.further
def test_groups_and_other_marks_are_those_of_pytest_benchmark(project):
    source = """
import pytest
@pytest.mark.benchmark(group="mine")
def test_grouped(zbench):
    zbench(bytes, 9)
@pytest.mark.skip(reason="not now")
def test_skipped(zbench):
    zbench(bytes, 9)
"""
    result = project.run(source, "-q")
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["*benchmark 'mine': 1 tests*", "test_grouped *workers"])
