"""Writing a text to a file whole.

1. A regular file is replaced in one step: a reader sees the old text or the new one, and a failure leaves the old one.
   A symbolic link stays, and what it points to is replaced.
2. Whatever else is there (a pipe, a terminal, ``/dev/null``) is written to as it is, and so is the file that standard
   output or standard error goes to: what is printed later belongs behind the text.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: Path, text: str) -> None:
    """Write `text` in UTF-8, lone surrogates as their escapes.

    Raises
    ------
    OSError
        The place cannot be written.
    """
    data = text.encode("utf-8", "backslashreplace")
    try:
        found = path.stat()
    except FileNotFoundError:
        found = None
    stream = None if found is None else _standard_stream(found)
    if stream is not None:
        _append(stream, data)
    elif found is None or stat.S_ISREG(found.st_mode):
        _replace(path.resolve(), data)
    else:
        path.write_bytes(data)


def _standard_stream(found: os.stat_result) -> int | None:
    """The descriptor of standard output or standard error, where that is this file."""
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):
            if os.path.samestat(found, os.fstat(descriptor)):
                return descriptor
    return None


def _append(descriptor: int, data: bytes) -> None:
    # What was printed until now comes first.
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    # To the same open file: another one of the same name would begin at its start.
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(data)


def _replace(target: Path, data: bytes) -> None:
    # Beside the target, since a rename does not cross file systems.
    spare = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        spare.write_bytes(data)
        spare.replace(target)
    except OSError:
        with contextlib.suppress(OSError):
            spare.unlink()
        raise
