"""One payload's cells as a grid, and single figures of a cell as entries of a table.

1. A figure that is not there is never a zero: unsupported, refused, failed, not taken and not valid each look different.
2. A flag that every figure of a payload shares is said once, in a line; only flags that tell figures apart are marks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from zcser.core.units import bytes_text, duration_text, number_text, range_text, ratio_text
from zcser.measure.result import Allocations, Cell, Cost, Latency, Result
from zcser.report.model import ABSENT, NOT_TAKEN, NOTHING, Emphasis, Entry, one_line
from zcser.report.ranking import Ranking, rank_costs, rank_sizes

__all__ = ["Grid", "flag_mark", "flag_text", "grid_of", "reasons"]

FLAGS = {
    "unvalidated": ("ᵘ", "unvalidated: without guard or verification, the bytes or the value are taken on trust"),
    "hot": ("ʰ", "hot: fewer than 64 distinct values rotate, so caches flatter the figure"),
    "capped": ("ᶜ", "capped: a slow cell that met its time bound and has fewer samples"),
    "few-samples": ("ᶠ", "few samples: the figure may move when measured again"),
    "few-processes": ("ᵖ", "few processes: fewer than planned were measured, or were undisturbed for some batches"),
    "all-dirty": (
        "ᵈ",
        "all dirty: all batches, but for a few, were preempted or below full speed, so none could be left out",
    ),
    "unstable": ("ˢ", "unstable: the spread over processes is more than a quarter of the figure"),
    "walked": (
        "ʷ",
        "walked: leaves are too many to be named, or differ from value to value, so a generic walk reads them",
    ),
    "in-place": ("ⁱ", "in place: the message is changed in a copy of its bytes, not decoded and encoded again"),
}
"""Per flag: its mark and what it means."""

SILENT = ("derived", "same-as:")
"""Beginnings of flags that a column's own legend explains: what is computed, and where two operations are one."""

OTHER_MARK = "*"

SURE_P999 = 100_000
"""Samples from which on 100 lie above their p99.9."""


def flag_mark(flag: str) -> str:
    """The footnote mark of a flag: none for a silent one, ``*`` for one that only a newer writer knows."""
    if flag in FLAGS:
        return FLAGS[flag][0]
    return "" if flag.startswith(SILENT) else OTHER_MARK


def flag_text(flag: str) -> str:
    """What a flag means."""
    return FLAGS[flag][1] if flag in FLAGS else one_line(flag)


