"""What every exporter renders: tables, sections and one document, without a trace of an output format.

1. All text here is one line and printable: names and reasons come out of files and from users, and may hold anything.
   Escaping for a format (markup, pipes, quotes) is the exporter's own.
2. An empty figure says why it is empty: ``-`` the codec has no such operation, ``n/a`` the figure was not taken or is
   not valid, a word ("failed", "refused", "fused", "nothing") otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from zcser.core.words import one_line

__all__ = [
    "ABSENT",
    "NOTHING",
    "NOT_TAKEN",
    "Column",
    "Document",
    "Emphasis",
    "Entry",
    "Section",
    "Table",
    "one_line",
    "split",
]

Emphasis = Literal["plain", "best", "muted", "bad"]

GAP = 2
"""Blanks between two columns, in every exporter that sets columns side by side."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One place of a table.

    Attributes
    ----------
    text
        The figure with its unit, or a word.
    ratio
        How it stands to its column: ``"best"``, ``"tie"``, ``"1.9x"``; or a share, ``"33%"``; or a word that goes with it,
        ``"alias"``.
    marks
        Footnote marks, explained by the document's legend.
    emphasis
        How much of the reader's eye it deserves.
    value
        The figure as a number, for exporters that can sort; None where it is none.
    spread
        The range that the figure comes from, for exporters that have room for it: ``"1.20 to 1.31 µs"``.
    """

    text: str
    ratio: str = ""
    marks: str = ""
    emphasis: Emphasis = "plain"
    value: float | None = field(default=None, compare=False)
    spread: str = field(default="", compare=False)

    @property
    def figure(self) -> str:
        """Text and marks."""
        return self.text + self.marks


ABSENT = Entry("-", emphasis="muted")
NOT_TAKEN = Entry("n/a", emphasis="muted")
NOTHING = Entry("nothing", emphasis="muted")


@dataclass(frozen=True, slots=True)
class Column:
    """A column. Columns of one `group` stay side by side where the width allows it at all."""

    title: str
    group: str = ""
    align: Literal["left", "right"] = "right"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of entries under columns; the first column names the row."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Entry, ...], ...]
    footnotes: tuple[str, ...] = ()

    def _widths(self, index: int) -> tuple[int, int, int]:
        """Characters of the longest text, marks and ratio of a column, the title counted as text."""
        entries = [row[index] for row in self.rows]
        text, marks, ratio = (
            max((len(getattr(entry, part)) for entry in entries), default=0) for part in ("text", "marks", "ratio")
        )
        ratio += bool(ratio)
        return max(text, len(self.columns[index].title) - marks - ratio), marks, ratio

    def width(self, index: int) -> int:
        """Characters that a column takes."""
        return sum(self._widths(index))

    def pieces(self, index: int, entry: Entry) -> tuple[str, str]:
        """An entry's figure and ratio, padded to their places: texts, marks and ratios line up on their own."""
        text, marks, ratio = self._widths(index)
        figure = entry.text.ljust(text) if self.columns[index].align == "left" else entry.text.rjust(text)
        return figure + entry.marks.ljust(marks), entry.ratio.rjust(ratio)

    def heading(self, index: int) -> str:
        """A column's title, padded."""
        column = self.columns[index]
        return (
            column.title.ljust(self.width(index)) if column.align == "left" else column.title.rjust(self.width(index))
        )


@dataclass(frozen=True, slots=True)
class Section:
    """One payload; `problems` are the reasons why something has no figure, `notes` what to know about all figures."""

    title: str
    subtitle: str
    tables: tuple[Table, ...]
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report, in reading order; `verdict` is its last line.

    `notices` are what a reader must know before the figures; `legend` is terms and what they mean.
    """

    title: str
    sections: tuple[Section, ...]
    baselines: Table | None
    legend: tuple[tuple[str, str], ...]
    notices: tuple[str, ...]
    verdict: str


def _units(table: Table, room: int) -> list[list[int]]:
    """Column numbers that stay side by side: a group, or even shares of one that is wider than `room`."""
    groups: dict[str, list[int]] = {}
    for index, column in enumerate(table.columns[1:], start=1):
        groups.setdefault(column.group, []).append(index)
    units = []
    for members in groups.values():
        for count in range(1, len(members) + 1):
            size = -(-len(members) // count)
            shares = [members[start : start + size] for start in range(0, len(members), size)]
            if size == 1 or all(_needed(table, share) <= room for share in shares):
                units += shares
                break
    return units


def _needed(table: Table, indexes: list[int]) -> int:
    return sum(table.width(index) + GAP for index in indexes)


def _pack(table: Table, width: int) -> list[list[int]]:
    """Column numbers of each part, the first column left out."""
    room = width - table.width(0)
    parts: list[list[int]] = []
    for unit in _units(table, room):
        if parts and _needed(table, parts[-1] + unit) <= room:
            parts[-1] += unit
        else:
            parts.append(list(unit))
    return parts


def split(table: Table, width: int) -> tuple[Table, ...]:
    """The same table in as few parts as fit into `width` characters, each with the first column.

    Rows that have nothing in a part are left out of it, except from the first.
    """
    parts = []
    for number, members in enumerate(_pack(table, width)):
        rows = tuple(
            (row[0], *(row[index] for index in members))
            for row in table.rows
            if number == 0 or any(row[index] != ABSENT for index in members)
        )
        columns = (table.columns[0], *(table.columns[index] for index in members))
        parts.append(replace(table, title=table.title if number == 0 else "", columns=columns, rows=rows))
    return tuple(parts)
