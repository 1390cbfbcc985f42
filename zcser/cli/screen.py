"""What commands print on stdout: through rich where it is installed, else as plain text.

1. `NO_COLOR` and `FORCE_COLOR` are obeyed, in this order; without either, escape codes are for terminals alone.
2. Without rich the same lines come without colour, and stderr says once how to get it.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Protocol

from zcser.cli import streams
from zcser.report import plain
from zcser.report.model import Document, Table

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Screen", "screen"]


class Screen(Protocol):
    """Where a command's output goes."""

    def line(self, text: str = "") -> None:
        """One line, as long as it is."""

    def table(self, table: Table) -> None:
        """A table, in parts where it is too wide."""

    def document(self, document: Document) -> None:
        """A whole report."""


class PlainScreen:
    """Plain text."""

    def line(self, text: str = "") -> None:
        print(text)

    def table(self, table: Table) -> None:
        print("\n".join(plain.table_lines(table, streams.width())))

    def document(self, document: Document) -> None:
        print(plain.render(document, streams.width()), end="")


class RichScreen:
    """Through a rich console, which only makes the text: on a broken pipe rich itself would end the process."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def line(self, text: str = "") -> None:
        print(text)

    def table(self, table: Table) -> None:
        from zcser.report import terminal

        with self.console.capture() as captured:
            self.console.print(*terminal.table_lines(table, self.console.width), sep="\n", soft_wrap=True)
        print(captured.get(), end="")

    def document(self, document: Document) -> None:
        from zcser.report import terminal

        with self.console.capture() as captured:
            terminal.render(document, self.console)
        print(captured.get(), end="")


def screen() -> Screen:
    """The screen of this process."""
    try:
        from rich.console import Console
    except ImportError:
        print("zcser: for colours: pip install 'zcser[cli]'", file=sys.stderr)
        return PlainScreen()
    # Without a width rich asks stderr's terminal too, and a pipe would follow that. Without a colour system it writes
    # no escape codes at all; no_color alone keeps bold.
    plain_text = bool(os.environ.get("NO_COLOR"))
    width = streams.width()
    return RichScreen(Console(width=width, highlight=False, emoji=False, color_system=None if plain_text else "auto"))
