"""Parts of `zcser.tree.json_schema`: the keywords that it knows, and what needs no more than one subschema."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple, NoReturn

from zcser.core.errors import SchemaError
from zcser.core.paths import pointer
from zcser.core.words import brief
from zcser.schema.from_document import read_type
from zcser.schema.model import Enum, Int, List, Map, Null, Optional, Ref, Type, Union
from zcser.tree.emit import JSON
from zcser.tree.form import wire_class

__all__ = [
    "BOUNDS",
    "OF_PLAIN_OBJECTS",
    "REFUSED",
    "REMARKS",
    "STRUCTURE",
    "UNCHECKED",
    "Object",
    "Part",
    "Steps",
    "enum_of",
    "fewest_bits",
    "implied_type",
    "marked_type",
    "next_integer",
    "optional",
    "own_object",
    "refuse",
    "refuse_alike",
]

Steps = tuple[str | int, ...]

REMARKS = frozenset(
    ("$schema", "$comment", "$defs", "$anchor", "$vocabulary", "title", "description", "examples", "example", "default",
     "definitions", "deprecated", "readOnly", "writeOnly", "nullable", "discriminator", "externalDocs", "xml")
)  # fmt: skip
UNCHECKED = (
    "format", "pattern", "minLength", "maxLength", "multipleOf", "uniqueItems", "minProperties", "maxProperties",
    "propertyNames", "contentMediaType", "contentSchema", "minItems", "maxItems",
)  # fmt: skip
BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
STRUCTURE = frozenset(
    ("type", "properties", "required", "additionalProperties", "items", "enum", "const", "contentEncoding", "$ref", "allOf",
     "anyOf", "oneOf", *UNCHECKED, *BOUNDS)
)  # fmt: skip
REFUSED = (
    "prefixItems", "additionalItems", "contains", "minContains", "maxContains", "unevaluatedItems", "patternProperties",
    "unevaluatedProperties", "dependentSchemas", "dependentRequired", "dependencies", "not", "if", "then", "else",
    "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor",
)  # fmt: skip
_WIDTHS = tuple(Int(bits, signed) for signed in (False, True) for bits in (8, 16, 32, 64))


class Part(NamedTuple):
    """A subschema and where it stands."""

    node: Any
    steps: Steps


class Object(NamedTuple):
    """What makes a record: its properties, the names that are required, and where the object is open (None: it is closed)."""

    properties: dict[str, Part]
    required: list[str]
    open_at: Steps | None


OF_PLAIN_OBJECTS = frozenset(("type", "properties", "required", "additionalProperties", "allOf"))


def refuse(reason: str, steps: Steps) -> NoReturn:
    """Raise `SchemaError` for what stands at a place of the JSON Schema."""
    raise SchemaError(reason, path=pointer(steps))


def optional(type_: Type) -> Type:
    """A type whose values may be None too."""
    return type_ if isinstance(type_, Null | Optional) else Optional(type_)


def marked_type(tree: Any, steps: Steps) -> Type:
    """The type in an ``x-zcser-type``."""
    found = read_type(tree, (*steps, "x-zcser-type"))
    if isinstance(found, Optional | List | Map | Union | Ref):
        refuse(f"x-zcser-type: {found} is no scalar, enum or tensor", steps)
    return found


def implied_type(node: dict[str, Any]) -> str | None:
    """The type of a schema that names none: what its keywords are for."""
    if "properties" in node or "additionalProperties" in node:
        return "object"
    return "array" if "items" in node else None


def own_object(part: Part, *, is_open: bool) -> Object:
    """What a subschema itself says of an object."""
    node, steps = part
    properties, required = node.get("properties", {}), node.get("required", [])
    if not isinstance(properties, dict):
        refuse("properties is an object of schemas", steps)
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        refuse("required is a list of names", steps)
    below = {name: Part(each, (*steps, "properties", name)) for name, each in properties.items()}
    return Object(below, required, steps if is_open else None)


def refuse_alike(options: Iterable[Type], word: str, steps: Steps) -> None:
    """Refuse options that JSON text does not tell apart."""
    seen: dict[type, Type] = {}
    for option in options:
        cls = wire_class(option, JSON)
        if cls in seen:
            what = "objects" if cls is dict else f"values of type {cls.__name__}"
            refuse(f"{word}: {seen[cls]} and {option} are both {what}, so that a value does not say which it is", steps)
        seen[cls] = option


def enum_of(name: str, values: list[Any]) -> Enum:
    """An enum of distinct values, all text or all integers, with names made of them."""
    members: dict[str, Any] = {}
    for value in values:
        base = re.sub(r"\W", "_", value) or "empty" if isinstance(value, str) else f"v{value}".replace("-", "_")
        free, number = base, 2
        while free in members:
            free, number = f"{base}{number}", number + 1
        members[free] = value
    return Enum(name, tuple(members.items()))


def next_integer(bound: Any, step: int, other: Any, steps: Steps) -> Any:
    """The last integer that an exclusive bound allows, or the other bound where that is narrower."""
    if isinstance(bound, bool) or not isinstance(bound, int):
        refuse(f"an exclusive bound of integers is an integer, not {brief(bound)}", steps)
    if other is None:
        return bound + step
    return max(bound + step, other) if step > 0 else min(bound + step, other)


def fewest_bits(low: Any, high: Any) -> Int:
    """The least width that holds all integers between two bounds, of which one may be None but not both."""
    for width in _WIDTHS:
        least, most = width.low or 0, width.high or 0
        fits = (low is None or least <= low) and (high is None or high <= most)
        # Without a bound, none but the widest of its sign will do.
        if fits and (width.bits == 64 or None not in (low, high)) and (width.signed or low is not None):
            return width
    return Int(None)
