"""The figures of `zbench`: in the JSON, on the screen, and where they were taken.

Most tests look at one session of one module, as starting pytest and its measuring processes takes longer than all else.
"""

import re
import sys

import pytest

from tests.plugin.conftest import BYTES, SHORT_PRESET, session_of
from zcser.native import zcount

pytest_plugins = ["pytester"]

# Starts thirty processes. That figures come from processes, and are judged, test_codec.py and test_judge.py show too.
pytestmark = pytest.mark.further

KEEPING = (
    'PRESETS["quick"] = dataclasses.replace(PRESETS["quick"], slot=dataclasses.replace(slot, retained_ns=20_000_000))\n'
)

BLOCK = """
def block(size):
    return bytes(size)

def test_block(zbench):
    assert zbench(block, 1000) == bytes(1000)
"""

# A module of tests is loaded where it is measured too; there this does not run.
HERE = """
import pytest
@pytest.fixture(autouse=True)
def in_the_test_process(request):
    request.module.here = True
"""

ALL = (
    BLOCK
    + """
import gc, os, sys, time, types
from dataclasses import dataclass
import numpy
import zcser

here = False

def array(size):
    return numpy.empty(size, "u1")
def test_array(zbench):
    zbench(array, 65536)

def lists(count):
    return [[] for _ in range(count)]
def test_lists(zbench):
    zbench(lists, 100)

def test_sleep(zbench):
    zbench(time.sleep, 0.004)

def test_local(zbench):
    seen = []
    sys.settrace(trace := lambda *_: None)
    try:
        assert zbench(lambda: bytes(1000)) == bytes(1000)
        assert sys.gettrace() is trace
    finally:
        sys.settrace(None)
    assert gc.isenabled()
    assert any(one is seen for one in gc.get_objects())

def test_frozen(zbench):
    kept = []
    gc.freeze()
    try:
        zbench(lambda: bytes(1000))
        assert not any(one is kept for one in gc.get_objects())
    finally:
        gc.unfreeze()

def raises_there():
    if not here: raise LookupError("not ready")
def test_raises_there(zbench):
    zbench(raises_there)

def exits_there():
    if not here: os._exit(3)
def test_exits_there(zbench):
    zbench(exits_there)

def noisy():
    print("noise"); os.write(1, b"more")
def test_noisy(zbench):
    zbench(noisy)

made = types.ModuleType("made_here")
exec("def work(): pass", made.__dict__)
sys.modules["made_here"] = made
def test_made(zbench):
    zbench(made.work)

def test_arguments(zbench):
    assert zbench(int, "11", base=3) == 4

def test_raises(zbench):
    zbench(int, "x")

def without_pytest():
    if not here and "pytest" in sys.modules:
        raise RuntimeError("pytest is loaded")
def test_without_pytest(zbench):
    zbench(without_pytest)

@dataclass
class Point:
    x: int
    y: str
def test_encode(zbench):
    data = zbench.codec("json", Point, "encode", value=Point(3, "b"))
    assert zcser.codec("json", Point).decode(data) == Point(3, "b")
def test_read_field(zbench):
    assert zbench.codec("json", dict[str, int], "read-field", value={"a": 1, "b": 2}) == 2
"""
)


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    return session_of(tmp_path_factory.mktemp("project"), ALL, preset=SHORT_PRESET + KEEPING + HERE)


def figures(session, name):
    return session.entries[name]["extra_info"]["zcser"]


def row(session, name):
    """The line of a benchmark in the plugin's own table."""
    start = next(number for number, line in enumerate(session.lines) if "zcser: percentiles" in line)
    return next(line for line in session.lines[start:] if line.startswith(f"{name} "))


def test_figures_stand_in_the_stats_and_the_extra_info_of_the_json(session):
    stats, extra = session.entries["test_block"]["stats"], figures(session, "test_block")
    assert extra["where"] == "workers"
    assert extra["cell"] is None
    # What the interpreter itself says of such an object.
    assert stats[BYTES] == extra["allocations"][BYTES] == sys.getsizeof(bytes(1000))
    assert stats["p10"] == extra["cost"]["p10_ns"] / 1e9
    assert stats["p50"] == extra["latency"]["p50_ns"] / 1e9
    assert stats["gc_collections"] == sum(extra["gc"]["collections"])
    assert extra["latency"]["n"] == extra["gc"]["operations"] > 0
    assert extra["cost"]["process_p10_ns"] == [extra["cost"]["p10_ns"]]


