"""The neutral schema: what a message is, apart from any format.

1. A `Schema` is a root type and the records that it reaches. It is frozen, picklable, and may be recursive: a record
   is named by a `Ref`, never nested.
2. Absent, None and empty are three values. ``Field.required`` is False where the field may be absent from a dict;
   `Optional` is None or a value; emptiness belongs to the str, list or map itself.
3. Values keep the class that the schema came from (`Record.cls`); a record without a class is a plain dict.
4. Field ids are the numbers of the binary wires. They start at 1 and never change meaning.

A further kind (datetime, Decimal, UUID) is one class here, one line in each codec's table, and one in `normal`.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Final, Literal

import numpy as np

from zcser.core.dtypes import NAMES
from zcser.core.errors import SchemaError

__all__ = [
    "MISSING",
    "Bool",
    "Bytes",
    "Enum",
    "Field",
    "Float",
    "Int",
    "Kind",
    "List",
    "Map",
    "Null",
    "Optional",
    "Record",
    "Ref",
    "Schema",
    "Str",
    "Tensor",
    "Type",
    "Union",
    "class_defaults",
    "is_struct",
    "strip_optional",
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
    RECORD = "record"


class _Missing(enum.Enum):
    MISSING = "MISSING"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing.MISSING
"""The default of a field that has none."""


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
class Map(Type):
    """A dict with keys of one scalar type: Str, Int or Bool."""

    key: Str | Int | Bool
    value: Type
    kind: ClassVar[Kind] = Kind.MAP

    def __post_init__(self) -> None:
        if self.key.kind not in (Kind.STR, Kind.INT, Kind.BOOL):
            raise SchemaError(f"a map's keys must be str, int or bool, not {self.key}")

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


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a record.

    Attributes
    ----------
    name
        As in the class or dict; keyed formats use it as the key.
    type
        Its type.
    id
        Its number on binary wires, from 1.
    required
        False: the field may be absent, which is not the same as None. Only records without a class have such fields.
    default
        What decode gives for a field that an older message lacks; MISSING where there is none.
    default_factory
        Makes the default where it is mutable.
    """

    name: str
    type: Type
    id: int
    required: bool = True
    default: Any = field(default=MISSING, compare=False)
    default_factory: Callable[[], Any] | None = field(default=None, compare=False)

    @property
    def has_default(self) -> bool:
        """Whether decode can go on where the field is missing."""
        return self.default is not MISSING or self.default_factory is not None

    def make_default(self) -> Any:
        """A fresh default."""
        return self.default_factory() if self.default_factory is not None else self.default


@dataclass(frozen=True)
class Record:
    """A record: its fields in declaration order, and the class of its values (None: a dict)."""

    name: str
    fields: tuple[Field, ...]
    cls: type | None = field(default=None, compare=False)
    doc: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        seen: dict[int, str] = {}
        for item in self.fields:
            if type(item.name) is not str:
                raise SchemaError(f"a field's name must be str, not {item.name!r}", path=self.name)
            if type(item.id) is not int or not 1 <= item.id <= 18_999:
                # protobuf's own bounds: 19,000 to 19,999 are reserved, and nobody needs more than that.
                raise SchemaError(f"field id {item.id!r} is not in 1..18999", path=f"{self.name}/{item.name}")
            if item.id in seen:
                raise SchemaError(f"field id {item.id} is also {seen[item.id]!r}'s", path=f"{self.name}/{item.name}")
            seen[item.id] = item.name
        if len({item.name for item in self.fields}) != len(self.fields):
            raise SchemaError("two fields have the same name", path=self.name)

    @cached_property
    def by_name(self) -> dict[str, Field]:
        """Fields by name."""
        return {item.name: item for item in self.fields}

    def __getstate__(self) -> dict[str, Any]:
        # A default may be a lambda, which has no name to be pickled by. Its class has one, so what the class declares
        # travels with the class.
        declared = {} if self.cls is None else class_defaults(self.cls)
        inherited = set()
        for item in self.fields:
            default, factory = declared.get(item.name, (None, None))
            if item.has_default and item.default is default and item.default_factory is factory:
                inherited.add(item.name)
        fields = tuple(
            dataclasses.replace(item, default=MISSING, default_factory=None) if item.name in inherited else item
            for item in self.fields
        )
        return {"name": self.name, "fields": fields, "cls": self.cls, "doc": self.doc, "inherited": inherited}

    def __setstate__(self, state: dict[str, Any]) -> None:
        inherited = state["inherited"]
        declared = class_defaults(state["cls"]) if inherited else {}
        fields = []
        for item in state["fields"]:
            default, factory = declared.get(item.name, (MISSING, None))
            own = item.name not in inherited
            fields.append(item if own else dataclasses.replace(item, default=default, default_factory=factory))
        self.__dict__.update(name=state["name"], fields=tuple(fields), cls=state["cls"], doc=state["doc"])


def is_struct(cls: type) -> bool:
    """Whether a class is a msgspec Struct; does not import msgspec, which every Struct's module has done."""
    msgspec: Any = sys.modules.get("msgspec")
    return msgspec is not None and issubclass(cls, msgspec.Struct)


