"""Schema evolution by running it: what changed between two schemas, and what each codec makes of it.

`evolve` is the whole of it; ``zcser evolve`` shows it, and ``python -m zcser.evolution`` writes ``docs/EVOLUTION.md``.
"""

from zcser.evolution.model import (
    Change,
    ChangeKind,
    CodecReport,
    Direction,
    Evolution,
    Finding,
    Outcome,
    Tally,
    Verdict,
)
from zcser.evolution.run import evolve

__all__ = [
    "Change",
    "ChangeKind",
    "CodecReport",
    "Direction",
    "Evolution",
    "Finding",
    "Outcome",
    "Tally",
    "Verdict",
    "evolve",
]
