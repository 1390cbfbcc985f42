"""Measuring a task: in fresh processes where it can travel there, else in this one.

1. One process counts allocations and times nothing; then as many time as the preset has rounds, one after the other.
2. A task that cannot be pickled, cannot be loaded or raises in a fresh process is measured here, and so is one whose worker
   dies or hangs; the figures say so and why.
3. Measuring here leaves the collector as it was.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import closing

from zcser.measure.figures import Allocations
from zcser.measure.presets import Preset
from zcser.measure.process import WorkerLostError, answers, worker_environment
from zcser.measure.sample import Sample
from zcser.measure.state import most_kept
from zcser.pytest_plugin.figures import Figures, Where, figures_of
from zcser.pytest_plugin.tasks import Answer, Order, Task, count_task, time_task

__all__ = ["measure"]


class _CannotTravelError(Exception):
    """There will be no readings from workers; the message says why."""


def measure(task: Task, preset: Preset) -> Figures:
    """Measure a task."""
    where: Where = "workers"
    reason = None
    try:
        samples, allocations = _in_workers(task, preset)
    except _CannotTravelError as error:
        where, reason = "in-process", str(error)
        samples, allocations = _here(task, preset)
    return figures_of(
        samples,
        allocations,
        where=where,
        reason=reason,
        cell=task.cell,
        preset=preset.name,
        distinct=task.distinct,
    )


def _in_workers(task: Task, preset: Preset) -> tuple[list[Sample], Allocations | None]:
    try:
        pickled = pickle.dumps(task, pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        raise _CannotTravelError(f"it cannot be pickled: {' '.join(str(error).split())}") from error
    found = _ask(Order(pickled, preset, count=True)).allocations
    order = Order(pickled, preset, count=False, most_kept=most_kept(found))
    done = [_ask(order) for _ in range(preset.rounds)]
    return [answer.sample for answer in done if answer.sample is not None], found


def _ask(order: Order) -> Answer:
    environment = worker_environment(counting=order.count)
    try:
        with closing(answers("zcser.pytest_plugin.worker", order, order.preset.silence_s, environment)) as said:
            answer: Answer = next(said)
    except WorkerLostError as error:
        raise _CannotTravelError(str(error)) from None
    if answer.reason is not None:
        raise _CannotTravelError(answer.reason)
    return answer


def _here(task: Task, preset: Preset) -> tuple[list[Sample], Allocations | None]:
    with _undisturbed():
        # Somebody else's tracing would be switched off by the counting.
        found = None if tracemalloc.is_tracing() else count_task(task, preset)
        return [time_task(task, preset, most_kept(found))], found


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """The collector in the measuring core's hands and no tracer or profiler in between; afterwards all as before."""
    enabled, frozen = gc.isenabled(), _is_frozen()
    trace, profile = sys.gettrace(), sys.getprofile()
    gc.disable()
    sys.settrace(None)
    sys.setprofile(None)
    try:
        yield
    finally:
        sys.setprofile(profile)
        sys.settrace(trace)
        # What was frozen before cannot be told from what measuring froze: then all of it stays so.
        if not frozen:
            gc.unfreeze()
        if enabled:
            gc.enable()


def _is_frozen() -> bool:
    """Whether somebody froze what lives: then what is as old as a module of the interpreter's is not among the objects.

    The count does not tell: CPython 3.12 counts objects of its own that never die as frozen.
    """
    return gc.get_freeze_count() > 0 and not any(one is vars(os) for one in gc.get_objects())
