"""The files that a command was asked to write.

1. Every place is tried before anything is measured: an unwritable one is a usage error at once, not after a minute.
2. What is no regular file (a pipe, a device) is written to as it is; it is never replaced (`zcser.measure.writing`).
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from zcser.cli.errors import UsageError
from zcser.decide.profiles import PROFILES, Profile
from zcser.measure.result import Result
from zcser.measure.writing import write_whole
from zcser.report import csv_table, markdown
from zcser.report.document import document_of
from zcser.report.flat import flat_table
from zcser.report.model import Document

__all__ = ["Exports", "prepare", "write", "write_markdown", "write_page"]


@dataclass(frozen=True, slots=True)
class Exports:
    """Where to write which format; several places of one are possible. `memory`: with the table of this name."""

    json: tuple[Path, ...]
    markdown: tuple[Path, ...]
    csv: tuple[Path, ...]
    page: Path | None
    pictures: Path | None
    folder: Path | None
    memory: bool


def prepare(arguments: argparse.Namespace) -> Exports:
    """Where the arguments ask to write, each place tried.

    Raises
    ------
    UsageError
        A place cannot be written, or is named twice.
    """
    folder, pictures = (None if name is None else Path(name) for name in (arguments.output, arguments.export_svg))
    for made in filter(None, [folder, pictures]):
        _make_folder(made)

    def places(option: str | None, name: str) -> tuple[Path, ...]:
        in_folder = () if folder is None else (folder / name,)
        return in_folder if option is None else (*in_folder, Path(option))

    exports = Exports(
        places(arguments.export_json, "result.json"),
        places(arguments.export_markdown, "report.md"),
        places(arguments.export_csv, "table.csv"),
        None if arguments.report is None else Path(arguments.report),
        pictures,
        folder,
        arguments.memory,
    )
    seen = set()
    whole = (*exports.json, *exports.markdown, *exports.csv, *filter(None, [exports.page]))
    for path in (*whole, *_index(pictures)):
        _try(path)
        if path.resolve() in seen:
            raise UsageError(f"two exports to {path}: name different files")
        seen.add(path.resolve())
    return exports


def _index(pictures: Path | None) -> list[Path]:
    """The one file of pictures whose name is known before there are figures."""
    if pictures is None:
        return []
    # The pictures are work that nobody else needs.
    from zcser.report.charts.files import INDEX

    return [pictures / INDEX]


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise UsageError(f"cannot write into {folder}: it is no folder") from None
    except OSError as error:
        raise UsageError(f"cannot make {folder}: {error.strerror or error}") from None


def _special(path: Path) -> bool:
    return path.exists() and not path.is_file()


def _try(path: Path) -> None:
    if path.is_dir():
        raise UsageError(f"cannot write {path}: it is a directory")
    try:
        if path.exists() and not os.access(path, os.W_OK):
            raise UsageError(f"cannot write {path}: it is read-only")
        if not _special(path):
            with tempfile.TemporaryFile(dir=path.resolve().parent):
                pass
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write {path}: {getattr(error, 'strerror', None) or error}") from None


def write(result: Result, exports: Exports, label: str, profile: Profile | None) -> None:
    """Write all that was asked for; the page calls the result by the label, and decides by the profile.

    Raises
    ------
    UsageError, ResultError
        A place has become unwritable.
    """
    for path in exports.json:
        result.save(path)
    if exports.markdown:
        write_markdown(document_of(result, memory=exports.memory), exports)
    if exports.csv:
        text = csv_table.render(flat_table(result))
        for path in exports.csv:
            _write_text(path, text)
    if exports.pictures is not None:
        from zcser.report.charts.files import picture_files

        for name, text in picture_files(result).items():
            _write_text(exports.pictures / name, text)
    write_page([(label, result)], exports, profile)


def write_markdown(document: Document, exports: Exports) -> None:
    """Write a report as Markdown.

    Raises
    ------
    UsageError
        A place has become unwritable.
    """
    for path in exports.markdown:
        _write_text(path, markdown.render(document))


def write_page(results: Sequence[tuple[str, Result]], exports: Exports, profile: Profile | None) -> None:
    """Write the page of one result or of several, each with the name that the page calls it by.

    Raises
    ------
    UsageError
        The place has become unwritable.
    """
    if exports.page is not None:
        from zcser.report.page.render import Run, page

        runs = [Run(label, result) for label, result in results]
        _write_text(exports.page, page(runs, profile or PROFILES["server"]))


def _write_text(path: Path, text: str) -> None:
    try:
        write_whole(path, text)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None
