"""The fields that classes declare: dataclasses, msgspec Structs, TypedDicts, NamedTuples, attrs, and pydantic models.

A further kind of class is one function in `_SOURCES`, and what `zcser.schema.classes` must know of it.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

from zcser.core.errors import SchemaError
from zcser.schema.classes import is_attrs, is_named_tuple, is_pydantic, is_struct

__all__ = ["PRESENCE", "Declared", "declared", "first_line"]

PRESENCE = (typing.Required, typing.NotRequired)


class Declared(NamedTuple):
    """A field as its class declares it."""

    name: str
    hint: Any
    required: bool = True


def declared(hint: Any, path: str) -> list[Declared] | None:
    """The fields of a class; None for what has none.

    Raises
    ------
    SchemaError
        A field cannot be read from an instance, or not be restored.
    """
    return next((read(hint, path) for is_one, read in _SOURCES if is_one(hint)), None)


def first_line(cls: type) -> str:
    """What a class's docstring says of it first."""
    doc = cls.__doc__ if isinstance(cls.__doc__, str) else ""
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
    except Exception as error:  # an annotation written as a text is a stranger's code
        raise SchemaError(f"an annotation of {cls.__name__} cannot be evaluated: {error}", path=path) from error


def _dataclass(cls: type, path: str) -> list[Declared]:
    hints = _hints(cls, path)
    for name, hint in hints.items():
        if hint is dataclasses.InitVar or isinstance(hint, dataclasses.InitVar):
            raise SchemaError("an InitVar is not kept, so that encode cannot find it; make it a field",
                              path=f"{cls.__name__}/{name}")  # fmt: skip
    fields = dataclasses.fields(cls)
    for item in fields:
        if not item.init:
            raise SchemaError("field(init=False) cannot be restored by decode; make it an init field",
                              path=f"{cls.__name__}/{item.name}")  # fmt: skip
    return [Declared(item.name, hints[item.name]) for item in fields]


def _struct(cls: type, path: str) -> list[Declared]:
    hints = _hints(cls, path)
    names: tuple[str, ...] = cls.__struct_fields__  # type: ignore[attr-defined]  # every Struct has it
    return [Declared(name, hints[name]) for name in names]


def _typed_dict(cls: type, path: str) -> list[Declared]:
    required_keys: frozenset[str] = cls.__required_keys__  # type: ignore[attr-defined]  # every TypedDict has it
    declared = []
    for name, whole in _hints(cls, path).items():
        hint, required = whole, name in required_keys
        # With postponed annotations 3.11 does not see Required and NotRequired in __required_keys__, and either may
        # stand inside Annotated or around it.
        while typing.get_origin(hint) in (Annotated, *PRESENCE):
            if typing.get_origin(hint) in PRESENCE:
                required = typing.get_origin(hint) is typing.Required
            hint = typing.get_args(hint)[0]
        declared.append(Declared(name, whole, required))
    return declared


def _named_tuple(cls: type, path: str) -> list[Declared]:
    hints = _hints(cls, path)
    names: tuple[str, ...] = cls._fields  # type: ignore[attr-defined]  # every named tuple has it
    if untyped := [name for name in names if name not in hints]:
        raise SchemaError("has no annotation; use typing.NamedTuple", path=f"{cls.__name__}/{untyped[0]}")
    return [Declared(name, hints[name]) for name in names]


def _attrs(cls: type, path: str) -> list[Declared]:
    hints = _hints(cls, path)
    found = []
    for item in cls.__attrs_attrs__:  # type: ignore[attr-defined]  # every class of attrs has it
        where = f"{cls.__name__}/{item.name}"
        if not item.init:
            raise SchemaError("init=False cannot be restored by decode; make it an init attribute", path=where)
        hint = hints.get(item.name, item.type)
        if hint is None:
            raise SchemaError("has no annotation", path=where)
        found.append(Declared(item.name, hint))
    return found


def _pydantic(cls: type, path: str) -> list[Declared]:
    model: Any = cls
    try:
        complete = model.__pydantic_complete__ or model.model_rebuild(raise_errors=False)
    except Exception as error:  # an annotation written as a text is a stranger's code
        raise SchemaError(f"an annotation of {cls.__name__} cannot be evaluated: {error}", path=path) from error
    if not complete:
        raise SchemaError(
            f"an annotation of {cls.__name__} names what is not defined; define it at module level", path=path
        )
    found = []
    for name, item in model.__pydantic_fields__.items():
        # pydantic takes annotations apart, and resolves the variables of generic models.
        hint = Annotated[(item.annotation, *item.metadata)] if item.metadata else item.annotation
        found.append(Declared(name, hint))
    return found


_SOURCES: tuple[tuple[Callable[[Any], bool], Callable[[type, str], list[Declared]]], ...] = (
    (lambda hint: isinstance(hint, type) and dataclasses.is_dataclass(hint), _dataclass),
    (lambda hint: isinstance(hint, type) and is_struct(hint), _struct),
    (typing.is_typeddict, _typed_dict),
    (lambda hint: isinstance(hint, type) and is_named_tuple(hint), _named_tuple),
    (lambda hint: isinstance(hint, type) and is_attrs(hint), _attrs),
    (lambda hint: isinstance(hint, type) and is_pydantic(hint), _pydantic),
)
