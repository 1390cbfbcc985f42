"""The kinds of class that records come from: what their instances are made of, and how they are made.

1. No library is imported: the module of a class has done that. A class is known by what its library leaves on it.
2. Instances are made by the class's own constructor, so that what it promises of them (``__post_init__``, validators of
   attrs, constraints of pydantic) holds of what is decoded too.
3. A pydantic model is made by its validator, in Rust, and not by ``model_construct``, which is Python's: that is several
   times slower, and would let a message break the model's constraints. Its bytes are copied: it takes no
   memoryview.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from zcser.core.errors import SchemaError

__all__ = [
    "MISSING",
    "class_defaults",
    "construct",
    "has_extras",
    "is_attrs",
    "is_named_tuple",
    "is_pydantic",
    "is_root_model",
    "is_struct",
    "keywords_of",
    "positional",
    "validator_of",
    "wire_names",
]


class _Missing(enum.Enum):
    MISSING = "MISSING"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing.MISSING
"""The default of a field that has none."""

Default = tuple[Any, Callable[[], Any] | None]
"""A default, and what makes a fresh one; MISSING and None where there is none."""


def is_struct(cls: type) -> bool:
    """Whether a class is a msgspec Struct."""
    msgspec: Any = sys.modules.get("msgspec")
    return msgspec is not None and issubclass(cls, msgspec.Struct)


def is_attrs(cls: type) -> bool:
    """Whether a class is one of attrs, or derived from one."""
    return hasattr(cls, "__attrs_attrs__")


def is_pydantic(cls: type) -> bool:
    """Whether a class is a model of pydantic 2; a dataclass of pydantic is a dataclass."""
    return hasattr(cls, "__pydantic_root_model__") and hasattr(cls, "__pydantic_validator__")


def is_root_model(cls: type) -> bool:
    """Whether a class is a RootModel of pydantic: an object whose one field, ``root``, is the whole of a message."""
    return is_pydantic(cls) and bool(cls.__pydantic_root_model__)  # type: ignore[attr-defined]  # of every model


def is_named_tuple(cls: type) -> bool:
    """Whether a class is a named tuple."""
    return issubclass(cls, tuple) and hasattr(cls, "_fields") and hasattr(cls, "_make")


def positional(cls: type, names: Sequence[str]) -> int:
    """How many of the names, from the first on, a class takes by position in this order; that is the faster call."""
    try:
        parameters = inspect.signature(cls).parameters.values()
    except (TypeError, ValueError):  # a class of C
        return 0
    count = 0
    for name, parameter in zip(names, parameters, strict=False):
        if parameter.name != name or parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
            break
        count += 1
    return count


def class_defaults(cls: type) -> dict[str, Default]:
    """``(default, default_factory)`` of each field of a class; nothing of classes that have none."""
    if dataclasses.is_dataclass(cls):
        return _declared(dataclasses.fields(cls), dataclasses.MISSING)
    if is_struct(cls):
        msgspec: Any = sys.modules["msgspec"]
        return _declared(msgspec.structs.fields(cls), msgspec.NODEFAULT)
    if is_attrs(cls):
        return {item.name: _attrs_default(item.default) for item in _attributes(cls)}
    if is_pydantic(cls):
        return {name: _pydantic_default(item) for name, item in cls.__pydantic_fields__.items()}  # type: ignore[attr-defined]  # of every model
    if is_named_tuple(cls):
        defaults: dict[str, Any] = cls._field_defaults  # type: ignore[attr-defined]  # of every named tuple
        return {name: (default, None) for name, default in defaults.items()}
    return {}


def _declared(fields: Any, nothing: Any) -> dict[str, Default]:
    return {
        item.name: (
            MISSING if item.default is nothing else item.default,
            None if item.default_factory is nothing else item.default_factory,
        )
        for item in fields
    }


def _attributes(cls: type) -> Any:
    return cls.__attrs_attrs__  # type: ignore[attr-defined]  # of every class of attrs


def _attrs_default(default: Any) -> Default:
    attr: Any = sys.modules["attr"]
    if default is attr.NOTHING:
        return MISSING, None
    if isinstance(default, attr.Factory):
        # One that wants the half-made object can be called by the class alone.
        return MISSING, None if default.takes_self else default.factory
    return default, None


def _pydantic_default(item: Any) -> Default:
    if item.is_required():
        return MISSING, None
    if item.default_factory is not None:
        takes_data = getattr(item, "default_factory_takes_validated_data", False)
        return MISSING, None if takes_data else item.default_factory
    return item.default, None


def wire_names(cls: type) -> dict[str, str]:
    """Names that fields have in messages, where they are not those of the attributes.

    They are pydantic's aliases, and what ``rename=`` of a Struct or ``name=`` of its field say.
    """
    if is_struct(cls):
        msgspec: Any = sys.modules["msgspec"]
        return {item.name: item.encode_name for item in msgspec.structs.fields(cls) if item.encode_name != item.name}
    if not is_pydantic(cls):
        return {}
    fields: Mapping[str, Any] = cls.__pydantic_fields__  # type: ignore[attr-defined]  # of every model
    found = {}
    for name, item in fields.items():
        aliases = (item.serialization_alias, item.validation_alias, item.alias)
        alias = next((alias for alias in aliases if isinstance(alias, str)), name)
        if alias != name:
            found[name] = alias
    return found


def keywords_of(cls: type) -> dict[str, str]:
    """Keywords of the constructor, where they are not the attributes' names: attrs takes ``_a`` as ``a``."""
    if not is_attrs(cls):
        return {}
    return {item.name: item.alias for item in _attributes(cls) if item.alias != item.name}


@functools.cache
def validator_of(cls: type) -> Callable[[Any], Any] | None:
    """What makes instances of a pydantic model from a dict of its fields by name, of a RootModel from its root.

    None for other classes.
    """
    if not is_pydantic(cls):
        return None
    validate: Callable[..., Any] = cls.__pydantic_validator__.validate_python  # type: ignore[attr-defined]  # of every model
    if all(item.validation_alias is None for item in cls.__pydantic_fields__.values()):  # type: ignore[attr-defined]
        return validate
    pydantic: Any = sys.modules["pydantic"]
    if tuple(map(int, pydantic.VERSION.split(".")[:2])) < (2, 11):
        raise SchemaError("a model with aliases is made by its fields' names, which takes pydantic 2.11 or later",
                          path=cls.__name__)  # fmt: skip
    return functools.partial(validate, by_alias=False, by_name=True)


def has_extras(cls: type) -> bool:
    """Whether instances of a class may hold fields that it does not declare."""
    return is_pydantic(cls) and cls.model_config.get("extra") == "allow"  # type: ignore[attr-defined]  # of every model


def construct(cls: type, values: dict[str, Any]) -> Any:
    """An instance of a class from its fields by name; raises what the class does."""
    validate = validator_of(cls)
    if validate is not None:
        return validate(values["root"] if is_root_model(cls) else values)
    keywords = keywords_of(cls)
    return cls(**({keywords.get(name, name): value for name, value in values.items()} if keywords else values))
