"""``zcser evolve``: what changed between two schemas, and whether it is safe in each codec, by running it.

Exit code 1 where a codec is unsafe, so that a repository's schemas can be guarded in CI.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from zcser import registry
from zcser.cli.errors import UsageError
from zcser.cli.screen import screen
from zcser.cli.sources import schema_from
from zcser.core.errors import CodecUnavailableError
from zcser.evolution import Change, CodecReport, Direction, Evolution, Outcome, Tally, Verdict, evolve
from zcser.evolution.pairs import matched_by
from zcser.payloads.sources import schemas
from zcser.report.model import ABSENT, Column, Emphasis, Entry, Table, one_line
from zcser.schema.model import Schema

__all__ = ["run"]

_SCHEMA_KEY = re.compile(r'\s*\{\s*"(zcser|\$schema)"\s*:')

_EMPHASIS: dict[Verdict, Emphasis] = {Verdict.UNSAFE: "bad", Verdict.SAFE: "best", Verdict.NOT_CARRIED: "muted"}


def run(arguments: argparse.Namespace) -> int:
    """Print the changes, a line per codec and the reasons; 1 where a codec is unsafe."""
    allow = [_outcome(name) for name in arguments.allow or ()]
    old, new = (_schema(source, arguments.include) for source in (arguments.old, arguments.new))
    found = evolve(old, new, codecs=arguments.codecs, allow=allow)
    if arguments.codecs is not None:
        for report in found.codecs:
            if report.verdict is Verdict.NOT_CARRIED:
                raise UsageError(f"--codecs: {report.codec} carries neither: {report.refusal}")
    if arguments.json is not None:
        text = json.dumps(found.to_json(), indent=2)
        Path(arguments.json).write_text(f"{text}\n", encoding="utf-8", newline="\n")
    _show(found, missing=arguments.codecs is None)
    return 1 if found.unsafe else 0


def _schema(source: str, include: list[str]) -> Schema:
    """The schema of a source; a ``.json`` file whose first key is one of schemas is a schema, else it is data."""
    path = Path(source)
    if path.suffix.lower() == ".json" and path.is_file():
        with path.open(encoding="utf-8", errors="replace") as file:
            if _SCHEMA_KEY.match(file.read(1000)):
                return schemas.load(source)
    return schema_from(argparse.Namespace(source=[source], schema=None, include=include, delimited=False))


def _outcome(name: str) -> Outcome:
    try:
        return Outcome(name)
    except ValueError:
        raise UsageError(f"--allow: an outcome is {', '.join(Outcome)}, not {name!r}") from None


def _show(found: Evolution, *, missing: bool) -> None:
    out = screen()
    for change in found.changes:
        out.line(one_line(str(change)))
    if not found.changes:
        out.line("nothing changed")
    out.line()
    out.table(_table(found.codecs))
    for names, report in _alike(found.codecs):
        lines = list(_reasons(report))
        if lines:
            out.line()
            out.line(f"{', '.join(names)}:")
        for line in lines:
            out.line(f"  {one_line(line)}")
    if missing:
        for error in registry.available().values():
            if isinstance(error, CodecUnavailableError):
                out.line(one_line(str(error)))
    out.line()
    out.line(_verdict(found))


def _table(reports: Iterable[CodecReport]) -> Table:
    columns = (
        Column("codec", align="left"),
        Column("fields by", align="left"),
        Column("verdict", align="left"),
        *(Column(str(direction), align="left") for direction in Direction),
    )
    rows = tuple(
        (
            Entry(report.codec),
            Entry(matched_by(report.codec)),
            Entry(str(report.verdict), emphasis=_EMPHASIS.get(report.verdict, "plain")),
            *(Entry(str(report.whole[way])) if way in report.whole else ABSENT for way in Direction),
        )
        for report in reports
    )
    return Table("", columns, rows)


def _alike(reports: Iterable[CodecReport]) -> list[tuple[list[str], CodecReport]]:
    """Codecs in which the same happened, and the report of the first of them."""
    groups: dict[tuple[object, ...], list[CodecReport]] = defaultdict(list)
    for report in reports:
        key = [(change, *map(str, tallies.values())) for change, tallies in report.changes]
        groups[report.verdict, report.refusal, *key].append(report)
    return [([report.codec for report in same], same[0]) for same in groups.values()]


def _reasons(report: CodecReport) -> Iterator[str]:
    """One line for each direction of a change in which not all went as it is meant."""
    if report.refusal:
        yield report.refusal
    for change, tallies in report.changes:
        for direction, tally in tallies.items():
            if not tally.allowed(()):
                others = ", with the other changes" if change in report.together else ""
                yield f"{_named(change)}: {direction}{others}: {tally}{_because(tally)}"


def _named(change: Change) -> str:
    return f"{change.path or 'the root'} {change.kind}"


def _because(tally: Tally) -> str:
    return f" ({tally.worst.reason})" if tally.worst is not None and tally.worst.reason else ""


def _verdict(found: Evolution) -> str:
    """The last line."""
    words = []
    for verdict in Verdict:
        names = [report.codec for report in found.codecs if report.verdict is verdict]
        if names:
            words.append(f"{verdict}: {', '.join(names)}")
    return f"{'; '.join(words)}." if words else "no codec."
