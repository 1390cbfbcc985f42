"""The process that reads mutants for `tests.fuzz.flatbuffers`; its argument is a `tests.fuzz.job.Job`."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.fuzz.job import Job, Outcome


def main(text: str) -> None:
    """Read mutants, print what was found, and leave the outcome in the job's folder."""
    job = Job.loads(text)
    if job.extension is not None:
        from tests.fuzz import sanitize

        sanitize.load(Path(job.extension))
    # After that, as this imports the engine.
    from tests.fuzz.loop import LastWords, exact_buffer, fuzz

    found = fuzz(
        job.mutants,
        seed=job.seed,
        seconds=job.seconds,
        wrap=bytes if job.extension is None else exact_buffer,
        engines=job.engines,
        last_words=LastWords(job.last_words),
    )
    for finding in found.findings:
        print(finding)
    counts = ", ".join(f"{number:,} {what}" for what, number in found.counts.items())
    print(f"{found.mutants:,} mutants through every reader: {counts}; {len(found.findings)} findings")
    outcome = Outcome(found.mutants, dict(found.counts), list(map(str, found.findings)))
    job.result.write_text(outcome.dumps(), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
