"""Writing a text to a file whole, and names of files for what users named.

1. A regular file is replaced in one step: a reader sees the old text or the new one, and a failure leaves the old one.
   A symbolic link stays, and what it points to is replaced.
2. Whatever else is there (a pipe, a terminal, ``/dev/null``) is written to as it is, and so is the file that standard
   output or standard error goes to: what is printed later belongs behind the text.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import stat
import sys
from collections.abc import Collection, Iterable
from pathlib import Path

__all__ = ["file_name", "write_whole"]


LONGEST_PART = 60
"""Characters of a part of a file's name."""


def file_name(parts: Iterable[str], extension: str, taken: Collection[str]) -> str:
    """A name of these parts, joined by dots, that is none of those taken.

    Parts come from users and files: all but ASCII letters, digits, ``_``, ``+`` and ``-`` is replaced, so that no name
    leaves its folder, and a number keeps names apart, on systems that do not tell case apart too.
    """
    stem = ".".join(re.sub(r"[^\w+-]+", "_", part, flags=re.ASCII)[:LONGEST_PART] or "_" for part in parts)
    known = {name.lower() for name in taken}
    names = (f"{stem}{extension}" if number == 1 else f"{stem}.{number}{extension}" for number in itertools.count(1))
    return next(name for name in names if name.lower() not in known)


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
