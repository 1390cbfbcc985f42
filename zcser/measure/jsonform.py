"""Frozen dataclasses from parsed JSON, checked strictly against their own annotations.

1. A missing key without a default, a wrong type, a number that is not finite, or whatever the class itself refuses with a
   ValueError, is a `FormError` with the JSON path.
2. Unknown keys are ignored, so that an older reader accepts what a newer writer added.
3. An int is accepted where a float is declared; a bool never stands for a number.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import types
import typing
from typing import Any, Literal, TypeVar

__all__ = ["FormError", "from_json", "to_json"]

D = TypeVar("D")

_SCALARS = (float, int, str, bool)


class FormError(ValueError):
    """A JSON value does not have the declared form; `where` is its JSON path, such as ``cells[3].cost.p10_ns``."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(f"{where or 'the document'}: {message}")
        self.where = where


def to_json(value: Any) -> Any:
    """What `json.dumps` takes, of a dataclass and all that it holds."""
    if dataclasses.is_dataclass(value):
        return {item.name: to_json(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        return {key: to_json(item) for key, item in value.items()}
    return value


def from_json(cls: type[D], value: Any, where: str = "") -> D:
    """A dataclass from a parsed JSON object.

    Parameters
    ----------
    cls
        A dataclass whose annotations are made of str, int, float, bool, None, ``X | None``, Literal, ``tuple[X, ...]``,
        ``tuple[X, Y]``, ``dict[str, X]``, further dataclasses, and Any (free JSON, checked for finite numbers).
    value
        What `json.load` gave.
    where
        JSON path of `value`, for messages.

    Raises
    ------
    FormError
        `value` does not have that form.
    """
    if not isinstance(value, dict):
        raise FormError(where, f"an object is needed, not {_shown(value)}")
    taken: dict[str, Any] = {}
    for name, hint, needed in _form(cls):  # type: ignore[arg-type]  # a class is hashable, whatever its instances are
        if name in value:
            taken[name] = _read(hint, value[name], f"{where}.{name}" if where else name)
        elif needed:
            raise FormError(where, f"the key {name!r} is missing")
    try:
        return cls(**taken)
    except ValueError as error:
        raise FormError(where, str(error)) from None


@functools.cache
def _form(cls: type[Any]) -> tuple[tuple[str, Any, bool], ...]:
    """The name, the annotation, and whether it must be there, of each field: a result has thousands of some classes."""
    hints = typing.get_type_hints(cls)
    return tuple(
        (
            item.name,
            hints[item.name],
            item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING,
        )
        for item in dataclasses.fields(cls)
    )


def _read(hint: Any, value: Any, where: str) -> Any:
    if hint in _SCALARS:
        return _read_scalar(hint, value, where)
    if hint is Any:
        return _free(value, where)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    # A Literal | None is typing's own union, whatever the Python version.
    if origin in (types.UnionType, typing.Union):
        options = [option for option in arguments if option is not types.NoneType]
        return None if value is None else _read(options[0], value, where)
    if origin is Literal:
        if value not in arguments:
            raise FormError(where, f"one of {', '.join(map(repr, arguments))} is needed, not {_shown(value)}")
        return value
    if origin is tuple:
        return _read_tuple(arguments, value, where)
    if origin is dict:
        if not isinstance(value, dict):
            raise FormError(where, f"an object is needed, not {_shown(value)}")
        return {key: _read(arguments[1], item, f"{where}.{key}") for key, item in value.items()}
    if dataclasses.is_dataclass(hint):
        return from_json(typing.cast("type[Any]", hint), value, where)
    return _read_scalar(hint, value, where)


def _read_tuple(arguments: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise FormError(where, f"an array is needed, not {_shown(value)}")
    if arguments[-1] is Ellipsis:
        return tuple(_read(arguments[0], item, f"{where}[{index}]") for index, item in enumerate(value))
    if len(value) != len(arguments):
        raise FormError(where, f"an array of {len(arguments)} is needed, not of {len(value)}")
    pairs = zip(arguments, value, strict=True)
    return tuple(_read(hint, item, f"{where}[{index}]") for index, (hint, item) in enumerate(pairs))


def _read_scalar(hint: type[Any], value: Any, where: str) -> Any:
    if hint is float and type(value) is int:
        # float() of an int past 1e308 overflows, and no time in nanoseconds gets near 2**63.
        if abs(value) >= 1 << 63:
            raise FormError(where, "the number is out of range")
        value = float(value)
    if type(value) is not hint:
        raise FormError(where, f"a {hint.__name__} is needed, not {_shown(value)}")
    if isinstance(value, float) and not math.isfinite(value):
        raise FormError(where, "the number is not finite")
    return value


def _free(value: Any, where: str) -> Any:
    if isinstance(value, dict):
        return {key: _free(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, list):
        return [_free(item, f"{where}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        raise FormError(where, "the number is not finite")
    return value


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
