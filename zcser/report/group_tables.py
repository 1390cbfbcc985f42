"""The tables of what is measured on request: partial reads, sizes, composite tasks. None where nothing of it was measured."""

from __future__ import annotations

from zcser.core.units import bytes_text
from zcser.measure.composite import COMPOSITES
from zcser.measure.compression import COMPRESSORS
from zcser.measure.operations import GUARD
from zcser.measure.partial import READS
from zcser.measure.result import PayloadRecord
from zcser.report.cells import Grid
from zcser.report.model import NOT_TAKEN, Column, Entry, Table, one_line
from zcser.report.tables import TITLES, Maker, cost_maker, table_of

__all__ = ["GROUP_TITLES", "composite_table", "further_table", "partial_table", "reads_note", "sizes_table"]

READ_TITLES = {name: name.replace("-", " ") for name in READS}
COMPRESSION_TITLES = {
    f"{way}-{one.name}": f"{one.name} {way}" for one in COMPRESSORS for way in ("compress", "decompress")
}

GROUP_TITLES = {**READ_TITLES, **COMPRESSION_TITLES, **{name: name for name in COMPOSITES}}
"""Operation to the title of its column."""

MEMORY_TITLE = "in memory"


def partial_table(grid: Grid, record: PayloadRecord | None) -> Table | None:
    """What it costs to read one leaf, two, a tenth and all, each ranked by itself; so the lead changes where formats break even."""
    columns: list[tuple[Column, Maker]] = [
        (Column(title, "unverified" if name.endswith("unverified") else "verified"), cost_maker(grid, name))
        for name, title in READ_TITLES.items()
    ]
    counts = _counts(record)
    of = f", which are {', '.join(counts.values())} of {record.leaves:,}" if record is not None and counts else ""
    return table_of(f"Partial reads: from bytes to one leaf, two, a tenth and all{of}", grid, columns)


def reads_note(grid: Grid, record: PayloadRecord | None) -> list[str]:
    """One line that names, for each number of leaves, the codecs that read so many at the least cost."""
    found: dict[str, str] = {}
    for operation, count in _counts(record).items():
        ranking = grid.ranking(operation)
        if ranking.order:
            found.setdefault(count, " or ".join(one_line(one.codec) for one in ranking.leaders))
    if not found or record is None:
        return []
    parts = ", ".join(f"{count} {leaders}" for count, leaders in found.items())
    return [f"reading so many of {record.leaves:,} leaves costs least in: {parts}"]


def _counts(record: PayloadRecord | None) -> dict[str, str]:
    """Leaves by partial read, where they are known."""
    if record is None or record.leaves is None:
        return {}
    return {name: f"{read.leaves:,}" for name, read in record.reads.items() if name in READS}


def sizes_table(grid: Grid) -> Table | None:
    """Bytes on the wire, in memory and compressed, and what compressing costs."""
    if not any(grid.column(name) for name in COMPRESSION_TITLES):
        return None
    columns: list[tuple[Column, Maker]] = [
        (Column("size", "plain"), grid.size_entry),
        (Column(MEMORY_TITLE, "plain"), lambda codec: _memory_entry(grid, codec)),
    ]
    for one in COMPRESSORS:
        columns.append((Column(one.name, one.name), _packed_maker(grid, f"compress-{one.name}")))
        columns += [
            (Column(COMPRESSION_TITLES[name], one.name), cost_maker(grid, name))
            for name in (f"compress-{one.name}", f"decompress-{one.name}")
        ]
    return table_of("Sizes: on the wire, in memory, and compressed, with the share that is left", grid, columns)


def _memory_entry(grid: Grid, codec: str) -> Entry:
    cell = grid.cells.get((codec, "decode"))
    found = None if cell is None else cell.deep_size
    return NOT_TAKEN if found is None else Entry(bytes_text(found.memory_bytes), value=found.memory_bytes)


def _packed_maker(grid: Grid, operation: str) -> Maker:
    def entry(codec: str) -> Entry:
        cell = grid.cells.get((codec, operation))
        size = None if cell is None else cell.size
        if size is None:
            return grid.missing_entry(codec, operation) or NOT_TAKEN
        share = f"{100 * size.wire_bytes / size.plain_bytes:.0f}%" if size.plain_bytes else ""
        return Entry(bytes_text(size.wire_bytes), share, value=size.wire_bytes)

    return entry


def further_table(grid: Grid) -> Table | None:
    """The operations that no other table has: those of a newer writer, or of a hand."""
    names = dict.fromkeys(name for _, name in grid.cells if name not in {*TITLES, *GROUP_TITLES, GUARD})
    columns = [(Column(one_line(name) or "?", "further"), cost_maker(grid, name)) for name in names]
    return table_of("Operations that this version does not know", grid, columns)


def composite_table(grid: Grid) -> Table | None:
    """What it costs to pass messages on."""
    columns: list[tuple[Column, Maker]] = [(Column(name, "composite"), cost_maker(grid, name)) for name in COMPOSITES]
    return table_of("Composite tasks: messages passed on, gathered and sent to several", grid, columns)
