"""What recording a sample adds to a call beyond the two readings of the clock that a sample is made of.

1. Four times of the same loops, taken by turns: `each`, from the begin of a recorded call to that of the next; `window`,
   what a sample says; `batch`, the same call in the loop that records nothing; `clock`, an empty window, which is one
   reading exactly. The call does as little as a call can.
2. All that the recorder does lies between two windows, together with one reading: it costs ``each - window - clock``.
3. ``each - batch - 2 * clock`` would not do: a processor overlaps the call with the readings around it, so that these cost
   less there than alone, and the recorder would come out below 0. ``each - batch`` is shown as it is.
4. Differences are of times next to each other; the median over rounds belongs to a process.
"""

from __future__ import annotations

from array import array
from statistics import median
from typing import Any

import numpy as np

from benchmarks.measuring.effort import Effort
from benchmarks.support.figures import Figure, Goal, spread_of
from benchmarks.support.fresh import in_fresh_process
from zcser.measure.timer import loops, timer_name

__all__ = ["loop_times", "recorder"]

_NEVER_NS = 2**63


def loop_times(rounds: int, samples: int) -> dict[str, list[float]]:
    """In this process: nanoseconds per call of each round, by the names above."""
    core = loops()
    values = [None] * samples
    begin_ns, took_ns = array("Q", bytes(8 * samples)), array("Q", bytes(8 * samples))
    found: dict[str, list[float]] = {"batch": [], "each": [], "window": [], "clock": []}
    for _ in range(rounds):
        found["batch"].append(core.time_batch(callable, values) / samples)
        core.time_each(callable, values, begin_ns, took_ns, _NEVER_NS)
        found["each"].append((begin_ns[-1] - begin_ns[0]) / (samples - 1))
        found["window"].append(float(np.frombuffer(took_ns, np.uint64).mean()))
        core.time_empty(begin_ns, took_ns)
        found["clock"].append(float(np.frombuffer(took_ns, np.uint64).mean()))
    return found


def recorder(effort: Effort) -> tuple[list[Figure], dict[str, Any]]:
    """The recorder, the readings of the clock, and both as they add up around a call."""
    processes = [
        _differences(in_fresh_process(loop_times, effort.rounds, effort.samples)) for _ in range(effort.processes)
    ]
    over = f"over {len(processes)} processes"

    def row(name: str, part: str, note: str = "", goal: Goal | None = None) -> Figure:
        return spread_of(name, "ns", [process[part] for process in processes], over + note, goal)

    return [
        row(f"recorder, per sample ({timer_name()})", "recorder", goal=Goal("<=", 10)),
        row("the two readings of the clock", "readings"),
        row("a recorded call above the same call in a batch", "recorded", "; recorder and both readings"),
        row("what a sample says above the same call in a batch", "in_window", "; one reading is inside"),
    ], {"processes": processes}


def _differences(times: dict[str, list[float]]) -> dict[str, float]:
    batch, each, window, clock = (np.array(times[name]) for name in ("batch", "each", "window", "clock"))
    return {
        **{f"{name}_ns": median(values) for name, values in times.items()},
        "recorder": float(np.median(each - window - clock)),
        "readings": float(np.median(2 * clock)),
        "recorded": float(np.median(each - batch)),
        "in_window": float(np.median(window - batch)),
    }
