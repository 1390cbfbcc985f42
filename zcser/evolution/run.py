"""Two schemas run against each other in every codec: what one side writes, the other reads.

1. Values are those of `zcser.evolution.messages`, of the writer's schema. One that the format cannot write (NaN in JSON)
   says nothing about the change, and is passed over.
2. A codec that only reads is given what another codec of its wire writes.
3. A refused message is an `error` of every change that is run.
4. Nothing here knows a codec.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from zcser import registry
from zcser.core.codec import Codec, CodecInfo
from zcser.core.errors import DecodeError, EncodeError, SchemaError
from zcser.evolution.changes import changes_between
from zcser.evolution.judge import Judge
from zcser.evolution.matching import Correspondence, correspond
from zcser.evolution.messages import messages
from zcser.evolution.model import Change, CodecReport, Direction, Evolution, Finding, Outcome, Tally, Verdict
from zcser.evolution.neutral import alone, neutral
from zcser.schema.model import Schema

__all__ = ["evolve"]


def evolve(
    old: Any, new: Any, *, codecs: Iterable[str] | None = None, allow: Collection[Outcome | str] = ()
) -> Evolution:
    """Say what changed between two schemas, and whether it is safe in each codec, by running it.

    Parameters
    ----------
    old, new
        Whatever `zcser.codec` takes for a schema: classes, generated protobuf messages, annotations, `Schema` objects.
    codecs
        Names of codecs; all that are installed where None.
    allow
        Outcomes that are safe besides `works` and `default`, as ``{"lost"}``.

    Returns
    -------
    Evolution
        The changes, and a report per codec: the verdict, and the outcomes of each change in both directions. The same
        for the same schemas, codecs and versions: the values are seeded.

    Raises
    ------
    SchemaError
        A schema cannot be made.
    UnknownCodecError, CodecUnavailableError
        A codec was asked for by name that is not there.
    ValueError
        `allow` names no outcome.

    Notes
    -----
    An expectation never comes from a codec: `zcser.evolution.judge` has its rules. In the reports `Direction.BACKWARD` is
    the new reader of old data, `Direction.FORWARD` the old reader of new data. The user's own classes are not called.
    """
    allowed = frozenset(Outcome(name) for name in allow)
    names = tuple(codecs) if codecs is not None else _installed()
    matched = correspond(neutral(registry.schema_for(old)), neutral(registry.schema_for(new)))
    whole = _Step(matched, changes_between(matched))
    steps = _steps(whole)
    return Evolution(whole.changes, tuple(_report(name, whole, steps, allowed) for name in names))


@dataclass(frozen=True)
class _Step:
    """Two schemas to run.

    Attributes
    ----------
    matched, changes
        What is the same in them, and what is not.
    stands_for
        The change of the whole that is made alone here; None where this is the whole.
    """

    matched: Correspondence
    changes: tuple[Change, ...]
    stands_for: Change | None = None

    @cached_property
    def ways(self) -> dict[Direction, _Way]:
        """Both directions, made once for all codecs."""
        back = self.matched.inverse()
        return {
            Direction.BACKWARD: _Way(self.matched, Judge(self.matched, self.changes, inverse=False)),
            Direction.FORWARD: _Way(back, Judge(back, self.changes, inverse=True)),
        }


@dataclass(frozen=True)
class _Way:
    """From one side's writer to the other's reader."""

    matched: Correspondence
    judge: Judge

    @cached_property
    def values(self) -> list[Any]:
        """Values of the writer's schema, which codecs do not change."""
        return messages(self.matched.old)


def _steps(whole: _Step) -> list[_Step]:
    """Each change that can be made alone, where there are several."""
    found: list[_Step] = []
    if len(whole.changes) > 1:
        for change in whole.changes:
            made = alone(whole.matched, change)
            if made is not None:
                matched = correspond(whole.matched.old, made)
                changes = changes_between(matched)
                found += [_Step(matched, changes, change)] if {one.kind for one in changes} == {change.kind} else []
    return found


def _installed() -> tuple[str, ...]:
    return tuple(name for name, found in registry.available().items() if isinstance(found, CodecInfo))


def _report(name: str, whole: _Step, steps: list[_Step], allowed: frozenset[Outcome]) -> CodecReport:
    try:
        tallies, by_change = _run(name, whole)
    except SchemaError as error:
        return _refused(name, whole.matched.old, error)
    verdict = {
        (True, True): Verdict.SAFE,
        (True, False): Verdict.READERS_FIRST,
        (False, True): Verdict.WRITERS_FIRST,
        (False, False): Verdict.UNSAFE,
    }[tallies[Direction.BACKWARD].allowed(allowed), tallies[Direction.FORWARD].allowed(allowed)]
    together = set(by_change) if len(by_change) > 1 else set()
    for step in steps:
        if step.stands_for is not None:
            # A step that the codec does not carry stays as it came out together with the others.
            with suppress(SchemaError):
                by_change[step.stands_for] = _run(name, step)[0]
                together.discard(step.stands_for)
    return CodecReport(name, verdict, tallies, tuple(by_change.items()), frozenset(together))


def _refused(name: str, old: Schema, error: SchemaError) -> CodecReport:
    """The report of a codec that does not carry both schemas: where it carries the old one, the change ends that."""
    refusals = registry.check(name, old, **_options(name))
    verdict = Verdict.NOT_CARRIED if refusals else Verdict.UNSAFE
    side = "the old schema" if refusals else "the new schema"
    return CodecReport(name, verdict, refusal=f"{side} is refused at {error.path or 'the root'}: {error.reason}")


_Tallies = Mapping[Direction, Tally]


def _run(name: str, step: _Step) -> tuple[_Tallies, dict[Change, _Tallies]]:
    """The tallies of both directions: of whole messages, and of each change."""
    whole: dict[Direction, Tally] = {}
    parts: dict[Change, dict[Direction, Tally]] = {change: {} for change in step.changes}
    for direction, way in step.ways.items():
        findings = _messages(name, way)
        whole[direction] = Tally.of([finding for finding, _ in findings])
        for change, tallies in parts.items():
            tallies[direction] = Tally.of([found[change] for _, found in findings if change in found])
    return MappingProxyType(whole), {change: MappingProxyType(tallies) for change, tallies in parts.items()}


def _messages(name: str, way: _Way) -> list[tuple[Finding, dict[Change, Finding]]]:
    """The findings of every message that the writer can write."""
    writer, reader = _writer(name, way.matched.old), _codec(name, way.matched.new)
    found = []
    for value in way.values:
        try:
            data = writer.encode(value)
        except EncodeError:
            continue
        try:
            read = reader.decode(data)
        except DecodeError as error:
            refusal = Finding(Outcome.ERROR, str(error))
            found.append((refusal, dict.fromkeys(way.judge.changes, refusal)))
        else:
            found.append(way.judge(value, read))
    return found


def _options(name: str) -> dict[str, Any]:
    # The bytes are the run's own.
    return {"allow_untrusted_code": True} if registry.info(name).trusted_only else {}


def _codec(name: str, schema: Schema) -> Codec[Any]:
    return registry.codec(name, schema, **_options(name))


def _writer(name: str, schema: Schema) -> Codec[Any]:
    """The codec itself, or where it only reads the first of its wire that writes (rule 2)."""
    own = registry.info(name)
    if "encode" in own.operations:
        return _codec(name, schema)
    for other, found in registry.available().items():
        if isinstance(found, CodecInfo) and found.wire == own.wire and "encode" in found.operations:
            return _codec(other, schema)
    raise SchemaError(f"no codec that is installed writes what {name} reads")
