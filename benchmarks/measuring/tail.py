"""Whether a tail that is known comes out as it is: 20 µs of waiting in exactly 1 of 500 calls, and the reported p99.9.

1. The truth is what the slow calls take by themselves, in batches of nothing else. They are 0.2% of all calls, so that
   p99.9 lies in their middle.
2. The other calls do next to nothing, so that the sample is over in some 10 ms. The longer it takes, the more of the
   machine's own interruptions are in it: a timer's ticks of 4 ms fall into 0.1% of calls of 4 µs, and then p99.9 is
   rightly theirs.
"""

from __future__ import annotations

from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.measuring.effort import Effort
from benchmarks.support import WARM_CALLS
from benchmarks.support.figures import Figure, Goal, not_measured, spread_of
from benchmarks.support.fresh import in_fresh_process
from zcser.measure.clock import now_ns
from zcser.measure.latency import record_latencies
from zcser.measure.stats import latency_of
from zcser.measure.timer import loops

__all__ = ["EVERY", "WAIT_NS", "tail", "tail_samples"]

EVERY = 500
WAIT_NS = 20_000

_NEVER_NS = 2**63
_BATCHES = 20
_BATCH = 50


def _operation(slow: bool) -> None:
    if slow:
        end_ns = now_ns() + WAIT_NS
        while now_ns() < end_ns:
            pass


def tail_samples(samples: int) -> tuple[npt.NDArray[np.uint64], list[float]]:
    """In this process: every latency, and per batch of slow calls alone the mean of one; nanoseconds."""
    values = [number % EVERY == EVERY - 1 for number in range(samples)]
    slow = [True] * _BATCH
    loops().time_batch(_operation, [False, True] * (WARM_CALLS // 2))
    # On both sides of the recording, should the machine change meanwhile.
    before = [loops().time_batch(_operation, slow) / _BATCH for _ in range(_BATCHES // 2)]
    took_ns = record_latencies(_operation, values, _NEVER_NS).took_ns
    after = [loops().time_batch(_operation, slow) / _BATCH for _ in range(_BATCHES // 2)]
    return took_ns, before + after


def tail(effort: Effort) -> tuple[list[Figure], dict[str, Any]]:
    """The p99.9 of each process against its truth, and that of all processes together."""
    name = f"p99.9 of {WAIT_NS // 1000} µs injected in 1 of {EVERY} calls, from the truth"
    goal = Goal("within", 5)
    processes = [in_fresh_process(tail_samples, effort.samples) for _ in range(effort.processes)]
    truths_ns = [median(slow_ns) for _, slow_ns in processes]
    alone_ns = [latency_of([took_ns]).p999_ns for took_ns, _ in processes]
    together_ns = latency_of([took_ns for took_ns, _ in processes]).p999_ns
    raw = {"process_p999_ns": alone_ns, "process_truth_ns": truths_ns, "p999_ns": together_ns}
    apart = [_percent(found, truth) for found, truth in zip(alone_ns, truths_ns, strict=True) if found is not None]
    if together_ns is None or not apart:
        return [not_measured(name, "too few samples for a p99.9", goal, "%")], raw
    over = f"over {len(processes)} processes of {effort.samples:,} samples"
    together = f"; all together {_percent(together_ns, median(truths_ns)):+.2f} %"
    return [spread_of(name, "%", apart, over + together, goal)], raw


def _percent(found: float, truth: float) -> float:
    return 100 * (found / truth - 1)
