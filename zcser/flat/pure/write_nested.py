"""The code that writes nested messages.

A nested message is written behind the cursor, where what follows in the head will overwrite it, and is taken from there
into the tail. It begins at a multiple of what the tail's data are aligned to, so that all its places can be counted as
those of the message around it are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zcser.flat.program import ALIGNMENT, Node

if TYPE_CHECKING:
    from zcser.flat.pure.write_code import WriterCode

__all__ = ["nested"]


def nested(generator: WriterCode, node: Node, value: str, slot: str) -> str:
    """Write a nested message, and leave it to the tail; the name of its offset's place."""
    line = generator.source.line
    start, state, tail, root, end, data = (generator.source.variable() for _ in range(6))
    align = max(ALIGNMENT, *(found.align for found in generator.nodes))
    generator.settle()
    line(f"{start} = c + {align - 1} & -{align}")
    line(f"if {start} > e: raise Full({start})")
    line(f"{state} = {generator.source.constant(generator.state)}.copy(); {state}[0] = s[0]; {tail} = []")
    generator.begin_message(state)
    depth = f", d + {generator.depth}" if generator.counts_depth else ""
    function = generator.function(node.item)
    line(f"{root}, {end} = {function}(b, m, e, {state}, {tail}, {start} + 4, {value}{depth})")
    line(f"OFFSET(b, {start}, {root} - {start})")
    line(f"{data} = nested_message(m, {start}, {end}, {tail}); s[0] = {state}[0]")
    line(f"if s[1] < {state}[1]: s[1] = {state}[1]")
    return generator.far(node, data, f"len({data})", slot)
