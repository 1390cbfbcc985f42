"""What runs of the fuzz test came to, as a table in a file: ``-o DIR`` of `tests.fuzz.flatbuffers` writes it."""

from __future__ import annotations

import importlib.metadata
import platform
from pathlib import Path

from tests.fuzz.job import Job, Outcome

__all__ = ["FILE", "record"]

FILE = "fuzz.md"

_HEAD = """\
# Fuzz test of the FlatBuffers engines

Written by `python -m tests.fuzz.flatbuffers -o results`, which says what a mutant and a reader are and what must hold. Each
run has the row of its readers; the same seed gives the same mutants again.

| Readers | Mutants | Values | Refused | Parts shown unverified | Findings | Ended by a crash | Seed | Took | With |
|---|--:|--:|--:|--:|--:|---|--:|--:|---|
"""


def record(folder: Path, job: Job, outcome: Outcome | None, took_s: float) -> Path:
    """Put a run's row into the file of a folder, in place of that of an earlier run of the same readers.

    Parameters
    ----------
    folder
        Where the file is, or is made.
    job
        What was asked for.
    outcome
        What came of it; None where the process crashed.
    took_s
        Seconds.
    """
    path = folder / FILE
    readers = _readers(job)
    kept = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = [line for line in kept if line.startswith("| ") and not line.startswith(("| Readers |", f"| {readers} |"))]
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(_HEAD + "\n".join([*rows, _row(readers, job, outcome, took_s)]) + "\n", encoding="utf-8")
    return path


def _readers(job: Job) -> str:
    names = " and ".join(job.engines)
    return f"{names}, under ASan and UBSan" if job.extension else names


def _row(readers: str, job: Job, outcome: Outcome | None, took_s: float) -> str:
    if outcome is None:
        figures = [""] * 5 + ["**yes**"]
    else:
        counts = [outcome.counts.get(what, 0) for what in ("values", "refused", "parts shown unverified")]
        figures = [f"{number:,}" for number in (outcome.mutants, *counts, len(outcome.findings))] + ["no"]
    versions = f"zcser {importlib.metadata.version('zcser')}, CPython {platform.python_version()}"
    return f"| {' | '.join([readers, *figures, str(job.seed), f'{took_s:,.0f} s', versions])} |"
