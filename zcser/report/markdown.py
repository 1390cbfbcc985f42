"""A report as GitHub-flavoured Markdown: all tables, the legend below, the verdict last."""

from __future__ import annotations

import re
from collections.abc import Iterator

from zcser.report.model import Document, Entry, Section, Table, split

__all__ = ["escape", "render"]

WIDTH = 120
"""Characters of a table's figures beyond which it comes in parts; a page scrolls badly."""

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~&])")


def escape(text: str) -> str:
    """Text that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\1", text)


def _entry(entry: Entry) -> str:
    figure = escape(entry.figure)
    if entry.emphasis in {"best", "bad"}:
        figure = f"**{figure}**"
    return f"{figure} {escape(entry.ratio)}".rstrip()


def _table(table: Table) -> Iterator[str]:
    if table.title:
        yield from (f"**{escape(table.title)}**", "")
    for part in split(table, WIDTH):
        yield f"| {' | '.join(escape(column.title) for column in part.columns)} |"
        yield f"|{'|'.join(':---' if column.align == 'left' else '---:' for column in part.columns)}|"
        for row in part.rows:
            yield f"| {' | '.join(map(_entry, row))} |"
        yield ""


def _section(section: Section) -> Iterator[str]:
    yield from (f"## {escape(section.title)}", "")
    if section.subtitle:
        yield from (escape(section.subtitle), "")
    for table in section.tables:
        yield from _table(table)
    lines = [*section.problems, *section.notes]
    yield from (f"- {escape(line)}" for line in lines)
    if lines:
        yield ""


def _lines(document: Document) -> Iterator[str]:
    yield from (f"# {escape(document.title)}", "")
    for notice in document.notices:
        yield from (f"> {escape(notice)}", "")
    for section in document.sections:
        yield from _section(section)
    if document.baselines is not None:
        yield from ("## What no codec can beat here", "")
        yield from _table(document.baselines)
    yield from ("## How to read this", "")
    yield from (f"- **{escape(term)}**: {escape(meaning)}" for term, meaning in document.legend)
    yield from ("", escape(document.verdict))


def render(document: Document) -> str:
    """The report's Markdown."""
    return "\n".join(_lines(document)) + "\n"
