"""What becomes of messages when a schema changes, of the codecs that a page shows.

The matrix is that of ``docs/EVOLUTION.md``, as zcser's own tests hold it; nothing is run to make a page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator

from zcser.report.markup import Html, name, plain_name, tag
from zcser.report.page.embed import asset
from zcser.report.page.tables import scrolling

__all__ = ["evolution_section"]

_VERDICT = re.compile(r"\*\*(.+?)\*\*(?:: )?(.*)")
_CLASSES = {"safe": "t", "unsafe": "x"}
_INTRODUCTION = (
    "Every kind of change, run in every codec by zcser's own tests, not in this run. First the verdict, then what the new "
    "reader made of old data / what the old reader made of new data. Safe: nothing but what the change means. Readers "
    "first: deploy all readers before the first writer; writers first: the other way round. "
    "“zcser evolve OLD NEW” does this for your own two schemas."
)


def evolution_section(codecs: Collection[str]) -> Iterator[Html]:
    """What follows the heading of the section; one sentence where no codec of the page has been run."""
    tables = [
        made
        for number, section in enumerate(json.loads(asset("evolution.json")))
        if (made := _table(number, section, codecs))
    ]
    if not tables:
        yield tag("p", "None of these codecs is one that zcser runs its evolution matrix with.")
        return
    yield tag("p", _INTRODUCTION)
    yield from tables


def _table(number: int, section: dict[str, list[list[str]]], codecs: Collection[str]) -> Html | None:
    """A group of changes; None where none of its columns is of these codecs."""
    shown = [
        (column, names)
        for column, names in enumerate([one for one in group if one in codecs] for group in section["columns"])
        if names
    ]
    if not shown:
        return None
    head = [tag("th", [[name(one), tag("br")] for one in names], scope="col") for _, names in shown]
    rows = [
        tag("tr", tag("th", change, scope="row"), [_cell(cells[column]) for column, _ in shown])
        for change, cells in section["rows"]
    ]
    caption = str(section["group"])
    table = tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", tag("th", "change", scope="col"), head)),
        tag("tbody", rows),
        class_="words evolution",
    )
    return tag("details", tag("summary", caption), scrolling(f"evolution-{number}", plain_name(caption), table))


def _cell(text: str) -> Html:
    match = _VERDICT.fullmatch(text)
    if match is None:
        return tag("td", text, class_="m")
    verdict, outcomes = match.groups()
    return tag("td", verdict, tag("small", outcomes) if outcomes else None, class_=_CLASSES.get(verdict))
