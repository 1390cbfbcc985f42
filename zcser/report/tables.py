"""The tables of one payload, without a trace of an output format.

1. Main table: what one operation costs (p10, in the unit that fits), how it stands in its column, then the wire size, the
   tail and the memory. Ledger: where the cost of encode and decode goes, and what it is without guards. Memory: what is
   copied, and what a result keeps alive. Latency: p50 to max.
2. Rows are ordered by encode + decode, fastest first; codecs that lack one of the two come after.
3. A column in which no codec has a figure is dropped; a row that has none is not shown, and `reasons` says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from zcser.core.units import duration_text
from zcser.measure.baseline import CODEC as BASELINE
from zcser.measure.result import Result
from zcser.report.cells import Grid
from zcser.report.model import ABSENT, NOT_TAKEN, NOTHING, Column, Entry, Table, one_line

__all__ = [
    "COST_COLUMNS",
    "LEDGER_OPERATIONS",
    "TITLES",
    "Maker",
    "baseline_table",
    "cost_maker",
    "latency_table",
    "ledger_table",
    "main_table",
    "memory_table",
    "table_of",
]

COST_COLUMNS = {
    "encode": "encode",
    "decode": "decode",
    "read-field": "one field",
    "touch-all": "touch all",
    "tensor": "tensor",
}
VARIANT_COLUMNS = {
    "encode-into": "encode into",
    "encode-segments": "segments",
    "decode-nocopy": "decode no copy",
}
PART_COLUMNS = {"convert": "encode", "guard": "encode", "dump": "encode", "load": "decode", "restore": "decode"}
"""Per part: the operation whose cost it is a part of."""

BARE_COLUMNS = {
    "view-field": "view field",
    "view-field-unverified": "view field unverified",
    "encode-unguarded": "encode unguarded",
    "decode-unguarded": "decode unguarded",
}
LEDGER_OPERATIONS = (*PART_COLUMNS, *BARE_COLUMNS)
"""What the ledger shows, and the main table does not."""

TITLES = {**COST_COLUMNS, **VARIANT_COLUMNS, **{part: part for part in PART_COLUMNS}, **BARE_COLUMNS}
"""Operation to the title of its column."""

COPY_OPERATIONS = {
    "encode": "written",
    "encode-segments": "written",
    "decode": "read",
    "decode-nocopy": "read",
    "read-field": "read",
    "tensor": "read",
}
"""What the memory table shows, each with the group of its column."""

HOLDING = {"decode-nocopy": "no copy holds", "read-field": "field holds", "tensor": "tensor holds"}
"""Operations whose result may keep the message alive."""

QUANTILES = {"p50": "p50", "p90": "p90", "p99": "p99", "p999": "p99.9", "max": "max"}
BASELINE_ROWS = {
    "clock": "clock alone",
    "empty": "empty operation",
    "struct": "struct, 14 fields",
    "memcpy-1k": "memcpy 1 KiB",
    "memcpy-64k": "memcpy 64 KiB",
    "memcpy-1m": "memcpy 1 MiB",
}

Maker = Callable[[str], Entry]
"""From a codec's name to its entry of one column."""


def cost_maker(grid: Grid, operation: str) -> Maker:
    """The costs of one operation."""
    return lambda codec: grid.cost_entry(codec, operation)


def table_of(title: str, grid: Grid, columns: Iterable[tuple[Column, Maker]], *, drop: bool = True) -> Table | None:
    """A table of the grid's codecs; None where it would have no column or no row."""
    codecs = grid.codecs
    made = [(column, [maker(codec) for codec in codecs]) for column, maker in columns]
    kept = [(column, entries) for column, entries in made if any(map(_has_figure, entries)) or not drop]
    if not kept or not codecs:
        return None
    rows = tuple(
        (Entry(one_line(codec)), *(entries[index] for _, entries in kept)) for index, codec in enumerate(codecs)
    )
    return Table(title, (Column("codec", align="left"), *(column for column, _ in kept)), rows)


def _has_figure(entry: Entry) -> bool:
    return entry not in (ABSENT, NOT_TAKEN, NOTHING) and entry.emphasis != "bad"


def main_table(grid: Grid) -> Table | None:
    """Costs, size, tail, memory, and the further ways to encode and decode."""
    columns: list[tuple[Column, Maker]] = [
        (Column(title, "cost"), cost_maker(grid, operation)) for operation, title in COST_COLUMNS.items()
    ]
    columns += [
        (Column("size", "beside"), grid.size_entry),
        (Column("p99 enc", "beside"), lambda codec: grid.quantile_entry(codec, "encode", "p99")),
        (Column("p99 dec", "beside"), lambda codec: grid.quantile_entry(codec, "decode", "p99")),
        (Column("GC/1k dec", "beside"), lambda codec: grid.collections_entry(codec, "decode")),
        (Column("allocs enc", "beside"), lambda codec: grid.allocations_entry(codec, "encode")),
        (Column("allocs dec", "beside"), lambda codec: grid.allocations_entry(codec, "decode")),
        (Column("alloc bytes enc", "beside"), lambda codec: grid.allocated_entry(codec, "encode")),
        (Column("alloc bytes dec", "beside"), lambda codec: grid.allocated_entry(codec, "decode")),
        (Column("peak enc", "beside"), lambda codec: grid.peak_entry(codec, "encode")),
        (Column("peak dec", "beside"), lambda codec: grid.peak_entry(codec, "decode")),
        (Column("blocks", "beside"), lambda codec: grid.blocks_entry(codec, "decode")),
    ]
    columns += [(Column(title, "variants"), cost_maker(grid, name)) for name, title in VARIANT_COLUMNS.items()]
    columns += [
        (Column("encode fresh malloc", "fresh"), lambda codec: grid.fresh_entry(codec, "encode")),
        (Column("decode fresh malloc", "fresh"), lambda codec: grid.fresh_entry(codec, "decode")),
    ]
    return table_of("", grid, columns)


