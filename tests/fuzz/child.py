"""The process that reads mutants for `tests.fuzz.flatbuffers`; its arguments are what that gives it, in order."""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["FOUND"]

FOUND = 10
"""Exit code where there are findings: another than that of a crash, of a sanitizer or of Python."""


def main(mutants: str, seed: str, seconds: str, last_words: str, extension: str | None = None) -> int:
    """Read mutants and print what was found."""
    if extension is not None:
        from tests.fuzz import sanitize

        sanitize.load(Path(extension))
    # After that, as this imports the engine.
    from tests.fuzz.loop import LastWords, exact_buffer, fuzz

    found = fuzz(
        int(mutants),
        seed=int(seed),
        seconds=float(seconds) or None,
        wrap=bytes if extension is None else exact_buffer,
        last_words=LastWords(last_words),
    )
    for finding in found.findings:
        print(finding)
    counts = ", ".join(f"{number:,} {what}" for what, number in found.counts.items())
    print(f"{found.mutants:,} mutants through every reader: {counts}; {len(found.findings)} findings")
    return FOUND if found.findings else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
