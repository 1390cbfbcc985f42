"""The code that writes scalars, strings, bytes and vectors of numbers, and what all such code is made of.

Code keeps a cursor: the end of all that was written so far. `Cursor` knows what it can of it when code is generated.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from zcser.core.source import Source
from zcser.flat.inline import code_of
from zcser.flat.program import ALIGNMENT, TAIL, Node, Op, Program
from zcser.flat.pure.write_forms import number_packs
from zcser.schema.model import Enum

__all__ = ["Cursor", "ValueCode", "class_of", "is_far"]

_INTS = frozenset(range(Op.INT8, Op.UINT64 + 1))
_FLOATS = frozenset({Op.FLOAT32, Op.FLOAT64})
_CLASSES = {Op.NULL: type(None), Op.BOOL: bool, Op.STRING: str, Op.BYTES: bytes, Op.MAP: dict}

_MANY = 64
"""Numbers from which an array is the faster way to write them."""


def class_of(node: Node) -> type:
    """The class of the values of a scalar, string, `bytes`, list or map."""
    if node.op is Op.ENUM:
        return type(node.values[0][1])
    if node.op in _INTS:
        return int
    if node.op in _FLOATS:
        return float
    return _CLASSES.get(node.op, node.container)


def is_far(node: Node) -> bool:
    """Whether a vector always stands in the tail."""
    return node.size == 8 or node.align > 0 or node.wide_length


@dataclass(frozen=True, slots=True)
class Cursor:
    """An expression and what is added to it; `aligned` if the expression is a multiple of 4."""

    base: str
    plus: int = 0
    aligned: bool = False

    def exact(self) -> str:
        """Where it is."""
        return f"{self.base} + {self.plus}" if self.plus else self.base

    def rounded(self) -> str:
        """The next multiple of 4."""
        if self.aligned:
            return Cursor(self.base, self.plus + 3 & -4).exact()
        return f"{self.base} + {self.plus + 3} & -4"


class ValueCode:
    """Writes the code for values that no table is needed for.

    Code has these variables: the buffer ``b``, its memoryview ``m``, the last place ``e`` where a table may begin, the
    state ``s``, the tail ``t`` (see `zcser.flat.pure.write_tail`), the cursor ``c``, and, where values may nest deeper than
    their schema, the depth ``d`` around the function's value.

    Attributes
    ----------
    cursor
        Where it is at the end of the code so far.
    depth
        Records, lists and maps around the code, in the same function.
    """

    def __init__(self, program: Program) -> None:
        self.nodes = program.nodes
        self.counts_depth = program.counts_depth
        self.most_aligned = max((node.align for node in program.nodes), default=0) > 8
        self.source = Source()
        self.cursor = Cursor("c")
        self.depth = 0

    def settle(self) -> None:
        """Bring the cursor into ``c``, as branches must that come together."""
        if self.cursor.exact() != "c":
            self.source.line(f"c = {self.cursor.exact()}")
        self.cursor = Cursor("c")

    @contextlib.contextmanager
    def branch(self, head: str, start: Cursor) -> Iterator[None]:
        """A branch that begins at a cursor, and leaves it in ``c``."""
        with self.source.block(head):
            self.cursor = start
            yield
            self.settle()

    def before(self, align: int, name: str) -> None:
        """Move a place to 4 bytes before a multiple of an alignment, which is more than 4."""
        if align == 8:
            self.source.line(f"if not {name} & 4: OFFSET(b, {name}, 0); {name} += 4")
        else:
            self.source.line(f"{name} = put_gap(b, {name}, ({name} + {align + 3} & -{align}) - 4)")

    def need(self, align: int) -> None:
        """Have the message's address aligned."""
        # Where 8 is the most that anything asks for, it need not be looked at.
        if self.most_aligned:
            self.source.line(f"if s[1] < {align}: s[1] = {align}")
        elif align > 4:
            self.source.line(f"s[1] = {align}")

    def refuse_if(self, wrong: str) -> None:
        """Refuse the value where a condition holds."""
        self.source.line(f"if {wrong}: raise Misfit")

    def bound_depth(self) -> None:
        """Refuse a record, list or map that stands too deep."""
        if self.counts_depth:
            self.refuse_if(f"d + {self.depth} >= LIMIT")

    def expect(self, value: str, cls: type) -> None:
        """Refuse a value of another class."""
        self.refuse_if(f"{value}.__class__ is not {self.source.constant(cls)}")

    def text(self, node: Node, value: str, size: str, *, known: bool) -> None:
        """Make the bytes of a string, and their number."""
        if not known:
            self.expect(value, str)
        self.source.line(f"{value} = {value}.encode(); {size} = len({value})")
        if node.bound >= 0:
            self.refuse_if(f"{size} > {node.bound}")

    def string(self, node: Node, value: str, slot: str, *, known: bool = False) -> str:
        """Write a string, or leave it to the tail; the name of its place, or that of its offset."""
        if node.is_shared or node.size == 8:
            return self.far_string(node, value, slot, known=known)
        line, place, size = self.source.line, self.source.variable(), self.source.variable()
        self.text(node, value, size, known=known)
        line(f"{place} = {self.cursor.rounded()}")
        line(f"if {place} + {size} > e: raise Full({place} + {size})")
        line(f"TEXT[{size}](b, {place}, {size}, {value})")
        self.cursor = Cursor(f"{place} + {size}", 5)
        return place

    def far_string(self, node: Node, value: str, slot: str, *, known: bool) -> str:
        """Leave a string to the tail, where one that is shared stands once; the name of its offset's place."""
        line, place, size = self.source.line, self.source.variable(), self.source.variable()
        line(f"{place} = {slot}")
        if not known:
            self.expect(value, str)
        if node.is_shared:
            places = self.source.variable()
            line(f"{places} = s[3].setdefault({value}, [])")
            line(f"{places}.append(({node.size}, {place}))")
        else:
            places = f"(({node.size}, {place}),)"
        self.text(node, value, size, known=True)
        align = 4 if node.is_shared else ALIGNMENT
        added = f"t.append(({places}, memoryview({value} + ZERO), ({size}.to_bytes(4, 'little'), {align})))"
        line(f"if len({places}) == 1: {added}" if node.is_shared else added)
        return place

    def far(self, node: Node, data: str, size: str, slot: str) -> str:
        """Leave a vector of `size` items to the tail; the name of its offset's place."""
        line, place = self.source.line, self.source.variable()
        head = 8 if node.wide_length else 4
        line(f"{place} = {slot}")
        length = f"{size}.to_bytes({head}, 'little')"
        far = f"({length}, {max(ALIGNMENT, node.align)})"
        line(f"t.append(((({node.size}, {place}),), memoryview({data}), {far}))")
        return place

    def blob(self, node: Node, value: str, slot: str) -> str:
        """Write a `bytes`, or leave it to the tail; the name of its place, or that of its offset."""
        line, place, size = self.source.line, self.source.variable(), self.source.variable()
        self.expect(value, bytes)
        line(f"{size} = len({value})")
        if node.bound >= 0:
            self.refuse_if(f"{size} != {node.bound}")
        if is_far(node):
            return self.far(node, value, size, slot)
        self.settle()
        with self.branch(f"if {size} < {TAIL}:", self.cursor):
            line(f"{place} = {self.cursor.rounded()}")
            line(f"if {place} > e: raise Full({place})")
            line(f"BLOB[{size}](b, {place}, {size}, {value})")
            self.cursor = Cursor(f"{place} + {size}", 4)
        with self.source.block("else:"):
            line(f"{place} = {slot}")
            line(f"t.append(({place}, memoryview({value}), None))")
        return place

    def count(self, node: Node, value: str) -> str:
        """Look at the class of a list or map, and count its items."""
        size = self.source.variable()
        self.expect(value, class_of(node))
        self.source.line(f"{size} = len({value}); s[0] -= {size}")
        if node.bound >= 0:
            self.refuse_if(f"{size} != {node.bound}")
        self.bound_depth()
        return size

    def expect_each(self, value: str, cls: type) -> None:
        """Refuse items of another class."""
        self.refuse_if(f"not {self.source.constant(frozenset({cls}))}.issuperset(map(type, {value}))")

    def scalars(self, item: Node, value: str) -> None:
        """Look at the items of a list of scalars, and make numbers of them."""
        if item.op in _FLOATS:
            self.source.line(f"if not {self.source.constant(frozenset({float}))}.issuperset(map(type, {value})):")
            self.source.line(f"    {value} = exact_floats({value})")
        else:
            self.expect_each(value, class_of(item))
        if item.op is Op.ENUM:
            self.source.line(f"{value} = [{self.number(item, 'i')} for i in {value}]")

    def numbers(self, node: Node, value: str, slot: str) -> str:
        """Write a vector of scalars, or leave it to the tail; the name of its place, or that of its offset."""
        line, item = self.source.line, self.nodes[node.item]
        place, size = self.source.variable(), self.count(node, value)
        width, code = item.size, code_of(item)
        self.scalars(item, value)
        if is_far(node):
            if width == 8:
                self.need(8)
            line(f"{value} = pack_numbers({size}, {code!r}, {value})")
            return self.far(node, value, size, slot)
        line(f"{place} = {self.cursor.rounded()}")
        if width == 8:
            self.need(8)
            self.before(8, place)
        line(f"if {place} + {width} * {size} > e: raise Full({place} + {width} * {size})")
        if width == 1 and code != "b":
            content = f"bytes({size})" if item.op is Op.NULL else f"bytes({value})"
            line(f"BLOB[{size}](b, {place}, {size}, {content})")
        else:
            packs = self.source.constant(number_packs(code, width))
            small = f"{packs}[{size}](b, {place}, {size}, *{value})"
            if code == "f":  # of which an array would make infinities rather than refuse it
                line(small)
            else:
                line(f"if {size} < {_MANY}: {small}")
                with self.source.block("else:"):
                    line(f"OFFSET(b, {place}, {size})")
                    if width < 4:  # zeros up to a multiple of 4
                        line(f"OFFSET(b, {place} + {width} * {size} + 3 & -4, 0)")
                    line(f"put_numbers(m, {place} + 4, {size}, {code!r}, {value})")
        self.cursor = Cursor(f"{place} + {width} * {size}", 4)
        return place

    def scalar(self, node: Node, value: str, *, known: bool = False) -> str:
        """Look at a scalar; the expression of its number."""
        if node.op in _FLOATS:
            if not known:
                self.source.line(f"if {value}.__class__ is not float: {value} = exact_float({value})")
            return value
        if not known:
            self.expect(value, class_of(node))
        return "0" if node.op is Op.NULL else self.number(node, value)

    def number(self, node: Node, value: str) -> str:
        """The number that stands for an int or a member of an enum."""
        if node.op is not Op.ENUM:
            return value
        type_ = cast("Enum", node.neutral)
        numbers = {member: number for (_, member), (number, _) in zip(type_.members, node.values, strict=True)}
        # A member of an Enum hashes by its name, in Python code; its value does not.
        return f"{self.source.constant(numbers)}[{value}{'' if type_.cls is None else '._value_'}]"
