"""Everything that one profile says of a result: what the command line prints and writes.

Crossovers are those of the codecs that lead somewhere, and of the runner-up: all pairs of twenty codecs are no help.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from zcser.core.errors import ZcserError
from zcser.decide.crossover import Comparison, break_even, over_fields, over_sizes_by_profile, sweeps_of
from zcser.decide.figures import Figures, figures_of, payloads_of
from zcser.decide.formulas import profile_as_json
from zcser.decide.pareto import SIZE, Front, pareto
from zcser.decide.profiles import Profile
from zcser.decide.score import Score, Standings, rank
from zcser.decide.sensitivity import Move, Switch, moves, switches
from zcser.decide.verdict import comparison_text, move_texts, sentence, summary, switch_text
from zcser.measure.jsonform import to_json
from zcser.measure.result import Result

__all__ = ["Answer", "Decision", "DecisionError", "as_json", "decide"]

_COMPARED = 4


class DecisionError(ZcserError, ValueError):
    """A result has no such payload, or nothing that could be decided about."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One payload: who leads, the front, what would change that, and up to how many fields which way of reading is cheaper."""

    standings: Standings
    front: Front
    moves: tuple[Move, ...]
    switches: tuple[Switch, ...]
    break_evens: tuple[Comparison, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """All payloads, and the crossovers over those of one schema."""

    profile: Profile
    answers: tuple[Answer, ...]
    crossovers: tuple[Comparison, ...]

    @property
    def sentence(self) -> str:
        """The verdict."""
        return summary([answer.standings for answer in self.answers])


def decide(result: Result, profile: Profile, payloads: Sequence[str] = ()) -> Decision:
    """Apply a profile to a result.

    Parameters
    ----------
    result
        A whole run or an interrupted one.
    profile
        What to decide by.
    payloads
        Names; all where none is given.

    Raises
    ------
    DecisionError
        The result has no payload of a name.
    """
    known = payloads_of(result)
    for name in payloads:
        if name not in known:
            raise DecisionError(f"the result has no payload {name!r}; it has: {', '.join(known) or 'none'}")
    lazy = {record.name for record in result.codecs if "view" in record.operations}
    answers = tuple(_answer(figures_of(result, name), profile, lazy) for name in payloads or known)
    chosen = {answer.standings.payload: answer for answer in answers}
    crossovers = [
        comparison
        for sweep in sweeps_of(result)
        for comparison in _crossovers([one for one in sweep if one.payload in chosen], chosen, profile)
    ]
    return Decision(profile, answers, tuple(crossovers))


def _answer(figures: Figures, profile: Profile, lazy: set[str]) -> Answer:
    standings = rank(figures, profile)
    leading = [one.codec for one in standings.scores[:_COMPARED]]
    even = [
        # Without views reading fields is decoding and then some: there is nothing to break even.
        *(break_even(figures, one, one, unvalidated=profile.unvalidated) for one in leading if one in lazy),
        *(
            over_fields(figures, one, other, unvalidated=profile.unvalidated)
            for one, other in itertools.combinations(leading, 2)
            if one in lazy or other in lazy
        ),
    ]
    return Answer(
        standings,
        pareto(figures, (profile.write, profile.read, SIZE), unvalidated=profile.unvalidated),
        moves(figures, profile),
        switches(figures, profile),
        tuple(one for one in even if len(one.places) > 1),
    )


def _crossovers(sweep: Sequence[Figures], chosen: dict[str, Answer], profile: Profile) -> list[Comparison]:
    if len(sweep) < 2:
        return []
    standings = [chosen[figures.payload].standings for figures in sweep]
    leading = [one.codec for each in standings for one in each.leaders]
    behind = [one.codec for each in standings for one in each.scores[:2]]
    codecs = list(dict.fromkeys([*leading, *behind]))[:_COMPARED]
    return [over_sizes_by_profile(sweep, left, right, profile) for left, right in itertools.combinations(codecs, 2)]


def as_json(decision: Decision) -> dict[str, Any]:
    """The decision for other tools: plain JSON, null for what is infinite or not known; times in ns, sizes in bytes."""
    found: dict[str, Any] = {
        "profile": profile_as_json(decision.profile),
        "payloads": {answer.standings.payload: _answer_as_json(answer) for answer in decision.answers},
        "crossovers": [_comparison_as_json(one) for one in decision.crossovers],
        "sentence": decision.sentence,
    }
    return found


def _answer_as_json(answer: Answer) -> dict[str, Any]:
    standings = answer.standings
    ranked = zip(standings.ranks, standings.scores, strict=True)
    return {
        "scores": [{"rank": place, **_score_as_json(one)} for place, one in ranked],
        "out": {one.codec: one.reason for one in standings.outs},
        "notes": list(standings.notes),
        "front": {"axes": list(answer.front.axes), "codecs": list(answer.front.front)},
        "moves": [_finite(to_json(one)) for one in answer.moves],
        "switches": [to_json(one) for one in answer.switches],
        "break_evens": [_comparison_as_json(one) for one in answer.break_evens],
        "sensitivity": [*move_texts(answer.moves), *map(switch_text, answer.switches)],
        "sentence": sentence(standings),
    }


def _score_as_json(one: Score) -> dict[str, Any]:
    return {**_finite(to_json(one)), "unvalidated": one.unvalidated}


def _comparison_as_json(one: Comparison) -> dict[str, Any]:
    return {**_finite(to_json(one)), "text": comparison_text(one)}


def _finite(value: Any) -> Any:
    """JSON without infinite numbers."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
