"""Look-ups in vectors of tables or structs that have a key: what reads the key of the item at a place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zcser.flat.inline import is_scalar
from zcser.flat.program import Node, Op, Place, Program

if TYPE_CHECKING:
    from zcser.flat.pure.view import ViewGenerator

__all__ = ["class_of_key", "write"]


def write(generator: ViewGenerator, index: int) -> dict[str, str]:
    """Write the function for a vector, if it has keys; its name by the attribute of the view that it is to be."""
    node = generator.program.nodes[index]
    key = _key_of(generator.program, node)
    if key is None:
        return {}
    line, name = generator.source.line, f"itemkey{index}"
    with generator.source.block(f"def {name}(box, q):"):
        line("b = box[0]")
        if node.op is Op.STRUCTS:
            generator.scalar(generator.program.nodes[key.node], f"q + {key.offset}")
        else:
            line("p = q + U32(b, q)[0]")
            generator.find_form(node.item)
            generator.slot(node.item, key)
    return {"_zc_key": name}


def _key_of(program: Program, node: Node) -> Place | None:
    """The key of a vector's items, if they have one that is a scalar or a string."""
    if node.op not in {Op.TABLES, Op.STRUCTS}:
        return None
    for place in program.nodes[node.item].places:
        key = program.nodes[place.node]
        if place.is_key and (is_scalar(key) or key.op is Op.STRING):
            return place
    return None


def class_of_key(program: Program, item: Node) -> type | tuple[type, ...]:
    """The class of the keys of a vector's items."""
    (op,) = {program.nodes[place.node].op for place in item.places if place.is_key}
    if op is Op.STRING:
        return str
    return (int, float) if op in {Op.FLOAT32, Op.FLOAT64} else int
