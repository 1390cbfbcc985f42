"""Timing one cell in one process.

1. How much is run is settled from a first estimate, before anything is timed for the result.
2. An operation shorter than a batch is timed twice over: batches for the cost, single calls for the latency. A longer one
   is its own batch, and the same calls serve both.
3. At least one call is timed, however slow; a cell whose time did not suffice is flagged.
4. The collector is on whenever a call is timed, and off while arguments are made.
5. A last pass keeps its results instead of dropping them: what the collector costs a program that does so. How many it
   may keep is bounded by their memory, and an operation of a whole batch has no such pass.
6. The batches of a cell are spread over several visits, between which other cells have their turn: what slows a machine
   for a while, as a neighbour on the same core does, then meets some batches of all cells instead of all of some.
7. Where each call takes an argument of its own, making these takes no longer than the cell may, but for two of each value;
   it has fewer calls then.
8. Batches, and calls that are their own, wait for the core's full speed as long as the `Pace` allows; latencies do not.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from zcser.measure.clock import now_ns
from zcser.measure.collector import GcRecorder, freeze, live_heap
from zcser.measure.cost import process_cost, time_batches
from zcser.measure.inputs import Inputs
from zcser.measure.latency import Windows, record_empty, record_latencies
from zcser.measure.noise import preemptions
from zcser.measure.pace import UNWATCHED, Pace
from zcser.measure.stats import ENOUGH_CLEAN, ProcessCost, Timed, joined

T = TypeVar("T")

__all__ = ["MAX_SAMPLES", "Sample", "Slot", "collecting", "empty_sample", "take_sample", "visit"]

MAX_SAMPLES = 25_000
"""Latency samples of a cell in a process: bounds the memory of a run. More calls are not begun, so none is dropped."""

_VISITS = 4

_PROBES = 32

_PATIENCE = 4
"""How often its expected time a phase may take before no further call is begun."""

_LEAST_PATIENCE_NS = 50_000_000
"""Laying out the arguments of many short calls takes longer than the calls."""


@dataclass(frozen=True, slots=True)
class Slot:
    """The time of one cell in one process, in nanoseconds, and the number of its batches."""

    warm_ns: int
    batches: int
    batch_ns: int
    latency_ns: int
    retained_ns: int = 0

    @property
    def total_ns(self) -> int:
        """All of it."""
        return self.warm_ns + self.batches * self.batch_ns + self.latency_ns + self.retained_ns

    def within(self, total_ns: int) -> Slot:
        """The same in proportion, in `total_ns` where that is less."""
        share = min(1.0, total_ns / self.total_ns)
        return Slot(
            int(self.warm_ns * share),
            self.batches,
            int(self.batch_ns * share),
            int(self.latency_ns * share),
            int(self.retained_ns * share),
        )


@dataclass(frozen=True, slots=True)
class Sample:
    """What one process measured of one cell.

    Attributes
    ----------
    cost
        As in the result, of this process alone.
    single
        Every single call, its result dropped.
    retained
        Every call of the pass that kept its results; None where there was none.
    op_ns
        Estimate of one call, for planning.
    spent_ns
        Time spent in calls, warm-up included.
    values
        Distinct values rotated.
    capped
        See `Cell.flags`.
    yardstick_ns
        The fastest reading that the process knew when it began; see `zcser.measure.pace`. 0: none was needed.
    """

    cost: ProcessCost
    single: Timed
    retained: Timed | None
    op_ns: int
    spent_ns: int
    values: int
    capped: bool
    yardstick_ns: int = 0


@contextlib.contextmanager
def collecting() -> Iterator[None]:
    """The collector on, for timed calls; preparation switches it off."""
    gc.enable()
    try:
        yield
    finally:
        gc.disable()


def take_sample(
    call: Callable[[Any], Any],
    inputs: Inputs,
    slot: Slot,
    *,
    most_kept: int = 0,
    live_objects: int = 0,
    pace: Pace = UNWATCHED,
) -> Sample:
    """Time an operation.

    Parameters
    ----------
    call
        The operation, of one argument.
    inputs
        Its arguments.
    slot
        How long.
    most_kept
        Results that may live at a time.
    live_objects
        Objects that the collector has to scan besides the operation's own.
    pace
        See `zcser.measure.cost.time_batches`.
    """
    visits = visit(call, inputs, slot, most_kept=most_kept, live_objects=live_objects, pace=pace)
    while True:
        try:
            next(visits)
        except StopIteration as end:
            sample: Sample = end.value
            return sample


def visit(
    call: Callable[[Any], Any],
    inputs: Inputs,
    slot: Slot,
    *,
    most_kept: int = 0,
    live_objects: int = 0,
    pace: Pace = UNWATCHED,
) -> Generator[None, None, Sample]:
    """Time an operation in several visits: between two of them, which is where this yields, others may be timed.

    Parameters and the value in the end as those of `take_sample`.
    """
    with collecting():
        op_ns, probed_ns = _estimate(call, inputs, slot)
    long = op_ns >= slot.batch_ns
    if inputs.making_ns > op_ns:
        each_twice_ns = 2 * op_ns * inputs.turn(slot.total_ns // op_ns)
        slot = slot.within(max(slot.total_ns * op_ns // inputs.making_ns, each_twice_ns))
    # A live heap is made anew for each visit, which takes longer than the visit.
    visits = 1 if live_objects else _VISITS
    if long:
        return (
            yield from _long(
                call, inputs, slot, visits, op_ns=op_ns, probed_ns=probed_ns, live_objects=live_objects, pace=pace
            )
        )
    return (
        yield from _short(
            call,
            inputs,
            slot,
            visits,
            op_ns=op_ns,
            probed_ns=probed_ns,
            most_kept=most_kept,
            live_objects=live_objects,
            pace=pace,
        )
    )


def empty_sample(slot: Slot) -> Sample:
    """A sample of windows that hold no call: what reading the clock and recording cost."""
    begin_ns = now_ns()
    took_ns = record_empty(MAX_SAMPLES).took_ns.astype(np.int64)
    means_ns = [float(part.mean()) for part in np.array_split(took_ns, slot.batches)]
    return Sample(
        cost=process_cost(means_ns, [False] * len(means_ns), len(took_ns)),
        single=Timed(_compact(took_ns), (0, 0, 0), 0, 0, np.empty(0, np.uint32)),
        retained=None,
        op_ns=max(1, int(np.median(took_ns))),
        spent_ns=now_ns() - begin_ns,
        values=0,
        capped=False,
    )


def _estimate(call: Callable[[Any], Any], inputs: Inputs, slot: Slot) -> tuple[int, int]:
    """Nanoseconds of one call, and of all that were made to find out.

    The first call pays for cold caches, so that there is a second wherever the slot has room for it.
    """
    first_ns = max(1, int(record_latencies(call, inputs.arguments(1), now_ns()).took_ns[0]))
    more = min(_PROBES, slot.total_ns // (4 * first_ns))
    if more == 0:
        return first_ns, first_ns
    windows = record_latencies(call, inputs.arguments(more), now_ns() + slot.warm_ns // 2)
    made = sorted(windows.took_ns.tolist())
    return max(1, min(first_ns, made[(len(made) - 1) // 2])), first_ns + sum(made)


def _parts(items: Sequence[T], visits: int) -> list[Sequence[T]]:
    """The items of each visit, in order; none is empty."""
    count = min(visits, len(items))
    ends = [len(items) * number // count for number in range(count + 1)]
    return [items[start:end] for start, end in itertools.pairwise(ends)]


def _long(
    call: Callable[[Any], Any],
    inputs: Inputs,
    slot: Slot,
    visits: int,
    *,
    op_ns: int,
    probed_ns: int,
    live_objects: int,
    pace: Pace,
) -> Generator[None, None, Sample]:
    count = max(1, (slot.total_ns - probed_ns) // op_ns)
    parts = _parts(inputs.arguments(count), visits)
    patience_ns = _PATIENCE * slot.total_ns // len(parts)
    yardstick_ns = pace.best_ns
    timed: list[Timed] = []
    dirty: list[bool] = []
    for number, arguments in enumerate(parts):
        if number:
            yield
        freeze()
        with live_heap(live_objects), collecting(), GcRecorder() as recorder:
            windows, of_visit = _each_a_batch(call, arguments, patience_ns, pace)
        timed.append(_timed(windows, recorder))
        dirty += of_visit
    single = joined(timed)
    means_ns = single.latencies_ns.tolist()
    return Sample(
        cost=process_cost(means_ns, dirty, len(means_ns)),
        single=single,
        retained=None,
        op_ns=op_ns,
        spent_ns=probed_ns + sum(means_ns),
        values=inputs.distinct,
        capped=len(means_ns) < slot.batches,
        yardstick_ns=yardstick_ns,
    )


def _each_a_batch(
    call: Callable[[Any], Any], arguments: Sequence[Any], patience_ns: int, pace: Pace
) -> tuple[Windows, list[bool]]:
    """Single calls, each with its own answer to whether it is dirty."""
    windows, dirty = [], []
    for argument in arguments:
        full = pace.settle()
        before = preemptions()
        windows.append(record_latencies(call, (argument,), now_ns() + patience_ns))
        preempted = preemptions() != before
        dirty.append(preempted or not (full and pace.full()))
        patience_ns -= int(windows[-1].took_ns[0])
        if patience_ns < 0:
            break
    return Windows(*map(np.concatenate, zip(*windows, strict=True))), dirty


def _short(
    call: Callable[[Any], Any],
    inputs: Inputs,
    slot: Slot,
    visits: int,
    *,
    op_ns: int,
    probed_ns: int,
    most_kept: int,
    live_objects: int,
    pace: Pace,
) -> Generator[None, None, Sample]:
    yardstick_ns = pace.best_ns
    per_batch, count = _batches(max(1, slot.batch_ns // op_ns), slot.batches, inputs)
    warm = inputs.arguments(max(1, slot.warm_ns // (2 * op_ns)))
    batches = [inputs.arguments(per_batch) for _ in range(count)]
    first, *later = _parts(batches, visits)
    # Caches have seen other cells by then, and are warm again after a fraction of the calls.
    warm_again = [inputs.arguments(max(1, len(warm) // 8)) for _ in later]
    patience_ns = _PATIENCE * slot.batch_ns
    arguments = inputs.arguments(max(1, min(MAX_SAMPLES, slot.latency_ns // op_ns)))
    kept = min(MAX_SAMPLES, slot.retained_ns // op_ns, most_kept)
    retained = inputs.arguments(kept) if kept > 0 else []
    freeze()
    with live_heap(live_objects), collecting():
        begin_ns = now_ns() - pace.spent_ns
        for argument in warm:
            call(argument)
        means_ns, dirty = time_batches(call, first, patience_ns * len(first), pace=pace)
        operations = sum(map(len, first[: len(means_ns)]))
        single = _single(call, arguments, _PATIENCE * slot.latency_ns, keep=False)
        kept_calls = _single(call, retained, _PATIENCE * slot.retained_ns, keep=True) if retained else None
        spent_ns = probed_ns + now_ns() - pace.spent_ns - begin_ns
    for part, again in zip(later, warm_again, strict=True):
        yield
        freeze()
        with live_heap(live_objects), collecting():
            begin_ns = now_ns() - pace.spent_ns
            for argument in again:
                call(argument)
            more_ns, more_dirty = time_batches(call, part, patience_ns * len(part), pace=pace)
            spent_ns += now_ns() - pace.spent_ns - begin_ns
        operations += sum(map(len, part[: len(more_ns)]))
        means_ns += more_ns
        dirty += more_dirty
    return Sample(
        cost=process_cost(means_ns, dirty, operations),
        single=single,
        retained=kept_calls,
        op_ns=op_ns,
        spent_ns=spent_ns,
        values=inputs.distinct,
        capped=len(means_ns) < count or len(single.latencies_ns) < len(arguments),
        yardstick_ns=yardstick_ns,
    )


def _batches(per_batch: int, count: int, inputs: Inputs) -> tuple[int, int]:
    """Calls of a batch, and how many batches: of whole turns through the values, where there is room for enough of them.

    Else batches would differ by what they hold, and the best of them would be those of cheap values. No more calls than
    ``per_batch * count`` come of it.
    """
    turn = inputs.turn(per_batch * count)
    if per_batch >= turn:
        return per_batch - per_batch % turn, count
    turns = per_batch * count // turn
    return (turn, turns) if turns >= ENOUGH_CLEAN else (per_batch, count)


def _single(call: Callable[[Any], Any], arguments: Sequence[Any], patience_ns: int, *, keep: bool) -> Timed:
    with GcRecorder() as recorder:
        windows = record_latencies(call, arguments, now_ns() + max(patience_ns, _LEAST_PATIENCE_NS), keep=keep)
    return _timed(windows, recorder)


def _timed(windows: Windows, recorder: GcRecorder) -> Timed:
    return Timed(
        _compact(windows.took_ns.astype(np.int64)),
        recorder.counts,
        recorder.pause_ns,
        recorder.pause_max_ns,
        recorder.struck(windows),
    )


def _compact(samples_ns: npt.NDArray[np.int64]) -> npt.NDArray[np.integer]:
    """Half the memory where no sample reaches 4.3 s: a run keeps millions until its end."""
    return samples_ns.astype(np.uint32) if int(samples_ns.max()) < 1 << 32 else samples_ns
