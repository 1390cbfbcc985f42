"""What stands inline, in the slots of a table or in a struct: codes, sizes, alignments, and what a struct is made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from zcser.flat.program import Node, Op, Program

__all__ = [
    "HAS_NUMBER",
    "Leaf",
    "Slot",
    "align_of",
    "code_of",
    "enums_of",
    "is_scalar",
    "items_of",
    "levels_of",
    "slots_of",
]

_CODES = {
    Op.NULL: "B", Op.BOOL: "?", Op.INT8: "b", Op.UINT8: "B", Op.INT16: "h", Op.UINT16: "H", Op.INT32: "i", Op.UINT32: "I",
    Op.INT64: "q", Op.UINT64: "Q", Op.FLOAT32: "f", Op.FLOAT64: "d",
}  # fmt: skip
"""`struct` codes of scalars. An enum has that of its number."""

HAS_NUMBER = {Op.UNION: 1, Op.ONEOF: 1, Op.ONEOFS: 4}
"""What takes two slots, and the bytes of the first: the number of a union, or the offset to a vector of them."""


class Slot(NamedTuple):
    """A slot of a table: its number, its bytes, and what its place is a multiple of."""

    number: int
    size: int
    align: int


class Leaf(NamedTuple):
    """A scalar of a struct: bytes from the struct's start, its node, and the steps that lead to it."""

    offset: int
    node: Node
    steps: tuple[str | int, ...]


def code_of(node: Node) -> str:
    """The `struct` code of a scalar."""
    return _CODES[node.number if node.op is Op.ENUM else node.op]


def is_scalar(node: Node) -> bool:
    """Whether values are one scalar."""
    return node.op <= Op.ENUM


def align_of(node: Node) -> int:
    """What the place of a scalar, a struct, an array, or of the offset to all else is a multiple of."""
    return node.align if node.op in {Op.STRUCT, Op.ARRAY} else node.size


def slots_of(program: Program, node: Node) -> list[Slot]:
    """The slots of a table, by number; the first of two comes before the second."""
    if node.op is Op.TENSOR:
        return [Slot(0, 1, 1), Slot(1, 4, 4), Slot(2, 4, 4)]
    found = []
    for place in node.places:
        value = program.nodes[place.node]
        if value.op in HAS_NUMBER:
            found.append(Slot(place.index - 1, HAS_NUMBER[value.op], HAS_NUMBER[value.op]))
        found.append(Slot(place.index, value.size, align_of(value)))
    return found


def enums_of(nodes: Sequence[Node], node: Node) -> list[Leaf]:
    """The enums in a struct, or in anything that stands in one."""
    if node.op is Op.ENUM:
        return [Leaf(0, node, ())]
    parts: list[tuple[int, str | int, list[Leaf]]] = []
    if node.op is Op.ARRAY:
        item = nodes[node.item]
        inner = enums_of(nodes, item)
        parts = [(item.size * index, index, inner) for index in range(node.bound)] if inner else []
    elif node.op is Op.STRUCT:
        parts = [(place.offset, str(place.name), enums_of(nodes, nodes[place.node])) for place in node.places]
    return [
        Leaf(offset + leaf.offset, leaf.node, (step, *leaf.steps)) for offset, step, inner in parts for leaf in inner
    ]


def items_of(nodes: Sequence[Node], node: Node) -> int:
    """Items of all the arrays in a value of a struct, or of anything that stands in one."""
    if node.op is Op.ARRAY:
        return node.bound * (1 + items_of(nodes, nodes[node.item]))
    return sum(items_of(nodes, nodes[place.node]) for place in node.places)


def levels_of(nodes: Sequence[Node], node: Node) -> int:
    """Records and lists inside each other in a value of a struct, itself included, or of anything that stands in one."""
    if node.op is Op.ARRAY:
        return 1 + levels_of(nodes, nodes[node.item])
    if node.op is Op.STRUCT:
        return 1 + max(levels_of(nodes, nodes[place.node]) for place in node.places)
    return 0
