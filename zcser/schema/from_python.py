"""Schemas from Python annotations: classes with fields (see `zcser.schema.sources`), and any annotation made of them.

1. ``int`` is 64 bits signed, ``float`` 64 bits; other widths by ``Annotated`` (see `zcser.schema.annotations`). What
   ``datetime``, ``Decimal``, ``UUID`` and their like mean is in `zcser.schema.values`.
2. Ids come from ``Annotated[T, Id(n)]``; a field without one takes the number after the field before it.
3. A field's name in messages comes from ``Annotated[T, Alias(name)]``, or from what its class has for that.
4. What of a class's own layout on the wire is not used is said in the schema's notes (`zcser.schema.layouts`).
5. What cannot be carried by any format without loss is a `SchemaError` here, with the path and what to write instead.
"""

from __future__ import annotations

import dataclasses
import enum
import re
import reprlib
import types
import typing
from collections.abc import Iterable, Mapping, MutableMapping, MutableSequence, MutableSet, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Annotated, Any

import numpy as np

from zcser.core.dtypes import dtype_name
from zcser.core.errors import SchemaError
from zcser.schema.annotations import Alias, Id, Length
from zcser.schema.classes import MISSING, class_defaults, is_root_model, wire_names
from zcser.schema.layouts import unused_layout
from zcser.schema.model import (
    Bool,
    Bytes,
    Enum,
    Field,
    Float,
    Int,
    List,
    Logical,
    Map,
    Null,
    Optional,
    Record,
    Ref,
    Schema,
    Set,
    Str,
    Tensor,
    Type,
    Union,
)
from zcser.schema.sources import PRESENCE, Declared, declared, first_line
from zcser.schema.values import LOGICAL_OF, VALUE_TYPES

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


_SETS = (set, frozenset, AbstractSet, MutableSet)
_ARGUMENTS: dict[Any, int] = {
    list: 1,
    Sequence: 1,
    MutableSequence: 1,
    dict: 2,
    Mapping: 2,
    MutableMapping: 2,
    **dict.fromkeys(_SETS, 1),
}
"""How many types stand between the brackets."""


_REPR = reprlib.Repr()  # does not fail where an object's own repr does
_REPR.maxother = 100


