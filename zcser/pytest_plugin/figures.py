"""The figures of one benchmark, as they stand under ``extra_info["zcser"]`` in pytest-benchmark's JSON.

1. They are made of the same parts as a cell of a result file (`zcser.measure.figures`), taken by the same code.
2. A figure that was not taken is null, never 0.
3. `columns` gives those that a table or a rule names, in pytest-benchmark's own units (seconds), for its ``stats``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from zcser.core.errors import ZcserError
from zcser.measure.env import python_name, python_record
from zcser.measure.figures import Allocations, Collections, Cost, Latency, Retained
from zcser.measure.jsonform import FormError, from_json, to_json
from zcser.measure.sample import Sample
from zcser.measure.stats import collections_of, cost_of, latency_of, retained_of
from zcser.measure.timer import timer_name

__all__ = ["Figures", "FiguresError", "Where", "columns", "figures_of"]

SCHEMA_VERSION = 1

_TAILS = ("p50", "p90", "p99", "p999")
"""Percentiles of single calls."""

_COUNTED = (
    "python_allocations",
    "python_bytes",
    "native_allocations",
    "native_bytes",
    "peak_bytes",
    "result_blocks",
)
"""Figures of `Allocations`, by the same names."""

Where = Literal["workers", "in-process"]
"""Fresh processes, or the process of the tests: a heap, a collector and caches that the session's past has shaped."""


class FiguresError(ZcserError, ValueError):
    """What should be the figures of a benchmark is none; the message names the place."""


@dataclass(frozen=True, slots=True)
class Figures:
    """See the head of this module.

    Attributes
    ----------
    where, reason
        See `Where`, and why not in workers.
    cell
        Payload, codec and operation, as in a result of ``zcser compare``; None for a callable.
    preset, timer, python
        How much was measured, by what, under which Python: figures that differ in these are not compared.
    values
        Distinct values that the calls took in turn. 1: caches are hot.
    cost, latency, gc, retained, allocations
        As in a cell of a result. Histograms are left out.
    capped, all_dirty
        Whether a process met its time bound; whether one had no batch free of preemptions.
    """

    where: Where
    reason: str | None
    cell: tuple[str, str, str] | None
    preset: str
    timer: str
    python: str
    values: int
    cost: Cost
    latency: Latency
    gc: Collections
    retained: Retained | None
    allocations: Allocations | None
    capped: bool
    all_dirty: bool
    schema_version: int = SCHEMA_VERSION

    def to_json(self) -> dict[str, Any]:
        """What `json.dumps` takes."""
        document: dict[str, Any] = to_json(self)
        return document

    @classmethod
    def from_json(cls, document: Any) -> Figures:
        """Check a parsed document.

        Raises
        ------
        FiguresError
            It is not the figures of a benchmark, of this version.
        """
        version = document.get("schema_version") if isinstance(document, dict) else None
        if version != SCHEMA_VERSION:
            raise FiguresError(f"figures of zbench have schema_version {SCHEMA_VERSION}, not {version!r}; record again")
        try:
            return from_json(cls, document)
        except FormError as error:
            raise FiguresError(f"not the figures of zbench: {error}") from None


def figures_of(
    samples: Sequence[Sample],
    allocations: Allocations | None,
    *,
    where: Where,
    reason: str | None,
    cell: tuple[str, str, str] | None,
    preset: str,
    distinct: int,
) -> Figures:
    """Put the processes of one benchmark, at least one, together; `distinct` is how many values differ at most."""
    singles = [sample.single for sample in samples]
    return Figures(
        where=where,
        reason=reason,
        cell=cell,
        preset=preset,
        timer=timer_name(),
        python=python_name(python_record()),
        values=min(distinct, max(sample.values for sample in samples)),
        cost=cost_of([sample.cost for sample in samples]),
        latency=replace(latency_of([single.latencies_ns for single in singles]), histogram=()),
        retained=_retained(samples),
        gc=collections_of(singles),
        allocations=allocations,
        capped=any(sample.capped for sample in samples),
        all_dirty=not any(sample.cost.undisturbed for sample in samples),
    )


def _retained(samples: Sequence[Sample]) -> Retained | None:
    found = retained_of([sample.retained for sample in samples if sample.retained is not None])
    return None if found is None else replace(found, latency=replace(found.latency, histogram=()))


def _counts_of(found: Allocations | None) -> dict[str, float | None]:
    """Python's and native memory together, as far as the method sees it; to be compared within one method alone."""
    if found is None:
        return {"allocs": None, "bytes": None}
    return {
        "allocs": _together(found.python_allocations, found.native_allocations),
        "bytes": _together(found.python_bytes, found.native_bytes),
    }


def _together(python: float | None, native: float | None) -> float | None:
    return None if python is None else python + (native or 0)


def columns(figures: Figures) -> dict[str, float | None]:
    """The figures for the ``stats`` of pytest-benchmark's JSON, by the names that rules use; times in seconds."""
    return {
        "p10": figures.cost.p10_ns / 1e9,
        **{name: _seconds(getattr(figures.latency, f"{name}_ns")) for name in _TAILS},
        **_counts_of(figures.allocations),
        **{name: getattr(figures.allocations, name, None) for name in _COUNTED},
        "gc_collections": sum(figures.gc.collections),
        "gc_struck": figures.gc.struck,
        "gc_kept_share": None if figures.retained is None else figures.retained.gc.time_share,
        "gc_pause": figures.gc.pause_ns / 1e9,
        "gc_pause_max": figures.gc.pause_max_ns / 1e9,
    }


def _seconds(time_ns: float | None) -> float | None:
    return None if time_ns is None else time_ns / 1e9
