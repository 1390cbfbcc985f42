"""The exact counter against valgrind's DHAT.

1. With PYTHONMALLOC=malloc every block of Python's is one of malloc's, which DHAT sees.
2. Two processes differ in the number of calls alone: blocks of the one less blocks of the other are those of the calls.
   Start-up differs by some ten blocks, so that the calls are many.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.measuring.counter import NO_HELPER
from benchmarks.measuring.effort import Effort
from benchmarks.measuring.operations import prepare
from benchmarks.support import WARM_CALLS
from benchmarks.support.figures import Figure, Goal, not_measured
from benchmarks.support.fresh import MeasuringError, environment, in_fresh_process
from zcser.native import zcount

__all__ = ["OPERATIONS", "agreement", "count_blocks"]

OPERATIONS = ("bytes(1000)", "numpy.empty(65536)", "orjson.loads", "msgpack.packb", "protobuf decode", "simdjson parse")
"""Python's allocators, numpy's own, and libraries in C, C++ and Rust."""

_NAME = "operations whose blocks are not DHAT's, of six"
_GOAL = Goal("<=", 0)
_TIMEOUT_S = 120


def count_blocks(name: str, calls: int) -> float:
    """Blocks of one call by our counter, in this process, reallocations included as DHAT does."""
    library = zcount.load()
    if library is None or not library.preloaded:
        raise MeasuringError("this process is not preloaded")
    call, argument = prepare(name)
    counts = library.count(call, [[argument] * calls], warm=[argument] * WARM_CALLS)
    return (counts.python_allocations + (counts.native_allocations or 0) + counts.reallocations) / calls


def _watched_blocks(name: str, calls: int) -> int:
    watched = [sys.executable, "-P", "-m", "benchmarks.measuring.watched", name, str(calls)]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "dhat.json"
        try:
            subprocess.run(
                # The user's own valgrind, from their path.
                ["valgrind", "--tool=dhat", f"--dhat-out-file={report}", *watched],  # noqa: S607
                env={**environment(), "PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0"},
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=True,
            )
        except subprocess.SubprocessError as error:
            raise MeasuringError(f"valgrind on {name}: {type(error).__name__}") from None
        return sum(point["tbk"] for point in json.loads(report.read_bytes())["pps"])


def agreement(effort: Effort) -> tuple[list[Figure], dict[str, Any]]:
    """Blocks of a call by both, to the nearest whole number."""
    if zcount.load() is None or shutil.which("valgrind") is None:
        reason = "valgrind is not installed" if zcount.load() else NO_HELPER
        return [not_measured(_NAME, reason, _GOAL)], {}
    ours = {name: in_fresh_process(count_blocks, name, effort.dhat_calls, preload=True) for name in OPERATIONS}
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        few = pool.map(lambda name: _watched_blocks(name, 0), OPERATIONS)
        many = pool.map(lambda name: _watched_blocks(name, effort.dhat_calls), OPERATIONS)
        theirs = {
            name: (after - before) / effort.dhat_calls
            for name, before, after in zip(OPERATIONS, few, many, strict=True)
        }
    value = float(sum(round(ours[name]) != round(theirs[name]) for name in OPERATIONS))
    over = "blocks of a call: " + ", ".join(f"{name} {round(theirs[name])}" for name in OPERATIONS)
    return [Figure(_NAME, "", value, value, value, over, _GOAL)], {"ours": ours, "dhat": theirs}
