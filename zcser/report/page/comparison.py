"""Several runs beside each other on a page: `zcser.report.comparison` as HTML."""

from __future__ import annotations

from collections.abc import Iterator

from zcser.report.markup import Child, Html, name, tag
from zcser.report.model import Document, Entry, Table
from zcser.report.page.tables import figures, simple

__all__ = ["comparison"]


def comparison(document: Document) -> Iterator[Child]:
    """What follows the heading of the section. Each run's own sentence has its place elsewhere on the page."""
    made, *payloads = document.sections
    yield from (_facts(made.title, table) for table in made.tables)
    for notice in document.notices:
        yield tag("p", notice, class_="notice")
    for number, section in enumerate(payloads):
        yield tag("h3", name(section.title))
        for table in section.tables:
            yield figures(f"comparison-{number}", table.title, table)
        if section.notes:
            yield tag("ul", [tag("li", note) for note in section.notes], class_="notes")
    yield tag("p", document.verdict)


def _facts(title: str, table: Table) -> Html:
    titles = [column.title for column in table.columns]
    rows = [[*(entry.text for entry in entries), _said(said)] for *entries, said in table.rows]
    return simple("comparison-facts", title, titles, rows, words=True)


def _said(entry: Entry) -> Html:
    muted = entry.emphasis == "muted"
    return tag("span" if muted else "strong", entry.text, class_="quiet" if muted else None)
