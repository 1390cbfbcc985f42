"""All figures, one group after the other."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import zcser
from benchmarks.measuring.callback import callback
from benchmarks.measuring.counter import identity, overhead
from benchmarks.measuring.dhat import agreement
from benchmarks.measuring.figures import Effort, Figure, Goal, not_measured
from benchmarks.measuring.recorder import recorder
from benchmarks.measuring.tail import tail
from benchmarks.measuring.variation import variation
from zcser import registry
from zcser.core.codec import CodecInfo
from zcser.core.errors import CodecUnavailableError, ZcserError
from zcser.measure.env import environment
from zcser.measure.jsonform import to_json
from zcser.measure.noise import MachineCounters, load_average, machine_counters
from zcser.measure.result import load_result
from zcser.measure.timer import timer_name

__all__ = ["Study", "matrix", "study"]

Found = tuple[list[Figure], dict[str, Any]]


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


def study(effort: Effort, quick: Path, progress: Callable[[int, int, str], None]) -> Study:
    """Take all figures.

    Parameters
    ----------
    effort
        How much is run.
    quick
        Result file of the default quick matrix.
    progress
        Called before each group with its number, their count and its name.
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
    load, before = load_average(), machine_counters()
    figures: list[Figure] = []
    raw = {}
    for number, (name, measure) in enumerate(groups.items(), start=1):
        progress(number, len(groups), name)
        found, raw[name] = measure()
        figures += found
    rows = [asdict(one) | {"met": one.met} for one in figures]
    document = {
        "tool": {"name": "zcser", "version": zcser.__version__},
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "environment": to_json(environment(_libraries())),
        "timer": timer_name(),
        "load_average_before": load,
        "steal_share": _steal_share(machine_counters().since(before)),
        "effort": asdict(effort),
        "figures": rows,
        "raw": raw,
    }
    return Study(tuple(figures), document)


def _steal_share(counters: MachineCounters) -> float | None:
    """Of the CPU time that the machine wanted, what a hypervisor gave to others."""
    if counters.busy_ticks is None or counters.steal_ticks is None:
        return None
    return counters.steal_ticks / max(1, counters.busy_ticks + counters.steal_ticks)


def _libraries() -> list[CodecInfo]:
    found = []
    for name in ("json", "orjson", "simdjson", "msgpack", "protobuf"):
        try:
            found.append(registry.info(name))
        except CodecUnavailableError:
            continue
    return found
