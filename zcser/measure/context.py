"""What a result says of its circumstances: how, where and on what it was measured.

Records of the result file, in words and numbers that no other machine has to understand; see `zcser.measure.result`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = [
    "CodecRecord",
    "Environment",
    "Method",
    "PartialRead",
    "PayloadRecord",
    "PresetName",
    "ProcessNoise",
    "Settings",
    "Tool",
    "Unavailable",
]


PresetName = Literal["quick", "full", "tails"]
"""How much is measured; see `zcser.measure.presets.PRESETS`."""


@dataclass(frozen=True, slots=True)
class Tool:
    """What wrote the document."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Settings:
    """How much was measured.

    Attributes
    ----------
    rounds
        Fresh processes per codec that were planned; a cell's own number is ``len(cost.counted_ns)``.
    budget_s
        Bound on the measuring time of the whole run.
    warm_ms, batches, batch_ms, latency_ms
        The most that one cell takes in one process; a big matrix takes less, in the same proportion.
    cell_cap_ms
        Bound on the measuring time of one cell over all processes; a cell that meets it is flagged "capped". The preset
        "full" gives a cell 8 processes in any case.
    rotation
        Distinct values that a cell rotates, where it runs that many operations.
    seed
        Of the order of cells and codecs.
    retained_ms
        Of the most that one cell takes in one process: the pass that keeps its results.
    live_objects
        Objects that the collector had to scan besides an operation's own.
    """

    rounds: int
    budget_s: float
    warm_ms: float
    batches: int
    batch_ms: float
    latency_ms: float
    cell_cap_ms: float
    rotation: int
    seed: int
    retained_ms: float = 0.0
    live_objects: int = 0


@dataclass(frozen=True, slots=True)
class Method:
    """How it was measured, in words. Results of different methods are never compared as if the same.

    Attributes
    ----------
    timer, cost, latency, freeing, gc, allocations
        One sentence each.
    boundaries
        Operation to the sentence that says what exactly is inside its timed window.
    """

    timer: str
    cost: str
    latency: str
    freeing: str
    gc: str
    allocations: str
    boundaries: dict[str, str]


@dataclass(frozen=True, slots=True)
class Environment:
    """The machine and the software, without names or paths of the machine.

    Attributes
    ----------
    cpu, cores
        Model, and cores that this process may use.
    quota_cores
        CPU quota of the cgroup, in cores; None where there is none.
    memory_bytes
        Main memory, None where unknown.
    governor
        CPU frequency governor, None where the machine shows none.
    clock, clock_lattice_ns
        Source of the monotonic clock, and its step: all times read from it are multiples.
    kernel, libc
        Names and versions.
    malloc
        Environment variables that change an allocator: malloc's, and PYTHONMALLOC.
    python
        "version", "implementation", "build", "hash_seed", "gc_thresholds"; "free_threaded", whether it was built without
        the global interpreter lock, and "gil", whether the lock was there all the same.
    libraries
        "numpy", and per codec name "library version (implementation)"; per compressor of the run "library version".
    pin
        "cpus" that the workers were pinned to, and where a NUMA node was asked for "numa_node" and "memory", which says
        whether that was bound too; None: they were not pinned.
    """

    cpu: str
    cores: int
    quota_cores: float | None
    memory_bytes: int | None
    governor: str | None
    clock: str
    clock_lattice_ns: int
    kernel: str
    libc: str
    malloc: dict[str, str]
    python: dict[str, Any]
    libraries: dict[str, str]
    pin: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ProcessNoise:
    """What disturbed one worker process.

    Attributes
    ----------
    codec, round
        Which worker.
    involuntary_switches, voluntary_switches
        Of the measuring thread, over its life.
    dirty_share
        Share of its cost batches that were left out, 0 to 1: a preemption inside, or below full speed; None where it
        finished no batch.
    stalled_us
        Time in which some task of the machine waited for a CPU, from /proc/pressure/cpu; None where there is none.
    throttled_us
        Time for which the cgroup's quota stopped it; None without a cgroup controller.
    throttled_periods
        Periods of the quota that ended with the cgroup stopped; None likewise.
    yardstick_ns, slow_share, waited_s
        The fastest that a fixed piece of work ran; share of readings that took over 5% longer than the run's fastest, as
        beside a busy neighbour on the core; time spent on waiting for that to end. See `zcser.measure.pace`; None where
        it was not watched.
    wall_s
        Life of the process as the parent saw it: start, imports, preparation and measuring.
    """

    codec: str
    round: int
    involuntary_switches: int
    voluntary_switches: int
    dirty_share: float | None
    stalled_us: int | None
    throttled_us: int | None
    wall_s: float
    throttled_periods: int | None = None
    yardstick_ns: int | None = None
    slow_share: float | None = None
    waited_s: float | None = None


@dataclass(frozen=True, slots=True)
class PartialRead:
    """What one partial read takes.

    Attributes
    ----------
    leaves
        How many leaves, of the first value; by `zcser.payloads.spread`.
    paths
        Pointers of the first 100 of them, in document order; none where the leaves are found by walking.
    """

    leaves: int
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PayloadRecord:
    """A payload of the run.

    Attributes
    ----------
    schema, fingerprint
        The schema in words, and its fingerprint.
    fields, tensor
        Pointers that the partial reads and the tensor read take.
    values
        Most distinct values that a cell rotated; a cell's own number is ``cell.values``.
    rotation
        "copies": fewer than 64 distinct values exist, and cells are flagged "hot".
    notes
        What inference decided, where the schema came from a sample.
    data_fingerprint
        Of the values (`zcser.measure.data`); None in a file that does not keep it, and where they could not be made.
    leaves
        Of the first value; None where nothing of the run needed them.
    reads
        By operation: "read-1", "read-2", "read-10%", "read-all".
    changed
        Pointer of the number that composite tasks change; None where there is none, or none was needed.
    """

    name: str
    doc: str
    source: str
    schema: str
    fingerprint: str
    fields: tuple[str, ...]
    tensor: str | None
    values: int
    rotation: Literal["distinct", "copies"]
    notes: tuple[str, ...] = ()
    data_fingerprint: str | None = None
    leaves: int | None = None
    reads: dict[str, PartialRead] = field(default_factory=dict)
    changed: str | None = None


@dataclass(frozen=True, slots=True)
class CodecRecord:
    """`zcser.core.codec.CodecInfo` as JSON; `keyless` is None in a file that does not keep it."""

    name: str
    format: str
    wire: str
    library: str
    version: str
    implementation: str
    operations: tuple[str, ...]
    reads: dict[str, str]
    joinable: bool
    self_delimiting: bool
    trusted_only: bool
    fused: bool
    validates: bool
    keyless: bool | None = None


@dataclass(frozen=True, slots=True)
class Unavailable:
    """A codec or compressor that is not installed here. `reason` is the whole message, `pip` what installs it."""

    name: str
    reason: str
    pip: str | None
