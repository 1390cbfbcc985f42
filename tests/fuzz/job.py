"""What the process that reads mutants is told, and what it tells: both as JSON, in the folder that they share."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Job", "Outcome"]


@dataclass(frozen=True)
class Job:
    """What is to be read.

    Attributes
    ----------
    folder
        Of the process's own: it leaves its last words and its outcome there.
    mutants, seed, seconds, engines
        As `tests.fuzz.loop.fuzz` takes them.
    extension
        A C engine with sanitizers that stands for the installed one; None: the installed one.
    """

    folder: str
    mutants: int
    seed: int
    seconds: float | None
    engines: tuple[str, ...]
    extension: str | None = None

    @property
    def last_words(self) -> Path:
        """What is being read; see `tests.fuzz.loop.LastWords`."""
        return Path(self.folder) / "last"

    @property
    def result(self) -> Path:
        """The `Outcome`, once there is one."""
        return Path(self.folder) / "outcome.json"

    def dumps(self) -> str:
        """As text."""
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def loads(cls, text: str) -> Job:
        """Of `dumps`."""
        fields = json.loads(text)
        return cls(**{**fields, "engines": tuple(fields["engines"])})


@dataclass(frozen=True)
class Outcome:
    """What came of it: mutants read, how often each kind of answer was given, and findings as text."""

    mutants: int
    counts: dict[str, int]
    findings: list[str]

    def dumps(self) -> str:
        """As text."""
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def loads(cls, text: str) -> Outcome:
        """Of `dumps`."""
        return cls(**json.loads(text))
