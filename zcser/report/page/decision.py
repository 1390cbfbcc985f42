"""What `zcser.decide` says of a run: winners by profile, what would change them, and where lines cross."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence

from zcser.core.units import ratio_text
from zcser.decide.crossover import break_even, over_sizes, sweeps_of
from zcser.decide.figures import Figures, figures_of, payloads_of
from zcser.decide.profiles import PROFILES, Profile
from zcser.decide.score import Standings, rank
from zcser.decide.sensitivity import moves, switches
from zcser.decide.verdict import comparison_text, move_texts, sentence, summary, switch_text
from zcser.measure.result import Result
from zcser.report.charts.curves import SWEPT, curves_over_fields, curves_over_sizes, strong
from zcser.report.charts.gallery import sweep_exhibits
from zcser.report.markup import Child, Html, name, tag
from zcser.report.page.pictures import chart, charts
from zcser.report.page.tables import sentence_here, simple

__all__ = ["RunDecision"]

MOST = 4
"""Codecs of a tie that a table names."""


class RunDecision:
    """The decisions on one run, by the named profiles and the one that the page starts with."""

    def __init__(self, result: Result, profile: Profile) -> None:
        self.result = result
        self.profile = profile
        named = {one.name: one for one in PROFILES.values() if one.name != "custom"}
        self.profiles = tuple((named | {profile.name: profile}).values())

    @functools.cached_property
    def figures(self) -> dict[str, Figures]:
        """By payload."""
        return {payload: figures_of(self.result, payload) for payload in payloads_of(self.result)}

    @functools.cached_property
    def standings(self) -> dict[str, list[Standings]]:
        """By payload: the standings of each profile."""
        return {payload: [rank(one, profile) for profile in self.profiles] for payload, one in self.figures.items()}

    def summaries(self) -> list[str]:
        """A sentence for each profile, that of the page's own first; no other one that nothing can be scored by."""
        scored = {number for found in self.standings.values() for number, one in enumerate(found) if one.scores}
        own = self.profiles.index(self.profile)
        order = [own, *sorted(scored - {own})]
        return (
            [sentence_here(summary([found[number] for found in self.standings.values()])) for number in order]
            if self.standings
            else []
        )

    def winners(self, key: str) -> Html | None:
        """Who wins which profile on which payload."""
        rows = [
            [name(payload), *(_winner(one) for one in found)]
            for payload, found in self.standings.items()
            if any(one.scores for one in found)
        ]
        if not rows:
            return None
        titles = ["payload", *(profile.name for profile in self.profiles)]
        return simple(f"{key}-winners", "Who is cheapest, by what a service does", titles, rows, words=True)

    def terms(self) -> Html:
        """What each profile stands for."""
        return tag("dl", [(tag("dt", one.name), tag("dd", one.doc)) for one in self.profiles], class_="legend")

    def sentences(self, payload: str) -> list[str]:
        """What each profile comes to on one payload."""
        return [sentence(one) for one in self.standings.get(payload, []) if one.scores]

    def changes(self, payload: str) -> list[str]:
        """What would change who wins the page's own profile."""
        figures = self.figures.get(payload)
        if figures is None:
            return []
        return [*move_texts(moves(figures, self.profile)), *map(switch_text, switches(figures, self.profile))]

    def evens(self, payload: str) -> Html | None:
        """From how many fields on decoding the whole message is cheaper, of the codecs that the picture is about."""
        figures = self.figures.get(payload)
        if figures is None:
            return None
        even = [break_even(figures, codec, codec) for codec in strong(curves_over_fields(figures))]
        return _list([comparison_text(one) for one in even if len(one.places) > 1])

    def sweeps(self, key: str) -> Iterator[Child]:
        """For each schema that was measured at two sizes or more: cost over size, and the crossovers of those in front."""
        for number, sweep in enumerate(sweeps_of(self.result)):
            exhibits = tuple(sweep_exhibits(sweep))
            if exhibits:
                yield charts([chart(f"{key}-sweep-{number}", one) for one in exhibits])
                yield _list([line for one in exhibits for line in _crossovers(sweep, one.operation)])


def _crossovers(sweep: Sequence[Figures], task: str) -> Iterator[str]:
    for left, right in itertools.combinations(strong(curves_over_sizes(sweep, task)), 2):
        yield f"{SWEPT[task]}: {comparison_text(over_sizes(sweep, left, right, task))}"


def _winner(standings: Standings) -> Child:
    leaders = standings.leaders
    if not leaders:
        return tag("span", "none can be scored", class_="quiet")
    trust = " (unvalidated)" if any(one.unvalidated for one in leaders) else ""
    if len(leaders) > 1:
        return [tag("span", "tie: "), _joined(standings), trust]
    if standings.next is None:
        return [
            name(leaders[0].name),
            tag("small", "alone" if len(standings.scores) == 1 else "no clear second"),
            trust,
        ]
    ratio = standings.next.total_ns.value / leaders[0].total_ns.value
    return [
        tag("strong", name(leaders[0].name)),
        trust,
        tag("small", ratio_text(ratio), " ahead of ", name(standings.next.name)),
    ]


def _joined(standings: Standings) -> list[Child]:
    names = [name(one.name) for one in standings.leaders]
    more = len(names) - MOST
    shown: list[Child] = [*names[:MOST], *([f"{more} more"] if more > 0 else [])]
    return [part for one in shown for part in (", ", one)][1:]


def _list(lines: Sequence[str]) -> Html | None:
    return tag("ul", [tag("li", line) for line in lines], class_="notes") if lines else None
