"""A result as one neutral document, which every exporter renders."""

from __future__ import annotations

from zcser.core.units import bytes_text, ratio_text
from zcser.measure.baseline import CODEC as BASELINE
from zcser.measure.result import PayloadRecord, Result
from zcser.measure.stats import compare
from zcser.report.cells import Grid, flag_text, grid_of, reasons
from zcser.report.distribution import distribution_table
from zcser.report.group_tables import composite_table, partial_table, reads_note, sizes_table
from zcser.report.legend import legend_of
from zcser.report.model import Document, Section, Table, one_line
from zcser.report.sentence import verdict
from zcser.report.tables import baseline_table, latency_table, ledger_table, main_table, memory_table

__all__ = ["document_of", "payload_names"]

NOTES_SHOWN = 3
NOTEWORTHY = ("normalised", "repeated keys")


def document_of(
    result: Result,
    *,
    ledger: bool = True,
    memory: bool = False,
    latency: bool = True,
    distribution: bool = False,
) -> Document:
    """The report of a result.

    Parameters
    ----------
    result
        A whole run or an interrupted one.
    ledger, memory, latency
        Whether each payload's section has these tables; the main table is always there.
    distribution
        Whether the latencies are also drawn, as lines of characters: for screens, whose characters have one width.
    """
    fused = frozenset(codec.name for codec in result.codecs if codec.fused)
    records = {record.name: record for record in result.payloads}
    names = payload_names(result)
    sections = []
    for name in names:
        grid = grid_of(result, name)
        main = main_table(grid)
        tables = [
            main,
            partial_table(grid, records.get(name)),
            sizes_table(grid),
            composite_table(grid),
            # Whoever measured nothing else wants to see it.
            ledger_table(grid, fused) if ledger or main is None else None,
            memory_table(grid) if memory else None,
            latency_table(grid) if latency else None,
            distribution_table(grid) if distribution else None,
        ]
        sections.append(_section(grid, records.get(name), tuple(table for table in tables if table is not None)))
    shown = [table for section in sections for table in section.tables]
    return Document(
        title=_title(result, len(names)),
        sections=tuple(sections),
        baselines=baseline_table(result),
        legend=legend_of(result, shown),
        notices=_notices(result),
        verdict=verdict(result),
    )


def payload_names(result: Result) -> tuple[str, ...]:
    """The payloads that a report has a section of, in its order."""
    names = [
        *(record.name for record in result.payloads),
        *(cell.payload for cell in result.cells if cell.codec != BASELINE),
    ]
    return tuple(dict.fromkeys(names))


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _origin(record: PayloadRecord) -> str:
    # A run of derived cells alone rotated nothing that it knows of.
    return f"{_counted(record.values, 'distinct value')}, {record.source}" if record.values else record.source


def _title(result: Result, payloads: int) -> str:
    return f"zcser compare, {result.preset}: {_counted(len(result.codecs), 'codec')} on {_counted(payloads, 'payload')}"


def _section(grid: Grid, record: PayloadRecord | None, tables: tuple[Table, ...]) -> Section:
    subtitle = "" if record is None else f"{record.doc} ({_origin(record)})"
    problems = reasons(list(grid.cells.values()))
    if not tables and not problems:
        problems = ("nothing was measured",)
    notes = [f"all figures here: {flag_text(flag)}" for flag in grid.shared_flags]
    writers = {cell.codec: cell.encoded_by for cell in grid.cells.values() if cell.encoded_by is not None}
    notes += [f"{one_line(codec)} reads what {one_line(writer)} wrote" for codec, writer in writers.items()]
    notes += _views_that_lose(grid)
    notes += reads_note(grid, record)
    notes += _too_large_for_grpc(grid)
    if record is not None:
        # What changed the data comes before what only describes it.
        inferred = sorted(record.notes, key=lambda note: not any(word in note for word in NOTEWORTHY))
        notes += inferred[:NOTES_SHOWN]
        if len(inferred) > NOTES_SHOWN:
            notes.append(f"{len(inferred) - NOTES_SHOWN} more notes on the schema: zcser schema {record.source}")
    return Section(one_line(grid.payload), one_line(subtitle), tables, problems, tuple(map(one_line, notes)))


def _views_that_lose(grid: Grid) -> list[str]:
    """One line on the codecs whose view is slower than their decode where all of a message is read."""
    found = []
    for codec in grid.codecs:
        decode, touch = (grid.cells.get((codec, operation)) for operation in ("decode", "touch-all"))
        if decode is None or touch is None or any(flag.startswith("same-as:") for flag in touch.flags):
            continue
        if decode.cost is not None and touch.cost is not None and compare(decode.cost, touch.cost) == "less":
            found.append(f"{one_line(codec)} {ratio_text(touch.cost.p10_ns / decode.cost.p10_ns)}")
    if not found:
        return []
    return [
        f"decode is faster than the view where all of a message is read; the view takes of its time: {', '.join(found)}"
    ]


GRPC_BYTES = 4 << 20
"""The largest message that gRPC receives unless it is told otherwise, on either side: one byte more is RESOURCE_EXHAUSTED."""


def _too_large_for_grpc(grid: Grid) -> list[str]:
    """One line on the codecs whose largest message passes gRPC's bound, of which a sender is told nothing."""
    found = {
        cell.codec: bytes_text(cell.size.max)
        for cell in grid.cells.values()
        if cell.operation == "encode" and cell.size is not None and cell.size.max > GRPC_BYTES
    }
    if not found:
        return []
    codecs = ", ".join(f"{one_line(codec)} {size}" for codec, size in found.items())
    return [
        f"over 4 MiB, the largest message that gRPC receives unless grpc.max_receive_message_length says more: {codecs}"
    ]


def _notices(result: Result) -> tuple[str, ...]:
    notices = [] if result.complete else ["interrupted: this is what was measured until then"]
    for missing in result.unavailable:
        how = missing.pip or missing.reason
        notices.append(one_line(f"not installed, so not compared: {missing.name} ({how})"))
    return tuple(notices)
