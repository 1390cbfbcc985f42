"""What single operations take: every call timed by itself, every sample kept.

The number of calls is settled before the first one, since stopping on time would favour fast calls. A deadline is there
for the call that was expected to take a tenth of what it does; it is far off, and a cell that meets it is flagged.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from zcser.measure.timer import loops

__all__ = ["Windows", "record_empty", "record_latencies"]


class Windows(NamedTuple):
    """When each call began (the clock of `zcser.measure.clock`) and how long it took, in nanoseconds and in order."""

    begin_ns: npt.NDArray[np.uint64]
    took_ns: npt.NDArray[np.uint64]


def record_latencies(
    call: Callable[[Any], Any], values: Sequence[Any], deadline_ns: int, *, keep: bool = False
) -> Windows:
    """Time one call per value.

    Parameters
    ----------
    call
        The operation.
    values
        Its arguments, in order; one at least.
    deadline_ns
        Clock reading after which no further call is begun.
    keep
        Keep all results until the last call is done, instead of dropping each inside its window.

    Returns
    -------
    Windows
        Of the calls that were made, at least 1.
    """
    begin_ns, took_ns = _written(len(values)), _written(len(values))
    done, _ = loops().time_each(call, values, begin_ns, took_ns, deadline_ns, keep=keep)
    return Windows(np.frombuffer(begin_ns, np.uint64)[:done], np.frombuffer(took_ns, np.uint64)[:done])


def record_empty(count: int) -> Windows:
    """Windows that hold no call: the floor of every latency."""
    begin_ns, took_ns = _written(count), _written(count)
    loops().time_empty(begin_ns, took_ns)
    return Windows(np.frombuffer(begin_ns, np.uint64), np.frombuffer(took_ns, np.uint64))


def _written(count: int) -> array[int]:
    # Written once already, so that no page faults between two windows.
    return array("Q", bytes(8 * count))
