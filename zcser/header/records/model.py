"""What a record is made of, with every place and byte order told.

1. A part is a `Scalar`, `Bytes`, an `Array` or a `Struct`; a struct's fields stand where their offsets say, in any order,
   without overlap. Bytes that no field covers are padding: written as zeros when a whole record is, not read, and left
   alone when a field is written.
2. Whatever a part cannot be is a `SchemaError` when it is made, so that readers and writers need not look.
3. The dtype of a part is numpy's form of the same bytes.
"""

from __future__ import annotations

import itertools
import math
import struct
from collections import namedtuple
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from zcser.core.errors import SchemaError

__all__ = ["MAX_HEIGHT", "Array", "ByteOrder", "Bytes", "Container", "Field", "Part", "Scalar", "Struct", "tuple_class"]

ByteOrder = Literal["little", "big"]
Container = Literal["tuple", "list", "ndarray"]

MAX_HEIGHT = 64
"""Records and arrays nested in each other, so that no reader's stack is at stake."""

_DTYPES = {"?": "?", "c": "V1", "b": "i1", "B": "u1", "h": "i2", "H": "u2", "i": "i4", "I": "u4", "q": "i8", "Q": "u8",
           "e": "f2", "f": "f4", "d": "f8"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scalar:
    """A bool, char or number.

    Attributes
    ----------
    code
        Its letter in ``struct`` with standard sizes: one of ``?cbBhHiIqQefd``.
    byteorder
        "little" or "big"; of no effect on one byte.
    """

    code: str
    byteorder: ByteOrder

    @property
    def format(self) -> str:
        """Format for ``struct``."""
        return ("<" if self.byteorder == "little" else ">") + self.code

    @property
    def size(self) -> int:
        """In bytes."""
        return struct.calcsize(self.format)

    @property
    def alignment(self) -> int:
        """What C wants the offset to be a multiple of."""
        return self.size

    @property
    def height(self) -> int:
        """Records and arrays from here down."""
        return 0

    @property
    def dtype(self) -> np.dtype[Any]:
        """The form that numpy has for it."""
        return np.dtype(self.format[0] + _DTYPES[self.code])


@dataclass(frozen=True, slots=True)
class Bytes:
    """Bytes of exactly this size; NULs count."""

    size: int

    def __post_init__(self) -> None:
        if self.size < 1:
            raise SchemaError(f"bytes of a record have a size of 1 or more, not {self.size}")

    @property
    def alignment(self) -> int:
        """What C wants the offset to be a multiple of."""
        return 1

    @property
    def height(self) -> int:
        """Records and arrays from here down."""
        return 0

    @property
    def dtype(self) -> np.dtype[Any]:
        """The form that numpy has for it: void, which keeps NULs at the end, where its bytes do not."""
        return np.dtype(f"V{self.size}")


@dataclass(frozen=True, slots=True)
class Array:
    """Items of one kind, C-ordered, without gaps.

    Attributes
    ----------
    item
        Of which it is made.
    shape
        At least one extent; 0 only where it is the one.
    container
        What a whole record has there, for each dimension: tuples or lists; or one numpy array of its own memory.
    """

    item: Part
    shape: tuple[int, ...]
    container: Container = "tuple"

    def __post_init__(self) -> None:
        if not self.shape or any(extent < 0 for extent in self.shape):
            raise SchemaError(f"an array of a record has fixed extents, not the shape {self.shape}")
        if self.item.size == 0 or (0 in self.shape and len(self.shape) > 1):
            raise SchemaError("an array of a record has items of at least one byte; only the outermost may have none")
        if self.height > MAX_HEIGHT:
            raise SchemaError(f"a record is nested deeper than {MAX_HEIGHT} levels")

    @property
    def size(self) -> int:
        """In bytes."""
        return math.prod(self.shape) * self.item.size

    @property
    def alignment(self) -> int:
        """What C wants the offset to be a multiple of."""
        return self.item.alignment

    @property
    def height(self) -> int:
        """Records and arrays from here down."""
        return len(self.shape) + self.item.height

    @property
    def whole(self) -> tuple[Scalar | Bytes | Struct, tuple[int, ...]]:
        """Innermost items, and the shape of the array that arrays of arrays are to numpy."""
        if isinstance(self.item, Array):
            item, inner = self.item.whole
            return item, self.shape + inner
        return self.item, self.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The form that numpy has for it."""
        item, shape = self.whole
        return np.dtype((item.dtype, shape))


@dataclass(frozen=True, slots=True)
class Field:
    """A named part of a record, `offset` bytes after the record's start."""

    name: str
    part: Part
    offset: int

    @property
    def end(self) -> int:
        """First byte after it."""
        return self.offset + self.part.size


@dataclass(frozen=True, slots=True)
class Struct:
    """A record.

    Attributes
    ----------
    name
        For messages, and for the class of its values.
    fields
        In the order of the values' fields.
    size, alignment
        In bytes; padding at the end counts.
    cls
        Of its values: a subclass of tuple, or a class that takes the fields by position and has them as attributes.
    """

    name: str
    fields: tuple[Field, ...]
    size: int
    alignment: int
    cls: type

    def __post_init__(self) -> None:
        if not self.fields:
            raise SchemaError("a record has at least one field", path=self.name)
        names = [field.name for field in self.fields]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise SchemaError("two fields have this name", path=f"{self.name}/{twice}")
        placed = self.by_offset()
        for before, field in itertools.pairwise(placed):
            if before.end > field.offset:
                raise SchemaError(
                    f"the field overlaps {before.name}, bytes {before.offset} to {before.end}; use a layout for each",
                    path=f"{self.name}/{field.name}",
                )
        if placed[0].offset < 0 or placed[-1].end > self.size or self.size < 1:
            raise SchemaError(f"fields do not fit into a record of {self.size} bytes", path=self.name)
        if self.height > MAX_HEIGHT:
            raise SchemaError(f"a record is nested deeper than {MAX_HEIGHT} levels", path=self.name)

    @property
    def height(self) -> int:
        """Records and arrays from here down."""
        return 1 + max(field.part.height for field in self.fields)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The form that numpy has for it."""
        return np.dtype(
            {
                "names": [field.name for field in self.fields],
                "formats": [field.part.dtype for field in self.fields],
                "offsets": [field.offset for field in self.fields],
                "itemsize": self.size,
            }
        )

    def by_offset(self) -> list[Field]:
        """The fields as they lie; empty ones before those that begin at the same byte."""
        return sorted(self.fields, key=lambda field: (field.offset, field.end))


Part: TypeAlias = Scalar | Bytes | Array | Struct


def tuple_class(name: str, names: Sequence[str]) -> type:
    """The namedtuple of a record.

    Raises
    ------
    SchemaError
        A name is no identifier, or one that a namedtuple cannot have.
    """
    try:
        return namedtuple(name, names, module=__name__)  # noqa: PYI024 - its fields come at run time
    except ValueError as error:
        raise SchemaError(f"no namedtuple can have these names: {error}", path=name) from None