def schema_of(source: Any) -> Schema:
    """The schema of a class or annotation.

    Parameters
    ----------
    source
        A dataclass, msgspec Struct, class of attrs, pydantic model, TypedDict or NamedTuple; an annotation made of them
        (``list[Record]``); or a `Schema`, which is returned as it is.

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
    if isinstance(source, str):  # elsewhere a name that could not be resolved
        raise SchemaError(f"a class, an annotation or a Schema is needed, not {_REPR.repr(source)}")
    try:
        return _Builder().schema(source)
    except RecursionError:
        raise SchemaError(
            "the annotation nests without end or too deeply; make the part that recurs a dataclass"
        ) from None


class _Builder:
    def __init__(self) -> None:
        self.records: dict[str, Record | None] = {}
        self.names: dict[type, str] = {}
        self.notes: list[str] = []

    def schema(self, source: Any) -> Schema:
        root = self.type_(source, "")
        records = tuple(record for record in self.records.values() if record is not None)
        return Schema(root, records, tuple(self.notes))

    def type_(self, hint: Any, path: str) -> Type:
        hint, extras = _peeled(hint, path)
        for extra in extras:
            if isinstance(extra, Id | Alias):
                what = "an Id() numbers" if isinstance(extra, Id) else "an Alias() names"
                raise SchemaError(f"{what} a field; put it around the field's whole annotation", path=path)
        return self.annotated(self.bare(hint, path), extras, path)

    def field(self, item: Declared, follows: int, defaults: tuple[Any, Any], alias: str | None, path: str) -> Field:
        hint, extras = _peeled(item.hint, path)
        ids = [extra.number for extra in extras if isinstance(extra, Id)]
        if len(ids) > 1:
            raise SchemaError("a field has one id", path=path)
        number = ids[0] if ids else follows + 1
        if type(number) is not int:
            raise SchemaError(f"a field's id must be an int, not {_REPR.repr(number)}", path=path)
        for extra in extras:
            if isinstance(extra, Alias):
                if type(extra.name) is not str:
                    raise SchemaError(f"a field's alias must be a str, not {_REPR.repr(extra.name)}", path=path)
                alias = extra.name
        type_ = self.annotated(self.bare(hint, path), extras, path)
        return Field(item.name, type_, number, item.required, *defaults, None if alias == item.name else alias)

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
                if extra.kind is not inner.kind or _python_class(extra) is not _python_class(inner):
                    raise SchemaError(f"{extra} stands on {found}, which is of another kind", path=path)
                found = Optional(extra) if optional else extra
            elif (zone := _zone_asked(extra)) is not None:
                found = _zoned(found, zone, path)
            elif _transforms(extra):
                raise SchemaError(
                    f"{type(extra).__name__} of pydantic changes a value each time it is validated, so that none comes "
                    "back as it was; use bytes or str",
                    path=path,
                )
            elif _means_something(extra):
                raise SchemaError(
                    f"{_REPR.repr(extra)} inside Annotated changes nothing; "
                    "write Float32 or Annotated[float, Float(32)], not Annotated[float, Float32]",
                    path=path,
                )
        return found

    def bare(self, hint: Any, path: str) -> Type:
        if isinstance(hint, str | typing.ForwardRef):
            raise SchemaError(f"the name {hint!r} cannot be resolved; define it at module level", path=path)
        for scalar, found in _SCALARS.items():
            if hint is scalar:  # a stranger's __eq__ and __hash__ may do anything
                return found
        for cls, logical in LOGICAL_OF.items():
            if hint is cls:
                return logical
        if getattr(hint, "__module__", None) == "pydantic.types" and hint.__name__ in _PYDANTIC:
            return _PYDANTIC[hint.__name__]
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if origin in (typing.Union, types.UnionType):
            return self.union(arguments, path)
        if origin is typing.Literal:
            return _literal(arguments, path)
        if origin is np.ndarray:
            return Tensor(_array_dtype(arguments, path))
        if len(arguments) != _ARGUMENTS.get(origin, len(arguments)):
            raise SchemaError(_why_not(hint, origin), path=path)
        if origin in (list, Sequence, MutableSequence):
            return List(self.type_(arguments[0], f"{path}/*"))
        if origin in _SETS:
            return self.set_(arguments[0], path, frozen=origin is frozenset)
        if origin is tuple:
            return self.tuple_(arguments, path)
        if origin in (dict, Mapping, MutableMapping):
            key = self.type_(arguments[0], f"{path}/key")
            if not isinstance(key, Str | Int | Bool | Logical):
                raise SchemaError(
                    f"a map's keys must be str, int or bool, or a value as a date is, not {key}", path=path
                )
            # A logical key is lowered before a codec sees it.
            return Map(key, self.type_(arguments[1], f"{path}/*"))  # type: ignore[arg-type]
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            return _enum(hint, path)
        fields = declared(hint, path)
        if fields is not None:
            return self.record(hint, fields)
        raise SchemaError(_why_not(hint, origin), path=path)

    def set_(self, hint: Any, path: str, *, frozen: bool) -> Type:
        item = self.type_(hint, f"{path}/*")
        try:
            return Set(item, frozen)
        except SchemaError as error:
            raise SchemaError(error.reason, path=path) from None

    def union(self, arguments: Sequence[Any], path: str) -> Type:
        options = [self.type_(argument, path) for argument in arguments]
        some = [option for option in options if not isinstance(option, Null)]
        if not some:
            return Null()
        if len(some) == 1:
            return some[0] if isinstance(some[0], Optional) else Optional(some[0])
        flat = [option.item if isinstance(option, Optional) else option for option in some]
        union = Union(tuple(flat))
        none = len(some) < len(options) or any(isinstance(option, Optional) for option in some)
        return Optional(union) if none else union

    def tuple_(self, arguments: Sequence[Any], path: str) -> Type:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return List(self.type_(arguments[0], f"{path}/*"), container="tuple")
        items = [self.type_(argument, f"{path}/{index}") for index, argument in enumerate(arguments)]
        if not items:
            raise SchemaError("a tuple needs its item types, as in tuple[str, ...]", path=path)
        if any(item != items[0] for item in items):
            raise SchemaError("a tuple of several types has no common form; use a dataclass", path=path)
        return List(items[0], length=len(items), container="tuple")

    def record(self, cls: type, found: list[Declared]) -> Ref:
        if cls in self.names:
            return Ref(self.names[cls])
        base = re.sub(r"\W", "_", cls.__name__)
        name, number = base, 2
        while name in self.records:
            name, number = f"{base}{number}", number + 1
        self.names[cls] = name
        self.records[name] = None  # holds the place, so that records stand in order of mention
        defaults, aliases = class_defaults(cls), wire_names(cls)
        fields: list[Field] = []
        for item in found:
            follows, default = fields[-1].id if fields else 0, defaults.get(item.name, (MISSING, None))
            fields.append(self.field(item, follows, default, aliases.get(item.name), f"{name}/{item.name}"))
        of = None if typing.is_typeddict(cls) else cls
        self.records[name] = Record(name, tuple(fields), of, first_line(cls), is_root_model(cls))
        self.notes += (f"{name}: {text}" for text in unused_layout(cls))
        return Ref(name)


def _peeled(hint: Any, path: str) -> tuple[Any, list[Any]]:
    """A hint without the Annotated, Required, NewType and aliases around it, and what Annotated held, inner first."""
    extras: list[Any] = []
    aliases: list[Any] = []
    while True:
        if typing.get_origin(hint) is Annotated:
            hint, *more = typing.get_args(hint)
            extras = [*more, *extras]
        elif typing.get_origin(hint) in PRESENCE:
            (hint,) = typing.get_args(hint)
        elif isinstance(hint, typing.NewType):
            hint = hint.__supertype__
        elif type(hint).__name__ == "TypeAliasType" and not any(hint is alias for alias in aliases):
            aliases.append(hint)
            hint = _alias_value(hint, path)
        elif type(origin := typing.get_origin(hint)).__name__ == "TypeAliasType":
            # A generic alias with its arguments, as numpy's NDArray[T] is from numpy 2.5 on.
            hint = _alias_value(origin, path, typing.get_args(hint))
        else:
            return hint, extras


def _alias_value(alias: Any, path: str, arguments: tuple[Any, ...] = ()) -> Any:
    try:
        return alias.__value__[arguments] if arguments else alias.__value__
    except RecursionError:  # of the whole annotation, wherever the last step was
        raise
    except Exception as error:  # the alias's value is a stranger's code, run here for the first time
        raise SchemaError(f"the alias {alias} cannot be evaluated: {error}", path=path) from error


_AWARE, _NAIVE = Logical("datetime_utc"), Logical("datetime_naive")

_PYDANTIC: dict[str, Type] = {
    "AwareDatetime": _AWARE,
    "NaiveDatetime": _NAIVE,
    "PastDatetime": Logical("datetime"),
    "FutureDatetime": Logical("datetime"),
    "PastDate": Logical("date"),
    "FutureDate": Logical("date"),
}
"""Classes of pydantic that no value is an instance of."""


def _python_class(type_: Type) -> type | None:
    return VALUE_TYPES[type_.name].cls if isinstance(type_, Logical) else None


def _zone_asked(extra: Any) -> bool | None:
    """Whether ``msgspec.Meta(tz=...)`` asks for aware or for naive values; None for anything else."""
    asked = getattr(extra, "tz", None) if type(extra).__module__ == "msgspec" else None
    return asked if isinstance(asked, bool) else None


def _zoned(found: Type, aware: bool, path: str) -> Type:
    inner, optional = (found.item, True) if isinstance(found, Optional) else (found, False)
    if inner != LOGICAL_OF[datetime]:
        raise SchemaError(f"Meta(tz={aware}) stands on {found}; only a datetime can be told so", path=path)
    made = _AWARE if aware else _NAIVE
    return Optional(made) if optional else made


def _transforms(extra: Any) -> bool:
    """Whether pydantic decodes a value that it was given decoded already."""
    name, module = type(extra).__name__, type(extra).__module__
    return module == "pydantic.types" and name in ("EncodedBytes", "EncodedStr", "Json")


def _means_something(extra: Any) -> bool:
    """Whether a remark inside Annotated is a type or alias of ours, put where an instance belongs."""
    if isinstance(extra, type):
        return issubclass(extra, Alias | Id | Length | Type)
    return typing.get_origin(extra) is Annotated and any(
        isinstance(part, Alias | Id | Length | Type) for part in typing.get_args(extra)[1:]
    )


def _enum(cls: type[enum.Enum], path: str) -> Enum:
    if issubclass(cls, enum.Flag):
        raise SchemaError(
            f"{cls.__name__} is a set of flags, which are open; use an int of the width needed", path=path
        )
    members = tuple((member.name, member.value) for member in cls)
    return _enum_of(cls.__name__, members, cls, path)


def _literal(values: Sequence[Any], path: str) -> Type:
    some = [value for value in values if value is not None]
    if not some:
        return Null()
    if {type(value) for value in some} not in ({int}, {str}):
        shown = ", ".join(map(_REPR.repr, some))
        raise SchemaError(f"the values of a Literal must be all int or all str, not {shown}", path=path)
    name = re.sub(r"\W", "", path.rpartition("/")[2].title()) or "Literal"
    wanted = (f"v{value}" if isinstance(value, int) else value or "empty" for value in some)
    members = tuple(zip(_distinct(re.sub(r"\W", "_", text) for text in wanted), some, strict=True))
    found = _enum_of(name, members, None, path)
    return Optional(found) if len(some) < len(values) else found


def _distinct(names: Iterable[str]) -> list[str]:
    """The names in order, each that is taken already with the first number that makes it free."""
    found: list[str] = []
    for name in names:
        free, number = name, 2
        while free in found:
            free, number = f"{name}{number}", number + 1
        found.append(free)
    return found


def _enum_of(name: str, members: tuple[tuple[str, Any], ...], cls: type | None, path: str) -> Enum:
    kinds = {type(value) for _, value in members}
    if kinds not in ({int}, {str}):
        raise SchemaError(f"the values of enum {name} must be all int or all str", path=path)
    if len({member for member, _ in members}) != len(members):
        raise SchemaError(f"two members of enum {name} have the same name", path=path)
    return Enum(name, members, cls)


def _array_dtype(arguments: Sequence[Any], path: str) -> str | None:
    """The dtype name in ``np.ndarray[shape, np.dtype[T]]``, None for any."""
    if len(arguments) != 2 or len(typing.get_args(arguments[1])) != 1:
        return None
    (scalar,) = typing.get_args(arguments[1])
    if not (isinstance(scalar, type) and issubclass(scalar, np.generic)):
        return None  # a type variable or an abstract class: any
    try:
        name = dtype_name(np.dtype(scalar))
    except TypeError:
        return None
    if name is None:
        if issubclass(scalar, np.datetime64 | np.timedelta64):
            hint = f"Annotated[np.ndarray, Tensor('{scalar.__name__}[ns]')]"
            raise SchemaError(f"tensors of {scalar.__name__} need a unit, as in {hint}", path=path)
        raise SchemaError(f"tensors of {scalar.__name__} have no fixed-size element that formats share", path=path)
    return name


def _why_not(hint: Any, origin: Any) -> str:
    name = hint.__name__ if isinstance(hint, type) and origin is None else _REPR.repr(hint)
    if _is_one_of(hint, (dict, Mapping, MutableMapping)) or origin in (dict, Mapping, MutableMapping):
        return f"{name} needs its key's and its value's type, as in dict[str, int]"
    if _is_one_of(hint, (list, Sequence, MutableSequence)) or origin in (list, Sequence, MutableSequence):
        return f"{name} needs its item's type, as in list[str]"
    if hint is tuple:
        return "a tuple needs its item types, as in tuple[str, ...]"
    if hint is Any or hint is object:
        return "Any has no form in a schema; name the types, as in int | str"
    if origin in _SETS or _is_one_of(hint, _SETS):
        return f"{name} needs its item's type, as in set[str]"
    if origin is None and not isinstance(hint, type) and type(hint).__module__ not in ("typing", "typing_extensions"):
        return f"{name} is an instance of {type(hint).__name__}, not an annotation; give a class"
    return f"{name} is no type that a schema knows; use a dataclass or another class with fields, or a scalar"


def _is_one_of(hint: Any, classes: Sequence[Any]) -> bool:
    return any(hint is one for one in classes)
