"""What a payload is: a schema, and as many distinct values of it as a measurement asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from zcser.core.errors import ZcserError
from zcser.schema.model import Schema

__all__ = ["Payload", "PayloadError", "Rotation"]

Rotation = Literal["distinct", "copies"]


class PayloadError(ZcserError, ValueError):
    """A payload is unknown, or its source cannot be read; the message is one line for a person."""


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

    def values(self, count: int) -> list[Any]:
        """The first `count` values."""
        return [self.make(number) for number in range(count)]
