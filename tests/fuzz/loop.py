"""The loop of the fuzz test: mutants of every schema case's messages, each read in every way."""

from __future__ import annotations

import ctypes
import functools
import mmap
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conformance.schemas import CASES
from tests.conformance.strategies import samples
from tests.flat.rich import Rich, rich_value
from tests.fuzz.mutate import mutant
from tests.fuzz.readers import Disagreement, Readers, Wrap
from zcser import registry
from zcser.core.errors import CodecUnavailableError, SchemaError
from zcser.flat.plan import layout_of
from zcser.schema.from_python import schema_of
from zcser.schema.model import Schema

__all__ = ["CARRIED", "Finding", "Found", "LastWords", "exact_buffer", "fuzz", "messages"]

_MOST_FINDINGS = 20
_LARGEST = 4000
"""Bytes of the largest message that is changed; longer ones repeat what shorter ones have."""


def _carried() -> dict[str, Schema]:
    found = {}
    for name, schema in CASES.items():
        try:
            layout_of(schema)
        except SchemaError:
            continue
        found[name] = schema
    return {**found, "rich": schema_of(Rich)}


CARRIED = _carried()
"""Every schema case that FlatBuffers carries, and the one of tests/flat/rich.py."""


@functools.cache
def messages(case: str) -> tuple[bytes, ...]:
    """Messages of a case, laid out by both builders that there are."""
    schema = CARRIED[case]
    values = (rich_value(),) if case == "rich" else samples(schema, 12)
    found = set()
    for name in ("flatbuffers", "flatbuffers-official"):
        try:
            codec = registry.codec(name, schema)
        except CodecUnavailableError:
            continue
        found |= {codec.encode(value) for value in values}
    return tuple(sorted(message for message in found if len(message) <= _LARGEST))


@dataclass(frozen=True)
class Finding:
    """A message that is read otherwise than it should be."""

    case: str
    message: bytes
    words: str

    def __str__(self) -> str:
        return f"{self.case}: {self.words}\n  {self.message.hex()}"


@dataclass
class Found:
    """What came of a run."""

    mutants: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)


class LastWords:
    """What is being read, in a file that outlives the process: all that is left where a reader ends it."""

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), 0)

    def say(self, case: str, message: bytes) -> None:
        text = b"%s %s\n" % (case.encode(), message.hex().encode())
        self._memory[: len(text)] = text


def exact_buffer(message: bytes) -> Any:
    """A buffer on the heap that ends where the message ends, so that a sanitizer sees a read past it.

    After bytes there is a NUL, and numpy takes small arrays from a pool of its own; ctypes allocates what was asked for.
    """
    return (ctypes.c_ubyte * len(message)).from_buffer_copy(message)


def fuzz(
    mutants: int,
    *,
    seed: int,
    seconds: float | None = None,
    cases: Sequence[str] = tuple(CARRIED),
    wrap: Wrap = bytes,
    engines: Sequence[str] | None = None,
    last_words: LastWords | None = None,
) -> Found:
    """Read mutants of all cases in turn.

    Parameters
    ----------
    mutants
        How many, of all cases together; each goes through every reader.
    seed
        The same seed gives the same mutants.
    seconds
        End earlier, after so many.
    cases
        Names out of `CARRIED`.
    wrap
        Makes the buffer that is read of the bytes of a message.
    engines
        Whose readers, by name; None: all that are there.
    last_words
        Is told of each mutant before it is read.
    """
    found, rng = Found(), random.Random(seed)
    corpus = [
        (case, messages(case), Readers(CARRIED[case], wrap=wrap, names=engines)) for case in cases[: max(mutants, 0)]
    ]
    deadline = None if seconds is None else time.monotonic() + seconds
    while found.mutants < mutants and len(found.findings) < _MOST_FINDINGS:
        if deadline is not None and time.monotonic() > deadline:
            break
        case, seeds, readers = corpus[found.mutants % len(corpus)]
        message = mutant(rng, seeds)
        if last_words is not None:
            last_words.say(case, message)
        try:
            readers.check(message)
        except Disagreement as words:
            found.findings.append(Finding(case, message, str(words)))
        found.mutants += 1
    for _, _, readers in corpus:
        found.counts.update(readers.counts)
    return found
