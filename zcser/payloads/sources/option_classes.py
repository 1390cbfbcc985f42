"""Classes for the records of unions that a schema document names: a value tells by its class which option it is.

1. A document imports nothing, so that the records of its schema are dicts. Of two in one union a dict tells nothing:
   here such records get a dataclass, made for them. All others stay dicts.
2. Values travel to workers pickled. These classes stand in no module: they are pickled as what they are made of, and one
   process makes one class of it.
"""

from __future__ import annotations

import copyreg
import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

__all__ = ["option_classes"]


class _Made(type):
    """The class of the classes, for which `copyreg` has a rule of its own."""


class _Option(metaclass=_Made):
    pass


@functools.cache
def _class_of(name: str, fields: tuple[str, ...]) -> type:
    made = dataclasses.make_dataclass(name, [(field, Any) for field in fields], bases=(_Option,))
    made.__module__ = __name__
    return made


def _reduced(cls: Any) -> Any:
    return _class_of, (cls.__name__, tuple(item.name for item in dataclasses.fields(cls)))


copyreg.pickle(_Made, _reduced)


def option_classes(document: dict[str, Any]) -> dict[str, type]:
    """Classes of records by name, for `zcser.load_schema`.

    Parameters
    ----------
    document
        A schema document as JSON gives it. Whatever is wrong with it is left to who reads it, and so is a record whose
        name, or a field's, no class can have.
    """
    records = document.get("records")
    if not isinstance(records, dict):
        return {}
    found: dict[str, type] = {}
    for name in _in_unions(document):
        try:
            fields = tuple(item["name"] for item in records[name]["fields"])
            found[name] = _class_of(name, fields)
        except (LookupError, TypeError, ValueError):
            continue
    return found


def _in_unions(document: dict[str, Any]) -> Iterator[str]:
    """Names of the records that stand with another one in a union."""
    left: list[Any] = [document]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            options = part.get("options")
            if part.get("kind") == "union" and isinstance(options, list):
                named = [option.get("name") for option in options if isinstance(option, dict)]
                names = [name for name in named if isinstance(name, str)]
                yield from names if len(names) > 1 else ()
            left += part.values()
        elif isinstance(part, list):
            left += part
