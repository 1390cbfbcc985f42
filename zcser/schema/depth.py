"""How deep a schema nests, for the limit that every codec shares."""

from __future__ import annotations

from zcser.core.errors import SchemaError
from zcser.core.options import Limits
from zcser.schema.model import List, Map, Optional, Ref, Schema, Type, Union

__all__ = ["refuse_deep", "static_depth"]


def refuse_deep(schema: Schema, limits: Limits, codec: str) -> None:
    """Raise `SchemaError` where every value of a schema would pass the limit; recursion is bounded at run time."""
    try:
        deep = static_depth(schema) > limits.depth
    except RecursionError:  # beyond any limit that Python's stack allows
        deep = True
    if deep:
        raise SchemaError(f"the schema nests deeper than limits.depth = {limits.depth}", codec=codec)


def static_depth(schema: Schema) -> int:
    """Records, lists and maps that a schema nests inside each other; a recursive record counts once, without its fields."""
    known: dict[str, int] = {}

    def depth(type_: Type) -> int:
        match type_:
            case Optional(item):
                return depth(item)
            case List(item=item) | Map(value=item):
                return 1 + depth(item)
            case Union(options):
                return max(map(depth, options))
            case Ref(name):
                if name in schema.recursive:
                    return 1
                if name not in known:
                    known[name] = 1 + max((depth(item.type) for item in schema.resolve(type_).fields), default=0)
                return known[name]
        return 0

    return depth(schema.root)
