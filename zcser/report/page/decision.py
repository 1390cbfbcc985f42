"""What `zcser.decide` says of a run: winners by profile, what would change them, and where lines cross."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence

from zcser.core.units import bytes_text, number_text, ratio_text
from zcser.decide.crossover import break_even, over_sizes, reading, sweeps_of
from zcser.decide.figures import Figures, figures_of, payloads_of
from zcser.decide.interval import Interval
from zcser.decide.profiles import PROFILES, Profile
from zcser.decide.score import Standings, rank
from zcser.decide.sensitivity import moves, switches
from zcser.decide.verdict import comparison_text, move_texts, sentence, summary, switch_text
from zcser.measure.result import Result
from zcser.report.charts.lines import Line, lines_svg
from zcser.report.markup import Child, Html, name, tag
from zcser.report.page.tables import scrolling, sentence_here, simple

__all__ = ["RunDecision"]

SWEPT = {"encode": "encode", "decode": "decode", "read-field": "read the named fields"}
STRONG = 4
"""Codecs that a picture of lines is about, and between which crossovers are looked for."""


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

    def fields(self, payload: str, key: str) -> list[Child]:
        """Cost over the number of fields that are read, and from how many on decoding the whole message is cheaper."""
        figures = self.figures.get(payload)
        if figures is None:
            return []
        curves = {one.codec: reading(figures, one.codec) for one in figures.candidates}
        drawn = _drawn(f"{payload}: cost by the number of fields that are read", curves, "fields", number_text)
        if drawn is None:
            return []
        even = [break_even(figures, codec, codec) for codec in _strong(curves)]
        lines = [comparison_text(one) for one in even if len(one.places) > 1]
        return [
            scrolling(f"{key}-fields-chart", "picture of cost by number of fields", tag("figure", drawn)),
            _list(lines),
        ]

    def sweeps(self, key: str) -> Iterator[Child]:
        """For each schema that was measured at two sizes or more: cost over size, and the crossovers of those in front."""
        for number, sweep in enumerate(sweeps_of(self.result)):
            charts, lines = [], []
            for task, words in SWEPT.items():
                curves = _over_sizes(sweep, task)
                names = f"{sweep[0].payload} to {sweep[-1].payload}"
                drawn = _drawn(f"{names}: cost to {words}, by size", curves, "size of the message", bytes_text)
                if drawn is not None:
                    charts.append(
                        scrolling(f"{key}-sweep-{number}-{task}", f"picture of cost to {words}", tag("figure", drawn))
                    )
                    pairs = itertools.combinations(_strong(curves), 2)
                    lines += [f"{words}: {comparison_text(over_sizes(sweep, a, b, task))}" for a, b in pairs]
            if charts:
                yield tag("div", charts, class_="charts")
                yield _list(lines)


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
    more = len(names) - STRONG
    shown: list[Child] = [*names[:STRONG], *([f"{more} more"] if more > 0 else [])]
    return [part for one in shown for part in (", ", one)][1:]


def _over_sizes(sweep: Sequence[Figures], task: str) -> dict[str, dict[float, Interval]]:
    curves: dict[str, dict[float, Interval]] = {}
    for figures in sweep:
        for one in figures.candidates:
            step = figures.step(one, task)
            if step is not None and figures.message_bytes is not None:
                curves.setdefault(one.codec, {})[figures.message_bytes] = step.cost
    return curves


def _strong(curves: dict[str, dict[float, Interval]]) -> list[str]:
    """The codecs that are lowest or second at some place, at most `STRONG`, those lowest at most places first."""
    places = sorted({place for curve in curves.values() for place in curve})
    ordered = [
        sorted((curve[place].value, codec) for codec, curve in curves.items() if place in curve) for place in places
    ]
    firsts, seconds = ([order[number][1] for order in ordered if len(order) > number] for number in (0, 1))
    return list(dict.fromkeys([*firsts, *seconds]))[:STRONG]


def _drawn(
    title: str, curves: dict[str, dict[float, Interval]], across: str, text: Callable[[float], str]
) -> Html | None:
    strong = _strong(curves)
    order = [*strong, *(codec for codec in curves if codec not in strong)]
    lines = [
        Line(codec, tuple(sorted(curves[codec].items())), codec in strong) for codec in order if len(curves[codec]) > 1
    ]
    return lines_svg(title, lines, across, text)


def _list(lines: Sequence[str]) -> Html | None:
    return tag("ul", [tag("li", line) for line in lines], class_="notes") if lines else None
