"""Which pictures a result has, and what each is called: the page and the files of ``--export-svg`` both ask here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from zcser.decide.crossover import sweeps_of
from zcser.decide.figures import Figures, figures_of, payloads_of
from zcser.measure.result import Result
from zcser.report.cells import Grid, grid_of
from zcser.report.charts.curves import SWEPT, fields_picture, sizes_picture
from zcser.report.charts.distribution import distribution_picture
from zcser.report.charts.ledger import ledger_picture
from zcser.report.charts.pareto import COSTS, pareto_picture
from zcser.report.charts.svg import Picture
from zcser.report.document import payload_names

__all__ = ["Exhibit", "gallery", "payload_exhibits", "sweep_exhibits"]

LEDGERS = ("encode", "decode")
DISTRIBUTIONS = ("encode", "decode", "read-field")


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A picture of one payload or of one sweep.

    Attributes
    ----------
    kind
        ``"cost-over-size"``, ``"fields"``, ``"pareto"``, ``"ledger"`` or ``"distribution"``.
    operation
        Which of its kind it is; "" where there is one alone.
    words
        What it shows.
    """

    kind: str
    operation: str
    words: str
    picture: Picture


def gallery(result: Result) -> Iterator[tuple[str, tuple[Exhibit, ...]]]:
    """All pictures, in the order of the page: those of each sweep, then those of each payload, with its name."""
    for sweep in sweeps_of(result):
        yield f"{sweep[0].payload} to {sweep[-1].payload}", tuple(sweep_exhibits(sweep))
    fused = frozenset(codec.name for codec in result.codecs if codec.fused)
    decided = set(payloads_of(result))
    for payload in payload_names(result):
        figures = figures_of(result, payload) if payload in decided else None
        yield payload, tuple(payload_exhibits(grid_of(result, payload), fused, figures))


def sweep_exhibits(sweep: Sequence[Figures]) -> Iterator[Exhibit]:
    """The pictures of payloads of one schema, ascending in size."""
    for task, verb in SWEPT.items():
        yield from _exhibit("cost-over-size", task, f"cost to {verb}", sizes_picture(sweep, task))


def payload_exhibits(grid: Grid, fused: frozenset[str], figures: Figures | None) -> Iterator[Exhibit]:
    """The pictures of one payload.

    Parameters
    ----------
    grid
        Its cells.
    fused
        Codecs without a ledger.
    figures
        What decisions are made by; None where there is nothing to decide.
    """
    if figures is not None:
        yield from _exhibit("fields", "", "cost by number of fields", fields_picture(figures))
        for operation, title in COSTS.items():
            yield from _exhibit("pareto", operation, f"{title} against size", pareto_picture(figures, operation))
    for operation in LEDGERS:
        yield from _exhibit("ledger", operation, f"where {operation} goes", ledger_picture(grid, operation, fused))
    for operation in DISTRIBUTIONS:
        words = f"the latency of {operation}"
        yield from _exhibit("distribution", operation, words, distribution_picture(grid, operation))


def _exhibit(kind: str, operation: str, words: str, picture: Picture | None) -> Iterator[Exhibit]:
    if picture is not None:
        yield Exhibit(kind, operation, words, picture)