def ledger_table(grid: Grid, fused: frozenset[str]) -> Table | None:
    """The parts of encode and decode, each with its share of the whole, or "fused"; and both without their guards."""

    def maker(part: str, whole: str) -> Maker:
        def entry(codec: str) -> Entry:
            cost, total = grid.cost(codec, part), grid.cost(codec, whole)
            if cost is None:
                found = grid.cost_entry(codec, part)
                return Entry("fused", emphasis="muted") if found == ABSENT and codec in fused else found
            share = f"{100 * cost / total:.0f}%" if total is not None and total > 0 and 0 < cost <= total else ""
            return Entry(duration_text(cost), share, grid.marks(grid.cells[codec, part]), value=cost)

        return entry

    columns = [(Column(part, "parts"), maker(part, whole)) for part, whole in PART_COLUMNS.items()]
    columns += [(Column(title, "bare"), cost_maker(grid, name)) for name, title in BARE_COLUMNS.items()]
    return table_of("Ledger: where the cost goes, with the share of encode or decode", grid, columns)


def memory_table(grid: Grid) -> Table | None:
    """Bytes allocated per byte on the wire, aliases and copies, and what results keep alive."""

    def copies_maker(operation: str) -> Maker:
        return lambda codec: grid.copies_entry(codec, operation)

    def holds_maker(operation: str) -> Maker:
        return lambda codec: grid.holds_entry(codec, operation)

    columns = [(Column(TITLES[name], group), copies_maker(name)) for name, group in COPY_OPERATIONS.items()]
    columns += [(Column(title, "holds"), holds_maker(name)) for name, title in HOLDING.items()]
    return table_of(
        "Memory: bytes allocated per byte on the wire, and what becomes of the payload's bytes", grid, columns
    )


def latency_table(grid: Grid) -> Table | None:
    """p50 to max of encode and decode, every sample; and what the collector has to do with them, where it was taken."""

    def maker(operation: str, name: str) -> Maker:
        return lambda codec: grid.quantile_entry(codec, operation, name)

    columns: list[tuple[Column, Maker]] = []
    for operation, short in (("encode", "enc"), ("decode", "dec")):
        cells = grid.column(operation)
        if any(cell.latency is not None for cell in cells):
            columns += [(Column(f"{short} {QUANTILES[name]}", operation), maker(operation, name)) for name in QUANTILES]
        if any(cell.gc is not None and cell.gc.struck is not None for cell in cells):
            columns.append((Column(f"{short} p99.9 no GC", operation), _free_maker(grid, operation)))
        if any(cell.retained is not None for cell in cells):
            columns += _retained_columns(grid, operation, short)
    return table_of("Latency: every sample, the collector running", grid, columns, drop=False)


def _free_maker(grid: Grid, operation: str) -> Maker:
    return lambda codec: grid.free_entry(codec, operation)


def _retained_columns(grid: Grid, operation: str, short: str) -> list[tuple[Column, Maker]]:
    return [
        (Column(f"{short} kept p99", operation), lambda codec: grid.retained_entry(codec, operation, "p99")),
        (Column(f"{short} kept p99.9", operation), lambda codec: grid.retained_entry(codec, operation, "p999")),
        (Column(f"{short} kept GC", operation), lambda codec: grid.retained_share_entry(codec, operation)),
    ]


def baseline_table(result: Result) -> Table | None:
    """The empty operation, ``struct`` and memcpy: what no codec can beat on this machine."""
    cells = {cell.operation: cell for cell in result.cells if cell.codec == BASELINE and cell.status == "ok"}
    order = [*(name for name in BASELINE_ROWS if name in cells), *(name for name in cells if name not in BASELINE_ROWS)]
    if not order:
        return None
    grid = Grid("-", {(name, "cost"): cells[name] for name in order})
    rows = []
    for name in order:
        cost = cells[name].cost
        first = (
            Entry(duration_text(cost.p10_ns), marks=grid.marks(cells[name]), value=cost.p10_ns)
            if cost is not None
            else NOT_TAKEN
        )
        tail = (grid.quantile_entry(name, "cost", quantile) for quantile in QUANTILES)
        rows.append((Entry(one_line(BASELINE_ROWS.get(name, name))), first, *tail))
    titles = (Column("baseline", align="left"), Column("cost"), *map(Column, QUANTILES.values()))
    return Table("", titles, tuple(rows))
