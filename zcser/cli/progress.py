"""How far a run is, on stderr.

1. Something is written between two workers only: while one times, nothing else of ours runs.
2. On a terminal it is one line that is written over, without escape codes; elsewhere a plain line per round.
3. What went wrong with a worker stays on a line of its own.
4. So does the first look at each codec, where there is one: a run takes a while, and its table comes at the end.
"""

from __future__ import annotations

import sys
from typing import TextIO

from zcser.cli.line import Line
from zcser.core.units import duration_text
from zcser.measure.runner import Event, FirstLook
from zcser.report.model import one_line
from zcser.report.tables import COST_COLUMNS

__all__ = ["Progress"]


class Progress:
    """Called with each event of a run.

    Parameters
    ----------
    stream
        stderr where None.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._line = Line(self._stream)
        self._round = 0
        self._looked = False

    def __call__(self, event: Event) -> None:
        """Tell one event."""
        if event.trouble is not None:
            self.clear()
            self._stream.write(f"zcser: {one_line(event.trouble)}\n")
        if event.first_look is not None:
            self._first_look(event.first_look)
        if event.codec is None:
            self.clear()
        elif self._line.over:
            self._line.show(
                f"round {event.round} of {event.rounds}, worker {event.done + 1} of {event.workers}: "
                f"{one_line(event.codec)} ({event.elapsed_s:.0f} s so far)"
            )
        elif event.round != self._round:
            self._line.show(
                f"round {event.round} of {event.rounds}, {event.workers} workers in all, {event.elapsed_s:.0f} s so far"
            )
        self._round = event.round
        self._stream.flush()

    def _first_look(self, look: FirstLook) -> None:
        self.clear()
        if not self._looked:
            self._stream.write(
                "zcser: a first look, from one process of each codec; what counts is the table at the end\n"
            )
            self._looked = True
        # Costs as wide as the widest: the codecs that are still to come are not known here.
        costs = [
            f"{title} {duration_text(look.costs_ns[name]):>7}"
            for name, title in COST_COLUMNS.items()
            if name in look.costs_ns
        ]
        self._stream.write(f"  {one_line(look.codec):<20}  {'  '.join(costs)}\n")

    def clear(self) -> None:
        """Take the line that is written over away."""
        self._line.clear()
