"""Codecs scored by a profile: core time, wire time and their sum, and who is out.

1. The formula is that of `zcser.decide.profiles`. It is computed in the order written there, so that whoever repeats it in
   IEEE doubles gets the same last digit.
2. A figure that a profile weighs and a codec lacks puts the codec out, with the reason; it is never taken as 0.
3. Who is shown to miss the objective, or not to carry the load, is out too. Where that cannot be told, the codec stays.
4. Ranks are those of an interval order (`zcser.decide.interval.ranks`): codecs of one rank tie.
5. The objective is judged without any queue. One call's p99 above it is a miss. It is met where the tails of all steps
   together are below: the p99 of a lone step; of several their p99.9, since then at most one message in a hundred has any
   step beyond its own.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from zcser.decide.figures import Candidate, Figures, Step
from zcser.decide.interval import Interval, exact, ranks
from zcser.decide.profiles import Profile

__all__ = ["Objective", "Out", "Score", "Standings", "rank", "score"]

Objective = Literal["met", "missed", "unknown"]


@dataclass(frozen=True, slots=True)
class Score:
    """What a profile comes to with one codec.

    Attributes
    ----------
    codec, writer
        As in `zcser.decide.figures.Candidate`.
    steps
        What is weighed: of the writing side, then of the reading one.
    bytes
        Size of a message on the wire; None where the profile does not weigh it.
    written_ns, read_ns
        Core time of writing one message and of reading it once; 0 for a side that is not weighed.
    core_ns, wire_ns, total_ns
        Per message written, all weights applied.
    per_core_s
        Messages per second of one core; None where no core time counts.
    capacity_s
        Messages per second that cores, and bandwidths, carry; infinite where nothing bounds them.
    objective
        Whether the p99 objective is met; None where there is none.
    """

    codec: str
    writer: str | None
    steps: tuple[Step, ...]
    bytes: float | None
    written_ns: Interval
    read_ns: Interval
    core_ns: Interval
    wire_ns: float
    total_ns: Interval
    per_core_s: Interval | None
    capacity_s: Interval
    objective: Objective | None

    @property
    def name(self) -> str:
        """The codec, and who writes for it: ``"simdjson, written by orjson"``."""
        return self.codec if self.writer is None else f"{self.codec}, written by {self.writer}"

    @property
    def unvalidated(self) -> bool:
        """Whether a step takes its input on trust."""
        return any(step.unvalidated for step in self.steps)


@dataclass(frozen=True, slots=True)
class Out:
    """A codec that is not in the ranking, and why."""

    codec: str
    reason: str


@dataclass(frozen=True, slots=True)
class Standings:
    """Who wins a profile on one payload.

    Attributes
    ----------
    scores
        By rank, then total, then name.
    ranks
        Of each score.
    outs
        Codecs without a rank.
    notes
        What to know of all scores.
    """

    payload: str
    profile: Profile
    scores: tuple[Score, ...]
    ranks: tuple[int, ...]
    outs: tuple[Out, ...]
    notes: tuple[str, ...] = ()

    @property
    def leaders(self) -> tuple[Score, ...]:
        """All that no other is shown to beat."""
        return tuple(one for one, place in zip(self.scores, self.ranks, strict=True) if place == 1)

    @property
    def next(self) -> Score | None:
        """The lowest total behind the leaders, where every leader is shown to be below it."""
        leaders = self.leaders
        behind = min(self.scores[len(leaders) :], key=lambda one: one.total_ns.value, default=None)
        shown = behind is not None and all(one.total_ns.less(behind.total_ns) for one in leaders)
        return behind if shown else None


def rank(figures: Figures, profile: Profile) -> Standings:
    """Score and rank every codec of a payload."""
    found = [score(figures, one, profile) for one in figures.candidates]
    scores = [one for one in found if isinstance(one, Score)]
    places = ranks([one.total_ns for one in scores])
    order = sorted(zip(places, scores, strict=True), key=lambda pair: (pair[0], pair[1].total_ns.value, pair[1].codec))
    return Standings(
        figures.payload,
        profile,
        scores=tuple(one for _, one in order),
        ranks=tuple(place for place, _ in order),
        outs=tuple(one for one in found if isinstance(one, Out)),
        notes=tuple(_notes(figures, profile)),
    )


def _notes(figures: Figures, profile: Profile) -> Iterator[str]:
    instead = figures.stand_in(profile.read)
    if instead is not None and profile.reader_weight * profile.reads_per_write > 0:
        fields = "one field" if figures.named_fields == 1 else f"{figures.named_fields} fields"
        yield f"read-{profile.read} was not measured: {instead} of {fields} stands for it"


def score(figures: Figures, candidate: Candidate, profile: Profile) -> Score | Out:
    """Score one codec, or say why it is out."""
    writing, reading = profile.writer_weight, profile.reader_weight * profile.reads_per_write
    written = _side(figures, candidate, profile, profile.write, "compress") if writing > 0 else ()
    read = _side(figures, candidate, profile, profile.read, "decompress") if reading > 0 else ()
    if isinstance(written, str) or isinstance(read, str):
        return Out(candidate.codec, f"cannot be scored: {written if isinstance(written, str) else read}")
    size = candidate.wire_bytes if profile.compression == "none" else candidate.packed_bytes.get(profile.compression)
    out_ns, in_ns = 1e9 / profile.bandwidth_out, 1e9 / profile.bandwidth_in
    per_byte_ns = out_ns + profile.reads_per_write * in_ns
    if per_byte_ns == 0:
        size = None
    elif size is None:
        after = "" if profile.compression == "none" else f" after {profile.compression}"
        return Out(candidate.codec, f"cannot be scored: the size of its messages{after} was not measured")
    wire_ns, hop_ns = 0.0, 0.0
    if size is not None:
        wire_ns = size * per_byte_ns
        hop_ns = size * (out_ns + (in_ns if profile.reads_per_write > 0 else 0.0))
    written_ns, read_ns = _sum(written), _sum(read)
    core_ns = written_ns.times(writing) + read_ns.times(reading)
    total_ns = Interval(*(one / profile.cpu_share + wire_ns for one in (core_ns.value, core_ns.low, core_ns.high)))
    steps = (*written, *read)
    objective = None if profile.p99_ns is None else _objective(steps, hop_ns, profile.p99_ns)
    if objective == "missed":
        return Out(candidate.codec, "misses the p99 objective")
    capacity_s = _capacity(core_ns, size, profile)
    if profile.messages_per_s is not None and capacity_s.high < profile.messages_per_s:
        return Out(candidate.codec, f"carries at most {capacity_s.high:.3g} messages per second")
    return Score(
        candidate.codec,
        candidate.writer,
        steps,
        size,
        written_ns,
        read_ns,
        core_ns,
        wire_ns,
        total_ns,
        per_core_s=_per_second(core_ns) if core_ns.value > 0 else None,
        capacity_s=capacity_s,
        objective=objective,
    )


def _side(figures: Figures, candidate: Candidate, profile: Profile, task: str, packing: str) -> tuple[Step, ...] | str:
    """The steps of one side, or why one of them is not there."""
    tasks = (task,) if profile.compression == "none" else (task, f"{packing}-{profile.compression}")
    steps = []
    for one in tasks:
        step = figures.step(candidate, one, unvalidated=profile.unvalidated)
        if step is None:
            trusting = figures.step(candidate, one, unvalidated=True)
            names = figures.operations(one)
            return candidate.reason(names) if trusting is None else f"{names[0]} was measured unvalidated only"
        steps.append(step)
    return tuple(steps)


def _sum(steps: Iterable[Step]) -> Interval:
    return functools.reduce(operator.add, (step.cost for step in steps), exact(0.0))


def _per_second(time_ns: Interval) -> Interval:
    """How often a second holds a time; infinite where it is nothing."""
    value, high, low = (1e9 / one if one > 0 else math.inf for one in (time_ns.value, time_ns.low, time_ns.high))
    return Interval(value, low, high)


def _capacity(core_ns: Interval, size: float | None, profile: Profile) -> Interval:
    bounds = [math.inf]
    if size is not None:
        bounds.append(profile.bandwidth_out / size)
        if profile.reads_per_write > 0:
            bounds.append(profile.bandwidth_in / size / profile.reads_per_write)
    wire_s = min(bounds)
    cores_s = _per_second(core_ns).times(profile.cpu_share)
    return Interval(*(min(one, wire_s) for one in (cores_s.value, cores_s.low, cores_s.high)))


def _objective(steps: Sequence[Step], hop_ns: float, p99_ns: float) -> Objective:
    if any((step.p99_ns or 0.0) + hop_ns > p99_ns for step in steps) or hop_ns > p99_ns:
        return "missed"
    tails = [step.p99_ns if len(steps) == 1 else step.p999_ns for step in steps]
    known = [tail for tail in tails if tail is not None]
    return "met" if len(known) == len(tails) and sum(known) + hop_ns <= p99_ns else "unknown"
