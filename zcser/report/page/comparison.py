"""Several runs beside each other: what differs in how they were made, and each cost against that of the first run.

1. A ratio is given only of what was measured alike: the same data, timed boundary, timer and estimator. What was not is
   shown without one, and a notice says why.
2. A difference is claimed where `zcser.measure.stats.compare` shows one; all else is a tie. On another machine it tells of the
   machine as much as of the code.
3. Two runs agree on the order of two codecs where none tells them apart the other way round.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from zcser.core.units import bytes_text, duration_text, ratio_text
from zcser.measure.env import python_name
from zcser.measure.result import Cell, PayloadRecord, Result
from zcser.measure.stats import compare
from zcser.report.cells import Grid, grid_of
from zcser.report.document import payload_names
from zcser.report.markup import Child, Html, name, plain_name, tag
from zcser.report.model import ABSENT, NOT_TAKEN, Column, Entry, Table
from zcser.report.page.tables import figures, simple
from zcser.report.tables import COST_COLUMNS

__all__ = ["Labelled", "comparison"]

Labelled = tuple[str, Result]
"""A run and what the page calls it."""


def comparison(runs: Sequence[Labelled]) -> Iterator[Child]:
    """What follows the heading of the section; at least two runs."""
    yield _facts(runs)
    (first_label, first), *others = runs
    for label, other in others:
        for reason in _ways(first, other):
            yield tag(
                "p", name(label), f" and {plain_name(first_label)} are not compared in time: {reason}.", class_="notice"
            )
    shared = [payload for payload in payload_names(first) if any(payload in payload_names(one) for _, one in others)]
    if not shared:
        yield tag(
            "p", "No payload is in the first run and in another one, so that no figures can be set beside each other."
        )
    for number, payload in enumerate(shared):
        yield from _payload(number, payload, runs)


def _facts(runs: Sequence[Labelled]) -> Html:
    """A row for each circumstance, and whether it differs."""
    rows = []
    facts = [dict(_circumstances(result)) for _, result in runs]
    for what in dict.fromkeys(itertools.chain.from_iterable(facts)):
        values = [one.get(what, "-") for one in facts]
        same = len(set(values)) == 1
        rows.append([what, *values, tag("span", "same", class_="quiet") if same else tag("strong", "differs")])
    titles = ["", *(plain_name(label) for label, _ in runs), ""]
    return simple("comparison-facts", "How these runs were made", titles, rows, words=True)


def _circumstances(result: Result) -> Iterator[tuple[str, str]]:
    env = result.environment
    yield "measured", result.created
    yield "zcser", f"{result.tool.name} {result.tool.version}"
    yield "preset", f"{result.preset}, {result.settings.rounds} processes a codec"
    yield "complete", "yes" if result.complete else "no: it was interrupted"
    yield "processor", f"{env.cpu}, {env.cores} cores"
    yield "system", f"{env.kernel}, {env.libc}, governor {env.governor or 'unknown'}, clock {env.clock}"
    yield "Python", python_name(env.python)
    for library, version in env.libraries.items():
        yield plain_name(library), version


def _ways(first: Result, other: Result) -> list[str]:
    """Why no time of one run can be set against one of the other."""
    ways = (
        ("the timers differ", first.method.timer, other.method.timer),
        ("cost is estimated in different ways", first.method.cost, other.method.cost),
        ("what is freed inside the timed window differs", first.method.freeing, other.method.freeing),
    )
    return [why for why, mine, its in ways if mine != its]


def _payload(number: int, payload: str, runs: Sequence[Labelled]) -> Iterator[Child]:
    grids = [grid_of(result, payload) for _, result in runs]
    yield tag("h3", name(payload))
    records = [_record(result, payload) for _, result in runs]
    for (label, _), record in zip(runs[1:], records[1:], strict=True):
        if record is not None and records[0] is not None and not _same_data(records[0], record):
            yield tag(
                "p", name(label), " has other data under this name, so that nothing of it is compared.", class_="notice"
            )
    table = _table(payload, runs, grids)
    if table is not None:
        yield figures(f"comparison-{number}", table.title, table)
    yield from _orders(runs, grids)


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
            for place, (label, _) in enumerate(runs):
                columns.append(Column(f"{title}, {plain_name(label)}", operation))
                entries.append([_cost(payload, codec, operation, runs, place) for codec in codecs])
    for grid, (label, _) in zip(grids, runs, strict=True):
        columns.append(Column(f"size, {plain_name(label)}", "size"))
        entries.append([_size(grid.cells.get((codec, "encode"))) for codec in codecs])
    if not codecs:
        return None
    rows = tuple((Entry(codec), *(column[row] for column in entries)) for row, codec in enumerate(codecs))
    title = f"{payload}: cost in each run; slower and faster are said of the first run"
    return Table(title, (Column("codec", align="left"), *columns), rows)


def _size(cell: Cell | None) -> Entry:
    if cell is None or cell.size is None:
        return ABSENT
    return Entry(bytes_text(cell.size.wire_bytes), value=cell.size.wire_bytes)


def _cost(payload: str, codec: str, operation: str, runs: Sequence[Labelled], place: int) -> Entry:
    cell, first = (result.cell(payload, codec, operation) for _, result in (runs[place], runs[0]))
    if cell is None or cell.status != "ok" or cell.cost is None:
        return (
            NOT_TAKEN if cell is None or cell.status == "ok" else ABSENT if cell.status == "unsupported" else _bad(cell)
        )
    shown = Entry(duration_text(cell.cost.p10_ns), value=cell.cost.p10_ns)
    if place == 0 or first is None or first.cost is None or not _alike(payload, operation, runs[0][1], runs[place][1]):
        return shown
    relation = compare(cell.cost, first.cost)
    if relation == "tie" or cell.encoded_by != first.encoded_by:
        # No difference is shown: it is not to catch the eye.
        word = "tie" if relation == "tie" else "other writer"
        return Entry(shown.text, word, emphasis="muted", value=shown.value)
    more, less = (cell.cost, first.cost) if relation == "more" else (first.cost, cell.cost)
    ratio = ratio_text(more.p10_ns / less.p10_ns) if less.p10_ns > 0 else "?"
    return Entry(shown.text, f"{'slower' if relation == 'more' else 'faster'} {ratio}", value=shown.value)


def _bad(cell: Cell) -> Entry:
    return Entry(cell.status, emphasis="bad")


def _alike(payload: str, operation: str, first: Result, other: Result) -> bool:
    records = _record(first, payload), _record(other, payload)
    same = records[0] is None or records[1] is None or _same_data(records[0], records[1])
    boundaries = (one.method.boundaries.get(operation) for one in (first, other))
    return same and not _ways(first, other) and len(set(boundaries)) == 1


def _orders(runs: Sequence[Labelled], grids: Sequence[Grid]) -> Iterator[Html]:
    """For each run after the first: how often it orders two codecs as the first does."""
    lines = []
    for (label, _), grid in zip(runs[1:], grids[1:], strict=True):
        told, turned = _agreement(grids[0], grid)
        if told:
            agree = f"{told - len(turned)} of {told} pairs of codecs that both tell apart are in the same order"
            lines.append([name(label), f": {agree}", f"; turned round: {', '.join(turned[:6])}" if turned else ""])
    if lines:
        yield tag("ul", [tag("li", line) for line in lines], class_="notes")


def _agreement(first: Grid, other: Grid) -> tuple[int, list[str]]:
    """Pairs of codecs, over the main operations, that both runs tell apart; and those that they order differently."""
    told, turned = 0, []
    for operation in COST_COLUMNS:
        for left, right in itertools.combinations(first.codecs, 2):
            relations = [_relation(grid, left, right, operation) for grid in (first, other)]
            if None not in relations and "tie" not in relations:
                told += 1
                if relations[0] != relations[1]:
                    turned.append(f"{plain_name(left)} and {plain_name(right)} ({operation})")
    return told, turned


def _relation(grid: Grid, left: str, right: str, operation: str) -> str | None:
    costs = [grid.cells[codec, operation].cost for codec in (left, right) if grid.cost(codec, operation) is not None]
    first, second = costs if len(costs) == 2 else (None, None)
    return None if first is None or second is None else compare(first, second)
