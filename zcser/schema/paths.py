"""Paths through a schema: where a path leads in every message, found before there is one."""

from __future__ import annotations

from typing import Any

from zcser.core.errors import SchemaError
from zcser.core.paths import Path, parse_path, pointer
from zcser.schema.model import Bool, Bytes, Int, List, Logical, Map, Optional, Ref, Schema, Str, Tensor, Type, Union
from zcser.schema.values import VALUE_TYPES

__all__ = ["along"]


def along(schema: Schema, path: Path) -> tuple[tuple[str | int, ...], tuple[Any, ...] | None]:
    """The steps of a path, and what to subscribe with at each.

    Parameters
    ----------
    schema
        Where the path leads through.
    path
        A JSON Pointer or a tuple of names and indices.

    Returns
    -------
    (steps, keys)
        The parsed path, and per step the name of a field, the index, or the key of the map's own type. Keys are None
        where the path passes a union: which option stands there only a message tells.

    Raises
    ------
    SchemaError
        No value of the schema has such a place.
    ValueError
        `path` is no path.
    """
    steps = parse_path(path)
    here, keys = schema.root, []
    for number, step in enumerate(steps):
        while isinstance(here, Optional):
            here = here.item
        if isinstance(here, Union):
            return steps, None
        try:
            key, here = _step(schema, here, step)
        except (LookupError, ValueError) as error:
            raise SchemaError(
                f"no message has {pointer(steps)}: {error.args[0]}", path=pointer(steps[:number])
            ) from None
        keys.append(key)
    return steps, tuple(keys)


def _step(schema: Schema, here: Type, step: str | int) -> tuple[Any, Type]:
    match here:
        case Ref():
            record = schema.resolve(here)
            if step not in record.by_name:
                raise LookupError(f"{step!r} is not a field of {record.name}: {', '.join(record.by_name)}")
            return step, record.by_name[str(step)].type
        case List(item=item):
            return _index(step, here), item
        case Map(key, value):
            return _key(key, step), value
        case Tensor():
            # What is left after one index is a tensor of fewer dimensions, or a number.
            return _index(step, here), Tensor()
        case Bytes():
            return _index(step, here), Int(8, signed=False)
    raise LookupError(f"{here} has no parts")


def _index(step: str | int, here: Type) -> int:
    try:
        return int(step)
    except ValueError:
        raise ValueError(f"{step!r} is no index of {here}") from None


def _key(type_: Type, step: str | int) -> Any:
    if isinstance(type_, Str):
        return str(step)
    if isinstance(type_, Bool):
        if step in (True, False):
            return bool(step)
        if step not in ("true", "false"):
            raise ValueError(f"{step!r} is no key: 'true' or 'false' is")
        return step == "true"
    if isinstance(type_, Logical):
        return step if not isinstance(step, str) else VALUE_TYPES[type_.name].text.lift(step)
    return _index(step, type_)
