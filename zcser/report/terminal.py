"""A report on a terminal, through rich.

1. A table that is wider than the console comes in parts, each with the codecs' names; nothing is cut off.
2. Names come from files: they are `Text`, which is never read as markup.
3. Colour only repeats what words say ("best", "failed"), so that a report without colour loses nothing.
"""

from __future__ import annotations

from rich.console import Console, Group, RenderableType
from rich.rule import Rule
from rich.text import Text

from zcser.report.model import GAP, Document, Emphasis, Section, Table, split
from zcser.report.plain import hanging, legend_lines

__all__ = ["render", "table_lines"]

STYLES: dict[Emphasis, str] = {"plain": "", "best": "bold green", "muted": "dim", "bad": "bold red"}


def _part(table: Table) -> Text:
    columns = range(len(table.columns))
    lines = [Text((" " * GAP).join(map(table.heading, columns)), "bold cyan")]
    for row in table.rows:
        line = Text()
        for index, entry in enumerate(row):
            figure, ratio = table.pieces(index, entry)
            line.append(" " * GAP if index else "")
            line.append(figure, STYLES[entry.emphasis])
            line.append(ratio, STYLES["best" if entry.emphasis == "best" else "muted"])
        lines.append(line)
    for line in lines:
        line.rstrip()
    return Text("\n").join(lines)


def table_lines(table: Table, width: int) -> list[RenderableType]:
    """A table in as many parts as `width` needs, with its title and footnotes."""
    lines: list[RenderableType] = [Text(table.title, "italic")] if table.title else []
    for number, part in enumerate(split(table, width)):
        lines += [Text()] if number else []
        lines.append(_part(part))
    return lines + [Text(note, "dim") for note in table.footnotes]


def _section(section: Section, width: int) -> list[RenderableType]:
    lines: list[RenderableType] = [Text(), Rule(Text(section.title, "bold"), align="left", style="dim")]
    lines += [Text(line, "dim") for line in hanging("", section.subtitle, 0, width)] if section.subtitle else []
    for table in section.tables:
        lines += [Text(), *table_lines(table, width)]
    lines += [Text()] if section.problems or section.notes else []
    for problem in section.problems:
        lines += _hanging(problem, STYLES["bad"] if " failed" in problem else "yellow", width)
    for note in section.notes:
        lines += _hanging(note, "dim", width)
    return lines


def _hanging(text: str, style: str, width: int) -> list[RenderableType]:
    return [Text(line, style) for line in hanging("·", text, GAP, width)]


def render(document: Document, console: Console) -> None:
    """Print the report; its last line is the verdict."""
    width = console.width
    lines: list[RenderableType] = [Text(document.title, "bold")]
    lines += [Text(notice, "yellow") for notice in document.notices]
    lines += [Text(), *(Text(line, "dim") for line in legend_lines(document, width))]
    if document.baselines is not None:
        lines += [Text(), *table_lines(document.baselines, width)]
    for section in document.sections:
        lines += _section(section, width)
    console.print(Group(*lines, Text()))
    # Unwrapped, so that `| tail -n 1` has all of it.
    console.print(Text(document.verdict, "bold"), soft_wrap=True)
