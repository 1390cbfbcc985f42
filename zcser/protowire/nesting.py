"""How deep messages may stand in each other.

1. Every protobuf parser stops somewhere, upb's after 100 levels; its encoder does not. What is encoded must decode, so a
   writer refuses a value whose messages would be nested deeper.
2. A level of the wire is not a level of the value: wrappers, unions, tensors and the entries of maps are messages too.
"""

from __future__ import annotations

from typing import Any

from zcser.core.paths import pointer
from zcser.protowire.plan import Label, Message, Missing, Plan, Shape, Slot
from zcser.schema.model import MISSING

__all__ = ["MAX_NESTING", "NestingError", "nesting_path"]

MAX_NESTING = 100
"""Messages inside each other, the outermost counted as 1."""

Path = tuple[str | int, ...]


class NestingError(Exception):
    """The messages would be nested too deep; `nesting_path` knows where."""


def nesting_path(plan: Plan, value: Any) -> str | None:
    """The path of the first part of a normal value whose message would be nested too deep; None where there is none."""
    return _nesting_path(plan, plan.root, value, 1, ())


def _nesting_path(plan: Plan, index: int, value: Any, nesting: int, path: Path) -> str | None:
    if nesting > MAX_NESTING:
        return pointer(path)
    for slot, held, where in _held(plan, plan.messages[index], value, path):
        parts: list[tuple[Any, Path]] = [(held, where)]
        inner = nesting + 1
        if slot.label is Label.MANY:
            parts = [(item, (*where, number)) for number, item in enumerate(held)]
        elif slot.label is Label.MAP:
            parts = [(item, (*where, str(key))) for key, item in held.items()]
            inner += 1
        for part, place in parts:
            if slot.message is not None:
                found = _nesting_path(plan, slot.message, part, inner, place)
            else:
                found = pointer(place) if slot.label is Label.MAP and inner - 1 > MAX_NESTING else None
            if found is not None:
                return found
    return None


def _held(plan: Plan, message: Message, value: Any, path: Path) -> list[tuple[Slot, Any, Path]]:
    """What stands in each field of a message."""
    found = []
    for slot in message.slots:
        held, where = value, path
        if slot.field is not None:
            name = slot.field.name
            held = value.get(name, MISSING) if isinstance(value, dict) else getattr(value, name)
            where = (*path, name)
        of_option = message.shape is Shape.UNION and type(value) is not plan.schema.python_type(slot.type)
        if held is MISSING or (held is None and slot.missing is Missing.NONE) or of_option:
            continue
        found.append((slot, held, where))
    return found
