"""What an evolution is made of: changes, outcomes, verdicts.

1. An outcome is of one field of one message. `works`: the value that the change means (an int in the wider int, ``[x]`` where
   a field became a list). `default`: the writer had no value, and the reader's own stands in: its declared default; without
   one, None or absence where its schema has that, else the zero of the kind. `lost`: what the writer had is not there, or
   only in part (rounded, one item of many), and nobody is told. `wrong`: another value than was written, and nobody is told.
   `error`: the reader refuses the message.
2. A value is lost *as meant* where the reader's schema has no such field or place: whoever removes a field means that, and an
   old reader can do no other. That alone makes nothing unsafe.
3. A verdict is of one codec, from all outcomes of both directions.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

__all__ = [
    "Change",
    "ChangeKind",
    "CodecReport",
    "Direction",
    "Evolution",
    "Finding",
    "Outcome",
    "Tally",
    "Verdict",
]


class ChangeKind(enum.StrEnum):
    """The kinds of difference between two schemas."""

    ADD = "added"
    REMOVE = "removed"
    RENAME = "renamed"
    RENUMBER = "renumbered"
    REORDER = "reordered"
    WIDEN = "widened"
    NARROW = "narrowed"
    KIND = "kind changed"
    SHAPE = "size changed"
    TO_LIST = "became a list"
    FROM_LIST = "was a list"
    TO_OPTIONAL = "became optional"
    TO_REQUIRED = "became required"
    MAY_BE_ABSENT = "may be absent now"
    ALWAYS_PRESENT = "always present now"
    DEFAULT_ADD = "default added"
    DEFAULT_REMOVE = "default removed"
    DEFAULT_CHANGE = "default changed"
    ENUM_GROW = "enum grew"
    ENUM_SHRINK = "enum shrank"
    ENUM_RENUMBER = "enum renumbered"
    ENUM_RENAME = "enum member renamed"
    OPTION_ADD = "option added"
    OPTION_REMOVE = "option removed"
    OPTION_REORDER = "options reordered"
    RECORD_RENAME = "record renamed"
    SPLIT = "split off into a record"
    MERGE = "taken out of a record"


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between two schemas.

    Attributes
    ----------
    kind
        What changed.
    path
        Record and field as ``Record/field``, by the old names (the new where there are no old); "" is the root.
    detail
        From what to what, in words.
    place
        The pair of records, by name: ``(old, new)``; two empty names for the root.
    old, new
        The names of the fields that it touches, in each record.
    """

    kind: ChangeKind
    path: str
    detail: str
    place: tuple[str, str] = field(default=("", ""), repr=False)
    old: tuple[str, ...] = field(default=(), repr=False)
    new: tuple[str, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        detail = f": {self.detail}" if self.detail else ""
        return f"{self.path or 'the root'} {self.kind}{detail}"


class Outcome(enum.StrEnum):
    """What became of a value; the rules stand at the head of this module."""

    WORKS = "works"
    DEFAULT = "default"
    LOST = "lost"
    ERROR = "error"
    WRONG = "wrong"


class Direction(enum.StrEnum):
    """Whose reader meets whose data."""

    BACKWARD = "new reader, old data"
    FORWARD = "old reader, new data"


class Verdict(enum.StrEnum):
    """What a deployment may do."""

    SAFE = "safe"
    READERS_FIRST = "safe if readers are deployed before writers"
    WRITERS_FIRST = "safe if writers are deployed before readers"
    UNSAFE = "unsafe"
    NOT_CARRIED = "not carried"


@dataclass(frozen=True, slots=True)
class Finding:
    """An outcome, with what it was seen by.

    Attributes
    ----------
    outcome
        What became of the value.
    reason
        One line: what was written and what was read, or the reader's own words.
    meant
        As rule 2 has it; only what is lost can be.
    """

    outcome: Outcome
    reason: str = ""
    meant: bool = False

    @property
    def rank(self) -> int:
        """From harmless to harmful."""
        return list(Outcome).index(self.outcome) * 2 - self.meant


@dataclass(frozen=True, slots=True)
class Tally:
    """All that was found of one change in one direction.

    Attributes
    ----------
    counts
        Messages by the outcome that the change had in them, the worst where it had several.
    meant
        Of those that are `lost`: how many as meant.
    worst
        The most harmful finding, the first of its rank; None where no message held what the change touches.
    """

    counts: Mapping[Outcome, int] = field(default_factory=lambda: MappingProxyType({}))
    meant: int = 0
    worst: Finding | None = None

    @classmethod
    def of(cls, findings: Collection[Finding]) -> Tally:
        """The tally of one finding a message."""
        if not findings:
            return cls()
        counted = Counter(finding.outcome for finding in findings)
        ordered = {outcome: counted[outcome] for outcome in Outcome if outcome in counted}
        meant = sum(finding.meant for finding in findings)
        return cls(MappingProxyType(ordered), meant, max(findings, key=lambda finding: finding.rank))

    def allowed(self, allow: Collection[Outcome]) -> bool:
        """Whether nothing worse happened than what is allowed, or meant; False where nothing happened at all."""
        harmless = {Outcome.WORKS, Outcome.DEFAULT, *allow}
        if self.meant == self.counts.get(Outcome.LOST):
            harmless.add(Outcome.LOST)
        return self.worst is not None and set(self.counts) <= harmless

    def __str__(self) -> str:
        return " or ".join(self._words()) or "not reached"

    def _words(self) -> Iterator[str]:
        for outcome, count in self.counts.items():
            if outcome is Outcome.LOST and self.meant:
                yield "lost as meant"
            if outcome is not Outcome.LOST or count > self.meant:
                yield str(outcome)


@dataclass(frozen=True, slots=True)
class CodecReport:
    """What became of the changes in one codec.

    Attributes
    ----------
    codec
        Its name.
    verdict
        For all changes together.
    whole
        Each direction with all changes made at once.
    changes
        Each direction of each change, made alone.
    together
        Those of the changes that could not be made alone: theirs are with all changes made, and an error may be another's.
    refusal
        Where the codec does not carry both schemas, or cannot write: why.
    """

    codec: str
    verdict: Verdict
    whole: Mapping[Direction, Tally] = field(default_factory=lambda: MappingProxyType({}))
    changes: tuple[tuple[Change, Mapping[Direction, Tally]], ...] = ()
    together: frozenset[Change] = frozenset()
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Evolution:
    """The differences of two schemas, and what each codec makes of them."""

    changes: tuple[Change, ...]
    codecs: tuple[CodecReport, ...]

    @property
    def unsafe(self) -> tuple[str, ...]:
        """Names of the codecs in which the change is unsafe."""
        return tuple(report.codec for report in self.codecs if report.verdict is Verdict.UNSAFE)

    def to_json(self) -> dict[str, Any]:
        """Builtins for `json.dump`; ``schema_version`` 1."""
        return {
            "schema_version": 1,
            "changes": [_change(change) for change in self.changes],
            "codecs": [
                {
                    "codec": report.codec,
                    "verdict": report.verdict.name.lower(),
                    "refusal": report.refusal,
                    "changes": [
                        _change(change) | {"alone": change not in report.together} | _directions(tallies)
                        for change, tallies in report.changes
                    ],
                }
                | _directions(report.whole)
                for report in self.codecs
            ],
        }


def _change(change: Change) -> dict[str, Any]:
    return {"kind": change.kind.name.lower(), "path": change.path, "detail": change.detail}


def _directions(tallies: Mapping[Direction, Tally]) -> dict[str, Any]:
    return {
        direction.name.lower(): {
            "outcomes": dict(tally.counts),
            "lost_as_meant": tally.meant,
            "reason": "" if tally.worst is None else tally.worst.reason,
        }
        for direction, tally in tallies.items()
    }
