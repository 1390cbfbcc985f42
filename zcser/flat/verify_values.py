"""The code that checks strings, vectors, structs and tensors, and what all code of a verifier is made of."""

from __future__ import annotations

import struct

import numpy as np

from zcser.core.options import Limits
from zcser.core.source import Source
from zcser.flat import checks
from zcser.flat.checks import MOST_DIMENSIONS, Fault, enum_check, tensor_check
from zcser.flat.inline import enums_of, items_of, levels_of
from zcser.flat.program import Node, Program
from zcser.flat.segments import Segments

__all__ = ["ValueCode", "head_of"]


class ValueCode:
    """Writes the code for values that no table is needed for.

    Code has these variables: the buffer ``b``, its end ``e``, what is left ``s`` (of items, of bytes), and the depth ``d``
    of records, lists and maps around the value. ``q`` is where the value is, or the offset to it. Of a message in segments
    the buffer is the first, and what is left has a third item, all of them.
    """

    def __init__(self, program: Program, limits: Limits, *, in_segments: bool = False) -> None:
        self.program = program
        self.in_segments = in_segments
        self.nodes = program.nodes
        self.counts_depth = program.counts_depth
        self.source = Source()
        self.source.namespace.update(
            {name: getattr(checks, name) for name in checks.__all__},
            U32=struct.Struct("<I").unpack_from,
            U64=struct.Struct("<Q").unpack_from,
            I32=struct.Struct("<i").unpack_from,
            EACH=struct.Struct("<I").iter_unpack,
            ERRORS=(Fault, struct.error, IndexError, UnicodeDecodeError),
            LIMIT=limits.depth,
            Segments=Segments,
            frombuffer=np.frombuffer,
            unpack=struct.unpack_from,
        )

    def members(self, node: Node) -> str:
        """The numbers of an enum."""
        return self.source.constant(frozenset(number for number, _ in node.values))

    def record(self, position: str) -> None:
        """Enter a record."""
        if self.counts_depth:
            self.source.line("d += 1")
            self.source.line(f"if d > LIMIT: raise Fault(f'nested deeper than limits.depth = {{LIMIT}}', {position})")

    def follow(self, node: Node) -> None:
        """Follow the offset at ``q``."""
        if node.size == 8:
            self.source.line("u = U64(b, q)[0]")
            if not self.in_segments:
                self.source.line("if u > e: raise IndexError")
        else:
            self.source.line("u = U32(b, q)[0]")

    def string(self, node: Node) -> None:
        """The string that the offset at ``q`` leads to; it is left in ``x``."""
        line = self.source.line
        self.follow(node)
        if self.in_segments:
            text = "str(y[w:w + n], 'utf-8')"
            self.find(4, 1, after=1)
        else:
            text = "str(b[q + 4:x], 'utf-8')"
            line("q += u; n = U32(b, q)[0]; x = q + 4 + n")
            line("if not u or q & 3 or x >= e or b[x]: bad_string(e, u, q, x)")
        if node.bound >= 0:
            line(f"if n > {node.bound}: raise Fault(f'{{n}} bytes do not fit {node.neutral}', q)")
        line(f"x = {text}; s[1] -= n + 5")

    def find(self, head: int, width: int, *, after: int = 0) -> None:
        """What the offset ``u`` at ``q`` leads to in segments: ``n`` items in ``y``, from ``w`` on."""
        self.source.line("if not u: raise Fault('an offset is 0', q)")
        self.source.line(f"q += u; _, y, w, n = s[2].find(q, {head}, {width}, {after})")

    def vector(self, node: Node, width: int, align: int = 1, *, has_offsets: bool = False) -> tuple[str, str]:
        """A vector's length and alignment; leaves ``n`` items, up to ``x``.

        One that `has_offsets` never stands in a segment of its own. Gives expressions of the buffer that the items are in,
        and of their place in it.
        """
        line, head = self.source.line, head_of(node)
        items = "n" if width == 1 else f"{width} * n"
        may_stand_apart = self.in_segments and not has_offsets
        self.follow(node)
        if may_stand_apart:
            self.find(head, width)
            line(f"x = q + {head} + {items}")
        else:
            line(f"q += u; n = U{8 * head}(b, q)[0]; x = q + {head} + {items}")
            bad = "bad_long(e, u, q, n)" if node.wide_length else "bad_vector(e, u, q, x)"
            line(f"if not u or q & {head - 1} or x > e: {bad}")
        if align > 4:
            wrong = f"a vector of {width}-byte items is not aligned to {align} bytes"
            line(f"if n and q + {head} & {align - 1}: raise Fault({wrong!r}, q)")
        line("s[1] -= x - q")
        return ("y", "w") if may_stand_apart else ("b", f"q + {head}")

    def count(self, items: int = 0) -> str:
        """Count the ``n`` items of a list or map, and `items` in each, and check its depth; the depth around its items."""
        self.source.line(f"s[0] -= {f'{1 + items} * ' if items else ''}n")
        self.source.line("if s[0] < 0: overspent(s, q)")
        if not self.counts_depth:
            return "d"
        self.source.line("if d >= LIMIT: raise Fault(f'nested deeper than limits.depth = {LIMIT}', q)")
        return "d + 1"

    def levels(self, node: Node, depth: str, *, where: str = "q") -> None:
        """Check the depth of a struct that has `depth` around it."""
        if self.counts_depth:
            levels = levels_of(self.nodes, node)
            self.source.line(f"if {depth} + {levels} > LIMIT:")
            self.source.line(f"    raise Fault(f'nested deeper than limits.depth = {{LIMIT}}', {where})")

    def struct(self, node: Node) -> None:
        """The struct at ``q``, which lies in the message."""
        line, items, enums = self.source.line, items_of(self.nodes, node), enums_of(self.nodes, node)
        self.levels(node, "d")
        if items:
            line(f"s[0] -= {items}")
            line("if s[0] < 0: overspent(s, q)")
        if enums:
            line(f"{self.source.constant(enum_check(enums, node.size))}(b, q, 1, q, False)")

    def structs(self, node: Node) -> None:
        """The vector of structs that the offset at ``q`` leads to."""
        line, item = self.source.line, self.nodes[node.item]
        enums = enums_of(self.nodes, item)
        buffer, first = self.vector(node, item.size, item.align)
        depth = self.count(items_of(self.nodes, item))
        if node.bound >= 0:
            line(f"if n != {node.bound}: raise Fault(f'{node.bound} items are needed, not {{n}}', q)")
        with self.source.block("if n:"):
            self.levels(item, depth)
            if enums:
                check = self.source.constant(enum_check(enums, item.size))
                line(f"{check}({buffer}, {first}, n, q + {head_of(node)}, True)")

    def tensor(self, node: Node) -> None:
        """The tensor of the table ``p``."""
        line = self.source.line
        line("if not o1 or not o2: raise Fault('a tensor without shape or data', p)")
        line("q = p + o1")
        self.vector(node, 8, 8, has_offsets=True)
        line(f"if n > {MOST_DIMENSIONS}: raise Fault(f'a tensor has {{n}} dimensions', q)")
        line("g = unpack(f'<{n}q', b, q + 4)")
        line("q = p + o2")
        self.vector(node, 1)
        check = tensor_check(node.neutral)  # type: ignore[arg-type]  # a Tensor
        line(f"{self.source.constant(check)}(b[p + o0] if o0 else 0, g, n, p)")


def head_of(node: Node) -> int:
    """Bytes of a vector's length."""
    return 8 if node.wide_length else 4
