"""The command line of a study: progress on standard error, the report on standard output and, where asked for, in files."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.support.document import report
from benchmarks.support.fresh import MeasuringError

__all__ = ["Progress", "parser_of", "run"]

Progress = Callable[[int, int, str], None]
"""Called before each part of a study with its number, their count, and its name."""


def parser_of(name: str, description: str | None) -> argparse.ArgumentParser:
    """The parser of ``python -m benchmarks.NAME``."""
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-o", metavar="DIR", type=Path, help=f"write {name}.json and {name}.md there")
    return parser


def run(
    parser: argparse.ArgumentParser,
    folder: Path | None,
    *,
    name: str,
    title: str,
    study: Callable[[Progress], tuple[str, dict[str, Any]]],
) -> None:
    """Take a study and report it.

    Parameters
    ----------
    parser
        Ends the program with its errors.
    folder
        Where to write files; None: nowhere.
    name, title
        Of the study: of its package, and of its report.
    study
        Of a `Progress`, gives the tables as Markdown and the raw result.
    """
    if folder is not None and not folder.is_dir():
        parser.error(f"{folder} is no folder")
    begin = time.perf_counter()

    def progress(number: int, count: int, part: str) -> None:
        print(f"{time.perf_counter() - begin:4.0f} s  {number}/{count}  {part}", file=sys.stderr, flush=True)

    try:
        tables, document = study(progress)
    except MeasuringError as error:
        parser.exit(1, f"{error}\n")
    text = report(title, tables, document, time.perf_counter() - begin, name)
    if folder is not None:
        (folder / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")
        (folder / f"{name}.md").write_text(text)
    print(text, end="")
