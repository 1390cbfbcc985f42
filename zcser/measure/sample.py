"""Timing one cell in one process.

1. How much is run is settled from a first estimate, before anything is timed for the result.
2. An operation shorter than a batch is timed twice over: batches for the cost, single calls for the latency. A longer one
   is its own batch, and the same calls serve both.
3. At least one call is timed, however slow; a cell whose time did not suffice is flagged.
4. The collector is on whenever a call is timed, and off while arguments are made.
"""

from __future__ import annotations

import contextlib
import gc
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from zcser.measure.clock import now_ns
from zcser.measure.collector import GcRecorder, freeze
from zcser.measure.cost import process_cost, time_batches
from zcser.measure.inputs import Inputs
from zcser.measure.latency import record_latencies
from zcser.measure.result import Collections
from zcser.measure.stats import ProcessCost

__all__ = ["MAX_SAMPLES", "Sample", "Slot", "collecting", "take_sample"]

MAX_SAMPLES = 25_000
"""Latency samples of a cell in a process: bounds the memory of a run. More calls are not begun, so none is dropped."""

_PROBES = 32

_PATIENCE = 4
"""How often its expected time a phase may take before no further call is begun."""


@dataclass(frozen=True, slots=True)
class Slot:
    """The time of one cell in one process, in nanoseconds, and the number of its batches."""

    warm_ns: int
    batches: int
    batch_ns: int
    latency_ns: int

    @property
    def total_ns(self) -> int:
        """All of it."""
        return self.warm_ns + self.batches * self.batch_ns + self.latency_ns

    def within(self, total_ns: int) -> Slot:
        """The same in proportion, in `total_ns` where that is less."""
        share = min(1.0, total_ns / self.total_ns)
        return Slot(int(self.warm_ns * share), self.batches, int(self.batch_ns * share), int(self.latency_ns * share))


@dataclass(frozen=True, slots=True)
class Sample:
    """What one process measured of one cell.

    Attributes
    ----------
    cost, collections
        As in the result, of this process alone.
    latencies_ns
        Every single call, in order.
    op_ns
        Estimate of one call, for planning.
    spent_ns
        Time spent in calls, warm-up included.
    values
        Distinct values rotated.
    capped, all_dirty
        See `Cell.flags`.
    """

    cost: ProcessCost
    latencies_ns: npt.NDArray[np.integer]
    collections: Collections
    op_ns: int
    spent_ns: int
    values: int
    capped: bool
    all_dirty: bool


@contextlib.contextmanager
def collecting() -> Iterator[None]:
    """The collector on, for timed calls; preparation switches it off."""
    gc.enable()
    try:
        yield
    finally:
        gc.disable()


def take_sample(call: Callable[[Any], Any], inputs: Inputs, slot: Slot) -> Sample:
    """Time an operation.

    Parameters
    ----------
    call
        The operation, of one argument.
    inputs
        Its arguments.
    slot
        How long.
    """
    with collecting():
        op_ns, probed_ns = _estimate(call, inputs, slot)
    if op_ns >= slot.batch_ns:
        return _long(call, inputs, slot, op_ns, probed_ns)
    return _short(call, inputs, slot, op_ns, probed_ns)


def _estimate(call: Callable[[Any], Any], inputs: Inputs, slot: Slot) -> tuple[int, int]:
    """Nanoseconds of one call, and of all that were made to find out.

    The first call pays for cold caches, so that there is a second wherever the slot has room for it.
    """
    first = array("q", bytes(8))
    record_latencies(call, inputs.arguments(1), first, now_ns())
    first_ns = max(1, first[0])
    more = min(_PROBES, slot.total_ns // (4 * first_ns))
    if more == 0:
        return first_ns, first_ns
    arguments = inputs.arguments(more)
    probes = array("q", bytes(8 * len(arguments)))
    done = record_latencies(call, arguments, probes, now_ns() + slot.warm_ns // 2)
    made = sorted(probes[:done])
    return max(1, min(first_ns, made[(done - 1) // 2])), first_ns + sum(made)


def _long(call: Callable[[Any], Any], inputs: Inputs, slot: Slot, op_ns: int, probed_ns: int) -> Sample:
    count = max(1, (slot.total_ns - probed_ns) // op_ns)
    arguments = inputs.arguments(count)
    freeze()
    with collecting(), GcRecorder() as recorder:
        means_ns, dirty = time_batches(
            call, [(argument,) for argument in arguments], now_ns() + _PATIENCE * slot.total_ns
        )
    latencies_ns = np.array(means_ns).astype(np.int64)
    return _sample(
        means_ns,
        dirty,
        latencies_ns,
        recorder,
        calls=len(means_ns),
        op_ns=op_ns,
        spent_ns=probed_ns + int(latencies_ns.sum()),
        inputs=inputs,
        capped=len(means_ns) < slot.batches,
    )


def _short(call: Callable[[Any], Any], inputs: Inputs, slot: Slot, op_ns: int, probed_ns: int) -> Sample:
    per_batch = max(1, slot.batch_ns // op_ns)
    singles = max(1, min(MAX_SAMPLES, slot.latency_ns // op_ns))
    warm = inputs.arguments(max(1, slot.warm_ns // (2 * op_ns)))
    batches = [inputs.arguments(per_batch) for _ in range(slot.batches)]
    arguments = inputs.arguments(singles)
    samples = array("q", bytes(8 * len(arguments)))
    freeze()
    begin_ns = now_ns()
    with collecting():
        for argument in warm:
            call(argument)
        means_ns, dirty = time_batches(call, batches, now_ns() + _PATIENCE * slot.batches * slot.batch_ns)
        with GcRecorder() as recorder:
            done = record_latencies(call, arguments, samples, now_ns() + _PATIENCE * slot.latency_ns)
    return _sample(
        means_ns,
        dirty,
        np.frombuffer(samples, np.int64)[:done],
        recorder,
        calls=sum(len(batch) for batch in batches[: len(means_ns)]),
        op_ns=op_ns,
        spent_ns=probed_ns + now_ns() - begin_ns,
        inputs=inputs,
        capped=len(means_ns) < slot.batches or done < len(arguments),
    )


def _sample(
    means_ns: list[float],
    dirty: list[bool],
    latencies_ns: npt.NDArray[np.int64],
    recorder: GcRecorder,
    *,
    calls: int,
    op_ns: int,
    spent_ns: int,
    inputs: Inputs,
    capped: bool,
) -> Sample:
    return Sample(
        cost=process_cost(means_ns, dirty, calls),
        latencies_ns=_compact(latencies_ns),
        collections=Collections(recorder.counts, recorder.pause_ns, recorder.pause_max_ns, len(latencies_ns)),
        op_ns=op_ns,
        spent_ns=spent_ns,
        values=inputs.distinct,
        capped=capped,
        all_dirty=all(dirty),
    )


def _compact(samples_ns: npt.NDArray[np.int64]) -> npt.NDArray[np.integer]:
    """Half the memory where no sample reaches 4.3 s: a run keeps millions until its end."""
    return samples_ns.astype(np.uint32) if int(samples_ns.max()) < 1 << 32 else samples_ns
