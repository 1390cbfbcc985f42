"""Values and texts in messages: short, on one line, and never a reason for another error."""

from __future__ import annotations

from typing import Any

__all__ = ["brief", "one_line"]


def brief(value: Any, limit: int = 40) -> str:
    """A value in at most `limit` characters, whatever its ``repr`` does.

    An int of more than 4300 digits has no str, a deep list no repr, and a caller's own class may raise anything.
    """
    if isinstance(value, int) and value.bit_length() > 128:
        return f"of {value.bit_length()} bits"
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - a caller's __repr__ may raise anything
        return f"<{type(value).__name__}>"
    return text if len(text) <= limit else text[: limit - 3] + "..."


def one_line(text: str) -> str:
    """Text with line breaks and runs of blanks as one blank, and control characters (escape codes too) as ``?``."""
    return "".join(char if char.isprintable() else "?" for char in " ".join(text.split()))
