"""The code that writes unions of one-key dicts, and vectors of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zcser.flat.program import Node, Op, Place
from zcser.flat.pure.write_forms import number_packs
from zcser.flat.pure.write_values import Cursor

if TYPE_CHECKING:
    from zcser.flat.pure.write_code import WriterCode
    from zcser.flat.pure.write_tables import TableCode

__all__ = ["write_place"]

_MISFIT = "no dict with one key, an option of the union"


def write_place(table: TableCode, place: Place) -> None:
    """Write what the two slots of a union, or of a vector of them, lead to."""
    generator, node, value = table.generator, table.node(place), table.values[place.index]
    if node.op is Op.ONEOFS:
        numbers, values = _vectors(generator, node, value)
        table.stored[place.index - 1] = table.distance_from(place.index - 1, numbers)
        table.stored[place.index] = table.distance(place, values)
        return
    kind, target = _option(generator, node, value, table.slot(place))
    table.stored[place.index - 1] = kind
    table.stored[place.index] = table.distance(place, target)


def _option(generator: WriterCode, node: Node, value: str, slot: str) -> tuple[str, str]:
    """Write the option that a value has; the names of its number and place."""
    line = generator.source.line
    name, inner, kind, target = (generator.source.variable() for _ in range(4))
    line(f"if {value}.__class__ is not dict or len({value}) != 1: raise Misfit({_MISFIT!r})")
    line(f"({name}, {inner}), = {value}.items()")
    generator.bound_depth()
    generator.depth += 1
    start = generator.cursor
    for number, choice in enumerate(node.choices):
        head = f"{'elif' if number else 'if'} {name} == {generator.source.constant(choice.name)}:"
        with generator.branch(head, start):
            line(f"{target} = {generator.target(choice.node, inner, slot)}; {kind} = {choice.number}")
    line(f"else: raise Misfit({_MISFIT!r})")
    generator.depth -= 1
    return kind, target


def _vectors(generator: WriterCode, node: Node, value: str) -> tuple[str, str]:
    """Write the numbers of unions, and their values; the names of the places of both vectors."""
    line, size = generator.source.line, generator.count(node, value)
    first, second, kinds, offsets, at, item = (generator.source.variable() for _ in range(6))
    line(f"{first} = {generator.cursor.rounded()}; {second} = {first} + {size} + 7 & -4")
    line(f"c = {second} + 4 + 4 * {size}; {at} = {second} + 4; {kinds} = []; {offsets} = []")
    line("if c > e: raise Full(c)")
    generator.depth += 1
    generator.nested += 1
    with generator.branch(f"for {item} in {value}:", Cursor("c")):
        line(f"if {item} is None: {kinds}.append(0); {offsets}.append(0)")
        with generator.branch("else:", Cursor("c")):
            kind, target = _option(generator, generator.nodes[node.item], item, at)
            line(f"{kinds}.append({kind}); {offsets}.append({target} - {at})")
        line(f"{at} += 4")
    generator.nested -= 1
    generator.depth -= 1
    line(f"BLOB[{size}](b, {first}, {size}, bytes({kinds}))")
    packs = generator.source.constant(number_packs("I", 4))
    line(f"{packs}[{size}](b, {second}, {size}, *{offsets})")
    return first, second
