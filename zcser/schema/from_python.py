"""Schemas from Python annotations: dataclasses, msgspec Structs, TypedDicts, and any annotation made of them.

1. ``int`` is 64 bits signed, ``float`` 64 bits; other widths by ``Annotated`` (see `zcser.schema.annotations`).
2. Ids come from ``Annotated[T, Id(n)]``; a field without one takes the number after the field before it.
3. What cannot be carried by any format without loss is a `SchemaError` here, with the path and what to write instead.

A further source (attrs, pydantic) is one function in `_SOURCES`.
"""

from __future__ import annotations

import dataclasses
import enum
import re
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from zcser.core.dtypes import dtype_name
from zcser.core.errors import SchemaError
from zcser.schema.annotations import Id, Length
from zcser.schema.model import (
    MISSING,
    Bool,
    Bytes,
    Enum,
    Field,
    Float,
    Int,
    List,
    Map,
    Null,
    Optional,
    Record,
    Ref,
    Schema,
    Str,
    Tensor,
    Type,
    Union,
)

__all__ = ["schema_of"]

_SCALARS: dict[Any, Type] = {
    bool: Bool(),
    int: Int(),
    float: Float(),
    str: Str(),
    bytes: Bytes(),
    np.ndarray: Tensor(),
    type(None): Null(),
    None: Null(),
}


class _Declared(NamedTuple):
    """A field as its class declares it."""

    name: str
    hint: Any
    required: bool = True
    default: Any = MISSING
    default_factory: Callable[[], Any] | None = None


def schema_of(source: Any) -> Schema:
    """The schema of a class or annotation.

    Parameters
    ----------
    source
        A dataclass, msgspec Struct or TypedDict; an annotation made of them (``list[Record]``); or a `Schema`, which is
        returned as it is.

    Returns
    -------
    Schema
        Records in order of first mention.

    Raises
    ------
    SchemaError
        An annotation has no meaning to every format; the path names record and field.
    """
    if isinstance(source, Schema):
        return source
    if isinstance(source, str | bytes | int | float | dict | list):
        raise SchemaError(f"a class, an annotation or a Schema is needed, not {source!r}")
    return _Builder().schema(source)