def class_defaults(cls: type) -> dict[str, tuple[Any, Callable[[], Any] | None]]:
    """``(default, default_factory)`` of each field of a dataclass or msgspec Struct; nothing of other classes."""
    declared: tuple[Any, ...] = ()
    nothing: Any = dataclasses.MISSING
    if dataclasses.is_dataclass(cls):
        declared = dataclasses.fields(cls)
    elif is_struct(cls):
        msgspec: Any = sys.modules["msgspec"]
        declared, nothing = msgspec.structs.fields(cls), msgspec.NODEFAULT
    return {
        item.name: (
            MISSING if item.default is nothing else item.default,
            None if item.default_factory is nothing else item.default_factory,
        )
        for item in declared
    }


@dataclass(frozen=True)
class Schema:
    """A root type and every record that it reaches.

    Attributes
    ----------
    root
        Usually a `Ref`; a list, map, union or scalar too.
    records
        By name, in order of discovery.
    notes
        What inference decided and why, by path; empty for schemas from classes.
    """

    root: Type
    records: tuple[Record, ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if len(self._by_name) != len(self.records):
            raise SchemaError("two records have the same name")
        for record in self.records:
            for item in record.fields:
                self._check(item.type, f"{record.name}/{item.name}")
        self._check(self.root, "")

    def _check(self, type_: Type, path: str) -> None:
        for part in walk(type_):
            if isinstance(part, Ref) and part.name not in self._by_name:
                raise SchemaError(f"record {part.name!r} is not in the schema", path=path)
            if isinstance(part, Optional) and isinstance(part.item, Optional | Null):
                raise SchemaError(f"{part} has two kinds of None", path=path)
            if isinstance(part, Union):
                self._check_union(part, path)
            if isinstance(part, Enum) and not part.members:
                raise SchemaError("an enum needs a member", path=path)

    def _check_union(self, union: Union, path: str) -> None:
        if len(union.options) < 2:
            raise SchemaError("a union needs two options or more", path=path)
        seen: dict[type, Type] = {}
        for option in union.options:
            if isinstance(option, Null | Optional | Union):
                raise SchemaError(
                    f"a union cannot hold {option} directly; put the Optional around the union", path=path
                )
            cls = self.python_type(option)
            if cls in seen:
                raise SchemaError(
                    f"{seen[cls]} and {option} of one union are both {cls.__name__} in Python, "
                    "so that a value cannot tell which it is",
                    path=path,
                )
            seen[cls] = option

    def python_type(self, type_: Type) -> type:
        """The exact Python type of a type's values; unions and optionals have no single one."""
        match type_:
            case Null():
                return type(None)
            case Enum():
                return type(type_.values[0])
            case List():
                return list if type_.container == "list" else tuple
            case Ref():
                return self.resolve(type_).cls or dict
            case Optional() | Union():
                raise TypeError(f"{type_} has no single Python type")
        return _PYTHON[type_.kind]

    @cached_property
    def _by_name(self) -> dict[str, Record]:
        return {record.name: record for record in self.records}

    def record(self, name: str) -> Record:
        """The record of a name."""
        return self._by_name[name]

    def resolve(self, ref: Ref) -> Record:
        """The record of a reference."""
        return self._by_name[ref.name]

    @cached_property
    def recursive(self) -> frozenset[str]:
        """Names of records that can contain themselves."""
        reach = {
            record.name: {part.name for item in record.fields for part in walk(item.type) if isinstance(part, Ref)}
            for record in self.records
        }
        grown = True
        while grown:
            grown = False
            for name, targets in reach.items():
                more = targets.union(*(reach[target] for target in targets))
                if more != targets:
                    reach[name] = more
                    grown = True
        return frozenset(name for name, targets in reach.items() if name in targets)

    @cached_property
    def fingerprint(self) -> str:
        """16 hex digits that are equal for equal structure: names, ids, kinds and widths; not classes or defaults."""
        root_members = "".join(f" {part.members}" for part in walk(self.root) if isinstance(part, Enum))
        lines = [f"{self.root}{root_members}"]
        for record in sorted(self.records, key=lambda record: record.name):
            lines.append(f"record {record.name}")
            for item in sorted(record.fields, key=lambda item: item.id):
                absent = "" if item.required else " absent"
                members = "".join(f" {part.members}" for part in walk(item.type) if isinstance(part, Enum))
                lines.append(f"{item.id} {item.name!r} {item.type}{absent}{members}")
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]

    def __getstate__(self) -> dict[str, Any]:
        return {"root": self.root, "records": self.records, "notes": self.notes}

    def __str__(self) -> str:
        return f"schema {self.root} ({self.fingerprint})"


_PYTHON: dict[Kind, type] = {
    Kind.BOOL: bool,
    Kind.INT: int,
    Kind.FLOAT: float,
    Kind.STR: str,
    Kind.BYTES: bytes,
    Kind.TENSOR: np.ndarray,
    Kind.MAP: dict,
}


def walk(type_: Type) -> Iterator[Type]:
    """A type and the types inside it; records are not entered."""
    yield type_
    match type_:
        case Optional(item) | List(item=item):
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
