"""All of it: groups of arms, the figures, and the document."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.flat.arms import Cost, Effort, time_arms
from benchmarks.glue.messages import MESSAGES
from benchmarks.glue.subjects import BY_HAND, CODECS, OPERATIONS, SUBJECTS, arms
from benchmarks.support.command import Progress
from benchmarks.support.document import Begin, document
from benchmarks.support.figures import Figure, Goal, markdown, spread_of
from benchmarks.support.fresh import in_fresh_process

__all__ = ["figures", "study", "time_group"]

_GOAL = Goal("<=", 1.5)


def time_group(message: str, name: str, effort: Effort, seed: int) -> list[Cost]:
    """In this process: make the arms of a message and a codec, and time them."""
    return time_arms(arms(effort, message, name), seed)


def study(effort: Effort, progress: Progress) -> tuple[str, dict[str, Any]]:
    """Take all figures; the table, and the raw result."""
    begin = Begin()
    groups = [*itertools.product(range(effort.processes), MESSAGES, CODECS)]
    raw = []
    for number, (seed, message, name) in enumerate(groups, start=1):
        progress(number, len(groups), f"{message} by {name}")
        costs = in_fresh_process(time_group, message, name, effort, seed)
        raw.append({"message": message, "codec": name, "seed": seed, "costs": [asdict(cost) for cost in costs]})
    found = [one for message, name in itertools.product(MESSAGES, CODECS) for one in figures(raw, message, name)]
    whole = document(
        begin,
        CODECS,
        effort=asdict(effort),
        figures=[asdict(one) | {"met": one.met} for one in found],
        raw=raw,
    )
    return _INTRODUCTION + markdown(found), whole


def figures(raw: Sequence[dict[str, Any]], message: str, name: str) -> list[Figure]:
    """The rows of one message and codec."""
    processes = [one["costs"] for one in raw if (one["message"], one["codec"]) == (message, name)]
    over = f"over {len(processes)} processes"
    found = []
    for operation in OPERATIONS:
        label = f"{message}, {name}, {operation}"
        times = {subject: [_p10_ns(costs, operation, subject) for costs in processes] for subject in SUBJECTS}
        by_hand = times.pop(BY_HAND)
        found.append(spread_of(f"{label}: {BY_HAND}", "ns", by_hand, over))
        for subject, mine_ns in times.items():
            ratios = [mine / theirs for mine, theirs in zip(mine_ns, by_hand, strict=True)]
            found.append(spread_of(f"{label}: {subject}", "x", ratios, over, _GOAL))
    return found


def _p10_ns(costs: Sequence[dict[str, Any]], operation: str, subject: str) -> float:
    (found,) = [cost["p10_ns"] for cost in costs if (cost["operation"], cost["subject"]) == (operation, subject)]
    return float(found)


_INTRODUCTION = (
    "Time of our `convert` or `restore` ÷ time of the glue by hand on the same values and objects; less is better. The glue "
    "checks nothing; *guard on* checks every value. Values rotate, so that they lie in near caches; results are dropped at "
    "once.\n\n"
)
