"""How much of the measuring core's study is run."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Effort"]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is run.

    Attributes
    ----------
    processes
        Fresh processes behind each figure but the next two.
    pairs
        Pairs of fresh processes, where a process has one of two sides alone.
    counting_processes
        Fresh processes whose allocation counts are compared.
    batches, batch_ns
        Batches of each operation and process where two sides are compared, and the time of each.
    samples
        Recorded calls of a round or a process; a multiple of 500.
    rounds
        Turns of each loop in a process, where loops are compared.
    dhat_calls
        Calls that DHAT watches, of each operation.
    """

    processes: int = 12
    pairs: int = 16
    counting_processes: int = 20
    batches: int = 12
    batch_ns: int = 2_000_000
    samples: int = 25_000
    rounds: int = 40
    dhat_calls: int = 1000
