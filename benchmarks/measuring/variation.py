"""By how much processes differ that measure the same: the cost that the core reports, and the plain mean beside it.

1. The cost is the p10 of clean batches, by the core's own functions and the batches of the preset quick, spread over
   several visits of each operation as the core spreads them, and waits for the CPU's full speed as the core does.
2. Variation is the standard deviation over processes ÷ their mean, of each operation. The figure is the root mean square
   over operations, as that of ``zcser doctor``.
3. Load is two processes that compute without pause. They end by themselves, should nobody end them.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from math import sqrt
from statistics import fmean, stdev
from typing import Any, Literal

from benchmarks.measuring.effort import Effort
from benchmarks.measuring.operations import OPERATIONS, prepare
from benchmarks.support.batches import batch_of
from benchmarks.support.figures import Figure, Goal
from benchmarks.support.fresh import in_fresh_process
from zcser.measure.collector import freeze
from zcser.measure.cost import process_cost, time_batches
from zcser.measure.pace import Pace, Patience, most_ns
from zcser.measure.presets import PRESETS
from zcser.measure.sample import Slot

__all__ = ["costs", "variation"]

Costs = dict[str, dict[str, float]]

_VISITS = 4

BUSY = 2
_BUSY_S = 120


def costs(slot: Slot, yardstick_ns: int, wait_ns: int) -> tuple[Costs, int, int]:
    """In this process, of each operation: p10 of clean batches, mean of all, the share of dirty ones, and whether it counts.

    Beside them, the fastest time of the pace's work, and the time spent on waiting.
    """
    pace = Pace(yardstick_ns, wait_ns)
    calls = {name: prepare(name) for name in OPERATIONS}
    batches = {name: batch_of(call, argument, slot.batch_ns) for name, (call, argument) in calls.items()}
    means_ns: dict[str, list[float]] = {name: [] for name in OPERATIONS}
    dirty: dict[str, list[bool]] = {name: [] for name in OPERATIONS}
    freeze()
    for _ in range(_VISITS):
        for name, values in batches.items():
            call, argument = calls[name]
            for _ in range(len(values) // 4):
                call(argument)
            more_ns, more_dirty = time_batches(
                call, [values] * max(1, slot.batches // _VISITS), 60_000_000_000, pace=pace
            )
            means_ns[name] += more_ns
            dirty[name] += more_dirty
    found = {}
    for name, values in batches.items():
        cost = process_cost(means_ns[name], dirty[name], len(values) * len(means_ns[name]))
        found[name] = {
            "p10_ns": cost.p10_ns,
            "mean_ns": fmean(means_ns[name]),
            "dirty": cost.dirty_batches / cost.batches,
            "undisturbed": float(cost.undisturbed),
        }
    return found, pace.best_ns, pace.waited_ns


@contextlib.contextmanager
def busy(count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """So many processes that compute."""
    program = f"import time\nend = time.monotonic() + {_BUSY_S}\nwhile time.monotonic() < end: pass"
    with contextlib.ExitStack() as stack:
        processes = []
        for _ in range(count):
            processes.append(stack.enter_context(subprocess.Popen([sys.executable, "-I", "-S", "-c", program])))
            stack.callback(processes[-1].kill)
        yield processes


def variation(effort: Effort) -> tuple[list[Figure], dict[str, Any]]:
    """Both, with the machine as it is and under load."""
    patience = Patience(0, int(PRESETS["quick"].wait_s * 1e9), effort.processes)
    idle = _processes(effort.processes, patience)
    with busy(BUSY):
        # Beside them the CPU is never at full speed, so that waiting for it would be in vain.
        loaded = _processes(effort.processes, Patience(patience.best_ns, 0, effort.processes))
    figures = [
        _figure("idle, p10 of clean batches", idle, "p10_ns", Goal("<", 2)),
        _figure("idle, mean of all batches", idle, "mean_ns"),
        _figure(f"{BUSY} busy processes, p10 of clean batches", loaded, "p10_ns"),
        _figure(f"{BUSY} busy processes, mean of all batches", loaded, "mean_ns"),
    ]
    return figures, {"idle": idle, "loaded": loaded}


def _processes(count: int, patience: Patience) -> list[Costs]:
    found, known_ns = [], []
    for _ in range(count):
        of_process, best_ns, waited_ns = in_fresh_process(
            costs, PRESETS["quick"].slot, patience.best_ns, patience.share_ns
        )
        patience.spend(best_ns, waited_ns)
        found.append(of_process)
        known_ns.append(best_ns)
    # As the core does in the end with processes that did not know full speed yet.
    for of_process, best_ns in zip(found, known_ns, strict=True):
        if best_ns > most_ns(patience.best_ns):
            for cost in of_process.values():
                cost.update(dirty=1.0, undisturbed=0.0)
    return found


def _figure(
    name: str, processes: list[Costs], figure: Literal["p10_ns", "mean_ns"], goal: Goal | None = None
) -> Figure:
    shares = [_variation([cost[figure] for cost in _counted(processes, operation, figure)]) for operation in OPERATIONS]
    dirty = fmean(process[operation]["dirty"] for process in processes for operation in OPERATIONS)
    return Figure(
        f"variation between processes: {name}",
        "%",
        100 * sqrt(fmean(share**2 for share in shares)),
        100 * min(shares),
        100 * max(shares),
        f"over operations; {len(processes)} processes, {100 * dirty:.0f}% of batches dirty",
        goal,
    )


def _counted(processes: list[Costs], operation: str, figure: str) -> list[dict[str, float]]:
    """As the core counts: disturbed processes have no cost, where others are not."""
    costs_ = [process[operation] for process in processes]
    undisturbed = [cost for cost in costs_ if cost["undisturbed"]]
    return undisturbed if figure == "p10_ns" and len(undisturbed) > 1 else costs_


def _variation(values: list[float]) -> float:
    return stdev(values) / fmean(values)
