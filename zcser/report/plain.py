"""A report as plain text: what a terminal without rich shows, and the lines that `terminal` colours.

The figures and the verdict come last, since a terminal shows the end of what was printed.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from zcser.report.model import GAP, Document, Section, Table, split

__all__ = ["hanging", "legend_lines", "render", "table_lines"]


def _part(table: Table) -> Iterator[str]:
    columns = range(len(table.columns))
    yield (" " * GAP).join(map(table.heading, columns)).rstrip()
    for row in table.rows:
        yield (" " * GAP).join("".join(table.pieces(index, row[index])) for index in columns).rstrip()


def table_lines(table: Table, width: int) -> Iterator[str]:
    """The lines of a table, in as many parts as `width` needs."""
    if table.title:
        yield table.title
    for number, part in enumerate(split(table, width)):
        if number:
            yield ""
        yield from _part(part)


def hanging(term: str, text: str, indent: int, width: int) -> list[str]:
    """A term and a text that wraps under itself, `indent` characters in."""
    head = term.ljust(indent)
    return textwrap.wrap(text, width, initial_indent=head, subsequent_indent=" " * indent) or [head.rstrip()]


def legend_lines(document: Document, width: int) -> Iterator[str]:
    """The legend, its terms in a column of their own."""
    indent = max((len(term) for term, _ in document.legend), default=0) + GAP
    for term, meaning in document.legend:
        yield from hanging(term, meaning, indent, width)


def _section(section: Section, width: int) -> Iterator[str]:
    yield from ("", f"{section.title} {'-' * max(3, width - len(section.title) - 1)}")
    if section.subtitle:
        yield from hanging("", section.subtitle, 0, width)
    for table in section.tables:
        yield ""
        yield from table_lines(table, width)
    if section.problems or section.notes:
        yield ""
    for line in (*section.problems, *section.notes):
        yield from hanging("*", line, 2, width)


def _lines(document: Document, width: int) -> Iterator[str]:
    yield document.title
    yield from document.notices
    yield ""
    yield from legend_lines(document, width)
    if document.baselines is not None:
        yield ""
        yield from table_lines(document.baselines, width)
    for section in document.sections:
        yield from _section(section, width)
    yield from ("", document.verdict)


def render(document: Document, width: int) -> str:
    """The report's text; its last line is the verdict, unwrapped."""
    return "\n".join(_lines(document, width)) + "\n"
