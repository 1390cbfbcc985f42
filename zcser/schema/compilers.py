"""Schema files of other formats, compiled by the formats' own compilers, so that none of their rules are ours."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from zcser.core.errors import CodecUnavailableError, SchemaError

__all__ = ["compile_schema", "source_file"]

_SECONDS = 60
"""For a compiler, which needs milliseconds."""

_MOST_REASONS = 5
"""Told of those that a compiler gives: the first is the cause of most others."""

_LOGGED = re.compile(r"WARNING: All log messages|[IWE]\d{4} ")
"""What protoc's logging writes, and not protoc."""


def source_file(source: str | os.PathLike[str], suffix: str, folder: str) -> Path:
    """The absolute path of a schema file.

    Parameters
    ----------
    source
        The path of one, or the text of one; a str with a brace or a semicolon in it is text.
    suffix
        That such files have, with its dot.
    folder
        Where text is put into a file.

    Raises
    ------
    SchemaError
        The file has another suffix, or cannot be read.
    """
    if isinstance(source, str) and ("{" in source or ";" in source):
        written = Path(folder, f"schema{suffix}")
        written.write_text(source, encoding="utf-8")
        return written
    path = Path(source)
    if path.suffix != suffix:
        raise SchemaError(f"{path} is no {suffix} file")
    try:
        with path.open("rb"):
            return path.absolute()
    except OSError as error:
        raise SchemaError(f"cannot read {path}: {error.strerror or error}") from None


def compile_schema(name: str, command: Sequence[str], folder: str, *, is_reason: Callable[[str], bool]) -> None:
    """Run a compiler.

    Parameters
    ----------
    name
        Of the compiler, for messages.
    command
        A list whose paths are absolute: nothing of them can be an option, or reach a shell.
    folder
        The temporary directory that it works in, which messages do not show.
    is_reason
        Whether a line that it printed says why it refused.

    Raises
    ------
    SchemaError
        It refused; in its own words. Or it took more than a minute.
    CodecUnavailableError
        It cannot be run.
    """
    try:
        done = subprocess.run(
            command, capture_output=True, check=False, timeout=_SECONDS, text=True, encoding="utf-8", errors="replace"
        )
    except subprocess.TimeoutExpired:
        raise SchemaError(f"{name} took more than {_SECONDS} seconds") from None
    except OSError as error:
        raise CodecUnavailableError(f"{command[0]} cannot be run: {error.strerror or error}") from error
    if done.returncode:
        printed = (done.stderr + done.stdout).replace(f"{folder}{os.sep}", "")
        # flatc says some of its reasons below all of its usage, behind a line of its own.
        printed = re.sub(r"^error:\s*\n\s*", "error: ", printed, flags=re.MULTILINE)
        lines = [line.strip() for line in printed.splitlines() if line.strip() and not _LOGGED.match(line)]
        reasons = list(filter(is_reason, lines)) or lines or ["without a reason"]
        more = f"; and {len(reasons) - _MOST_REASONS} more" if len(reasons) > _MOST_REASONS else ""
        raise SchemaError(f"{name} refuses it: {'; '.join(reasons[:_MOST_REASONS])}{more}")
