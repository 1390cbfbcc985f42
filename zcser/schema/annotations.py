"""What may stand in ``Annotated[...]``, and the usual widths ready made.

Any type of `zcser.schema.model` may stand there (``Annotated[int, Int(32)]``), and these besides.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, TypeAlias

from zcser.schema.model import Float, Int, Logical

__all__ = [
    "Alias",
    "AwareDatetime",
    "Float32",
    "Float64",
    "Id",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "Length",
    "NaiveDatetime",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
]


@dataclass(frozen=True, slots=True)
class Id:
    """The field's number on binary wires: ``Annotated[str, Id(3)]``. A field without one follows the field before."""

    number: int


@dataclass(frozen=True, slots=True)
class Alias:
    """The field's name in messages: ``Annotated[str, Alias("fullName")]``.

    Classes that have a way of their own to say so need none: pydantic's aliases and the ``rename=`` of a Struct are read.
    """

    name: str


@dataclass(frozen=True, slots=True)
class Length:
    """The exact length of a list: ``Annotated[list[float], Length(4)]``."""

    items: int


Int8: TypeAlias = Annotated[int, Int(8)]
Int16: TypeAlias = Annotated[int, Int(16)]
Int32: TypeAlias = Annotated[int, Int(32)]
Int64: TypeAlias = Annotated[int, Int(64)]
UInt8: TypeAlias = Annotated[int, Int(8, signed=False)]
UInt16: TypeAlias = Annotated[int, Int(16, signed=False)]
UInt32: TypeAlias = Annotated[int, Int(32, signed=False)]
UInt64: TypeAlias = Annotated[int, Int(64, signed=False)]
Float32: TypeAlias = Annotated[float, Float(32)]
Float64: TypeAlias = Annotated[float, Float(64)]
AwareDatetime: TypeAlias = Annotated[datetime, Logical("datetime_utc")]
NaiveDatetime: TypeAlias = Annotated[datetime, Logical("datetime_naive")]
