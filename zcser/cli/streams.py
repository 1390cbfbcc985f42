"""stdout and stderr: what they can show, how wide they are, and what happens when nobody listens any more.

1. Output never fails over a character: what the stream's encoding lacks is written in ASCII (``us`` for ``µs``).
2. The width is the terminal's, `COLUMNS` where it is set, else 100.
"""

from __future__ import annotations

import codecs
import os
import shutil
import sys
from typing import Any

from zcser.report.model import one_line

__all__ = ["abandon_stdout", "error_line", "prepare", "width"]

_ASCII = {"µ": "u", "≥": ">", "·": "*", "─": "-", "ᵘ": "u", "ʰ": "h", "ᶜ": "c", "ᶠ": "f", "ᵖ": "p", "ᵈ": "d", "ˢ": "s"}
"""One character for one, so that columns stay in line."""

NARROWEST = 60

_MOST_CHARACTERS = 560
"""Of an error."""


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    bad = error.object[error.start : error.end]
    return "".join(_ASCII.get(char, "?") for char in bad), error.end


def prepare() -> None:
    """Make stdout and stderr unable to fail over a character."""
    codecs.register_error("zcser.ascii", _in_ascii)
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="zcser.ascii")


def abandon_stdout() -> None:
    """After a broken pipe: give the interpreter's last flush a place to go."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def error_line(message: str) -> None:
    """One line on stderr, whatever the message holds. Of one that quotes much of a file, the middle is left out."""
    line = one_line(message)
    if len(line) > _MOST_CHARACTERS:
        line = f"{line[: _MOST_CHARACTERS - 100]} ... {line[-90:]}"
    print(f"zcser: {line}", file=sys.stderr)


def width() -> int:
    """Columns that a table may take."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS"):
        return max(NARROWEST, shutil.get_terminal_size((100, 24)).columns)
    return 100
