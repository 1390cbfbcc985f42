"""The arguments of timed calls, made before timing.

1. A cell rotates distinct values, up to its limit, so that caches meet what they meet in service. They are made only as
   the cell needs them: a cell of three calls takes three.
2. Making them is bounded in time and memory; a cell says how many it rotated.
3. Where a call uses its argument up (`restore` takes a tree apart), each call gets an argument of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

from zcser.measure.clock import now_ns

__all__ = ["Fresh", "Inputs", "Rotating"]


class Inputs:
    """Arguments for calls."""

    def first(self) -> tuple[int, Any]:
        """The first value's number, and the argument of it.

        Raises
        ------
        LookupError
            There is none.
        """
        raise NotImplementedError

    def arguments(self, count: int) -> list[Any]:
        """The next `count` arguments; fewer where memory does not suffice, at least one."""
        raise NotImplementedError

    def leading(self, count: int) -> list[Any]:
        """`count` arguments from the first value on, whatever was handed out before; fewer where memory does not suffice.

        Only values that were made already come round.
        """
        raise NotImplementedError

    def turn(self, count: int) -> int:
        """How many values come round in the next `count` arguments; those that are not made yet are made."""
        raise NotImplementedError

    @property
    def distinct(self) -> int:
        """How many values are behind the arguments so far."""
        raise NotImplementedError

    @property
    def making_ns(self) -> int:
        """What making an argument takes besides its call; 0 where those that were made are handed out again."""
        return 0


class Rotating(Inputs):
    """Arguments that a call leaves as they are, handed out again and again in order.

    Parameters
    ----------
    make
        The argument of a value's number.
    numbers
        Which numbers, in order; read only as far as needed.
    budget_ns
        Bound on the time of making; one is made at least.
    """

    def __init__(self, make: Callable[[int], Any], numbers: Iterable[int], budget_ns: int) -> None:
        self._make = make
        self._numbers = iter(numbers)
        self._left_ns = budget_ns
        self._made: dict[int, Any] = {}
        self._next = 0

    def __getitem__(self, number: int) -> Any:
        """The argument of one number, made where it was not yet."""
        if number not in self._made:
            begin_ns = now_ns()
            self._made[number] = self._make(number)
            self._left_ns -= now_ns() - begin_ns
        return self._made[number]

    def first(self) -> tuple[int, Any]:
        """See `Inputs`."""
        self._grow(1)
        if not self._made:
            raise LookupError("no value has what this operation reads")
        return next(iter(self._made.items()))

    def arguments(self, count: int) -> list[Any]:
        """See `Inputs`."""
        self._grow(count)
        made = list(self._made.values())
        start = self._next % len(made)
        self._next += count
        return list(itertools.islice(itertools.cycle(made), start, start + count))

    def leading(self, count: int) -> list[Any]:
        """See `Inputs`."""
        made = [self._made[number] for number in sorted(self._made)]
        return list(itertools.islice(itertools.cycle(made), count))

    def turn(self, count: int) -> int:
        """See `Inputs`."""
        self._grow(count)
        return len(self._made)

    @property
    def distinct(self) -> int:
        """See `Inputs`."""
        return len(self._made)

    def _grow(self, count: int) -> None:
        while len(self._made) < count and (self._left_ns > 0 or not self._made):
            number = next(self._numbers, None)
            if number is None:
                return
            self[number]


class Fresh(Inputs):
    """Arguments that a call uses up: each is made anew from one of the rotating ones.

    Parameters
    ----------
    make
        An argument, from an item of `source`.
    source
        What to make them of.
    most
        How many may live at a time.
    """

    def __init__(self, make: Callable[[Any], Any], source: Rotating, most: int) -> None:
        self._make = make
        self._source = source
        self._most = most
        self._made = self._spent_ns = 0

    def first(self) -> tuple[int, Any]:
        """See `Inputs`."""
        number, item = self._source.first()
        return number, self._make(item)

    def arguments(self, count: int) -> list[Any]:
        """See `Inputs`."""
        return self._each(self._source.arguments(min(count, self._most)))

    def leading(self, count: int) -> list[Any]:
        """See `Inputs`."""
        return self._each(self._source.leading(min(count, self._most)))

    def turn(self, count: int) -> int:
        """See `Inputs`."""
        return self._source.turn(min(count, self._most))

    @property
    def distinct(self) -> int:
        """See `Inputs`."""
        return self._source.distinct

    @property
    def making_ns(self) -> int:
        """See `Inputs`."""
        return self._spent_ns // max(1, self._made)

    def _each(self, items: list[Any]) -> list[Any]:
        begin_ns = now_ns()
        made = [self._make(item) for item in items]
        self._spent_ns += now_ns() - begin_ns
        self._made += len(made)
        return made
