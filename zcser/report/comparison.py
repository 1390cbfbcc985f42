"""Several runs beside each other: what differs in how they were made, and each cost against that of the first run.

1. A ratio is given only of what was measured alike: the same data, timed boundary, timer and estimator. What was not is
   shown without one, and a notice says why.
2. A difference is claimed where `zcser.measure.stats.compare` shows one; all else is a tie. On another machine it tells of the
   machine as much as of the code.
3. Two runs agree on the order of two codecs where none tells them apart the other way round.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

from zcser.core.units import bytes_text, duration_text, ratio_text
from zcser.measure.baseline import CODEC as BASELINE
from zcser.measure.env import python_name
from zcser.measure.result import Cell, PayloadRecord, Result
from zcser.measure.stats import compare
from zcser.report.cells import Grid, grid_of
from zcser.report.document import payload_names
from zcser.report.model import ABSENT, NOT_TAKEN, Column, Document, Entry, Section, Table, one_line
from zcser.report.sentence import verdict
from zcser.report.tables import COST_COLUMNS

__all__ = ["Labelled", "comparison_document"]

Labelled = tuple[str, Result]
"""A run and what the report calls it."""

SAME = Entry("same", emphasis="muted")
DIFFERS = Entry("differs")
TURNED_SHOWN = 6


def comparison_document(runs: Sequence[Labelled]) -> Document:
    """The report of two runs at least: how they were made, then a section of each payload that the first shares.

    Each run's own sentence is a note of the first section; the verdict counts what differs.
    """
    runs = [(one_line(label), result) for label, result in runs]
    (first_label, first), *others = runs
    notices = [
        f"{label} and {first_label} are not compared in time: {reason}"
        for label, other in others
        for reason in _ways(first, other)
    ]
    shared = [payload for payload in payload_names(first) if any(payload in payload_names(one) for _, one in others)]
    if not shared:
        notices.append(
            "no payload is in the first run and in another one, so that no figures can be set beside each other"
        )
    made = Section(
        "How these runs were made",
        "",
        (_facts(runs),),
        notes=tuple(f"{label}: {verdict(result)}" for label, result in runs),
    )
    return Document(
        title=f"zcser report: {len(runs)} runs compared",
        sections=(made, *(_section(payload, runs) for payload in shared)),
        baselines=None,
        legend=(),
        notices=tuple(notices),
        verdict=" ".join(_count(runs[0], run) for run in others),
    )


def _facts(runs: Sequence[Labelled]) -> Table:
    """A row for each circumstance, and whether it differs."""
    rows = []
    facts = [dict(_circumstances(result)) for _, result in runs]
    for what in dict.fromkeys(itertools.chain.from_iterable(facts)):
        values = [one.get(what, "-") for one in facts]
        said = SAME if len(set(values)) == 1 else DIFFERS
        rows.append((Entry(what), *map(Entry, values), said))
    titles = ("", *(label for label, _ in runs), "")
    return Table("", tuple(Column(title, align="left") for title in titles), tuple(rows))


def _circumstances(result: Result) -> Iterator[tuple[str, str]]:
    env = result.environment
    yield "measured", one_line(result.created)
    yield "zcser", one_line(f"{result.tool.name} {result.tool.version}")
    yield "preset", one_line(f"{result.preset}, {result.settings.rounds} processes a codec")
    yield "complete", "yes" if result.complete else "no: it was interrupted"
    yield "processor", one_line(f"{env.cpu}, {env.cores} cores")
    yield "system", one_line(f"{env.kernel}, {env.libc}")
    yield "clock", one_line(f"{env.clock}, governor {env.governor or 'unknown'}")
    yield "Python", one_line(python_name(env.python))
    for library, version in env.libraries.items():
        yield one_line(library), one_line(version)


def _ways(first: Result, other: Result) -> list[str]:
    """Why no time of one run can be set against one of the other."""
    ways = (
        ("the timers differ", first.method.timer, other.method.timer),
        ("cost is estimated in different ways", first.method.cost, other.method.cost),
        ("what is freed inside the timed window differs", first.method.freeing, other.method.freeing),
    )
    return [why for why, mine, its in ways if mine != its]


def _section(payload: str, runs: Sequence[Labelled]) -> Section:
    grids = [grid_of(result, payload) for _, result in runs]
    records = [_record(result, payload) for _, result in runs]
    notes = [
        f"{label} has other data under this name, so that nothing of it is compared"
        for (label, _), record in zip(runs[1:], records[1:], strict=True)
        if record is not None and records[0] is not None and not _same_data(records[0], record)
    ]
    table = _table(payload, runs, grids)
    notes += _orders(runs, grids)
    return Section(one_line(payload), "", () if table is None else (table,), notes=tuple(notes))


def _record(result: Result, payload: str) -> PayloadRecord | None:
    return next((record for record in result.payloads if record.name == payload), None)


def _same_data(first: PayloadRecord, other: PayloadRecord) -> bool:
    told = None not in (first.data_fingerprint, other.data_fingerprint)
    return first.fingerprint == other.fingerprint and (not told or first.data_fingerprint == other.data_fingerprint)


def _table(payload: str, runs: Sequence[Labelled], grids: Sequence[Grid]) -> Table | None:
    codecs = list(dict.fromkeys(codec for grid in grids for codec in grid.codecs))
    columns, entries = [], []
    for operation, title in COST_COLUMNS.items():
        if any(grid.cost(codec, operation) is not None for grid in grids for codec in codecs):
            keys = [(codec, operation) for codec in codecs]
            for (label, result), grid in zip(runs, grids, strict=True):
                its = {} if grid is grids[0] else grids[0].cells
                columns.append(Column(f"{title}, {label}", operation))
                entries.append([_cost(grid.cells.get(key), its.get(key), runs[0][1], result) for key in keys])
    for grid, (label, _) in zip(grids, runs, strict=True):
        columns.append(Column(f"size, {label}", "size"))
        entries.append([_size(grid.cells.get((codec, "encode"))) for codec in codecs])
    if not codecs:
        return None
    rows = tuple((Entry(one_line(codec)), *(column[row] for column in entries)) for row, codec in enumerate(codecs))
    title = f"{one_line(payload)}: cost in each run; slower and faster are said of the first run"
    return Table(title, (Column("codec", align="left"), *columns), rows)


def _size(cell: Cell | None) -> Entry:
    if cell is None or cell.size is None:
        return ABSENT
    return Entry(bytes_text(cell.size.wire_bytes), value=cell.size.wire_bytes)


def _cost(cell: Cell | None, its: Cell | None, first: Result, other: Result) -> Entry:
    """What stands for a cell; `its` is the same one of the first run, None in that run itself."""
    if cell is None or cell.status != "ok" or cell.cost is None:
        return (
            NOT_TAKEN if cell is None or cell.status == "ok" else ABSENT if cell.status == "unsupported" else _bad(cell)
        )
    shown = Entry(duration_text(cell.cost.p10_ns), value=cell.cost.p10_ns)
    relation = None if its is None else _against(its, cell, first, other)
    if relation is None or its is None or its.cost is None:
        return shown
    if relation in ("tie", "other writer"):
        # No difference is shown: it is not to catch the eye.
        return Entry(shown.text, relation, emphasis="muted", value=shown.value)
    more, less = (cell.cost, its.cost) if relation == "slower" else (its.cost, cell.cost)
    ratio = ratio_text(more.p10_ns / less.p10_ns) if less.p10_ns > 0 else "?"
    return Entry(shown.text, f"{relation} {ratio}", value=shown.value)


def _bad(cell: Cell) -> Entry:
    return Entry(one_line(cell.status), emphasis="bad")


def _against(its: Cell, cell: Cell, first: Result, other: Result) -> str | None:
    """How a cell of the other run stands to the same one of the first; None where the two cannot be compared."""
    if its.cost is None or cell.cost is None or {its.status, cell.status} != {"ok"}:
        return None
    if not _alike(cell.payload, cell.operation, first, other):
        return None
    relation = compare(cell.cost, its.cost)
    if relation != "tie" and cell.encoded_by != its.encoded_by:
        return "other writer"
    return {"more": "slower", "less": "faster", "tie": "tie"}[relation]


def _alike(payload: str, operation: str, first: Result, other: Result) -> bool:
    records = _record(first, payload), _record(other, payload)
    same = records[0] is None or records[1] is None or _same_data(records[0], records[1])
    boundaries = (one.method.boundaries.get(operation) for one in (first, other))
    return same and not _ways(first, other) and len(set(boundaries)) == 1


def _count(first: Labelled, other: Labelled) -> str:
    """One sentence on all costs of two runs, whichever table they stand in."""
    known = {(cell.payload, cell.codec, cell.operation): cell for cell in first[1].cells}
    counts: Counter[str | None] = Counter()
    for cell in other[1].cells:
        its = known.get((cell.payload, cell.codec, cell.operation))
        if its is not None and cell.codec != BASELINE and "derived" not in cell.flags:
            counts[_against(its, cell, first[1], other[1])] += 1
    compared = {word: counts[word] for word in ("tie", "faster", "slower")}
    if not any(compared.values()):
        return f"{other[0]} against {first[0]}: no two costs can be compared."
    tied, lower, higher = (f"{count:,}" for count in compared.values())
    return f"{other[0]} against {first[0]}, by costs: {tied} tied, {lower} lower, {higher} higher."


def _orders(runs: Sequence[Labelled], grids: Sequence[Grid]) -> list[str]:
    """For each run after the first: how often it orders two codecs as the first does."""
    lines = []
    for (label, _), grid in zip(runs[1:], grids[1:], strict=True):
        told, turned = _agreement(grids[0], grid)
        if told:
            agree = f"{told - len(turned)} of {told} pairs of codecs that both tell apart are in the same order"
            lines.append(f"{label}: {agree}{'; turned round: ' if turned else ''}{', '.join(turned[:TURNED_SHOWN])}")
    return lines


def _agreement(first: Grid, other: Grid) -> tuple[int, list[str]]:
    """Pairs of codecs, over the main operations, that both runs tell apart; and those that they order differently."""
    told, turned = 0, []
    for operation in COST_COLUMNS:
        for left, right in itertools.combinations(first.codecs, 2):
            relations = [_relation(grid, left, right, operation) for grid in (first, other)]
            if None not in relations and "tie" not in relations:
                told += 1
                if relations[0] != relations[1]:
                    turned.append(f"{one_line(left)} and {one_line(right)} ({operation})")
    return told, turned


def _relation(grid: Grid, left: str, right: str, operation: str) -> str | None:
    costs = [grid.cells[codec, operation].cost for codec in (left, right) if grid.cost(codec, operation) is not None]
    first, second = costs if len(costs) == 2 else (None, None)
    return None if first is None or second is None else compare(first, second)