@dataclass(frozen=True)
class Grid:
    """The cells of one payload by codec and operation."""

    payload: str
    cells: Mapping[tuple[str, str], Cell]

    @cached_property
    def codecs(self) -> tuple[str, ...]:
        """Codecs that have a figure: by encode + decode, then those that lack one of the two, fastest first.

        Where neither was measured, by the first operation that was.
        """
        found = dict.fromkeys(codec for (codec, _), cell in self.cells.items() if cell.status == "ok")
        return tuple(sorted(found, key=self._place))

    def _place(self, codec: str) -> tuple[int, float, float, str]:
        costs = [self.cost(codec, operation) for operation in ("encode", "decode")]
        known = [cost for cost in costs if cost is not None]
        first = self.cost(codec, next(operation for _, operation in self.cells))
        return 2 - len(known), sum(known), math.inf if first is None else first, codec

    def cost(self, codec: str, operation: str) -> float | None:
        """The cost in ns, None where there is none."""
        cell = self.cells.get((codec, operation))
        return cell.cost.p10_ns if cell is not None and cell.status == "ok" and cell.cost is not None else None

    def column(self, operation: str) -> list[Cell]:
        """All cells of one operation."""
        return [cell for (_, name), cell in self.cells.items() if name == operation]

    def ranking(self, operation: str) -> Ranking:
        """The ranking of one operation; that of sizes is called ``"size"``."""
        return self._rankings[operation]

    @cached_property
    def _rankings(self) -> dict[str, Ranking]:
        costs = {operation: rank_costs(self.column(operation)) for _, operation in self.cells}
        return _Rankings(costs, size=rank_sizes(self.column("encode")))

    @cached_property
    def shared_flags(self) -> tuple[str, ...]:
        """Flags that every measured cell has."""
        measured = [cell for cell in self.cells.values() if cell.status == "ok" and cell.cost is not None]
        flags = [set(cell.flags) for cell in measured if cell.operation != "guard"]
        return tuple(sorted(filter(flag_mark, set.intersection(*flags)))) if len(flags) > 1 else ()

    def marks(self, cell: Cell) -> str:
        """Footnote marks of a cell."""
        return "".join(dict.fromkeys(flag_mark(flag) for flag in cell.flags if flag not in self.shared_flags))

    def missing_entry(self, codec: str, operation: str) -> Entry | None:
        """What stands where a cell is not ok; None where it is."""
        cell = self.cells.get((codec, operation))
        if cell is None:
            return NOT_TAKEN
        if cell.status == "unsupported":
            return ABSENT
        return None if cell.status == "ok" else Entry(cell.status, emphasis="bad")

    def cost_entry(self, codec: str, operation: str) -> Entry:
        """Cost, with its standing in the column."""
        missing = self.missing_entry(codec, operation)
        if missing is not None:
            return missing
        cell = self.cells[codec, operation]
        if cell.cost is None:
            return NOT_TAKEN
        standing = self.ranking(operation).standing(codec)
        shown = _ranked(duration_text(cell.cost.p10_ns), standing, self.marks(cell))
        return replace(shown, value=cell.cost.p10_ns, spread=_spread(cell.cost))

    def fresh_entry(self, codec: str, operation: str) -> Entry:
        """Cost where malloc maps each large block anew."""
        missing = self.missing_entry(codec, operation)
        cost = None if missing is not None else self.cells[codec, operation].fresh_cost
        return missing or NOT_TAKEN if cost is None else Entry(duration_text(cost.p10_ns), value=cost.p10_ns)

    def size_entry(self, codec: str) -> Entry:
        """Median wire size, with its standing."""
        missing = self.missing_entry(codec, "encode")
        size = None if missing is not None else self.cells[codec, "encode"].size
        if size is None:
            return missing or NOT_TAKEN
        shown = _ranked(bytes_text(size.wire_bytes), self.ranking("size").standing(codec), "")
        return replace(shown, value=size.wire_bytes)

    def quantile_entry(self, codec: str, operation: str, name: str) -> Entry:
        """A latency: ``p50``, ``p90``, ``p99``, ``p999`` or ``max``; ``~`` where few samples lie beyond it."""
        missing = self.missing_entry(codec, operation)
        latency = None if missing is not None else self.cells[codec, operation].latency
        if latency is None:
            return missing or NOT_TAKEN
        return _quantile(latency, name)

    def free_entry(self, codec: str, operation: str) -> Entry:
        """p99.9 of the calls that no pause of the collector began in."""
        missing = self.missing_entry(codec, operation)
        gc = None if missing is not None else self.cells[codec, operation].gc
        if gc is None or gc.free_p999_ns is None or gc.struck is None:
            return missing or NOT_TAKEN
        return Entry(
            f"{'~' if gc.operations - gc.struck < SURE_P999 else ''}{duration_text(gc.free_p999_ns)}",
            value=gc.free_p999_ns,
        )

    def retained_entry(self, codec: str, operation: str, name: str) -> Entry:
        """A latency, as `quantile_entry`, of the pass that kept its results."""
        missing = self.missing_entry(codec, operation)
        retained = None if missing is not None else self.cells[codec, operation].retained
        return missing or NOT_TAKEN if retained is None else _quantile(retained.latency, name)

    def retained_share_entry(self, codec: str, operation: str) -> Entry:
        """Share of the time that the collector took in the pass that kept its results."""
        missing = self.missing_entry(codec, operation)
        retained = None if missing is not None else self.cells[codec, operation].retained
        if retained is None or retained.gc.time_share is None:
            return missing or NOT_TAKEN
        return Entry(f"{100 * retained.gc.time_share:.0f}%", value=retained.gc.time_share)

    def collections_entry(self, codec: str, operation: str) -> Entry:
        """Garbage collections per 1000 operations, all generations."""
        missing = self.missing_entry(codec, operation)
        gc = None if missing is not None else self.cells[codec, operation].gc
        if gc is None or gc.operations <= 0:
            return missing or NOT_TAKEN
        rate = 1000 * sum(gc.collections) / gc.operations
        return Entry(number_text(rate), value=rate)

    def allocations_entry(self, codec: str, operation: str) -> Entry:
        """Allocations per operation, ``"4"`` or ``"4+3"`` with native ones; ``≥`` where some are out of sight."""
        missing = self.missing_entry(codec, operation)
        found = None if missing is not None else self.cells[codec, operation].allocations
        if found is None or found.python_allocations is None:
            return missing or NOT_TAKEN
        native = f"+{number_text(found.native_allocations)}" if found.native_allocations else ""
        value = found.python_allocations + (found.native_allocations or 0)
        return Entry(f"{_bound(found)}{number_text(found.python_allocations)}{native}", value=value)

    def allocated_entry(self, codec: str, operation: str) -> Entry:
        """Bytes asked for per operation, Python's and native; ``≥`` as in `allocations_entry`."""
        missing = self.missing_entry(codec, operation)
        found = None if missing is not None else self.cells[codec, operation].allocations
        if found is None or found.python_bytes is None:
            return missing or NOT_TAKEN
        value = found.python_bytes + (found.native_bytes or 0)
        return Entry(f"{_bound(found)}{bytes_text(value)}", value=value)

    def peak_entry(self, codec: str, operation: str) -> Entry:
        """Transient bytes per operation, by the fallback method; ``≥`` where the library allocates out of the counter's sight."""
        missing = self.missing_entry(codec, operation)
        allocations = None if missing is not None else self.cells[codec, operation].allocations
        if allocations is None or allocations.peak_bytes is None:
            return missing or NOT_TAKEN
        return Entry(f"{_bound(allocations)}{bytes_text(allocations.peak_bytes)}", value=allocations.peak_bytes)

    def blocks_entry(self, codec: str, operation: str) -> Entry:
        """Live blocks of a kept result."""
        missing = self.missing_entry(codec, operation)
        allocations = None if missing is not None else self.cells[codec, operation].allocations
        if allocations is None or allocations.result_blocks is None:
            return missing or NOT_TAKEN
        return Entry(f"{_bound(allocations)}{number_text(allocations.result_blocks)}", value=allocations.result_blocks)

    def copies_entry(self, codec: str, operation: str) -> Entry:
        """Bytes allocated per byte on the wire, and the word of what becomes of the payload's bytes: "alias" or "copy"."""
        missing = self.missing_entry(codec, operation)
        cell = self.cells[codec, operation] if missing is None else None
        copies = None if cell is None else cell.copies
        if cell is None or copies is None or (copies.aliases is None and copies.allocated_per_wire_byte is None):
            return missing or NOT_TAKEN
        word = copies.aliases or ""
        emphasis: Emphasis = "best" if word == "alias" else "plain"
        if copies.allocated_per_wire_byte is None:
            return Entry(word, emphasis=emphasis)
        bound = "" if cell.allocations is None else _bound(cell.allocations)
        value = copies.allocated_per_wire_byte
        return Entry(f"{bound}{number_text(value)}", word, emphasis=emphasis, value=value)

    def holds_entry(self, codec: str, operation: str) -> Entry:
        """Bytes that a result keeps alive besides its own."""
        missing = self.missing_entry(codec, operation)
        copies = None if missing is not None else self.cells[codec, operation].copies
        if copies is None:
            return missing or NOT_TAKEN
        held = copies.retained_bytes
        return NOTHING if held is None else Entry(bytes_text(held), value=held)


