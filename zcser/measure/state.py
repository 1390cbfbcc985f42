"""What is known of each cell while a run goes on.

1. A cell that has a problem is not measured again; nor is one that has used up its bound, once it has the processes
   that its preset asks for in any case.
2. A worker that was lost is laid to the cell that it was at. One that said nothing yet takes all of its cells with it; one
   that hung takes those of the payload, since waiting once more would be as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from zcser.measure.job import Began, Checked, Ended, Measured, Message
from zcser.measure.plan import Key, Plan
from zcser.measure.process import WorkerLostError
from zcser.measure.result import Allocations, Copies, DeepSize, Size, Status
from zcser.measure.sample import Sample

__all__ = ["KEPT_BYTES", "LARGE_BYTES", "Record", "State", "most_kept"]

LARGE_BYTES = 1_000_000
"""Messages from here on are timed in both states of malloc, where the preset says so."""

KEPT_BYTES = 256 << 20
"""Bound on the results that a cell keeps at a time."""


@dataclass(slots=True)
class Record:
    """One measured cell.

    Attributes
    ----------
    samples, fresh
        By round; as usual, and where malloc maps each large block anew.
    checked
        Whether its result was found right.
    allocations, copies, size, deep_size, encoded_by
        As in the result.
    wire_bytes
        Of the payload's first value, encoded; 0 until it is checked.
    spent_ns
        Time spent in its calls, over all processes.
    problem
        Status and reason, where it will have no time.
    """

    samples: dict[int, Sample] = field(default_factory=dict)
    fresh: dict[int, Sample] = field(default_factory=dict)
    wire_bytes: int = 0
    checked: bool = False
    allocations: Allocations | None = None
    copies: Copies | None = None
    size: Size | None = None
    deep_size: DeepSize | None = None
    encoded_by: str | None = None
    spent_ns: int = 0
    problem: tuple[Status, str] | None = None


class State:
    """All measured cells of a plan.

    Attributes
    ----------
    records
        By key.
    spent_ns
        Time spent in calls, of all cells.
    """

    def __init__(self, plan: Plan) -> None:
        self.records = {key: Record() for key in plan.measured}
        self.spent_ns = 0
        self._cap_ns = plan.preset.cap_ns
        self._least_rounds = plan.preset.least_rounds

    def floor_ns(self, key: Key) -> int:
        """What a cell takes in a process at least: a call to warm up, and one to time."""
        return 2 * max((sample.op_ns for sample in self.records[key].samples.values()), default=0)

    def allowed_ns(self, key: Key) -> int:
        """What a cell may take in its next process: what is left of its bound, but for the processes that it must have."""
        record = self.records[key]
        left_ns = self._cap_ns - record.spent_ns
        return max(1, left_ns // max(1, self._least_rounds - len(record.samples)))

    def most_kept(self, key: Key) -> int:
        """How many results of a cell may live at a time."""
        return most_kept(self.records[key].allocations)

    def due(self, codec: str | None = None) -> list[Key]:
        """The cells that are still worth a process; all of them in the first rounds."""
        return [
            key
            for key, record in self.records.items()
            if codec in (None, key.codec)
            and record.problem is None
            and (len(record.samples) < self._least_rounds or record.spent_ns + self.floor_ns(key) <= self._cap_ns)
        ]

    def large(self, codec: str) -> list[Key]:
        """The due cells of a codec whose messages are so large that the state of malloc matters."""
        return [key for key in self.due(codec) if self.records[key].wire_bytes >= LARGE_BYTES]

    def take(self, message: Message, codec: str, number: int, *, fresh: bool = False) -> None:
        """Enter what a worker of a codec said in round `number`."""
        match message:
            case Measured(payload, operation, sample):
                record = self.records[Key(payload, codec, operation)]
                (record.fresh if fresh else record.samples)[number] = sample
                record.spent_ns += sample.spent_ns
                self.spent_ns += sample.spent_ns
            case Checked(payload, operation, encoded_by, size, deep_size, allocations, copies, wire_bytes, spent_ns):
                record = self.records[Key(payload, codec, operation)]
                record.checked, record.wire_bytes = True, wire_bytes
                record.encoded_by, record.size, record.deep_size = encoded_by, size, deep_size
                record.allocations, record.copies = allocations, copies
                self.spent_ns += spent_ns
            case Ended(payload, operation, status, reason):
                self._end([key for key in self.records if _concerns(key, codec, payload, operation)], status, reason)

    def blame(self, lost: WorkerLostError, at: Began | None, codec: str, left: Sequence[Key]) -> list[Key]:
        """Lay a lost worker to some of the cells that were `left` to it; those that may go to another worker."""
        if at is None:
            guilty = list(left)
        else:
            operation = None if lost.hung else at.operation
            guilty = [key for key in left if _concerns(key, codec, at.payload, operation)]
        self._end(guilty, "failed", str(lost))
        return [key for key in left if key not in guilty]

    def _end(self, keys: Sequence[Key], status: Status, reason: str) -> None:
        for key in keys:
            self.records[key].problem = status, reason


def most_kept(found: Allocations | None) -> int:
    """How many results may live at a time, by what one of them allocates; 0 where that is not known."""
    if found is None:
        return 0
    sizes = (found.python_bytes, found.native_bytes, found.peak_bytes)
    return KEPT_BYTES // max(1, int(sum(size for size in sizes if size is not None)))


def _concerns(key: Key, codec: str, payload: str, operation: str | None) -> bool:
    return key.codec == codec and key.payload == payload and operation in (None, key.operation)
