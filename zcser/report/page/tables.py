"""The report's tables as HTML.

1. A figure says in words how it stands ("best", "tie", "1.9x"); weight and colour only repeat that.
2. A figure that can be sorted by has its number beside it, and a column its title: scripts read these alone.
3. A table scrolls inside its own place, which the keyboard can reach; the page itself never scrolls sideways.
"""

from __future__ import annotations

from collections.abc import Sequence

from zcser.report.markup import Child, Html, join, name, plain_name, tag
from zcser.report.model import Column, Entry, Table

__all__ = ["column_key", "figures", "scrolling", "sentence_here", "simple"]


def sentence_here(text: str) -> str:
    """A sentence as a page has it, which begins with what a terminal ends with."""
    return text.replace("the reasons are above", "the reasons are below")


def scrolling(identifier: str, heading: str, *children: Child) -> Html:
    """A place that scrolls by itself; `heading` names it for those who do not see it."""
    return tag(
        "div", *children, class_="scroll", role="region", tabindex=0, aria_label=plain_name(heading), id=identifier
    )


def column_key(table: Table, column: Column) -> str:
    """What filters call a column: its title alone may stand in two tables."""
    return f"{table.title.partition(':')[0] or 'Cost'}: {column.title}"


def figures(identifier: str, caption: str, table: Table) -> Html:
    """A table of codecs, or of whatever its first column names, which can be sorted and filtered."""
    head = [
        tag(
            "th",
            column.title,
            scope="col",
            class_="left" if column.align == "left" else None,
            data_o=column_key(table, column),
        )
        for column in table.columns
    ]
    rows = [
        tag(
            "tr",
            tag("th", name(first.text), scope="row"),
            [_cell(entry) for entry in rest],
            data_codec=plain_name(first.text),
        )
        for first, *rest in table.rows
    ]
    made = tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", head)),
        tag("tbody", rows),
        class_="figures sortable",
    )
    return scrolling(identifier, caption, made)


def _cell(entry: Entry) -> Html:
    below = " · ".join(filter(None, (entry.ratio, entry.spread)))
    leading = "t" if entry.ratio == "tie" else "b"
    kind = {"best": leading, "muted": "m", "bad": "x"}.get(entry.emphasis)
    value = None if entry.value is None else f"{entry.value:.6g}"
    return tag("td", entry.figure, tag("small", below) if below else None, class_=kind, data_v=value)


def simple(
    identifier: str, caption: str, titles: Sequence[str], rows: Sequence[Sequence[Child]], *, words: bool = False
) -> Html:
    """A table of texts and numbers, the first of each row its name; `words`: all is text, aligned to the left."""
    made = tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", [tag("th", title, scope="col") for title in titles])),
        tag(
            "tbody",
            [
                tag("tr", tag("th", first, scope="row"), [tag("td", join(cell)) for cell in rest])
                for first, *rest in rows
            ],
        ),
        class_="words" if words else "figures",
    )
    return scrolling(identifier, caption, made)
