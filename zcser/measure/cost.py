"""What an operation costs when nothing disturbs it: batches of calls between two readings of the clock.

1. A batch in which the thread was preempted, or beside which the core was not at full speed (`zcser.measure.pace`), is
   dirty, and is left out; how many were is reported.
2. The cost of a process is the p10 of its clean batches. Where none was clean all are used, and the cell says so.
3. Batching hides the tail by design; the tail is `zcser.measure.latency`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from zcser.measure.noise import preemptions
from zcser.measure.pace import UNWATCHED, Pace
from zcser.measure.stats import ProcessCost
from zcser.measure.timer import loops

__all__ = ["process_cost", "time_batches"]


def time_batches(
    call: Callable[[Any], Any],
    batches: Sequence[Sequence[Any]],
    patience_ns: int,
    *,
    pace: Pace = UNWATCHED,
    switches: Callable[[], int] = preemptions,
) -> tuple[list[float], list[bool]]:
    """Time batches one after the other.

    Parameters
    ----------
    call
        The operation.
    batches
        The arguments of each batch; none is empty.
    patience_ns
        After so much time in calls no further batch is begun.
    pace
        What is asked for the core's speed before and after each batch, and may wait for it.
    switches
        Counter of this thread's preemptions.

    Returns
    -------
    (list of float, list of bool)
        Per batch: mean nanoseconds per call, and whether the batch is dirty.
    """
    time_batch = loops().time_batch
    means_ns, dirty = [], []
    for values in batches:
        full = pace.settle()
        before = switches()
        elapsed_ns = time_batch(call, values)
        preempted = switches() != before
        dirty.append(preempted or not (full and pace.full()))
        means_ns.append(elapsed_ns / len(values))
        patience_ns -= elapsed_ns
        if patience_ns < 0:
            break
    return means_ns, dirty


def process_cost(means_ns: Sequence[float], dirty: Sequence[bool], operations: int) -> ProcessCost:
    """The cost of one process, of what `time_batches` gave and the calls made in it."""
    clean = [mean for mean, is_dirty in zip(means_ns, dirty, strict=True) if not is_dirty]
    return ProcessCost(
        p10_ns=float(np.percentile(clean or means_ns, 10)),
        batches=len(means_ns),
        dirty_batches=sum(dirty),
        operations=operations,
    )
