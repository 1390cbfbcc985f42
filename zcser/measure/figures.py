"""The figures of one cell of the result file; see `zcser.measure.result`.

1. Every time is in nanoseconds, every size in bytes, and both are per operation unless their name says otherwise.
2. A figure that was not taken is None, never 0.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, fields
from typing import Literal

__all__ = ["Allocations", "Collections", "Copies", "Cost", "DeepSize", "Latency", "Retained", "Size", "Status"]

Status = Literal["ok", "refused", "failed", "unsupported"]
"""Of a cell: measured; the codec cannot carry it; it gave a wrong result or broke; the codec has no such operation."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one operation costs when nothing disturbs it.

    Attributes
    ----------
    process_p10_ns
        Per process: the tenth percentile of the mean time per operation of its clean batches, or of all where none is clean.
    p10_ns, low_ns, high_ns
        Median, smallest and largest of those that count (`counted_ns`).
    batches, dirty_batches
        All batches, and those left out because the thread was preempted inside or the core was not at full speed.
    operations
        Calls inside all batches; 0 where the cost was derived from other cells.
    undisturbed
        Per process: whether enough of its batches are clean. Empty: all count, as in a file that does not keep this.
    """

    process_p10_ns: tuple[float, ...]
    p10_ns: float
    low_ns: float
    high_ns: float
    batches: int
    dirty_batches: int
    operations: int
    undisturbed: tuple[bool, ...] = ()

    @property
    def counted_ns(self) -> tuple[float, ...]:
        """The figures of undisturbed processes, or of all where there is none."""
        clean = tuple(itertools.compress(self.process_p10_ns, self.undisturbed))
        return clean or self.process_p10_ns


@dataclass(frozen=True, slots=True)
class Latency:
    """What single operations took, all samples of all processes.

    Attributes
    ----------
    n
        Samples.
    p50_ns, p90_ns, p99_ns, p999_ns
        Percentiles; None where fewer than 10 samples lie above.
    max_ns
        The slowest.
    uncertain
        Names of the percentiles with fewer than 100 samples above them.
    histogram
        (smallest whole nanosecond of the bucket, samples) of each bucket that is not empty, ascending.
    process_p50_ns, process_p90_ns, process_p99_ns, process_p999_ns
        The same percentiles of each process by itself, None where fewer than 10 of its samples lie above; all four have
        the same processes in the same order, and are empty in a file that does not keep them.
    """

    n: int
    p50_ns: float | None
    p90_ns: float | None
    p99_ns: float | None
    p999_ns: float | None
    max_ns: float
    uncertain: tuple[str, ...]
    histogram: tuple[tuple[int, int], ...]
    process_p50_ns: tuple[float | None, ...] = ()
    process_p90_ns: tuple[float | None, ...] = ()
    process_p99_ns: tuple[float | None, ...] = ()
    process_p999_ns: tuple[float | None, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError where the percentiles by process are of different numbers of processes."""
        lengths = {
            item.name: len(getattr(self, item.name)) for item in fields(self) if item.name.startswith("process_")
        }
        if len(set(lengths.values())) > 1:
            found = ", ".join(f"{name} has {length}" for name, length in lengths.items())
            raise ValueError(f"each process has an entry in all of its percentiles, but {found}")


@dataclass(frozen=True, slots=True)
class Collections:
    """Garbage collections while latency samples were taken, and the calls that they struck.

    Attributes
    ----------
    collections
        Per generation, youngest first.
    pause_ns, pause_max_ns
        All pauses together, and the longest.
    operations
        Calls that were timed meanwhile.
    struck
        Those of them that a pause began in. This and all that follows is None where it was not taken, or where a process
        had more pauses than it could record.
    time_share
        Pauses ÷ time of all calls, 0 to 1.
    slowest_struck
        How many of the 40 slowest calls were struck; None also for fewer than 400 calls.
    free_p99_ns, free_p999_ns
        Percentiles of the calls that no pause began in, by the rule of `Latency`.
    """

    collections: tuple[int, int, int]
    pause_ns: int
    pause_max_ns: int
    operations: int
    struck: int | None = None
    time_share: float | None = None
    slowest_struck: int | None = None
    free_p99_ns: float | None = None
    free_p999_ns: float | None = None


@dataclass(frozen=True, slots=True)
class Retained:
    """The operation with all of its results kept until the last call: what the collector costs a program that keeps them.

    Attributes
    ----------
    latency, gc
        As those of the cell, where each result is dropped at once.
    """

    latency: Latency
    gc: Collections


@dataclass(frozen=True, slots=True)
class Allocations:
    """Memory that one operation asks for: means over the counted calls, the result of each dropped before the next.

    Attributes
    ----------
    method
        How it was counted, one of `zcser.measure.allocations.METHODS`; different methods are not comparable.
    calls, values
        Calls that were counted, and the distinct values among their arguments.
    python_allocations, python_bytes
        Outermost allocations through Python's allocators, and the bytes asked for.
    native_allocations, native_bytes
        Outermost calls of malloc and its family besides those.
    frees, reallocations
        Blocks given back, and blocks that grew or shrank; Python's, and native ones where those are counted.
    native_peak_bytes
        Most bytes of malloc that lived at once above the start, Python's own included; usable sizes, so that it is the one
        figure here that differs from process to process.
    peak_bytes, result_blocks
        Fallback method alone: Python memory at its highest during a call above what was there before, and small-object
        blocks that a kept result holds; medians.
    blind
        What the library is known to do out of this method's sight, so that the figures are lower bounds; None: nothing.
    """

    method: str
    calls: int | None = None
    values: int | None = None
    python_allocations: float | None = None
    python_bytes: float | None = None
    native_allocations: float | None = None
    native_bytes: float | None = None
    frees: float | None = None
    reallocations: float | None = None
    native_peak_bytes: int | None = None
    peak_bytes: int | None = None
    result_blocks: int | None = None
    blind: str | None = None


@dataclass(frozen=True, slots=True)
class Copies:
    """What happens to the payload's bytes in an operation that reads or writes them.

    Attributes
    ----------
    aliases
        Whether arrays and bytes of the result lie in the memory that went in, proved by address and, for reading, by
        mutation (`zcser.measure.copies`); None where there are none.
    allocated_per_wire_byte
        Bytes allocated ÷ bytes of the encoded message.
    retained_bytes
        What the result keeps alive: of a view the message and what the library holds of its own; None for a copy.
    """

    aliases: Literal["alias", "copy"] | None
    allocated_per_wire_byte: float | None
    retained_bytes: int | None


@dataclass(frozen=True, slots=True)
class Size:
    """Bytes over the values of the cell: median, smallest, largest.

    Attributes
    ----------
    wire_bytes, min, max
        Of messages; of compressed ones, where the operation compresses.
    plain_bytes
        Of an operation that compresses: the median of what went in. None for all others.
    """

    wire_bytes: int
    min: int
    max: int
    plain_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class DeepSize:
    """Memory of a decoded value, as `zcser.measure.deep` defines it.

    Attributes
    ----------
    memory_bytes, min, max
        Over the values that were looked at: median, smallest, largest.
    values
        How many these were.
    """

    memory_bytes: int
    min: int
    max: int
    values: int
