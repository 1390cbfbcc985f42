"""A decision as a document for the exporters: ranks, what each codec comes to, the front, and what would change it."""

from __future__ import annotations

import math
from collections.abc import Iterator

from zcser.core.units import bytes_text, duration_text, number_text, ratio_text
from zcser.core.words import one_line
from zcser.decide.decision import Answer, Decision
from zcser.decide.pareto import SIZE
from zcser.decide.profiles import PROFILES, Profile
from zcser.decide.score import Score
from zcser.decide.verdict import comparison_text, move_texts, switch_text
from zcser.report.cells import FLAGS
from zcser.report.model import ABSENT, NOT_TAKEN, Column, Document, Entry, Section, Table

__all__ = ["decision_document"]

_UNVALIDATED = FLAGS["unvalidated"][0]
_OUT_SHOWN = 12


def decision_document(decision: Decision) -> Document:
    """The report of a decision."""
    sections = [_section(answer) for answer in decision.answers]
    if decision.crossovers:
        lines = tuple(map(comparison_text, decision.crossovers))
        sections.append(Section("crossovers over message sizes", "of the profile's total", (), notes=lines))
    profile = decision.profile
    return Document(
        title=one_line(f"zcser decide, {_does(profile)}"),
        sections=tuple(sections),
        baselines=None,
        legend=tuple(_legend(decision)),
        notices=(one_line(_settings(profile)),),
        verdict=decision.sentence,
    )


def _does(profile: Profile) -> str:
    """What a profile does, with its formula where that is still the one that its sentence says."""
    if profile == PROFILES.get(profile.name):
        return f"{profile.name}: {profile.doc}"
    return f"{profile.name}, changed: {profile.doc.partition(':')[0]}"


def _settings(profile: Profile) -> str:
    bandwidths = (
        f"{name}: {'not counted' if value == math.inf else f'{bytes_text(value)}/s'}"
        for name, value in (("bandwidth_in", profile.bandwidth_in), ("bandwidth_out", profile.bandwidth_out))
    )
    weights = ("writer_weight", "reader_weight", "reads_per_write", "cpu_share")
    numbers = (f"{name}: {getattr(profile, name):.4g}" for name in weights)
    asked = [] if profile.messages_per_s is None else [f"messages_per_s: {profile.messages_per_s:.4g}"]
    asked += [] if profile.p99_ns is None else [f"p99_ns: {duration_text(profile.p99_ns)}"]
    choices = (f"unvalidated: {'yes' if profile.unvalidated else 'no'}", f"compression: {profile.compression}")
    return ", ".join((f"write: {profile.write}", f"read: {profile.read}", *numbers, *bandwidths, *asked, *choices))


def _section(answer: Answer) -> Section:
    standings = answer.standings
    outs = [one_line(f"{one.codec}: {one.reason}") for one in standings.outs]
    if len(outs) > _OUT_SHOWN:
        outs[_OUT_SHOWN:] = [f"{len(outs) - _OUT_SHOWN} more codecs are out"]
    return Section(
        one_line(standings.payload),
        "",
        (_table(answer),) if standings.scores else (),
        problems=tuple(outs),
        notes=tuple(_notes(answer)),
    )


def _notes(answer: Answer) -> Iterator[str]:
    yield from map(one_line, answer.standings.notes)
    yield from move_texts(answer.moves)
    yield from map(switch_text, answer.switches)
    yield from map(comparison_text, answer.break_evens)


def _table(answer: Answer) -> Table:
    titles = ["rank", "total", "range", "core", "wire", "size", "msg/s/core", "front"]
    if answer.standings.profile.p99_ns is not None:
        titles.append("p99")
    columns = (Column("codec", align="left"), *map(Column, titles))
    standings = answer.standings
    rows = [_row(answer, place, one) for place, one in zip(standings.ranks, standings.scores, strict=True)]
    return Table("", columns, tuple(row[: len(columns)] for row in rows))


def _row(answer: Answer, place: int, one: Score) -> tuple[Entry, ...]:
    shared = answer.standings.ranks.count(place) > 1
    lowest = answer.standings.scores[0].total_ns.value
    total = one.total_ns
    ratio = "" if one is answer.standings.scores[0] or lowest <= 0 else ratio_text(total.value / lowest)
    words = {"met": Entry("met"), "unknown": Entry("cannot tell", emphasis="muted")}
    return (
        Entry(one_line(one.name), marks=_UNVALIDATED if one.unvalidated else ""),
        Entry(f"{place}{'=' if shared else ''}", emphasis="best" if place == 1 else "plain"),
        Entry(duration_text(total.value), ratio, emphasis="best" if place == 1 else "plain"),
        Entry(f"{duration_text(total.low)} to {duration_text(total.high)}", emphasis="muted"),
        Entry(duration_text(one.core_ns.value)),
        Entry(duration_text(one.wire_ns)),
        ABSENT if one.bytes is None else Entry(bytes_text(one.bytes)),
        ABSENT if one.per_core_s is None else Entry(number_text(one.per_core_s.value)),
        Entry("front", emphasis="best") if one.codec in answer.front.front else ABSENT,
        words.get(one.objective or "", NOT_TAKEN),
    )


def _legend(decision: Decision) -> Iterator[tuple[str, str]]:
    yield "rank", "1 and the number of codecs shown to be cheaper; = shared: these tie"
    yield "total", "core / cpu_share + wire, per message written; ratio to the lowest"
    yield "range", "from the lowest processes of all steps to the highest; totals differ where ranges do not touch"
    yield "core", "core time, weighed as the profile says; msg/s/core: what one core carries of it"
    yield "wire", "the time that the bytes take at the profile's bandwidths"
    yield "front", f"no other codec beats it in {', '.join(_axes(decision))} together"
    yield "out", "what a profile weighs and a codec lacks is never taken as nothing: it has no rank"
    if any(one.unvalidated for answer in decision.answers for one in answer.standings.scores):
        yield _UNVALIDATED, FLAGS["unvalidated"][1]


def _axes(decision: Decision) -> tuple[str, str, str]:
    profile = decision.profile
    fields = profile.read == "all" or profile.read[0].isdigit()
    return profile.write, f"read-{profile.read}" if fields else profile.read, SIZE
