"""The figures of `zbench`: in the JSON, on the screen, and where they were taken."""

import sys

import pytest

from tests.plugin.conftest import BYTES, SHORT_PRESET
from zcser.native import zcount

pytest_plugins = ["pytester"]

KEEPING = (
    'PRESETS["quick"] = dataclasses.replace(PRESETS["quick"], slot=dataclasses.replace(slot, retained_ns=2_000_000))'
)

BLOCK = """
def block(size):
    return bytes(size)

def test_block(zbench):
    assert zbench(block, 1000) == bytes(1000)
"""


def test_figures_stand_in_the_stats_and_the_extra_info_of_the_json(project):
    entry = project.recorded(BLOCK)["test_block"]
    stats, extra = entry["stats"], entry["extra_info"]["zcser"]
    assert extra["where"] == "workers"
    assert extra["cell"] is None
    # What the interpreter itself says of such an object.
    assert stats[BYTES] == extra["allocations"][BYTES] == sys.getsizeof(bytes(1000))
    assert stats["p10"] == extra["cost"]["p10_ns"] / 1e9
    assert stats["p50"] == extra["latency"]["p50_ns"] / 1e9
    assert stats["gc_collections"] == sum(extra["gc"]["collections"])
    assert extra["latency"]["n"] >= 100
    assert extra["cost"]["process_p10_ns"] == [extra["cost"]["p10_ns"]]


@pytest.mark.skipif(zcount.load() is None, reason="counts need the C helper")
def test_allocations_are_counted_by_python_and_native(project):
    source = """
import numpy
def array(size):
    return numpy.empty(size, "u1")
def test_array(zbench):
    zbench(array, 65536)
"""
    entry = project.recorded(source)["test_array"]
    found = entry["extra_info"]["zcser"]["allocations"]
    # numpy takes the data from malloc up to 2.4, and from Python's raw domain later.
    assert found["python_bytes"] + found["native_bytes"] >= 65536
    assert entry["stats"]["allocs"] == found["python_allocations"] + found["native_allocations"]


def test_collections_show_where_results_are_kept(project):
    source = """
def lists(count):
    return [[] for _ in range(count)]
def test_lists(zbench):
    zbench(lists, 100)
"""
    extra = project.recorded(source, preset=SHORT_PRESET + KEEPING)["test_lists"]["extra_info"]["zcser"]
    kept = extra["retained"]["gc"]
    # Each call keeps 101 lists, and the collector comes after 2000 at the most (700 up to Python 3.11).
    assert sum(kept["collections"]) >= kept["operations"] * 101 // 2000 > 0
    assert kept["time_share"] > 0


def test_stats_are_in_seconds_as_those_of_pytest_benchmark_are(project):
    source = "import time\ndef test_sleep(zbench):\n    zbench(time.sleep, 0.004)\n"
    stats = project.recorded(source)["test_sleep"]["stats"]
    # A sleep is never shorter than it was asked to be; a unit's mistake is a factor of a thousand.
    assert 0.004 <= stats["p10"] < 4
    assert stats["p99"] is None, "few calls: no percentile may be shown"


def test_the_table_stands_below_that_of_pytest_benchmark(project):
    lines = project.run(BLOCK, "-q").stdout.lines
    (theirs,) = [number for number, line in enumerate(lines) if "benchmark: 1 tests" in line]
    (ours,) = [number for number, line in enumerate(lines) if "zcser: percentiles" in line]
    assert theirs < ours
    head, row = lines[ours + 1 : ours + 3]
    assert head.split()[:5] == ["name", "p10", "p50", "p90", "p99"]
    assert "GC" in head.split()
    assert row.startswith("test_block")
    assert "1,033 B" in row
    assert row.endswith("1 workers")


def test_comparing_with_a_saved_run_shows_its_figures_too(project):
    assert project.run(BLOCK, "--benchmark-save=old").ret == 0
    changed = BLOCK.replace("(block, 1000) == bytes(1000)", "(block, 2000) == bytes(2000)")
    result = project.run(changed, "--benchmark-compare", "--benchmark-columns=min,median")
    assert result.ret == 0
    result.stdout.re_match_lines([r"test_block \(0001_old\) +\d.* 1,033 B .*", r"test_block \(NOW\) +\d.* 2,033 B .*"])


def test_a_callable_that_cannot_travel_is_measured_here_and_labelled_so(project):
    source = """
import gc, sys
def test_local(zbench):
    sys.settrace(trace := lambda *_: None)
    try:
        assert zbench(lambda: bytes(1000)) == bytes(1000)
        assert sys.gettrace() is trace
    finally:
        sys.settrace(None)
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0
"""
    result = project.run(source, "--benchmark-json=out.json")
    result.assert_outcomes(passed=1)
    result.stdout.re_match_lines([r"test_local .* 1,033 B .*in-process", r"in-process: .* cannot be pickled.*"])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("if not ready: raise LookupError('not ready')", "it raises in a fresh process: LookupError: not ready"),
        ("if not ready: os._exit(3)", "worker died: exit code 3"),
        ("print('noise'); os.write(1, b'more')", None),
    ],
)
def test_a_callable_that_works_here_alone_is_labelled_with_the_reason(project, body, reason):
    source = f"""
import os
ready = False
def work():
    {body}
def test_work(zbench):
    global ready
    ready = True
    zbench(work)
"""
    extra = project.recorded(source)["test_work"]["extra_info"]["zcser"]
    assert extra["reason"] == reason
    assert extra["where"] == ("in-process" if reason else "workers")


def test_a_function_whose_module_no_other_process_can_import_is_measured_here(project):
    source = """
import sys, types
made = types.ModuleType("made_here")
exec("def work(): pass", made.__dict__)
sys.modules["made_here"] = made
def test_it(zbench):
    zbench(made.work)
"""
    extra = project.recorded(source)["test_it"]["extra_info"]["zcser"]
    assert extra["where"] == "in-process"
    assert "cannot be loaded in another process: ModuleNotFoundError: No module named 'made_here'" in extra["reason"]


def test_several_arguments_and_keywords_are_passed_on(project):
    source = "def test_it(zbench):\n    assert zbench(int, '11', base=3) == 4\n"
    assert project.recorded(source)["test_it"]["extra_info"]["zcser"]["where"] == "workers"


def test_a_callable_that_raises_fails_its_test_and_has_no_figures(project):
    result = project.run("def test_it(zbench):\n    zbench(int, 'x')\n")
    result.assert_outcomes(failed=1)
    assert "zcser: percentiles" not in result.stdout.str()
