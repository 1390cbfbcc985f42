"""The last line of a report: who won what, and by how much.

1. It claims a difference only where `Ranking` shows one; a tie is called a tie, and a lead is that over the next codec
   from which every leader differs.
2. A winner that read the bytes on trust is called unvalidated, and the fastest that validates is named beside it.
3. One sentence, whatever the run held: one codec, a hundred payloads, or nothing at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from zcser.core.units import bytes_text, duration_text, ratio_text
from zcser.measure.baseline import CODEC as BASELINE
from zcser.measure.result import Result
from zcser.report.cells import Grid, grid_of
from zcser.report.model import one_line
from zcser.report.ranking import Contestant, Ranking, typical

__all__ = ["verdict"]

TASKS = {
    "encode": "encode",
    "decode": "decode",
    "read-field": "read one field",
    "view-field": "read one field of a view",
    "touch-all": "read every field",
    "tensor": "get the tensor",
    "encode-into": "encode into a buffer",
    "encode-segments": "encode to segments",
    "decode-nocopy": "decode without copying",
}
"""What one does with an operation, in the order in which they are worth a clause."""

CLAUSES = 3
NAMES_SHOWN = 3


def verdict(result: Result) -> str:
    """The sentence."""
    names = dict.fromkeys(cell.payload for cell in result.cells if cell.codec != BASELINE)
    grids = [grid for grid in (grid_of(result, name) for name in names) if grid.codecs]
    prefix = "" if result.complete else "Interrupted, so incomplete: "
    if not grids:
        return f"{prefix}Nothing could be measured{'; the reasons are above' if names else ''}."
    text = _over_one(grids[0]) if len(grids) == 1 else _over_many(grids)
    return f"{prefix}{text}{_hedge(grids)}."


def _hedge(grids: Sequence[Grid]) -> str:
    rankings = [grid.ranking(task) for grid in grids for task in _tasks(grids)]
    compared = [
        one
        for ranking in rankings
        if len(ranking.order) > 1
        for one in (*ranking.leaders, ranking.next)
        if one is not None
    ]
    alone = any(one.processes == 1 for one in compared)
    return " (only indicative: some of these figures come from a single process)" if alone else ""


def _tasks(grids: Sequence[Grid]) -> list[str]:
    return [task for task in TASKS if any(grid.ranking(task).order for grid in grids)][:CLAUSES]


def _joined(names: Sequence[str]) -> str:
    """``a, b and c``; beyond `NAMES_SHOWN` the rest is a number."""
    shown = list(names)
    if len(shown) > NAMES_SHOWN:
        shown[NAMES_SHOWN:] = [f"{len(shown) - NAMES_SHOWN} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]


def _codecs(contestants: Sequence[Contestant]) -> str:
    return _joined([one_line(one.codec) for one in contestants])


def _over_one(grid: Grid) -> str:
    tasks = _tasks([grid])
    sizes = grid.ranking("size")
    name = one_line(grid.payload)
    if len(grid.codecs) == 1:
        figures = [f"{TASKS[task]} {duration_text(grid.ranking(task).best.value)}" for task in tasks]
        figures += [bytes_text(sizes.best.value)] if sizes.order else []
        listed = f": {', '.join(figures)}" if figures else ""
        return f"{name}: {one_line(grid.codecs[0])} alone was measured, so there is nothing to compare{listed}"
    clauses = [
        _alone(grid.ranking(task), TASKS[task]) or _clause(grid.ranking(task), f"fastest to {TASKS[task]}")
        for task in tasks
    ]
    if len(sizes.order) > 1:
        clauses.append(_clause(sizes, "smallest"))
    return f"{name}: {'; '.join(clauses) or 'no figure allows a comparison'}"


def _alone(ranking: Ranking, task: str) -> str:
    """What is said of an operation that one codec alone has; nothing of others."""
    if len(ranking.order) > 1:
        return ""
    return f"{one_line(ranking.best.codec)} alone was measured to {task} ({duration_text(ranking.best.value)})"


def _clause(ranking: Ranking, what: str) -> str:
    leaders = ranking.leaders
    verb = "is" if len(leaders) == 1 else "tie as"
    ahead = ""
    if ranking.next is not None and ranking.lead is not None:
        ahead = f", {ratio_text(ranking.lead)} ahead of {one_line(ranking.next.codec)}"
    return f"{_codecs(leaders)} {verb} {what}{ahead}{_trust(ranking)}"


def _trust(ranking: Ranking) -> str:
    trusting = [one for one in ranking.leaders if not one.validated]
    if not trusting:
        return ""
    validated = ranking.validated()
    who = "" if len(trusting) == len(ranking.leaders) else f"{_codecs(trusting)} "
    beside = f"; of those that validate: {_codecs(validated.leaders)}" if validated.order else ""
    return f" ({who}unvalidated{beside})"


def _over_many(grids: Sequence[Grid]) -> str:
    clauses = [
        _count({grid.payload: grid.ranking(task) for grid in grids}, f"fastest to {TASKS[task]}")
        for task in _tasks(grids)
    ]
    clauses.append(_count({grid.payload: grid.ranking("size") for grid in grids}, "smallest"))
    return f"Over {len(grids)} payloads, {'; '.join(filter(None, clauses)) or 'no figure allows a comparison'}"


def _count(rankings: Mapping[str, Ranking], what: str) -> str:
    """The codecs that win most often, over the payloads on which two codecs or more have a figure."""
    contests = {payload: ranking for payload, ranking in rankings.items() if len(ranking.order) > 1}
    if not contests:
        return ""
    won = {payload: ranking for payload, ranking in contests.items() if len(ranking.leaders) == 1}
    wins = Counter(ranking.best.codec for ranking in won.values())
    if not wins:
        return f"no codec is clearly {what} on any of {len(contests)}"
    most = max(wins.values())
    top = {payload: ranking for payload, ranking in won.items() if wins[ranking.best.codec] == most}
    # A codec that won once has its payload beside it.
    names = [
        one_line(ranking.best.codec if most > 1 else f"{ranking.best.codec} ({payload})")
        for payload, ranking in top.items()
    ]
    names = list(dict.fromkeys(names))
    verb, each = ("is", "") if len(names) == 1 else ("are", " each")
    facts = _facts(list(top.values()), ties=len(contests) - len(won))
    return f"{_joined(names)} {verb} {what} on {most} of {len(contests)}{each}{facts}"


def _facts(won: Sequence[Ranking], ties: int) -> str:
    lead = typical(ranking.lead for ranking in won if ranking.lead is not None)
    trusted = sum(not ranking.best.validated for ranking in won)
    facts = []
    if lead is not None:
        facts.append(f"{'typically ' if len(won) > 1 else ''}{ratio_text(lead)} ahead")
    if trusted:
        facts.append("unvalidated" if trusted == len(won) else f"unvalidated on {trusted}")
    if ties:
        facts.append(f"{ties} tied")
    return f" ({', '.join(facts)})" if facts else ""
