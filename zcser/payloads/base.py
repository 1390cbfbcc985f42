"""What a payload is: a schema, and as many distinct values of it as a measurement asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from zcser.core.errors import ZcserError
from zcser.schema.model import Schema

__all__ = ["Number", "Payload", "PayloadError", "Places", "Rotation"]

Rotation = Literal["distinct", "copies"]


class PayloadError(ZcserError, ValueError):
    """A payload is unknown, or its source cannot be read; the message is one line for a person."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number in every value, which composite tasks change.

    Attributes
    ----------
    path
        Its pointer.
    values
        Eight values that its type has, each other than that of the payload's first value.
    """

    path: str
    values: tuple[int | float, ...]


@dataclass(frozen=True, slots=True)
class Places:
    """Where partial reads and composite tasks look into a payload's values; see `zcser.payloads.spread`.

    Attributes
    ----------
    leaves
        How many the first value has; 200,000 stands for that many and more.
    reads
        Pointers by how much is read: "1", "2", "10%" and "all", each in document order. None for "all" where leaves are too
        many, or differ from value to value: they are found by walking then.
    number
        None where no number can be changed.
    """

    leaves: int
    reads: Mapping[str, tuple[str, ...]]
    number: Number | None = None


@dataclass(frozen=True)
class Payload:
    """Something to measure.

    Attributes
    ----------
    name, doc
        For tables and listings.
    schema
        What codecs are made from.
    make
        ``make(n)`` is value number n, the same on every call and in every process; each call gives a fresh object.
    rotation
        "distinct": any two numbers below 64 give different values. "copies": there are fewer values than that, and
        the same value comes again as another object; shown as *hot* in the results.
    distinct
        How many values differ.
    field
        JSON Pointer of the one field that a lazy reader is asked for.
    fields
        Pointers that a partial read takes; `field` alone unless the user named some.
    tensor
        Pointer of the first tensor, None where there is none.
    source
        "built-in", or the user's file or ``module:function``.
    places
        As a run chose them; None where it needs none.
    """

    name: str
    doc: str
    schema: Schema
    make: Callable[[int], Any]
    field: str
    fields: tuple[str, ...] = ()
    tensor: str | None = None
    rotation: Rotation = "distinct"
    distinct: int = 64
    source: str = "built-in"
    places: Places | None = None

    def values(self, count: int) -> list[Any]:
        """The first `count` values."""
        return [self.make(number) for number in range(count)]
