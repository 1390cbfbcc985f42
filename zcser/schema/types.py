"""The types of the neutral schema, one small class per kind.

Codecs carry all but two of them: `Logical` and `Set`, which `zcser.schema.lower` puts into terms of the others. A further
value type (as datetime, Decimal, UUID are) is one entry of `zcser.schema.values`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from zcser.core.dtypes import NAMES
from zcser.core.errors import SchemaError

__all__ = [
    "Bool",
    "Bytes",
    "Enum",
    "Float",
    "Int",
    "Kind",
    "List",
    "Logical",
    "Map",
    "Null",
    "Optional",
    "Ref",
    "Set",
    "Str",
    "Tensor",
    "Type",
    "Union",
    "strip_optional",
    "walk",
]


class Kind(enum.StrEnum):
    """The kinds of type; the rows of the mapping table."""

    NULL = "null"
    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    STR = "str"
    BYTES = "bytes"
    ENUM = "enum"
    TENSOR = "tensor"
    OPTIONAL = "optional"
    LIST = "list"
    MAP = "map"
    UNION = "union"
    LOGICAL = "logical"
    SET = "set"
    RECORD = "record"


def _natural(what: str, number: int | None) -> None:
    if number is not None and (type(number) is not int or number < 0):
        raise SchemaError(f"{what} must be an int from 0 up, or None, not {number!r}")


@dataclass(frozen=True, slots=True)
class Type:
    """Base of all types."""

    kind: ClassVar[Kind]

    def __str__(self) -> str:
        return str(self.kind)


@dataclass(frozen=True, slots=True)
class Null(Type):
    """None alone: what a sample shows that never held anything else."""

    kind: ClassVar[Kind] = Kind.NULL


@dataclass(frozen=True, slots=True)
class Bool(Type):
    """True or False."""

    kind: ClassVar[Kind] = Kind.BOOL


@dataclass(frozen=True, slots=True)
class Int(Type):
    """An integer of 8, 16, 32 or 64 bits; ``bits=None`` is unbounded, which only JSON text can carry."""

    bits: Literal[8, 16, 32, 64] | None = 64
    signed: bool = True
    kind: ClassVar[Kind] = Kind.INT

    def __post_init__(self) -> None:
        if self.bits not in (None, 8, 16, 32, 64):
            raise SchemaError(f"an int has 8, 16, 32 or 64 bits, or None for any size, not {self.bits!r}")

    @property
    def low(self) -> int | None:
        """Smallest value, None where there is none."""
        if not self.signed:
            return 0
        return None if self.bits is None else -(1 << (self.bits - 1))

    @property
    def high(self) -> int | None:
        """Largest value, None where there is none."""
        return None if self.bits is None else (1 << (self.bits - self.signed)) - 1

    def __str__(self) -> str:
        return f"{'' if self.signed else 'u'}int{self.bits or ''}"


@dataclass(frozen=True, slots=True)
class Float(Type):
    """An IEEE 754 number of 32 or 64 bits; its value is a Python float either way."""

    bits: Literal[32, 64] = 64
    kind: ClassVar[Kind] = Kind.FLOAT

    def __post_init__(self) -> None:
        if self.bits not in (32, 64):
            raise SchemaError(f"a float has 32 or 64 bits, not {self.bits!r}")

    def __str__(self) -> str:
        return f"float{self.bits}"


@dataclass(frozen=True, slots=True)
class Str(Type):
    """Unicode text without lone surrogates; `size` bounds its UTF-8 bytes, for fixed layouts."""

    size: int | None = None
    kind: ClassVar[Kind] = Kind.STR

    def __post_init__(self) -> None:
        _natural("a size", self.size)

    def __str__(self) -> str:
        return "str" if self.size is None else f"str[{self.size}]"


@dataclass(frozen=True, slots=True)
class Bytes(Type):
    """A byte string; of exactly `size` bytes where that is given."""

    size: int | None = None
    kind: ClassVar[Kind] = Kind.BYTES

    def __post_init__(self) -> None:
        _natural("a size", self.size)

    def __str__(self) -> str:
        return "bytes" if self.size is None else f"bytes[{self.size}]"


@dataclass(frozen=True, slots=True)
class Enum(Type):
    """A closed set of named values.

    `members` are (name, value) with values all int or all str. `cls` is the enum class; without one (``Literal``) the
    value itself stands in the message's object.
    """

    name: str
    members: tuple[tuple[str, int | str], ...]
    cls: Any = field(default=None, compare=False)
    kind: ClassVar[Kind] = Kind.ENUM

    def __post_init__(self) -> None:
        if self.members and {type(value) for _, value in self.members} not in ({int}, {str}):
            raise SchemaError(f"the values of enum {self.name} must be all int or all str")
        for part, what in enumerate(("names", "values")):
            if len({member[part] for member in self.members}) != len(self.members):
                raise SchemaError(f"the {what} of enum {self.name} must be distinct")

    @property
    def values(self) -> tuple[Any, ...]:
        """The members as they stand in objects."""
        return tuple(value if self.cls is None else self.cls(value) for _, value in self.members)

    @property
    def of_ints(self) -> bool:
        """Whether the members' values are ints."""
        return type(self.members[0][1]) is int

    def __str__(self) -> str:
        return f"enum {self.name}"


