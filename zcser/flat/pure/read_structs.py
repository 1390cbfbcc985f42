"""The functions that take structs apart, generated from a program.

A function takes the bytes of structs that follow each other, and gives the list of their values. What they hold in fixed
arrays and inside each other is known ahead: elements and depth are counted where the bytes come from.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING

from zcser.flat.inline import code_of, is_scalar, items_of, levels_of
from zcser.flat.layout import Missing
from zcser.flat.program import Node, Op, Place

if TYPE_CHECKING:
    from zcser.flat.pure.read_code import ReadGenerator

__all__ = ["array", "count", "function", "write_place"]


def function(generator: ReadGenerator, index: int) -> str:
    """The function that reads the structs of a node out of their bytes."""
    return generator.later("structs", index, lambda name, index: _write(generator, name, index))


def write_place(generator: ReadGenerator, place: Place, tag: str, variable: str) -> None:
    """Read the struct in a slot into a variable."""
    line, found = generator.source.line, f"f{tag}_{place.index}"
    if place.missing is Missing.REFUSED:
        line(f"if not {found}: refuse()")
        count(generator, place.node)
        line(f"{variable} = {function(generator, place.node)}({found})[0]")
        return
    with generator.source.block(f"if {found}:"):
        count(generator, place.node)
        line(f"{variable} = {function(generator, place.node)}({found})[0]")
    line(f"else: {variable} = {generator.missing(place)}")


def count(generator: ReadGenerator, index: int) -> None:
    """Count what a struct holds, and bound its depth."""
    nodes = generator.program.nodes
    items = items_of(nodes, nodes[index])
    if items:
        generator.source.line(f"s[0] -= {items}")
        generator.source.line("if s[0] < 0: refuse()")
    if generator.program.counts_depth:
        generator.source.line(f"if d + {levels_of(nodes, nodes[index])} > LIMIT: refuse()")


def _write(generator: ReadGenerator, name: str, index: int) -> None:
    taker = _Taker(generator)
    value = taker.struct(generator.program.nodes[index])
    each = generator.source.constant(struct.Struct("".join(taker.codes)).iter_unpack)
    with generator.source.block(f"def {name}(x):"):
        # Of bytes alone: CPython before 3.13 crashes where the collector finds a memoryview and an iterator over it, as it
        # may in the frames of an error (gh-77894).
        generator.source.line(f"return [{value} for {', '.join(taker.names)}, in {each}(bytes(x))]")


def array(generator: ReadGenerator, index: int) -> str:
    """The function that reads a fixed array out of its bytes."""
    return generator.later("array", index, lambda name, index: _write_array(generator, name, index))


def _write_array(generator: ReadGenerator, name: str, index: int) -> None:
    with generator.source.block(f"def {name}(x):"):
        generator.source.line(f"return {_items(generator, generator.program.nodes[index], 'x')}")


def _items(generator: ReadGenerator, node: Node, name: str) -> str:
    """The items of a fixed array, whose bytes have a name."""
    item, constant = generator.program.nodes[node.item], generator.source.constant
    if not is_scalar(item):
        items = f"{function(generator, node.item)}({name})"
        return items if node.container is list else f"tuple({items})"
    items = f"{constant(struct.Struct(f'<{node.bound}{code_of(item)}').unpack)}({name})"
    if item.op is Op.ENUM:
        items = f"map({constant(dict(item.values))}.__getitem__, {items})"
    return f"{node.container.__name__}({items})"


class _Taker:
    """Gathers the codes that take a struct apart, the names of its parts, and the expression of its value."""

    def __init__(self, generator: ReadGenerator) -> None:
        self.generator = generator
        self.codes = ["<"]
        self.names: list[str] = []

    def name(self, code: str) -> str:
        """A name for what a code gives."""
        self.codes.append(code)
        self.names.append(f"a{len(self.names)}")
        return self.names[-1]

    def struct(self, node: Node) -> str:
        """Take a struct apart; the expression of its dict."""
        return f"{{{', '.join(self._fields(node))}}}"

    def _fields(self, node: Node) -> Iterator[str]:
        end = 0
        for place in node.places:
            part = self.generator.program.nodes[place.node]
            self.codes.append(f"{place.offset - end}x")
            yield f"{self.generator.source.constant(place.name)}: {self.value(part)}"
            end = place.offset + part.size
        self.codes.append(f"{node.size - end}x")

    def value(self, node: Node) -> str:
        """Take a field; the expression of its value."""
        constant = self.generator.source.constant
        if node.op is Op.STRUCT:
            return self.struct(node)
        if node.op is not Op.ARRAY:
            name = self.name(code_of(node))
            return f"{constant(dict(node.values))}[{name}]" if node.op is Op.ENUM else name
        return _items(self.generator, node, self.name(f"{node.size}s"))
