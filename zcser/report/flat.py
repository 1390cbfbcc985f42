"""A run as one flat table for machines: a row per cell, raw numbers, units in the names of the columns."""

from __future__ import annotations

from collections.abc import Callable

from zcser.measure.result import Cell, Result
from zcser.report.model import Column, Entry, Table

__all__ = ["FLAT", "flat_table"]

FLAT: dict[str, Callable[[Cell], object]] = {
    "payload": lambda cell: cell.payload,
    "codec": lambda cell: cell.codec,
    "operation": lambda cell: cell.operation,
    "status": lambda cell: cell.status,
    "reason": lambda cell: cell.reason,
    "flags": lambda cell: " ".join(cell.flags),
    "values": lambda cell: cell.values,
    "encoded_by": lambda cell: cell.encoded_by,
    "cost_p10_ns": lambda cell: cell.cost and cell.cost.p10_ns,
    "cost_low_ns": lambda cell: cell.cost and cell.cost.low_ns,
    "cost_high_ns": lambda cell: cell.cost and cell.cost.high_ns,
    "fresh_cost_p10_ns": lambda cell: cell.fresh_cost and cell.fresh_cost.p10_ns,
    "processes": lambda cell: cell.cost and len(cell.cost.counted_ns),
    "batches": lambda cell: cell.cost and cell.cost.batches,
    "dirty_batches": lambda cell: cell.cost and cell.cost.dirty_batches,
    "latency_samples": lambda cell: cell.latency and cell.latency.n,
    "latency_p50_ns": lambda cell: cell.latency and cell.latency.p50_ns,
    "latency_p90_ns": lambda cell: cell.latency and cell.latency.p90_ns,
    "latency_p99_ns": lambda cell: cell.latency and cell.latency.p99_ns,
    "latency_p999_ns": lambda cell: cell.latency and cell.latency.p999_ns,
    "latency_max_ns": lambda cell: cell.latency and cell.latency.max_ns,
    "latency_uncertain": lambda cell: cell.latency and " ".join(cell.latency.uncertain),
    "gc_gen0": lambda cell: cell.gc and cell.gc.collections[0],
    "gc_gen1": lambda cell: cell.gc and cell.gc.collections[1],
    "gc_gen2": lambda cell: cell.gc and cell.gc.collections[2],
    "gc_operations": lambda cell: cell.gc and cell.gc.operations,
    "gc_pause_ns": lambda cell: cell.gc and cell.gc.pause_ns,
    "gc_pause_max_ns": lambda cell: cell.gc and cell.gc.pause_max_ns,
    "gc_struck": lambda cell: cell.gc and cell.gc.struck,
    "gc_time_share": lambda cell: cell.gc and cell.gc.time_share,
    "gc_slowest_struck": lambda cell: cell.gc and cell.gc.slowest_struck,
    "gc_free_p99_ns": lambda cell: cell.gc and cell.gc.free_p99_ns,
    "gc_free_p999_ns": lambda cell: cell.gc and cell.gc.free_p999_ns,
    "retained_samples": lambda cell: cell.retained and cell.retained.latency.n,
    "retained_p50_ns": lambda cell: cell.retained and cell.retained.latency.p50_ns,
    "retained_p99_ns": lambda cell: cell.retained and cell.retained.latency.p99_ns,
    "retained_p999_ns": lambda cell: cell.retained and cell.retained.latency.p999_ns,
    "retained_gc_time_share": lambda cell: cell.retained and cell.retained.gc.time_share,
    "retained_gc_pause_max_ns": lambda cell: cell.retained and cell.retained.gc.pause_max_ns,
    "counted_calls": lambda cell: cell.allocations and cell.allocations.calls,
    "python_allocations": lambda cell: cell.allocations and cell.allocations.python_allocations,
    "python_bytes": lambda cell: cell.allocations and cell.allocations.python_bytes,
    "native_allocations": lambda cell: cell.allocations and cell.allocations.native_allocations,
    "native_bytes": lambda cell: cell.allocations and cell.allocations.native_bytes,
    "frees": lambda cell: cell.allocations and cell.allocations.frees,
    "reallocations": lambda cell: cell.allocations and cell.allocations.reallocations,
    "native_peak_bytes": lambda cell: cell.allocations and cell.allocations.native_peak_bytes,
    "peak_bytes": lambda cell: cell.allocations and cell.allocations.peak_bytes,
    "result_blocks": lambda cell: cell.allocations and cell.allocations.result_blocks,
    "allocations_blind": lambda cell: cell.allocations and cell.allocations.blind,
    "allocations_method": lambda cell: cell.allocations and cell.allocations.method,
    "aliases": lambda cell: cell.copies and cell.copies.aliases,
    "allocated_per_wire_byte": lambda cell: cell.copies and cell.copies.allocated_per_wire_byte,
    "retained_bytes": lambda cell: cell.copies and cell.copies.retained_bytes,
    "wire_bytes": lambda cell: cell.size and cell.size.wire_bytes,
    "wire_bytes_min": lambda cell: cell.size and cell.size.min,
    "wire_bytes_max": lambda cell: cell.size and cell.size.max,
    "plain_bytes": lambda cell: cell.size and cell.size.plain_bytes,
    "memory_bytes": lambda cell: cell.deep_size and cell.deep_size.memory_bytes,
    "memory_bytes_min": lambda cell: cell.deep_size and cell.deep_size.min,
    "memory_bytes_max": lambda cell: cell.deep_size and cell.deep_size.max,
}
"""Columns of the flat table: a cell's raw figure, None where it was not taken."""


def flat_table(result: Result) -> Table:
    """One row per cell, raw numbers in the units of their column's name; an empty text is a figure not taken."""

    def text(value: object) -> str:
        return "" if value is None else value if isinstance(value, str) else repr(value)

    rows = tuple(tuple(Entry(text(read(cell))) for read in FLAT.values()) for cell in result.cells)
    return Table("cells", tuple(map(Column, FLAT)), rows)