class _Builder:
    def __init__(self) -> None:
        self.records: dict[str, Record | None] = {}
        self.names: dict[type, str] = {}

    def schema(self, source: Any) -> Schema:
        root = self.type_(source, "")
        return Schema(root, tuple(record for record in self.records.values() if record is not None))

    def type_(self, hint: Any, path: str) -> Type:
        extras: list[Any] = []
        while True:
            origin = typing.get_origin(hint)
            if origin is Annotated:
                hint, *more = typing.get_args(hint)
                extras = [*more, *extras]
            elif origin in _PRESENCE:
                (hint,) = typing.get_args(hint)
            elif isinstance(hint, typing.NewType):
                hint = hint.__supertype__
            elif hasattr(hint, "__value__") and type(hint).__name__ == "TypeAliasType":
                hint = hint.__value__
            else:
                break
        return self.annotated(self.bare(hint, origin, path), extras, path)

    def annotated(self, found: Type, extras: Sequence[Any], path: str) -> Type:
        for extra in extras:
            if isinstance(extra, Length):
                inner, optional = (found.item, True) if isinstance(found, Optional) else (found, False)
                if not isinstance(inner, List):
                    raise SchemaError(f"Length() stands on {found}, which is no list", path=path)
                found = dataclasses.replace(inner, length=extra.items)
                found = Optional(found) if optional else found
            elif isinstance(extra, Type):
                inner, optional = (found.item, True) if isinstance(found, Optional) else (found, False)
                if extra.kind is not inner.kind:
                    raise SchemaError(f"{extra} stands on {found}, which is of another kind", path=path)
                found = Optional(extra) if optional else extra
        return found

    def bare(self, hint: Any, origin: Any, path: str) -> Type:
        if isinstance(hint, str | typing.ForwardRef):
            raise SchemaError(f"the name {hint!r} cannot be resolved; define it at module level", path=path)
        try:
            if hint in _SCALARS:
                return _SCALARS[hint]
        except TypeError:  # an unhashable annotation is none of the scalars
            pass
        arguments = typing.get_args(hint)
        if origin in (typing.Union, types.UnionType):
            return self.union(arguments, path)
        if origin is typing.Literal:
            return _literal(arguments, path)
        if origin is np.ndarray:
            return Tensor(_array_dtype(arguments, path))
        if origin in (list, Sequence, MutableSequence):
            return List(self.type_(arguments[0], f"{path}/*"))
        if origin is tuple:
            return self.tuple_(arguments, path)
        if origin in (dict, Mapping, MutableMapping):
            key = self.type_(arguments[0], f"{path}/key")
            if not isinstance(key, Str | Int | Bool):
                raise SchemaError(f"a map's keys must be str, int or bool, not {key}", path=path)
            return Map(key, self.type_(arguments[1], f"{path}/*"))
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            return _enum(hint, path)
        declared = _declared(hint, path)
        if declared is not None:
            return self.record(hint, declared)
        raise SchemaError(_why_not(hint, origin), path=path)

    def union(self, arguments: Sequence[Any], path: str) -> Type:
        options = [self.type_(argument, path) for argument in arguments]
        some = [option for option in options if not isinstance(option, Null)]
        if len(some) == 1:
            return some[0] if isinstance(some[0], Optional) else Optional(some[0])
        flat = [option.item if isinstance(option, Optional) else option for option in some]
        union = Union(tuple(flat))
        none = len(some) < len(options) or any(isinstance(option, Optional) for option in some)
        return Optional(union) if none else union

    def tuple_(self, arguments: Sequence[Any], path: str) -> Type:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return List(self.type_(arguments[0], f"{path}/*"), container="tuple")
        items = {self.type_(argument, f"{path}/{index}") for index, argument in enumerate(arguments)}
        if len(items) != 1:
            raise SchemaError("a tuple of several types has no common form; use a dataclass", path=path)
        return List(items.pop(), length=len(arguments), container="tuple")

    def record(self, cls: type, declared: list[_Declared]) -> Ref:
        if cls in self.names:
            return Ref(self.names[cls])
        base = re.sub(r"\W", "_", cls.__name__)
        name, number = base, 2
        while name in self.records:
            name, number = f"{base}{number}", number + 1
        self.names[cls] = name
        self.records[name] = None  # holds the place, so that records stand in order of mention
        fields = []
        number = 0
        for item in declared:
            where = f"{name}/{item.name}"
            number = _explicit_id(item.hint, where) or number + 1
            fields.append(
                Field(
                    item.name, self.type_(item.hint, where), number, item.required, item.default, item.default_factory
                )
            )
        is_dict = typing.is_typeddict(cls)
        self.records[name] = Record(name, tuple(fields), None if is_dict else cls, _first_line(cls))
        return Ref(name)


def _first_line(cls: type) -> str:
    doc = cls.__doc__ or ""
    # A dataclass without a docstring is given its signature, which is no description.
    return "" if doc.startswith(f"{cls.__name__}(") else doc.strip().partition("\n")[0]


def _hints(cls: type, path: str) -> dict[str, Any]:
    try:
        # The class's own name may not be in its module yet, as for a recursive class made inside a function.
        return typing.get_type_hints(cls, localns={cls.__name__: cls}, include_extras=True)
    except NameError as error:
        raise SchemaError(
            f"an annotation of {cls.__name__} names {error.name!r}, which is not defined at module level", path=path
        ) from None


def _dataclass(cls: type, path: str) -> list[_Declared]:
    hints = _hints(cls, path)
    declared = []
    for item in dataclasses.fields(cls):
        if not item.init:
            raise SchemaError("field(init=False) cannot be restored by decode; make it an init field",
                              path=f"{cls.__name__}/{item.name}")  # fmt: skip
        default = MISSING if item.default is dataclasses.MISSING else item.default
        factory = None if item.default_factory is dataclasses.MISSING else item.default_factory
        declared.append(_Declared(item.name, hints[item.name], default=default, default_factory=factory))
    return declared


def _struct(cls: type, path: str) -> list[_Declared]:
    hints = _hints(cls, path)
    # The class exists, so msgspec is loaded; nothing here imports it.
    structs: Any = sys.modules["msgspec"].structs
    nodefault = sys.modules["msgspec"].NODEFAULT
    return [
        _Declared(
            item.name,
            hints[item.name],
            default=MISSING if item.default is nodefault else item.default,
            default_factory=None if item.default_factory is nodefault else item.default_factory,
        )
        for item in structs.fields(cls)
    ]