@dataclass(frozen=True, slots=True)
class Tensor(Type):
    """A numpy array. `dtype` (a name of `zcser.core.dtypes`) and `shape` are fixed where given; None is any."""

    dtype: str | None = None
    shape: tuple[int | None, ...] | None = None
    kind: ClassVar[Kind] = Kind.TENSOR

    def __post_init__(self) -> None:
        if self.dtype is not None and self.dtype not in NAMES:
            raise SchemaError(f"unknown tensor dtype {self.dtype!r}; known: {', '.join(NAMES)}")
        for extent in self.shape or ():
            _natural("an extent", extent)

    @property
    def fixed(self) -> bool:
        """Whether dtype and every extent are known."""
        return self.dtype is not None and self.shape is not None and None not in self.shape

    def __str__(self) -> str:
        shape = "" if self.shape is None else f"[{', '.join('?' if n is None else str(n) for n in self.shape)}]"
        return f"tensor {self.dtype or 'any'}{shape}"


@dataclass(frozen=True, slots=True)
class Optional(Type):
    """None, or a value of `item`; `item` is neither Optional nor Null."""

    item: Type
    kind: ClassVar[Kind] = Kind.OPTIONAL

    def __str__(self) -> str:
        return f"optional {self.item}"


@dataclass(frozen=True, slots=True)
class List(Type):
    """A sequence of `item`, of exactly `length` where given. Its values are Python lists, or tuples."""

    item: Type
    length: int | None = None
    container: Literal["list", "tuple"] = "list"
    kind: ClassVar[Kind] = Kind.LIST

    def __post_init__(self) -> None:
        _natural("a length", self.length)
        if self.container not in ("list", "tuple"):
            raise SchemaError(f"a list's container is list or tuple, not {self.container!r}")

    def __str__(self) -> str:
        length = "" if self.length is None else f"[{self.length}]"
        return f"{self.container}{length} of {self.item}"


@dataclass(frozen=True, slots=True)
class Logical(Type):
    """A value that Python has a class for and formats have not; `name` is a key of `zcser.schema.values.VALUE_TYPES`."""

    name: str
    kind: ClassVar[Kind] = Kind.LOGICAL

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Set(Type):
    """A set, or frozenset, of scalars, of logical values, or of tuples of them."""

    item: Type
    frozen: bool = False
    kind: ClassVar[Kind] = Kind.SET

    def __post_init__(self) -> None:
        refused = next((part for part in walk(self.item) if not _hashable(part)), None)
        if refused is not None:
            raise SchemaError(f"the items of a set are scalars, or tuples of them, not {refused}; use a list")

    def __str__(self) -> str:
        return f"{'frozenset' if self.frozen else 'set'} of {self.item}"


_HASHABLE = frozenset({Kind.BOOL, Kind.INT, Kind.FLOAT, Kind.STR, Kind.BYTES, Kind.ENUM, Kind.LOGICAL})


def _hashable(type_: Type) -> bool:
    return type_.kind in _HASHABLE or (isinstance(type_, List) and type_.container == "tuple")


@dataclass(frozen=True, slots=True)
class Map(Type):
    """A dict with keys of one scalar type: Str, Int or Bool, or a Logical, which no codec sees."""

    key: Str | Int | Bool
    value: Type
    kind: ClassVar[Kind] = Kind.MAP

    def __post_init__(self) -> None:
        if self.key.kind not in (Kind.STR, Kind.INT, Kind.BOOL, Kind.LOGICAL):
            raise SchemaError(f"a map's keys must be str, int or bool, or a value as a date is, not {self.key}")

    def __str__(self) -> str:
        return f"map {self.key} -> {self.value}"


@dataclass(frozen=True, slots=True)
class Union(Type):
    """One of several types that a value's Python type tells apart; None is an Optional around it."""

    options: tuple[Type, ...]
    kind: ClassVar[Kind] = Kind.UNION

    @property
    def names(self) -> tuple[str, ...]:
        """A distinct identifier per option: the record's or enum's name, else the kind's."""
        return tuple(getattr(option, "name", None) or str(option.kind) for option in self.options)

    def __str__(self) -> str:
        return f"union ({' | '.join(map(str, self.options))})"


@dataclass(frozen=True, slots=True)
class Ref(Type):
    """A record, by name."""

    name: str
    kind: ClassVar[Kind] = Kind.RECORD

    def __str__(self) -> str:
        return self.name


def walk(type_: Type) -> Iterator[Type]:
    """A type and the types inside it; records are not entered."""
    yield type_
    match type_:
        case Optional(item) | List(item=item) | Set(item=item):
            yield from walk(item)
        case Map(key, value):
            yield key
            yield from walk(value)
        case Union(options):
            for option in options:
                yield from walk(option)


def strip_optional(type_: Type) -> tuple[Type, bool]:
    """A type without its Optional, and whether it had one."""
    return (type_.item, True) if isinstance(type_, Optional) else (type_, False)
