"""Random values of a program, for the tests of what schemas from .fbs and .bfbs have."""

from __future__ import annotations

import random
from typing import Any

from zcser.flat.layout import Missing
from zcser.flat.program import Node, Op, Program

__all__ = ["sorted_by_key", "value_of"]

_BITS = {
    Op.INT8: (-128, 127), Op.UINT8: (0, 255), Op.INT16: (-(2**15), 2**15 - 1), Op.UINT16: (0, 2**16 - 1),
    Op.INT32: (-(2**31), 2**31 - 1), Op.UINT32: (0, 2**32 - 1), Op.INT64: (-(2**63), 2**63 - 1),
    Op.UINT64: (0, 2**64 - 1),
}  # fmt: skip

_TEXTS = ("", "a", "zcser", "\u00e9\u4e2d\U0001f600", "shared", "x" * 300)


class _Maker:
    def __init__(self, rng: random.Random, program: Program) -> None:
        self.rng = rng
        self.nodes = program.nodes

    def value(self, node: Node, depth: int) -> Any:
        match node.op:
            case Op.BOOL:
                return self.rng.random() < 0.5
            case Op.FLOAT32 | Op.FLOAT64:
                return self.rng.choice((0.0, -1.5, 0.25, 1024.0, -0.125))
            case Op.ENUM:
                return self.rng.choice(node.values)[1]
            case Op.STRING:
                return self.rng.choice(_TEXTS)
            case Op.BYTES:
                return self.rng.randbytes(self.rng.choice((0, 1, 5, 300)) if node.bound < 0 else node.bound)
            case Op.TABLE:
                return self.record(node, depth)
            case Op.STRUCT:
                return {place.name: self.value(self.nodes[place.node], depth) for place in node.places}
            case Op.ONEOF:
                choice = self.rng.choice(node.choices)
                return {choice.name: self.value(self.nodes[choice.node], depth - 1)}
            case Op.NESTED:
                return self.value(self.nodes[node.item], depth - 1)
            case Op.NUMBERS | Op.STRINGS | Op.TABLES | Op.STRUCTS | Op.ONEOFS | Op.ARRAY:
                return self.items(node, depth - (node.op is not Op.ARRAY))
        low, high = _BITS[node.op]
        return self.rng.choice((0, 1, high, low, self.rng.randint(low, high)))

    def items(self, node: Node, depth: int) -> list[Any]:
        item = self.nodes[node.item]
        count = node.bound if node.bound >= 0 else self.rng.randrange(4)
        made = [
            None if item.op is Op.ONEOF and self.rng.random() < 0.2 else self.value(item, depth) for _ in range(count)
        ]
        return sorted_by_key(item, made)

    def record(self, node: Node, depth: int) -> dict[str, Any]:
        found = {}
        for place in node.places:
            item = self.nodes[place.node]
            optional = place.may_lack or place.missing is Missing.ABSENT
            deep = depth <= 0 and item.op in {Op.TABLE, Op.TABLES, Op.ONEOF, Op.ONEOFS, Op.NESTED}
            if optional and (deep or self.rng.random() < 0.5):
                continue
            if place.missing is Missing.NONE and self.rng.random() < 0.1:
                found[place.name] = None
            else:
                found[place.name] = self.value(item, depth)
        return found


def sorted_by_key(item: Node, items: list[Any]) -> list[Any]:
    """Items in the order of their keys, if they have such: flatc sorts them, zcser does not."""
    for place in item.places:
        if place.is_key:
            zero = place.zero if place.missing is Missing.ZERO else None
            return sorted(items, key=lambda value: _key(value.get(place.name, zero)))
    return items


def _key(value: Any) -> Any:
    if isinstance(value, dict | list):
        return [_key(part) for part in (value.values() if isinstance(value, dict) else value)]
    return value.encode() if isinstance(value, str) else value


def value_of(rng: random.Random, program: Program, depth: int = 2) -> Any:
    """A value of the root."""
    return _Maker(rng, program).value(program.nodes[program.root], depth)
