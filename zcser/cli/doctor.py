"""``zcser doctor``: how small a change this machine can see now, and what to mend.

1. The exit code is 1 where a change of `GOAL` would not be seen with as many processes a side as a full run has.
2. With ``--json`` standard output is one JSON object and nothing else.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator

from zcser.cli.screen import screen
from zcser.cli.streams import width
from zcser.core.units import duration_text
from zcser.measure.doctor import SIDES, Diagnosis, Variation, diagnose, smallest_change
from zcser.measure.jsonform import to_json
from zcser.report.model import Column, Entry, Table
from zcser.report.plain import hanging

__all__ = ["run"]

GOAL = 0.05

INDENT = 6


def run(arguments: argparse.Namespace) -> int:
    """Measure, judge and print: 0 where 5% is seen, else 1."""
    try:
        found = diagnose(arguments.pin, arguments.numa, _tell)
    finally:
        _clear()
    if arguments.json:
        print(json.dumps(to_json(found), allow_nan=False, indent=2))
    else:
        _show(found)
    return 0 if _seen(found) <= GOAL else 1


def _seen(found: Diagnosis) -> float:
    return found.smallest_change[str(SIDES[-1])]


def _tell(done: int, pairs: int) -> None:
    if sys.stderr.isatty():
        print(f"\rA/A check: pair {done + 1} of {pairs}", end="", file=sys.stderr, flush=True)


def _clear() -> None:
    if sys.stderr.isatty():
        print(f"\r{' ' * 40}\r", end="", file=sys.stderr, flush=True)


def _show(found: Diagnosis) -> None:
    out = screen()
    out.line(
        f"A/A check: two groups of {found.processes} fresh processes each, by turns, the same code in both; "
        f"{found.wall_s:.0f} s"
    )
    out.line()
    out.table(_cells_table(found.cells))
    out.line()
    for line in _explained(found):
        out.line(line)
    for finding in found.findings:
        out.line()
        for line in hanging(finding.severity, f"{finding.name}: {finding.seen}; {finding.why}", INDENT, width()):
            out.line(line)
        # Unwrapped, so that a command can be copied.
        out.line(f"{'':{INDENT}}mend: {finding.advice}")
    if found.unknown:
        out.line()
        out.line(f"not visible here, so not judged: {', '.join(found.unknown)}")
    out.line()
    out.line(_verdict(found))


def _cells_table(cells: tuple[Variation, ...]) -> Table:
    columns = ("p10", "varies by", "A/A ratio", "95% interval", *(f"sees at {side}" for side in SIDES))
    rows = tuple(
        (
            Entry(" ".join(part for part in (cell.payload, cell.codec, cell.operation) if part != "-")),
            Entry(duration_text(cell.p10_ns)),
            Entry(_percent(cell.sd)),
            Entry(f"{cell.ratio:.3f}"),
            Entry(f"{cell.low:.3f} to {cell.high:.3f}"),
            *(Entry(_percent(smallest_change(cell.sd, side))) for side in SIDES),
        )
        for cell in cells
    )
    return Table("", (Column("cell", align="left"), *map(Column, columns)), rows)


def _explained(found: Diagnosis) -> Iterator[str]:
    yield "varies by: standard deviation of ln(p10 of clean batches) between processes of one group"
    yield "A/A ratio: of the groups' geometric means; its interval misses 1 in one cell of 20 by chance"
    yield f"sees at n: smallest change seen with n processes a side, {found.formula}:"
    yield "           5% false alarms, 90% power, one cell; a gate over many cells sees less"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _verdict(found: Diagnosis) -> str:
    least, full = (found.smallest_change[str(side)] for side in SIDES)
    judged = "" if full <= GOAL else f"; {GOAL:.0%} would go unseen"
    return (
        f"Processes vary by {_percent(found.sd)}: this machine now sees changes from {_percent(least)} on with {SIDES[0]} "
        f"processes a side, and from {_percent(full)} on with {SIDES[1]}{judged}."
    )
