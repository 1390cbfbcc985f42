"""An arm: one operation of one subject, of one argument; and how arms are timed together."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.flat.forms import Form
from benchmarks.support.batches import call_ns
from benchmarks.support.fresh import MeasuringError
from zcser.core.fidelity import difference
from zcser.measure.collector import freeze
from zcser.measure.cost import process_cost, time_batches

__all__ = ["Arm", "Cost", "Effort", "calls_of", "prove", "rotating", "time_arms"]

_PATIENCE_NS = 10_000_000_000


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is run.

    Attributes
    ----------
    processes
        Fresh processes of each group of arms.
    batches, batch_ns
        Batches of each arm and process, and the time of each; all of about the same time, since long ones are disturbed
        more often, and the slow arms with them.
    """

    processes: int = 8
    batches: int = 30
    batch_ns: int = 1_000_000


@dataclass(frozen=True, slots=True)
class Arm:
    """What is timed.

    Attributes
    ----------
    operation, subject, form
        What is done, by whom, and with which form of values.
    call
        Takes one argument.
    batches
        The arguments of each batch.
    """

    operation: str
    subject: str
    form: Form
    call: Callable[[Any], Any]
    batches: Sequence[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Cost:
    """What an arm took in one process: the p10 of its clean batches, in nanoseconds per call."""

    operation: str
    subject: str
    form: Form
    p10_ns: float
    batches: int
    dirty_batches: int


def rotating(
    effort: Effort,
    operation: str,
    subject: str,
    call: Callable[[Any], Any],
    values: Sequence[Any],
    *,
    form: Form = "class",
) -> Arm:
    """An arm whose batches go through the same values again and again; it is warm."""
    turns = calls_of(effort, call, values) / len(values)
    if turns < 1:
        rotation = itertools.cycle(values)
        count = max(1, int(turns * len(values)))
        batches = [list(itertools.islice(rotation, count)) for _ in range(effort.batches)]
    else:
        batches = [[*values] * int(turns)] * effort.batches
    return Arm(operation, subject, form, call, batches)


def calls_of(effort: Effort, call: Callable[[Any], Any], values: Sequence[Any]) -> int:
    """How many calls make a batch; one at least. The call is warm afterwards."""
    return max(1, int(effort.batch_ns / call_ns(call, values)))


def prove(what: str, results: Sequence[Any], wanted: Sequence[Any]) -> None:
    """Hold results equal to what they are to be.

    Raises
    ------
    MeasuringError
        One is not.
    """
    for result, value in zip(results, wanted, strict=True):
        found = difference(value, result)
        if found is not None:
            raise MeasuringError(f"{what}: {found}")


def time_arms(arms: Sequence[Arm], seed: int) -> list[Cost]:
    """Time arms in turns, one batch of each at a time, in an order that is drawn for each turn."""
    rng = random.Random(seed)  # noqa: S311 - an order, no secret
    means_ns: list[list[float]] = [[] for _ in arms]
    dirty: list[list[bool]] = [[] for _ in arms]
    freeze()
    for turn in range(len(arms[0].batches)):
        for place in rng.sample(range(len(arms)), len(arms)):
            arm = arms[place]
            mean_ns, is_dirty = time_batches(arm.call, [arm.batches[turn]], _PATIENCE_NS)
            means_ns[place] += mean_ns
            dirty[place] += is_dirty
    return [
        Cost(arm.operation, arm.subject, arm.form, cost.p10_ns, cost.batches, cost.dirty_batches)
        for arm, cost in zip(arms, map(_cost, means_ns, dirty), strict=True)
    ]


def _cost(means_ns: list[float], dirty: list[bool]) -> Any:
    return process_cost(means_ns, dirty, 0)
