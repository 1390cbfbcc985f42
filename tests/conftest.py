"""Settings that all tests share."""

from __future__ import annotations

import gc
import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

SHARED_DATA = Path(__file__).resolve().parents[1] / "../shared/data"

# The same examples on every run and machine: a failure here is a failure for everyone. Deep runs carry the slow mark.
settings.register_profile(
    "zcser",
    derandomize=True,
    deadline=None,
    max_examples=25,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
settings.load_profile("zcser")

# The tests start hundreds of interpreters. Where this is set, as in containers, each would compile all modules again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that runs the tests in the background has them ignore Ctrl-C, and their children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Keep what was collected, thousands of tests, out of each collection of garbage to come, of which tests ask for many."""
    gc.collect()
    gc.freeze()


LONG = ("tests/measure/test_runner", "tests/plugin", "tests/flat", "tests/cli")
"""Where few tests take long, the longest first."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that no process is left alone with it at the end."""
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
