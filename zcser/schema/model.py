"""The neutral schema: what a message is, apart from any format.

1. A `Schema` is a root type and the records that it reaches. It is frozen, picklable, and may be recursive: a record
   is named by a `Ref`, never nested.
2. Absent, None and empty are three values. ``Field.required`` is False where the field may be absent from a dict;
   `Optional` is None or a value; emptiness belongs to the str, list or map itself. What a dict may lack and has a default
   is never absent: the default is its value.
3. Values keep the class that the schema came from (`Record.cls`); a record without a class is a plain dict.
4. A record may be *transparent*, as a RootModel is: in Python it is an object with one field, in a message it is that
   field's value and nothing else.
5. Field ids are the numbers of the binary wires. They start at 1 and never change meaning.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from zcser.core.errors import SchemaError
from zcser.core.paths import Path
from zcser.schema.classes import MISSING, class_defaults
from zcser.schema.cycles import on_cycles
from zcser.schema.types import (
    Bool,
    Bytes,
    Enum,
    Float,
    Int,
    Kind,
    List,
    Logical,
    Map,
    Null,
    Optional,
    Ref,
    Set,
    Str,
    Tensor,
    Type,
    Union,
    strip_optional,
    walk,
)
from zcser.schema.values import VALUE_TYPES

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
    "Logical",
    "Map",
    "Null",
    "Optional",
    "Record",
    "Ref",
    "Schema",
    "Set",
    "Str",
    "Tensor",
    "Type",
    "Union",
    "strip_optional",
    "walk",
]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a record.

    Attributes
    ----------
    name
        As in the class or dict.
    type
        Its type.
    id
        Its number on binary wires, from 1.
    required
        False: a dict may lack the field. Where it has no default it is absent then, which is not the same as None. Only
        records without a class have such fields.
    default
        What decode gives for a field that an older message lacks, and `normal` for one that a dict may lack and does;
        MISSING where there is none.
    default_factory
        Makes the default where it is mutable.
    alias
        Its name in messages, which keyed formats use as the key; None where that is `name`.
    """

    name: str
    type: Type
    id: int
    required: bool = True
    default: Any = field(default=MISSING, compare=False)
    default_factory: Callable[[], Any] | None = field(default=None, compare=False)
    alias: str | None = None

    @property
    def wire_name(self) -> str:
        """Its name in messages."""
        return self.name if self.alias is None else self.alias

    @property
    def has_default(self) -> bool:
        """Whether decode can go on where the field is missing."""
        return self.default is not MISSING or self.default_factory is not None

    @property
    def may_be_absent(self) -> bool:
        """Whether a value can be without the field: where the field has a default, that is its value."""
        return not self.required and not self.has_default

    def make_default(self) -> Any:
        """A fresh default."""
        return self.default_factory() if self.default_factory is not None else self.default