@pytest.mark.skipif(zcount.load() is None, reason="counts need the C helper")
def test_allocations_are_counted_by_python_and_native(session):
    found = figures(session, "test_array")["allocations"]
    # numpy takes the data from malloc up to 2.4, and from Python's raw domain later.
    assert found["python_bytes"] + found["native_bytes"] >= 65536
    assert session.entries["test_array"]["stats"]["allocs"] == found["python_allocations"] + found["native_allocations"]


def test_collections_show_where_results_are_kept(session):
    kept = figures(session, "test_lists")["retained"]["gc"]
    # Each call keeps 101 lists, and the collector comes after 2000 at the most (700 up to Python 3.11).
    assert sum(kept["collections"]) >= kept["operations"] * 101 // 2000 > 0
    assert kept["time_share"] > 0


def test_stats_are_in_seconds_as_those_of_pytest_benchmark_are(session):
    stats = session.entries["test_sleep"]["stats"]
    # A sleep is never shorter than it was asked to be; a unit's mistake is a factor of a thousand.
    assert 0.004 <= stats["p10"] < 4
    assert stats["p99"] is None, "few calls: no percentile may be shown"


def test_the_table_stands_below_that_of_pytest_benchmark(session):
    (theirs,) = [number for number, line in enumerate(session.lines) if "benchmark: 14 tests" in line]
    (ours,) = [number for number, line in enumerate(session.lines) if "zcser: percentiles" in line]
    assert theirs < ours
    head = session.lines[ours + 1]
    assert head.split()[:5] == ["name", "p10", "p50", "p90", "p99"]
    assert "GC" in head.split()
    assert "1,033 B" in row(session, "test_block")
    assert row(session, "test_block").endswith("1 workers")


def test_a_callable_that_cannot_travel_is_measured_here_and_labelled_so(session):
    assert "FAILED test_it.py::test_local" not in "\n".join(session.lines)
    assert re.match(r"test_local .* 1,033 B .*in-process", row(session, "test_local"))
    assert any(re.match(r"in-process: .* cannot be pickled.*", line) for line in session.lines)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("test_raises_there", "it raises in a fresh process: LookupError: not ready"),
        ("test_exits_there", "worker died: exit code 3"),
        ("test_noisy", None),
    ],
)
def test_a_callable_that_works_here_alone_is_labelled_with_the_reason(session, name, reason):
    extra = figures(session, name)
    assert extra["reason"] == reason
    assert extra["where"] == ("in-process" if reason else "workers")


def test_a_function_whose_module_no_other_process_can_import_is_measured_here(session):
    extra = figures(session, "test_made")
    assert extra["where"] == "in-process"
    assert "cannot be loaded in another process: ModuleNotFoundError: No module named 'made_here'" in extra["reason"]


def test_several_arguments_and_keywords_are_passed_on(session):
    assert figures(session, "test_arguments")["where"] == "workers"


def test_a_callable_that_raises_fails_its_test_and_has_no_figures(session):
    assert session.lines[-1].startswith("==")
    assert "1 failed, 14 passed" in session.lines[-1]
    assert any(line.startswith("FAILED test_it.py::test_raises ") for line in session.lines)
    assert "test_raises" not in session.entries


def test_the_measuring_processes_do_not_load_pytest(session):
    assert figures(session, "test_without_pytest")["where"] == "workers"


def test_a_schema_and_a_value_of_the_users_own(session):
    assert figures(session, "test_encode")["where"] == "workers"
    assert figures(session, "test_encode")["values"] == 1
    assert figures(session, "test_read_field")["cell"][1:] == ["json", "read-field"]


def test_comparing_with_a_saved_run_shows_its_figures_too(project):
    assert project.run(BLOCK, "--benchmark-save=old").ret == 0
    changed = BLOCK.replace("(block, 1000) == bytes(1000)", "(block, 2000) == bytes(2000)")
    result = project.run(changed, "--benchmark-compare", "--benchmark-columns=min,median")
    assert result.ret == 0
    result.stdout.re_match_lines([r"test_block \(0001_old\) +\d.* 1,033 B .*", r"test_block \(NOW\) +\d.* 2,033 B .*"])
