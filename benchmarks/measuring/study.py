"""All figures, one group after the other."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.measuring.callback import callback
from benchmarks.measuring.counter import identity, overhead
from benchmarks.measuring.dhat import agreement
from benchmarks.measuring.effort import Effort
from benchmarks.measuring.recorder import recorder
from benchmarks.measuring.tail import tail
from benchmarks.measuring.variation import variation
from benchmarks.support.command import Progress
from benchmarks.support.document import Begin, document
from benchmarks.support.figures import Figure, Goal, not_measured
from zcser.core.errors import ZcserError
from zcser.measure.result import load_result

__all__ = ["Study", "matrix", "study"]

Found = tuple[list[Figure], dict[str, Any]]

_LIBRARIES = ("json", "orjson", "simdjson", "msgpack", "protobuf")


@dataclass(frozen=True, slots=True)
class Study:
    """What was found, and the numbers behind it."""

    figures: tuple[Figure, ...]
    document: dict[str, Any]


def matrix(path: Path) -> Found:
    """Seconds of measuring that a committed run of the default matrix took."""
    name, goal = "the default quick matrix, measuring", Goal("<", 60)
    try:
        result = load_result(path)
    except ZcserError as error:
        return [not_measured(name, " ".join(str(error).split()), goal, "s")], {}
    if result.preset != "quick" or not result.complete:
        return [not_measured(name, f"{path.name} is no complete run of the preset quick", goal, "s")], {}
    seconds = result.measuring_s
    over = f"{len(result.cells)} cells; {path.name} of {result.created[:10]}"
    figure = Figure(name, "s", seconds, seconds, seconds, over, goal)
    return [figure], {"measuring_s": seconds, "wall_s": result.wall_s}


def study(effort: Effort, quick: Path, progress: Progress) -> Study:
    """Take all figures.

    Parameters
    ----------
    effort
        How much is run.
    quick
        Result file of the default quick matrix.
    progress
        Told of each group.
    """
    groups: dict[str, Callable[[], Found]] = {
        "counter overhead": functools.partial(overhead, effort),
        "counts between processes": functools.partial(identity, effort),
        "recorder": functools.partial(recorder, effort),
        "GC callback": functools.partial(callback, effort),
        "variation between processes": functools.partial(variation, effort),
        "injected tail": functools.partial(tail, effort),
        "quick matrix": functools.partial(matrix, quick),
        # Last, since it computes on all cores.
        "counts against DHAT": functools.partial(agreement, effort),
    }
    begin = Begin()
    figures: list[Figure] = []
    raw = {}
    for number, (name, measure) in enumerate(groups.items(), start=1):
        progress(number, len(groups), name)
        found, raw[name] = measure()
        figures += found
    rows = [asdict(one) | {"met": one.met} for one in figures]
    found_document = document(begin, _LIBRARIES, effort=asdict(effort), figures=rows, raw=raw)
    return Study(tuple(figures), found_document)
