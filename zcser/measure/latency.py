"""What single operations take: every call timed by itself, every sample kept.

The number of calls is settled before the first one, since stopping on time would favour fast calls. A deadline is there
for the call that was expected to take a tenth of what it does; it is far off, and a cell that meets it is flagged.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Any

from zcser.measure.clock import now_ns

__all__ = ["record_latencies"]


def record_latencies(
    call: Callable[[Any], Any], values: Sequence[Any], samples_ns: array[int], deadline_ns: int
) -> int:
    """Time one call per value; the result is dropped inside the timed window.

    Parameters
    ----------
    call
        The operation.
    values
        Its arguments, in order.
    samples_ns
        Where the times go: an array of type "q" and of at least ``len(values)`` items, so that the loop allocates none.
    deadline_ns
        Clock reading after which no further call is begun.

    Returns
    -------
    int
        Calls made, at least 1.
    """
    done = 0
    for value in values:
        begin = now_ns()
        call(value)
        end = now_ns()
        samples_ns[done] = end - begin
        done += 1
        if end > deadline_ns:
            break
    return done
