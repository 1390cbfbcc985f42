"""What a decision says, in sentences.

1. A difference is claimed only where `zcser.decide.interval` shows one; what ties is said to tie, and a lead is that over the
   next codec from which every leader differs.
2. One sentence, whatever the figures are: no codec, one, or none that can be scored.
3. Names come out of files: they are made printable.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from zcser.core.units import bytes_text, duration_text, ratio_text
from zcser.core.words import one_line
from zcser.decide.crossover import Comparison, Crossing
from zcser.decide.score import Score, Standings
from zcser.decide.sensitivity import Move, Switch, Turn

__all__ = ["comparison_text", "move_texts", "sentence", "summary", "switch_text"]

_NAMED = 3
_LONG_WIRE = 0.5
"""Share of a total from which on the sentence says that it is the wire's."""


def _joined(names: Sequence[str]) -> str:
    """``a, b and c``; of more than three the rest is a number."""
    shown = [one_line(name) for name in names]
    if len(shown) > _NAMED:
        shown[_NAMED:] = [f"{len(shown) - _NAMED} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]


def sentence(standings: Standings) -> str:
    """Who wins a profile on one payload, by how much, and what to know of it."""
    where = one_line(f"{standings.payload}, {standings.profile.name}")
    leaders = standings.leaders
    if not leaders:
        reason = "; the reasons are above" if standings.outs else ""
        return f"{where}: no codec can be scored{reason}."
    names = _joined([one.name for one in leaders])
    if len(standings.scores) == 1:
        text = f"{names} alone can be scored ({_cost(leaders[0])}), so there is nothing to compare"
    elif len(leaders) == 1:
        text = f"{names} is cheapest ({_cost(leaders[0])}){_ahead(standings)}"
    else:
        text = f"{names} tie as cheapest{_ahead(standings)}"
    return f"{where}: {text}{_trust(leaders)}{_objective(standings)}{_hedge(standings)}."


def _cost(one: Score) -> str:
    share = one.wire_ns / one.total_ns.value if one.total_ns.value > 0 else 0.0
    wire = f", {100 * share:.0f}% of it wire" if share >= _LONG_WIRE else ""
    return f"{duration_text(one.total_ns.value)} per message{wire}"


def _ahead(standings: Standings) -> str:
    behind = standings.next
    if behind is None:
        return ""
    slowest = max(one.total_ns.value for one in standings.leaders)
    ratio = behind.total_ns.value / slowest if slowest > 0 else math.inf
    return f", {ratio_text(ratio)} ahead of {one_line(behind.name)}"


def _trust(leaders: Sequence[Score]) -> str:
    trusting = [one.codec for one in leaders if one.unvalidated]
    if not trusting:
        return ""
    return "; unvalidated" if len(leaders) == 1 else f"; unvalidated: {_joined(trusting)}"


def _objective(standings: Standings) -> str:
    p99_ns = standings.profile.p99_ns
    if p99_ns is None:
        return ""
    unknown = [one.codec for one in standings.leaders if one.objective != "met"]
    within = f"the objective of {duration_text(p99_ns)} at p99"
    if not unknown:
        return f"; {within} is met without queueing"
    who = "" if len(standings.leaders) == 1 else f" for {_joined(unknown)}"
    return f"; whether {within} is met cannot be told{who}: its samples are too few or too near"


def _hedge(standings: Standings) -> str:
    shown = [*standings.leaders, *([] if standings.next is None else [standings.next])]
    lone = len(standings.scores) > 1 and any(step.processes < 2 for one in shown for step in one.steps)
    return " (only indicative: some of these figures come from a single process)" if lone else ""


def summary(all_standings: Sequence[Standings]) -> str:
    """One sentence over any number of payloads."""
    if not all_standings:
        return "Nothing was measured that could be scored."
    if len(all_standings) == 1:
        return sentence(all_standings[0])
    scored = [one for one in all_standings if len(one.scores) > 1]
    where = f"{one_line(all_standings[0].profile.name)} over {len(all_standings)} payloads"
    if not scored:
        return f"{where}: no payload has two codecs that can be scored."
    wins = Counter(one.leaders[0].name for one in scored if len(one.leaders) == 1)
    clauses = [f"{one_line(name)} is cheapest on {count}" for name, count in wins.most_common(_NAMED)]
    if len(wins) > _NAMED:
        clauses.append(f"others on {sum(wins.values()) - sum(count for _, count in wins.most_common(_NAMED))}")
    ties, rest = len(scored) - sum(wins.values()), len(all_standings) - len(scored)
    clauses += [f"codecs tie as cheapest on {ties}"] if ties else []
    clauses += [f"nothing to compare on {rest}"] if rest else []
    return f"{where}: {'; '.join(clauses)}."


def _place(comparison: Comparison, place: float) -> str:
    return bytes_text(place) if comparison.unit == "bytes" else f"{place:.3g}"


def comparison_text(comparison: Comparison) -> str:
    """Where one of two codecs is cheaper, or why that cannot be told."""
    left, right = one_line(comparison.left), one_line(comparison.right)
    noun = "sizes" if comparison.unit == "bytes" else "numbers of fields"
    if len(comparison.places) < 2:
        return f"cannot be told: {left} and {right} have no two {noun} in common"
    ends = [_place(comparison, place) for place in (comparison.places[0], comparison.places[-1])]
    between = f"between {' and '.join(ends)}{'' if comparison.unit == 'bytes' else ' fields'}"
    told = {relation for relation in comparison.relations if relation != "tie"}
    if not told:
        return f"cannot be told: {left} and {right} tie at all {noun} {between}"
    if comparison.crossings:
        return f"{_crossed(comparison, left, right)}{_ties(comparison)} (measured {between})"
    cheaper = left if told == {"less"} else right
    if "tie" not in comparison.relations:
        return f"no crossover {between}: {cheaper} is cheaper throughout, against {right if cheaper == left else left}"
    return f"no crossover is shown {between}: {cheaper} is cheaper{_ties(comparison)}, against {right if cheaper == left else left}"


def _crossed(comparison: Comparison, left: str, right: str) -> str:
    first = comparison.crossings[0]
    below, above = (right, left) if first.falling else (left, right)
    if len(comparison.crossings) == 1:
        return f"{below} is cheaper below about {_about(comparison, first)}, {above} above"
    where = ", ".join(_about(comparison, one) for one in comparison.crossings)
    return f"{left} and {right} cross at about {where}; {below} is cheaper below the first"


def _about(comparison: Comparison, one: Crossing) -> str:
    at, low, high = (_place(comparison, place) for place in (one.at, one.low, one.high))
    return f"{at}{'' if comparison.unit == 'bytes' else ' fields'} ({low} to {high})"


def _ties(comparison: Comparison) -> str:
    """The measured places at which the two tie, but for those inside of a crossing's interval."""
    inside = [(one.low, one.high) for one in comparison.crossings]
    tied = [
        _place(comparison, place)
        for place, relation in zip(comparison.places, comparison.relations, strict=True)
        if relation == "tie" and not any(low <= place <= high for low, high in inside)
    ]
    return f", but they tie at {_joined(tied)}" if tied else ""


def _value(parameter: str, value: float) -> str:
    if parameter.startswith("bandwidth"):
        return "not counted" if math.isinf(value) else f"{bytes_text(value)}/s"
    return duration_text(value) if parameter == "p99_ns" else f"{value:.3g}"


def move_texts(moves: Sequence[Move]) -> tuple[str, ...]:
    """A line for each number that can change who has the lowest total, and one for all that cannot."""
    lines = []
    for move in moves:
        turns = [_turn(move, turn, word) for turn, word in ((move.below, "below"), (move.above, "above")) if turn]
        if turns:
            lines.append(f"{move.parameter} ({_value(move.parameter, move.now)} now): {'; '.join(turns)}")
    fixed = [move.parameter for move in moves if move.below is None and move.above is None]
    if fixed:
        lines.append(f"no value changes who has the lowest total: {', '.join(fixed)}")
    return tuple(lines)


def _turn(move: Move, turn: Turn, word: str) -> str:
    where = f"{word} {_value(move.parameter, turn.value)}"
    if turn.winner is None:
        return f"{where} no codec is left"
    tie = "" if turn.tie is None else f" (a tie from {_value(move.parameter, turn.tie)} on)"
    return f"{where} {one_line(turn.winner)} has the lowest total{tie}"


def switch_text(switch: Switch) -> str:
    """Who would lead with another choice."""
    verb = "is" if len(switch.leaders) == 1 else "tie as"
    return f"with {switch.setting}: {_joined(switch.leaders)} {verb} cheapest"
