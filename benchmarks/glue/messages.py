"""Five messages: four built-in payloads, and one of the values that JSON and most binary formats have no word for."""

from __future__ import annotations

import datetime as dt
import enum
import functools
import random
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from zcser import payloads
from zcser.schema.annotations import Int64

__all__ = ["MESSAGES", "Charge", "Glue", "Job", "State", "values"]

_COUNT = 64


class Glue(NamedTuple):
    """From a value to the library's object, and back."""

    convert: Callable[[Any], Any]
    restore: Callable[[Any], Any]


class State(enum.Enum):
    """How far a job is."""

    QUEUED = "queued"
    DONE = "done"


@dataclass(slots=True)
class Charge:
    """What a part of a job cost."""

    model: str
    tokens: Int64
    price: Decimal
    day: dt.date


@dataclass(slots=True)
class Job:
    """A batch job, as a service bills it."""

    id: UUID
    parent: UUID | None
    submitted: dt.datetime
    patience: dt.timedelta
    state: State
    budget: Decimal
    tags: set[str]
    charges: list[Charge]


_MODELS = ("llama-3.1-8b", "qwen3-30b-a3b", "whisper-large-v3")
_TAGS = ("nightly", "eval", "tenant-7", "eu-west-3", "retry", "gold")


def _job(number: int) -> Job:
    rng = random.Random(number)  # noqa: S311 - data, no secret
    submitted = dt.datetime(2026, 1, 1, tzinfo=dt.UTC) + dt.timedelta(microseconds=rng.randrange(10**13))
    return Job(
        id=UUID(int=rng.getrandbits(128)),
        parent=UUID(int=rng.getrandbits(128)) if number % 2 else None,
        submitted=submitted,
        patience=dt.timedelta(milliseconds=rng.randrange(10**6)),
        state=rng.choice(tuple(State)),
        budget=Decimal(rng.randrange(10**6)).scaleb(-2),
        tags=set(rng.sample(_TAGS, 3)),
        charges=[
            Charge(
                rng.choice(_MODELS),
                rng.randrange(10**6),
                Decimal(rng.randrange(10**5)).scaleb(-4),
                submitted.date() + dt.timedelta(days=day),
            )
            for day in range(4)
        ],
    )


MESSAGES = ("llm-chunk", "batch-meta", "request-1k", "telemetry-1k", "job")


@functools.cache
def values(message: str) -> tuple[type, list[Any]]:
    """The class of a message, and 64 values of it."""
    if message == "job":
        return Job, [_job(number) for number in range(_COUNT)]
    items = [payloads.get(message).make(number) for number in range(_COUNT)]
    return type(items[0]), items
