"""``zcser check``: which codecs refuse a schema, and why."""

from __future__ import annotations

import argparse

from zcser import payloads, registry
from zcser.cli.screen import screen
from zcser.cli.sources import schema_from, title_of
from zcser.core.errors import CodecUnavailableError
from zcser.report.model import Column, Entry, Table, one_line
from zcser.schema.model import Schema

__all__ = ["run"]

CARRIES = Entry("yes")
REFUSES = Entry("no", emphasis="bad")
UNKNOWN = Entry("?", emphasis="muted")


def run(arguments: argparse.Namespace) -> int:
    """Print a table of schema against codec, and each refusal below it."""
    if not arguments.source and arguments.schema is None:
        schemas = {name: payloads.get(name).schema for name in payloads.names()}
    else:
        schemas = {one_line(title_of(arguments)): schema_from(arguments)}
    names = registry.names()
    rows: list[tuple[Entry, ...]] = []
    refused: list[str] = []
    missing: dict[str, str] = {}
    for title, schema in schemas.items():
        found = {name: _checked(name, schema, missing) for name in names}
        rows.append((Entry(title), *(entry for entry, _ in found.values())))
        for name, (_, reasons) in found.items():
            refused += ["", f"{name} refuses {title}:", *(f"  {reason}" for reason in reasons)] if reasons else []
    out = screen()
    out.table(Table("", (Column("schema", align="left"), *map(Column, names)), tuple(rows)))
    for line in refused:
        out.line(line)
    if missing:
        out.line()
    for line in missing.values():
        out.line(one_line(line))
    return 0


def _checked(name: str, schema: Schema, missing: dict[str, str]) -> tuple[Entry, list[str]]:
    """A codec's entry and its refusals; one that is not installed goes into `missing`."""
    try:
        refusals = registry.check(name, schema)
    except CodecUnavailableError as error:
        missing[name] = str(error)
        return UNKNOWN, []
    reasons = [one_line(f"{path or 'the whole'}: {reason}") for path, reason in refusals]
    return (REFUSES if reasons else CARRIES), reasons
