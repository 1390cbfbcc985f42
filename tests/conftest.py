"""Settings that all tests share."""

from __future__ import annotations

import gc
import itertools
import os
import re
import signal
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

SHARED_DATA = Path(__file__).resolve().parents[1] / "../shared/data"

# The same examples on every run of the same tests: a failure here is a failure for everyone. (Hypothesis also tries the
# constants of the modules that are loaded: a run of one file may try others.) Deep runs carry the slow mark.
settings.register_profile(
    "every-cell",
    derandomize=True,
    deadline=None,
    max_examples=25,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
settings.register_profile("quick", settings.get_profile("every-cell"), max_examples=8)

# The tests start hundreds of interpreters. Where this is set, as in containers, each would compile all modules again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that runs the tests in the background has them ignore Ctrl-C, and their children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Keep what was collected, thousands of tests, out of each collection of garbage to come, of which tests ask for many."""
    gc.collect()
    gc.freeze()


_RUNS = itertools.count(1)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Do the same, now and then, for what tests keep for those after them: codecs, samples, modules."""
    if next(_RUNS) % 50 == 0:
        gc.collect()
        gc.freeze()


_GC_THRESHOLD = gc.get_threshold()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Leave the collector running, as it was found: what a test measures may turn it off, as workers of their own do."""
    gc.enable()
    gc.set_threshold(*_GC_THRESHOLD)


LONG = ("tests/measure/test_runner", "tests/plugin", "tests/flat", "tests/cli")
"""Where few tests take long, the longest first."""


MANY = (
    "tests/codecs",
    "tests/conformance",
    "tests/core/test_content",
    "tests/evolution",
    "tests/flat",
    "tests/frame",
    "tests/header",
    "tests/payloads",
    "tests/plugin",
    "tests/protowire",
    "tests/schema/test_from_sample.py::test_every_file",
    "tests/test_layering",
    "tests/test_mapping.py::test_a_field_is_refused",
    "tests/testing",
    "tests/tree",
)
"""Where tests run over every codec and schema, or every form of a message."""

QUICK_SHARES = {10: 1, 100: 6}
"""Of a test there of at most so many cells, one cell in so many belongs to the quick loop; of a larger one, in `LEAST_SHARE`."""

LEAST_SHARE = 12


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let CI run every cell."""
    parser.addoption(
        "--examples", type=int, metavar="N", help="try so many examples of each property, other ones each time"
    )
    parser.addoption("--every-cell", action="store_true", help="leave no test that is marked further, and no cell, out")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the number of examples before the modules of tests, which have them, are imported."""
    settings.load_profile("every-cell" if config.getoption("--every-cell") else "quick")
    if config.getoption("--examples"):
        # To find what the same few examples of every run do not.
        settings.register_profile(
            "search", settings.default, derandomize=False, print_blob=True, max_examples=config.getoption("--examples")
        )
        settings.load_profile("search")


def _is_further_cell(item: pytest.Item, cells: int) -> bool:
    """Whether a cell of a table of so many is left to `--every-cell`: by its name, so that it is the same on every machine."""
    share = next((share for most, share in QUICK_SHARES.items() if cells <= most), LEAST_SHARE)
    return zlib.crc32(item.nodeid.encode()) % share != 0


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave most cells of large tables to `--every-cell`, and begin with what takes longest.

    So no process is left alone with it. What the quick loop leaves out is marked further; without `--every-cell` slow too.
    """
    tables = Counter(item.nodeid.partition("[")[0] for item in items if item.nodeid.startswith(MANY))
    for item in items:
        if _is_further_cell(item, tables[item.nodeid.partition("[")[0]]):
            item.add_marker(pytest.mark.further)
        if config.getoption("--every-cell") and getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            # The quick loop has fewer examples of it.
            item.add_marker(pytest.mark.further)
        if not config.getoption("--every-cell") and item.get_closest_marker("further"):
            item.add_marker(pytest.mark.slow)
    items.sort(
        key=lambda item: next((rank for rank, part in enumerate(LONG) if item.nodeid.startswith(part)), len(LONG))
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: Any, log: Any) -> Any:
    """Give tests that share costly things to one process: all of a schema case, for its samples and codecs; else a file's."""
    if config.getvalue("dist") != "load":
        return None
    # In the order of collection, not by the number of tests, which says little of their time.
    config.option.loadscopereorder = False
    from xdist.scheduler import LoadScopeScheduling

    from tests.conformance.schemas import CASES

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file, _, name = nodeid.partition("::")
            return next((word for word in re.split(r"[\[\]-]", name) if word in CASES), file)

    return Scheduling(config, log)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of shared data beside the checkout."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the shared data is not beside this checkout")
    return SHARED_DATA