def _quantile(latency: Latency, name: str) -> Entry:
    value: float | None = getattr(latency, f"{name}_ns")
    if value is None:
        return NOT_TAKEN
    return Entry(f"{'~' if name in latency.uncertain else ''}{duration_text(value)}", value=value)


def _spread(cost: Cost) -> str:
    """From the fastest to the slowest process, or that there is only one."""
    count = len(cost.counted_ns)
    return "one process" if count < 2 else range_text(cost.low_ns, cost.high_ns)


def _bound(allocations: Allocations) -> str:
    return "≥" if allocations.blind else ""


class _Rankings(dict[str, Ranking]):
    """Rankings by operation; that of an operation without cells is empty."""

    def __missing__(self, operation: str) -> Ranking:
        return rank_costs(())


def _ranked(text: str, standing: tuple[str, float] | None, marks: str) -> Entry:
    if standing is None:
        return Entry(text, marks=marks)
    word, ratio = standing
    if word == "behind":
        return Entry(text, ratio_text(ratio), marks)
    return Entry(text, word, marks, "best")


def grid_of(result: Result, payload: str) -> Grid:
    """The grid of one payload."""
    return Grid(payload, {(cell.codec, cell.operation): cell for cell in result.cells if cell.payload == payload})


def reasons(cells: Sequence[Cell]) -> tuple[str, ...]:
    """Why cells have no figure, a line per codec and reason: ``"header refused: …"``."""
    lines: dict[tuple[str, str, str], list[str]] = {}
    known: dict[str, int] = {}
    for cell in cells:
        known[cell.codec] = known.get(cell.codec, 0) + (cell.status != "unsupported")
        if cell.status in {"refused", "failed"}:
            # Errors of a codec start with its name, which the line has already.
            why = one_line(cell.reason or "no reason given").removeprefix(f"{cell.codec}: ")
            lines.setdefault((cell.codec, cell.status, why), []).append(cell.operation)
    return tuple(
        f"{one_line(codec)} {status}{_which(operations, known[codec])}: {why}"
        for (codec, status, why), operations in lines.items()
    )


def _which(operations: list[str], all_of_codec: int) -> str:
    return "" if len(operations) == all_of_codec else f" ({', '.join(map(one_line, operations))})"
