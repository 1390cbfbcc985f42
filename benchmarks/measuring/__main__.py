"""See the package; this is its command line."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.measuring import __doc__ as description
from benchmarks.measuring.figures import Effort, markdown
from benchmarks.measuring.fresh import ROOT, MeasuringError
from benchmarks.measuring.study import Study, study

_IDLE_LOAD = 0.5
"""Waiting or running tasks for each core, above which a machine is not idle."""


def _report(found: Study, seconds: float) -> str:
    document = found.document
    environment: dict[str, Any] = document["environment"]
    python = environment["python"]
    load, steal = document["load_average_before"], document["steal_share"]
    below = (
        f"{document['created']}, {seconds:.0f} s; {environment['cpu']}, {environment['cores']} cores, "
        f"{environment['kernel']}, {python['implementation']} {python['version']}; load average before "
        f"{'unknown' if load is None else f'{load:.2f}'}, steal {'unknown' if steal is None else f'{steal:.1%}'}. "
        "Made by `python -m benchmarks.measuring -o DIR`; the numbers behind it stand in measuring.json."
    )
    busy = load is not None and load > _IDLE_LOAD * environment["cores"]
    notice = "> The machine was not idle: figures that are said to be of an idle machine are not.\n\n" if busy else ""
    return f"# The measuring core, measured\n\n{notice}{markdown(found.figures)}\n{below}\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.measuring",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-o", metavar="DIR", type=Path, help="write measuring.json and measuring.md there")
    parser.add_argument(
        "--quick",
        metavar="RESULT.json",
        type=Path,
        default=ROOT / "results/quick.json",
        help="run of the default matrix",
    )
    arguments = parser.parse_args()
    if arguments.o is not None and not arguments.o.is_dir():
        parser.error(f"{arguments.o} is no folder")
    begin = time.perf_counter()

    def progress(number: int, count: int, name: str) -> None:
        print(f"{time.perf_counter() - begin:4.0f} s  {number}/{count}  {name}", file=sys.stderr, flush=True)

    try:
        found = study(Effort(), arguments.quick, progress)
    except MeasuringError as error:
        parser.exit(1, f"{error}\n")
    report = _report(found, time.perf_counter() - begin)
    if arguments.o is not None:
        (arguments.o / "measuring.json").write_text(json.dumps(found.document, indent=1) + "\n")
        (arguments.o / "measuring.md").write_text(report)
    print(report, end="")


if __name__ == "__main__":
    main()
