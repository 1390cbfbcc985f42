"""What of a class's own layout on the wire is not used: zcser writes by the schema, whatever library a class is of.

A class says more than what its fields are: how its own library writes it, and what that reads besides. What the schema
has no place for is said in its notes, and never left out without a word.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from zcser.schema.classes import is_pydantic, is_struct

__all__ = ["unused_layout"]


def unused_layout(cls: type) -> Iterator[str]:
    """A sentence for each thing that a class says of its layout, and that messages do not have."""
    if is_struct(cls):
        yield from _of_struct(cls.__struct_config__)  # type: ignore[attr-defined]  # of every Struct
    elif is_pydantic(cls) and cls.model_config.get("extra") == "forbid":  # type: ignore[attr-defined]  # of every model
        yield _extras('extra="forbid"')


def _of_struct(config: Any) -> Iterator[str]:
    if config.tag is not None:
        tag = f"{json.dumps(config.tag_field)}: {json.dumps(config.tag)}"
        yield (
            f"the tag {tag} of msgspec is not written or read; which option of a union a value is, each format says "
            "in its own way, by the record's name or number"
        )
    if config.array_like:
        yield "array_like is not used; the record stands with its fields' names, where a format has them"
    if config.omit_defaults:
        yield "omit_defaults is not used; fields are written whatever they hold"
    if config.forbid_unknown_fields:
        yield _extras("forbid_unknown_fields")


def _extras(what: str) -> str:
    return f'{what} is not used; a codec made with unknown_fields="refuse" refuses messages with other fields'
