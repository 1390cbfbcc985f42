"""One line of a stream that is written over on a terminal, without escape codes."""

from __future__ import annotations

import shutil
from typing import TextIO

__all__ = ["Line"]


class Line:
    """The last line of a stream.

    Attributes
    ----------
    over
        Whether it can be written over: on a terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.over = stream.isatty()
        self._shown = 0

    def show(self, text: str) -> None:
        """Put a text there; elsewhere than on a terminal, a line of its own."""
        if self.over:
            text = text[: shutil.get_terminal_size().columns - 1]
            self._stream.write(f"\r{text.ljust(self._shown)}")
            self._shown = len(text)
        else:
            self._stream.write(f"zcser: {text}\n")
        self._stream.flush()

    def clear(self) -> None:
        """Take away what was written over."""
        if self._shown:
            self._stream.write(f"\r{' ' * self._shown}\r")
            self._shown = 0
            self._stream.flush()