def _typed_dict(cls: type, path: str) -> list[_Declared]:
    required_keys: frozenset[str] = cls.__required_keys__  # type: ignore[attr-defined]  # every TypedDict has it
    declared = []
    for name, hint in _hints(cls, path).items():
        required = name in required_keys
        # With postponed annotations 3.11 does not see Required and NotRequired in __required_keys__, and either may
        # stand inside Annotated or around it.
        for layer in _layers(hint):
            if typing.get_origin(layer) in _PRESENCE:
                required = typing.get_origin(layer) is typing.Required
        declared.append(_Declared(name, hint, required))
    return declared


_PRESENCE = (typing.Required, typing.NotRequired)


def _layers(hint: Any) -> Iterator[Any]:
    """A hint, and what is left of it inside Annotated, Required and NotRequired."""
    yield hint
    while typing.get_origin(hint) in (Annotated, *_PRESENCE):
        hint = typing.get_args(hint)[0]
        yield hint


_SOURCES: tuple[tuple[Callable[[Any], bool], Callable[[type, str], list[_Declared]]], ...] = (
    (lambda hint: isinstance(hint, type) and dataclasses.is_dataclass(hint), _dataclass),
    (lambda hint: isinstance(hint, type) and hasattr(hint, "__struct_fields__"), _struct),
    (typing.is_typeddict, _typed_dict),
)


def _declared(hint: Any, path: str) -> list[_Declared] | None:
    return next((read(hint, path) for is_one, read in _SOURCES if is_one(hint)), None)


def _explicit_id(hint: Any, path: str) -> int | None:
    ids = [
        extra.number
        for layer in _layers(hint)
        if typing.get_origin(layer) is Annotated
        for extra in typing.get_args(layer)[1:]
        if isinstance(extra, Id)
    ]
    if len(ids) > 1:
        raise SchemaError("a field has one id", path=path)
    return ids[0] if ids else None


def _enum(cls: type[enum.Enum], path: str) -> Enum:
    if issubclass(cls, enum.Flag):
        raise SchemaError(
            f"{cls.__name__} is a set of flags, which are open; use an int of the width needed", path=path
        )
    members = tuple((member.name, member.value) for member in cls)
    return _enum_of(cls.__name__, members, cls, path)


def _literal(values: Sequence[Any], path: str) -> Type:
    some = [value for value in values if value is not None]
    name = re.sub(r"\W", "", path.rpartition("/")[2].title()) or "Literal"
    members = tuple((re.sub(r"\W", "_", f"v{value}" if isinstance(value, int) else value), value) for value in some)
    found = _enum_of(name, members, None, path)
    return Optional(found) if len(some) < len(values) else found


def _enum_of(name: str, members: tuple[tuple[str, Any], ...], cls: type | None, path: str) -> Enum:
    kinds = {type(value) for _, value in members}
    if kinds not in ({int}, {str}):
        raise SchemaError(f"the values of enum {name} must be all int or all str", path=path)
    if len({member for member, _ in members}) != len(members):
        raise SchemaError(f"two members of enum {name} have the same name", path=path)
    return Enum(name, members, cls)


def _array_dtype(arguments: Sequence[Any], path: str) -> str | None:
    """The dtype name in ``np.ndarray[shape, np.dtype[T]]``, None for any."""
    if len(arguments) != 2 or not typing.get_args(arguments[1]):
        return None
    (scalar,) = typing.get_args(arguments[1])
    if not (isinstance(scalar, type) and issubclass(scalar, np.generic)):
        return None  # a type variable or an abstract class: any
    try:
        name = dtype_name(np.dtype(scalar))
    except TypeError:
        return None
    if name is None:
        raise SchemaError(f"tensors of {scalar.__name__} have no fixed-size element that formats share", path=path)
    return name


def _why_not(hint: Any, origin: Any) -> str:
    name = getattr(hint, "__name__", None) or str(hint)
    if hint in (list, tuple, dict) or hint in (typing.List, typing.Dict, typing.Tuple):  # noqa: UP006 - both spellings
        return (
            f"{name} needs its item types, as in {name}[str]"
            if hint is not dict
            else "dict needs its types: dict[str, int]"
        )
    if hint is Any or hint is object:
        return "Any has no form in a schema; name the types, as in int | str"
    if origin in (set, frozenset) or hint in (set, frozenset):
        return "sets are not carried yet; use a list"
    return f"{name} is no type that a schema knows; use a dataclass, msgspec Struct, TypedDict, or a scalar"
