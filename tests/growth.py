"""How many objects calls leave behind, by Python's own exact count of its blocks."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable

__all__ = ["blocks_left"]


def blocks_left(call: Callable[[], object], calls: int, rounds: int = 4) -> int:
    """The fewest blocks of memory by which Python had more after a round of calls than before it.

    What each call leaves shows in every round. What shows in some only is not the call's: the caches that the interpreter
    and pytest fill once, and the other threads of the process that runs the test.
    """
    least = sys.maxsize
    for _ in range(rounds):
        gc.collect()
        before = sys.getallocatedblocks()
        for _ in range(calls):
            call()
        gc.collect()
        least = min(least, sys.getallocatedblocks() - before)
        if least <= 0:
            break
    return least
