"""Whether the core runs at full speed just now: a fixed piece of work, timed beside what is measured.

1. A neighbour on the other hardware thread of a core slows everything on it, to half the speed and for tenths of a second
   to seconds, and so does a lowered clock. Inside a guest no counter of the kernel shows it: neither preemptions nor steal
   time move.
2. The work is Python's own, since the interpreter feels such a neighbour most: where json.loads took twice as long, a loop
   of multiplications in C took 1.1 to 1.3 times, and one in Python 1.8 times as long.
3. Full speed is the fastest that a run has seen of it, and up to `TOLERANCE` more. What is timed below it is marked, and
   left out of the cost where something else is left; latencies are never left out.
4. A process knows no more than the fastest reading so far. One that began before the core was ever seen at full speed is
   told apart in the end (`zcser.measure.merge`).
5. Waiting for full speed is bounded, and recorded.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from zcser.measure.clock import now_ns

__all__ = ["TOLERANCE", "UNWATCHED", "Pace", "Patience", "most_ns", "yardstick_ns"]

TOLERANCE = 0.3
"""Readings are of two kinds, with a gap between them. Of 6,000 beside json.loads those up to 1.33 times the best had it at
6.14 to 6.27 us, whatever they were themselves, and those from 1.5 times on at 8.8 to 9.9 us.
"""

_STEPS, _TRIES = 100, 4
_NAP_S = 0.002
_FIRST_READINGS, _FIRST_NAP_S = 40, 0.005


def yardstick_ns() -> int:
    """Nanoseconds that the work takes, some 4,000: the best of a few, since the first finds cold caches."""
    return min(_timed_work() for _ in range(_TRIES))


def _timed_work() -> int:
    begin_ns = now_ns()
    total = 0
    for number in range(_STEPS):
        total += number * number & 7
    return now_ns() - begin_ns


def most_ns(best_ns: int) -> int:
    """The longest reading at full speed, where the fastest is `best_ns`."""
    return int(best_ns * (1 + TOLERANCE))


class Pace:
    """The speed of this process's core over time.

    Parameters
    ----------
    best_ns
        The fastest that the work is known to run; 0: unknown, and looked for over 0.2 s.
    wait_ns
        Bound on all waiting.
    reading
        The time of the work now.
    nap
        What waits, given seconds.

    Attributes
    ----------
    best_ns
        The fastest so far.
    waited_ns
        Time spent on waiting.
    read_ns
        Time spent on readings outside of that.
    readings, slow_readings
        How often the speed was asked for, and how often it was not full.
    """

    def __init__(
        self,
        best_ns: int = 0,
        wait_ns: int = 0,
        *,
        reading: Callable[[], int] = yardstick_ns,
        nap: Callable[[float], None] = time.sleep,
    ) -> None:
        self._reading = reading
        self._nap = nap
        self._wait_ns = wait_ns
        self.waited_ns = self.read_ns = 0
        self.readings = self.slow_readings = 0
        self.best_ns = best_ns or self._first()

    def _first(self) -> int:
        readings = [self._reading()]
        for _ in range(_FIRST_READINGS - 1):
            self._nap(_FIRST_NAP_S)
            readings.append(self._reading())
        return min(readings)

    @property
    def spent_ns(self) -> int:
        """Time that is no part of what is measured."""
        return self.waited_ns + self.read_ns

    def full(self) -> bool:
        """Whether the core runs at full speed now."""
        begin_ns = now_ns()
        full = self._full()
        self.read_ns += now_ns() - begin_ns
        return full

    def _full(self) -> bool:
        now = self._reading()
        self.best_ns = min(self.best_ns, now)
        full = now <= most_ns(self.best_ns)
        self.readings += 1
        self.slow_readings += not full
        return full

    def settle(self) -> bool:
        """Wait until it does, as long as the bound on waiting allows; whether it does."""
        full = self.full()
        while not full and self.waited_ns < self._wait_ns:
            begin_ns = now_ns()
            self._nap(_NAP_S)
            full = self._full()
            self.waited_ns += now_ns() - begin_ns
        return full


class _Unwatched(Pace):
    """For whoever takes the machine as it is: always at full speed, and nothing is read."""

    def __init__(self) -> None:
        super().__init__(best_ns=1)

    def full(self) -> bool:
        """See `Pace`."""
        return True


UNWATCHED: Pace = _Unwatched()
"""A pace that neither reads nor waits."""


class Patience:
    """What the processes of a run have in common: the fastest reading, and the time that is left for waiting.

    Parameters
    ----------
    best_ns
        As in `Pace`.
    wait_ns
        Bound on all waiting of all processes.
    processes
        How many are to come.
    """

    def __init__(self, best_ns: int, wait_ns: int, processes: int) -> None:
        self.best_ns = best_ns
        self._left_ns = wait_ns
        self._processes = processes

    @property
    def share_ns(self) -> int:
        """What the next process may wait: twice its part, since a slow spell does not come to all of them."""
        return min(self._left_ns, 2 * self._left_ns // max(1, self._processes))

    def spend(self, best_ns: int, waited_ns: int) -> None:
        """Note what a process found, and how long it waited."""
        self.best_ns = min(self.best_ns or best_ns, best_ns)
        self._left_ns = max(0, self._left_ns - waited_ns)
        self._processes -= 1
