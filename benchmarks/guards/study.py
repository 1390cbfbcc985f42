"""All of it: groups of arms, the figures, and the document."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.flat.arms import Cost, Effort, time_arms
from benchmarks.guards.subjects import LIBRARIES, MESSAGES, PYTHON, SUBJECTS, arms, has_native, values
from benchmarks.support.command import Progress
from benchmarks.support.document import Begin, document
from benchmarks.support.figures import Figure, Goal, markdown, not_measured, spread_of
from benchmarks.support.fresh import in_fresh_process

__all__ = ["figures", "study", "time_group"]

SHORT_NS = 1000.0
"""Below this the goal of a guard that is off is in nanoseconds, not a ratio: a call of Python's is a part of it."""

_LIMITS = {"guard off": Goal("<=", 1.10), "guard on": Goal("<=", 1.40)}
_SHORT_OFF = Goal("<=", 100.0)


def time_group(message: str, library: str, effort: Effort, seed: int) -> list[Cost]:
    """In this process: make the arms of a message and a library, and time them."""
    return time_arms(arms(effort, message, library), seed)


def study(effort: Effort, progress: Progress) -> tuple[str, dict[str, Any]]:
    """Take all figures; the table, and the raw result."""
    begin = Begin()
    groups = [*itertools.product(range(effort.processes), MESSAGES, LIBRARIES)]
    raw = []
    for number, (seed, message, library) in enumerate(groups, start=1):
        progress(number, len(groups), f"{message} by {library}")
        costs = in_fresh_process(time_group, message, library, effort, seed)
        raw.append({"message": message, "library": library, "seed": seed, "costs": [asdict(cost) for cost in costs]})
    found = [
        one for message, library in itertools.product(MESSAGES, LIBRARIES) for one in figures(raw, message, library)
    ]
    sizes = {message: {name: _sizes(message, name) for name in LIBRARIES} for message in MESSAGES}
    whole = document(
        begin,
        tuple(LIBRARIES),
        effort=asdict(effort),
        message_bytes=sizes,
        figures=[asdict(one) | {"met": one.met} for one in found],
        raw=raw,
    )
    return _INTRODUCTION + markdown(found), whole


def _sizes(message: str, library: str) -> list[int]:
    encode = LIBRARIES[library]().encode
    lengths = [len(encode(value)) for value in values(message)[1]]
    return [min(lengths), max(lengths)]


def figures(raw: Sequence[dict[str, Any]], message: str, library: str) -> list[Figure]:
    """The rows of one message and library."""
    processes = [one["costs"] for one in raw if (one["message"], one["library"]) == (message, library)]
    found = []
    for operation in ("encode", "decode"):
        times = {subject: [_p10_ns(costs, operation, subject) for costs in processes] for subject in SUBJECTS}
        bare = times["library"]
        over = f"over {len(processes)} processes"
        label = f"{message}, {library}, {operation}"
        found.append(spread_of(f"{label}: library", "ns", bare, over))
        for subject in SUBJECTS[1:]:
            if subject == "guard on" and not has_native():
                found.append(not_measured(f"{label}: {subject}", "the C part was not built", _LIMITS[subject], "x"))
                continue
            is_short = subject == "guard off" and statistics.median(bare) < SHORT_NS
            goal = None if subject == PYTHON or is_short else _LIMITS[subject]
            ratios = [mine / its for mine, its in zip(times[subject], bare, strict=True)]
            found.append(spread_of(f"{label}: {subject}", "x", ratios, over, goal))
            if is_short:
                more = [mine - its for mine, its in zip(times[subject], bare, strict=True)]
                found.append(spread_of(f"{label}: {subject}, more", "ns", more, over, _SHORT_OFF))
    return found


def _p10_ns(costs: Sequence[dict[str, Any]], operation: str, subject: str) -> float:
    (found,) = [cost["p10_ns"] for cost in costs if (cost["operation"], cost["subject"]) == (operation, subject)]
    return float(found)


_INTRODUCTION = (
    "Time of our codec ÷ time of the bare library's call on the same dicts and bytes; less is better. *guard on, in Python* "
    "is the generated code without its C part, which has no goal. Values rotate, so that they lie in near caches; results "
    "are dropped at once.\n\n"
)
