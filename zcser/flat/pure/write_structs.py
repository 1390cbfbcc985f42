"""The code that writes structs, and vectors of them.

A struct becomes bytes by a function of its node, in one piece with the structs inside it; arrays of structs are joined of
pieces. What it holds is known ahead: elements and depth are counted where the function is called.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from zcser.flat.inline import code_of, is_scalar, items_of, levels_of
from zcser.flat.program import Node, Op
from zcser.flat.pure.write_values import Cursor, class_of, is_far

if TYPE_CHECKING:
    from zcser.flat.pure.write_code import WriterCode

__all__ = ["alone", "packed", "vector"]


def packed(generator: WriterCode, node: Node, value: str) -> str:
    """Count what a struct holds, and bound its depth; the expression of its bytes."""
    items = items_of(generator.nodes, node)
    if items:
        generator.source.line(f"s[0] -= {items}")
    if generator.counts_depth:
        generator.refuse_if(f"d + {generator.depth + levels_of(generator.nodes, node)} > LIMIT")
    return f"{_function(generator, node)}({value})"


def alone(generator: WriterCode, node: Node, value: str) -> str:
    """Write a struct where a table would stand; the name of its place."""
    line, place, data = generator.source.line, generator.source.variable(), generator.source.variable()
    line(f"{data} = {packed(generator, node, value)}")
    line(f"{place} = {generator.cursor.rounded()}")
    if node.align > 4:
        generator.need(node.align)
        line(f"{place} = put_gap(b, {place}, {place} + {node.align - 1} & -{node.align})")
    line(f"if {place} + {node.size} > e: raise Full({place} + {node.size})")
    pack = generator.source.constant(struct.Struct(f"{node.size}s{-node.size % 4}x").pack_into)
    line(f"{pack}(b, {place}, {data})")
    generator.cursor = Cursor(place, node.size, aligned=node.size % 4 == 0)
    return place


def vector(generator: WriterCode, node: Node, value: str, slot: str) -> str:
    """Write a vector of structs, or leave it to the tail; the name of its place, or that of its offset."""
    line, item = generator.source.line, generator.nodes[node.item]
    place, data, end = (generator.source.variable() for _ in range(3))
    size, items = generator.count(node, value), items_of(generator.nodes, item)
    if items:
        line(f"s[0] -= {items} * {size}")
    if generator.counts_depth:
        generator.refuse_if(f"{size} and d + {generator.depth + 1 + levels_of(generator.nodes, item)} > LIMIT")
    line(f"{data} = b''.join(map({_function(generator, item)}, {value}))")
    if item.align > 4:
        generator.need(item.align)
    if is_far(node):
        return generator.far(node, data, size, slot)
    line(f"{end} = len({data}); {place} = {generator.cursor.rounded()}")
    if item.align > 4:
        generator.before(item.align, place)
    line(f"if {place} + {end} > e: raise Full({place} + {end})")
    line(f"BLOB[{end}](b, {place}, {size}, {data})")
    generator.cursor = Cursor(f"{place} + {end}", 4)
    return place


def _function(generator: WriterCode, node: Node) -> str:
    """The function that makes the bytes of a struct."""
    index = next(index for index, found in enumerate(generator.nodes) if found is node)
    return generator.later("pack", index, lambda name, _: _write(generator, name, node))


def _write(generator: WriterCode, name: str, node: Node) -> None:
    with generator.source.block(f"def {name}(x):"):
        packer = _Packer(generator)
        packer.struct(node, "x")
        pack = generator.source.constant(struct.Struct("".join(packer.codes)).pack)
        generator.source.line(f"return {pack}({', '.join(packer.arguments)})")


class _Packer:
    """Gathers the codes that pack a struct, and what is packed."""

    def __init__(self, generator: WriterCode) -> None:
        self.generator = generator
        self.codes = ["<"]
        self.arguments: list[str] = []

    def struct(self, node: Node, value: str) -> None:
        """Look at a struct, and take in its fields."""
        generator, end = self.generator, 0
        generator.refuse_if(f"{value}.__class__ is not dict or len({value}) != {len(node.places)}")
        for place in node.places:
            part, name = generator.nodes[place.node], generator.source.variable()
            generator.source.line(f"{name} = {value}[{generator.source.constant(place.name)}]")
            self.codes.append(f"{place.offset - end}x")
            end = place.offset + part.size
            if part.op is Op.STRUCT:
                self.struct(part, name)
            elif part.op is Op.ARRAY:
                self.array(part, name)
            else:
                self.codes.append(code_of(part))
                self.arguments.append(generator.scalar(part, name))
        self.codes.append(f"{node.size - end}x")

    def array(self, node: Node, value: str) -> None:
        """Look at a fixed array, and take in its items."""
        generator, item = self.generator, self.generator.nodes[node.item]
        container = generator.source.constant(class_of(node))
        generator.refuse_if(f"{value}.__class__ is not {container} or len({value}) != {node.bound}")
        if is_scalar(item):
            generator.scalars(item, value)
            self.codes.append(f"{node.bound}{code_of(item)}")
            self.arguments.append(f"*{value}")
        else:
            self.codes.append(f"{node.size}s")
            self.arguments.append(f"b''.join(map({_function(generator, item)}, {value}))")