@dataclass(frozen=True)
class Record:
    """A record: its fields in declaration order, and the class of its values (None: a dict).

    Where it is `transparent` it has one field, whose value is the whole of it in a message.
    """

    name: str
    fields: tuple[Field, ...]
    cls: type | None = field(default=None, compare=False)
    doc: str = field(default="", compare=False)
    transparent: bool = False

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
        if len({item.wire_name for item in self.fields}) != len(self.fields):
            raise SchemaError("two fields have the same name in messages", path=self.name)
        if self.transparent and len(self.fields) != 1:
            raise SchemaError("a transparent record has one field", path=self.name)

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
            default, factory = declared.get(item.name, (MISSING, None))
            if item.has_default and item.default is default and item.default_factory is factory:
                inherited.add(item.name)
        fields = tuple(
            dataclasses.replace(item, default=MISSING, default_factory=None) if item.name in inherited else item
            for item in self.fields
        )
        return {
            "name": self.name,
            "fields": fields,
            "cls": self.cls,
            "doc": self.doc,
            "transparent": self.transparent,
            "inherited": inherited,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        inherited = state["inherited"]
        declared = class_defaults(state["cls"]) if inherited else {}
        fields = []
        for item in state["fields"]:
            default, factory = declared.get(item.name, (MISSING, None))
            own = item.name not in inherited
            fields.append(item if own else dataclasses.replace(item, default=default, default_factory=factory))
        kept = {name: state[name] for name in ("name", "cls", "doc", "transparent")}
        self.__dict__.update(kept, fields=tuple(fields))


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
        What inference decided and why, by path; of schemas from classes, what of their own layout is not used.
    """

    root: Type
    records: tuple[Record, ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if len(self._by_name) != len(self.records):
            raise SchemaError("two records have the same name")
        types = [(item.type, f"{record.name}/{item.name}") for record in self.records for item in record.fields]
        types.append((self.root, ""))
        for type_, path in types:
            for part in walk(type_):
                if isinstance(part, Ref) and part.name not in self._by_name:
                    raise SchemaError(f"record {part.name!r} is not in the schema", path=path)
        self._check_transparent()
        for type_, path in types:
            self._check(type_, path)

    def _check_transparent(self) -> None:
        found = {record.name: record.fields[0].type for record in self.records if record.transparent}
        reach = {
            name: {part.name for part in walk(type_) if isinstance(part, Ref) and part.name in found}
            for name, type_ in found.items()
        }
        for name in sorted(on_cycles(reach)):
            raise SchemaError(
                f"{name} stands as its root and holds itself, so that its type has no end; put a record between, as a "
                "BaseModel with a field",
                path=f"{name}/{self.record(name).fields[0].name}",
            )

    def _check(self, type_: Type, path: str) -> None:
        for part in walk(type_):
            if isinstance(part, Optional) and isinstance(self.bare(part.item), Optional | Null):
                why = f": {part.item} stands as its root, which may be None" if isinstance(part.item, Ref) else ""
                raise SchemaError(f"{part} has two kinds of None{why}", path=path)
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
            case Set():
                return frozenset if type_.frozen else set
            case Logical():
                return VALUE_TYPES[type_.name].cls
            case Ref():
                return self.resolve(type_).cls or dict
            case Optional() | Union():
                raise TypeError(f"{type_} has no single Python type")
        return _PYTHON[type_.kind]

    def bare(self, type_: Type) -> Type:
        """What a type stands as in messages: the type of its field, where it is a transparent record."""
        while isinstance(type_, Ref) and (record := self.resolve(type_)).transparent:
            type_ = record.fields[0].type
        return type_

    @cached_property
    def _by_name(self) -> dict[str, Record]:
        return {record.name: record for record in self.records}

    def record(self, name: str) -> Record:
        """The record of a name."""
        return self._by_name[name]

    def resolve(self, ref: Ref) -> Record:
        """The record of a reference."""
        return self._by_name[ref.name]

    def along(self, path: Path) -> tuple[tuple[str | int, ...], tuple[Any, ...] | None]:
        """See `zcser.schema.paths.along`."""
        from zcser.schema.paths import along

        return along(self, path)

    @cached_property
    def recursive(self) -> frozenset[str]:
        """Names of records that can contain themselves."""
        reach = {
            record.name: {part.name for item in record.fields for part in walk(item.type) if isinstance(part, Ref)}
            for record in self.records
        }
        return on_cycles(reach)

    @cached_property
    def fingerprint(self) -> str:
        """16 hex digits that are equal for equal structure: names, aliases, ids, kinds and widths; not classes or defaults."""
        root_members = "".join(f" {part.members}" for part in walk(self.root) if isinstance(part, Enum))
        lines = [f"{self.root}{root_members}"]
        for record in sorted(self.records, key=lambda record: record.name):
            lines.append(f"{'transparent ' if record.transparent else ''}record {record.name}")
            for item in sorted(record.fields, key=lambda item: item.id):
                absent = "" if item.required else " absent"
                members = "".join(f" {part.members}" for part in walk(item.type) if isinstance(part, Enum))
                alias = "" if item.alias is None else f" as {item.alias!r}"
                lines.append(f"{item.id} {item.name!r}{alias} {item.type}{absent}{members}")
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
