"""The functions that read a message into values, generated from a program: verifying and reading in one pass.

1. What is accepted is what `zcser.flat.verify.Verifier` accepts. Every rule of it is kept here, where the bytes are read
   anyway; but no function knows in words what is wrong. Whoever meets an exception asks the verifier, which does.
2. A table is taken in whole, by the `Unpack` of its vtable. Tables of one vector mostly share a vtable: it is looked up
   where it changes.
3. Without copies, bytes are slices of the buffer and tensors are arrays over it, wherever they lie.

Names in generated code: ``b`` buffer, ``W`` its 32-bit words, ``q`` where a value is, ``s`` the state (see `state_of`),
``seen`` vtables of this message, ``c`` whether to copy, ``d`` depth, ``w`` bytes not yet taken from the state, ``t`` their
bound.
"""

from __future__ import annotations

import itertools
import operator
import struct
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from zcser.core.options import Limits
from zcser.core.source import Source
from zcser.flat.checks import MOST_DIMENSIONS
from zcser.flat.inline import code_of, is_scalar, items_of, levels_of
from zcser.flat.layout import Missing
from zcser.flat.program import Node, Op, Place, Program
from zcser.flat.pure import read_structs, read_unions
from zcser.flat.pure.read_data import WholeData
from zcser.flat.pure.read_form import Forms, inlines_of, no_form
from zcser.flat.pure.read_state import ABSENT, LACKING, array_reader, refuse

__all__ = ["VECTORS", "ReadGenerator", "contained", "head_of"]

VECTORS = frozenset({Op.NUMBERS, Op.STRINGS, Op.TABLES, Op.MAP, Op.STRUCTS})

_FEW = 9
"""Vectors of fewer items are unpacked by a `Struct` made ahead; longer ones through numpy."""


class ReadGenerator:
    """Writes a function for each table, vector and map of a program.

    Parameters
    ----------
    program
        What is read.
    limits
        Bounds on depth and elements.
    refuse_unknown
        Refuse a table with a field in a slot that the program does not have.
    data
        Where data are found.
    """

    def __init__(
        self, program: Program, limits: Limits, *, refuse_unknown: bool, data: type[WholeData] = WholeData
    ) -> None:
        self.program = program
        self.refuse_unknown = refuse_unknown
        self.source = Source()
        self.data = data(self.source)
        self.names: dict[tuple[str, int], str] = {}
        self.waiting: list[Callable[[], None]] = []
        self.forms: list[Forms] = []
        self.heads: list[str] = []
        self.tags = map(str, itertools.count())
        self.source.namespace.update(
            U32=struct.Struct("<I").unpack_from,
            U64=struct.Struct("<Q").unpack_from,
            I32=struct.Struct("<i").unpack_from,
            ERROR=struct.error,
            LIMIT=limits.depth,
            ABSENT=ABSENT,
            LACKING=LACKING,
            MOST_DIMENSIONS=MOST_DIMENSIONS,
            add=operator.add,
            new=object.__new__,
            frombuffer=np.frombuffer,
            refuse=refuse,
            unpack=struct.unpack_from,
        )

    def compile(self) -> dict[str, Any]:
        """Write what waits, and run it; the namespace."""
        while self.waiting:
            self.waiting.pop()()
        for forms in self.forms:
            forms.count = len(self.forms)
        return self.source.compile("FlatBuffers reader")

    def later(self, kind: str, index: int, write: Callable[[str, int], None]) -> str:
        """The name of the function of a kind for a node, which `write` will write."""
        if (kind, index) not in self.names:
            name = self.names[kind, index] = f"{kind}{index}"
            self.waiting.append(lambda: write(name, index))
        return self.names[kind, index]

    # Tables -----------------------------------------------------------------------------------------------------------

    def rows(self, index: int) -> str:
        """The function that reads tables of a node, at an iterable of positions, to a list."""
        return self.later("rows", index, self._rows)

    def alone(self, index: int, position: str) -> str:
        """The value of one table."""
        if self.program.nodes[index].op is Op.TENSOR:
            return f"{self.tensor(index)}(b, {position}, s, seen, c)"
        return f"{self.rows(index)}(b, ({position},), s, seen, c, d)[0]"

    def _rows(self, name: str, index: int) -> None:
        """``p`` are positions; ``r`` is the result, a dict where the tables are entries of a map."""
        line, node = self.source.line, self.program.nodes[index]
        if node.op is Op.TENSOR:
            with self.source.block(f"def {name}(b, p, s, seen, c, d):"):
                line(f"return [{self.alone(index, 'q')} for q in p]")
            return
        outer, self.heads = self.heads, []
        with self.source.block(f"def {name}(b, p, s, seen, c, d):"):
            line(f"{self.data.shared}; w = 0")
            line("r = {}" if node.op is Op.ENTRY else "r = []; push = r.append")
            if node.op is Op.TABLE and self.program.counts_depth:
                line("d += 1")
            mark = len(self.source.lines)
            tag = next(self.tags)
            with self.source.block(f"for p{tag} in p:"):
                if node.op is Op.TABLE and self.program.counts_depth:
                    line("if d > LIMIT: refuse()")
                values = self.table(index, tag)
                if node.op is Op.ENTRY:
                    key, value = values
                    line(f"if r and not last < {key}: refuse()")
                    line(f"r[{key}] = {value}; last = {key}")
                elif node.op is Op.BOX:
                    line(f"push({values[0]})")
                else:
                    self._construct(node, values)
                line("if w > t: refuse()")
            line("s[1] -= w")
            line("return r")
        # Every table that is read in place begins with a form that none has.
        self.source.lines[mark:mark] = ["    " + head for head in self.heads]
        self.heads = outer

    def table(self, index: int, tag: str) -> list[str]:
        """Read the table at ``p{tag}``; the expressions of its values."""
        node = self.program.nodes[index]
        self._unpack(index, tag)
        return [self._value(place, tag) for place in node.places]

    def _unpack(self, index: int, tag: str) -> None:
        """Take in the table at ``p{tag}``: ``f`` are its slots, ``o`` the offsets of what refers."""
        line = self.source.line
        forms = self._forms(index)
        slots = ", ".join([f"g{tag}", *(f"f{tag}_{item.index}" for item in forms.inlines)])
        offsets = [f"o{tag}_{item.index}" for item in forms.inlines if item.refers]
        form = ", ".join([f"u{tag}", f"m{tag}", f"y{tag}", f"z{tag}", *offsets])
        self.heads.append(f"v{tag} = None; u{tag} = {self.source.constant(no_form(len(forms.inlines)))}")
        line("try:")
        line(f"    {slots}, = u{tag}(b, p{tag})")
        line("except ERROR:")  # the table before was longer
        line(f"    v{tag} = None; g{tag} = 0")
        with self.source.block(f"if p{tag} - g{tag} != v{tag}:"):
            line(f"v{tag} = p{tag} - I32(b, p{tag})[0]")
            line(f"{form} = {self.source.constant(forms.find)}(b, v{tag}, seen)")
            line(f"{slots}, = u{tag}(b, p{tag})")
        line(f"if p{tag} & m{tag} != y{tag}: refuse()")
        line(f"w += z{tag}")

    def _forms(self, index: int) -> Forms:
        inlines = inlines_of(self.program, self.program.nodes[index])
        forms = Forms(len(self.forms), 0, inlines, refuse_unknown=self.refuse_unknown)
        self.forms.append(forms)
        return forms

    def _construct(self, node: Node, values: list[str]) -> None:
        """Make a record's object, and add it to the result."""
        line, record = self.source.line, self.program.schema.resolve(node.neutral)  # type: ignore[arg-type]  # a Ref
        by_name = dict(zip((place.name for place in node.places), values, strict=True))
        keys = [(self.source.constant(item.name), by_name[item.name]) for item in record.fields]
        pairs = ", ".join(f"{key}: {value}" for key, value in keys)
        if node.cls is not None:
            cls = self.source.constant(node.cls)
            if node.construct == "direct" and _takes_attributes(node.cls, by_name):
                line(f"x = new({cls}); push(x)")
                for item in record.fields:
                    line(f"x.{item.name} = {by_name[item.name]}")
                return
            arguments = f"**{{{pairs}}}" if node.construct == "keywords" else ", ".join(value for _, value in keys)
            line(f"push({cls}({arguments}))")
            return
        may_be_absent = {by_name[place.name] for place in node.places if place.missing is Missing.ABSENT}
        if not may_be_absent:
            line(f"push({{{pairs}}})")
        else:
            line("x = {}")
            for key, value in keys:
                line(f"{f'if {value} is not ABSENT: ' if value in may_be_absent else ''}x[{key}] = {value}")
            line("push(x)")

    # Slots ------------------------------------------------------------------------------------------------------------

    def _value(self, place: Place, tag: str) -> str:
        """Read a slot; the name of its value."""
        line, node = self.source.line, self.program.nodes[place.node]
        found, variable = f"f{tag}_{place.index}", f"a{tag}_{place.index}"
        if is_scalar(node):
            return self._scalar(node, place, found, variable)
        if node.op is Op.UNION:
            self._union(node, place, tag, variable)
            return variable
        if node.op in {Op.ONEOF, Op.ONEOFS}:
            read_unions.write_place(self, place, tag, variable)
            return variable
        if node.op is Op.STRUCT:
            read_structs.write_place(self, place, tag, variable)
            return variable
        if place.missing is Missing.REFUSED:
            line(f"if not {found}: refuse()")
            self.follow(tag, place.index)
            self.at(place.node, variable)
            return variable
        with self.source.block(f"if {found}:"):
            self.follow(tag, place.index)
            self.at(place.node, variable)
        line(f"elif {found}.__class__ is int: refuse()")  # an offset of 0
        line(f"else: {variable} = {self.missing(place)}")
        return variable

    def follow(self, tag: str, slot: int) -> None:
        """Follow the offset in a slot to ``q``."""
        self.source.line(f"q = p{tag} + o{tag}_{slot} + f{tag}_{slot}")

    def _scalar(self, node: Node, place: Place, found: str, variable: str) -> str:
        line = self.source.line
        if node.op is Op.NULL:
            if place.missing is Missing.ZERO:
                return "None"
            value = f"ABSENT if {found} is ABSENT else None"
        elif node.op is Op.ENUM:
            value = f"{self.source.constant({**dict(node.values), None: None, ABSENT: ABSENT})}[{found}]"
        else:
            value = found
        if place.missing is Missing.DEFAULT:
            value = f"{self.missing(place)} if {found} is LACKING else {value}"
        if value == found:
            return found
        line(f"{variable} = {value}")
        return variable

    def missing(self, place: Place) -> str:
        """What stands for a slot that the table lacks, other than a scalar's zero."""
        match place.missing:
            case Missing.NONE:
                return "None"
            case Missing.ABSENT:
                return "ABSENT"
            case Missing.DEFAULT:
                return f"{self.source.constant(place.make_default)}()"
        return "refuse()"

    def _union(self, node: Node, place: Place, tag: str, variable: str) -> None:
        line, kind, found = self.source.line, f"f{tag}_{place.index - 1}", f"f{tag}_{place.index}"
        with self.source.block(f"if {kind}:"):
            line(f"if not {found}: refuse()")
            self.follow(tag, place.index)
            for number, (_, option) in enumerate(node.options, 1):
                with self.source.block(f"{'if' if number == 1 else 'elif'} {kind} == {number}:"):
                    self.at(option, variable)
            line("else: refuse()")
        line(f"elif {found}.__class__ is int: refuse()")  # a value without a number
        line(f"else: {variable} = {self.missing(place)}")

    def at(self, index: int, variable: str) -> None:
        """Read the value at ``q`` into a variable."""
        line, node = self.source.line, self.program.nodes[index]
        match node.op:
            case Op.STRING:
                self.string(node, variable)
            case Op.BYTES:
                buffer, first, stop = self.blob(node)
                if node.bound >= 0:
                    line(f"if n != {node.bound}: refuse()")
                line(f"{variable} = bytes({buffer}[{first}:{stop}]) if c else memoryview({buffer})[{first}:{stop}]")
            case Op.NESTED:
                buffer, first, stop = self.blob(node)
                line(f"{variable} = {read_unions.nested(self, index)}({buffer}, {first}, {stop}, s, c, d)")
            case Op.BOX:
                tag = next(self.tags)
                line(f"p{tag} = q")
                line(f"{variable} = {self.table(index, tag)[0]}")
            case op if op in VECTORS:
                line(f"{variable} = {self.vector(index)}(b, q, s, seen, c, d)")
            case _:
                line(f"{variable} = {self.alone(index, 'q')}")

    def blob(self, node: Node) -> tuple[str, str, str]:
        """Bound the bytes at ``q``; their buffer, and where they begin and end in it."""
        head = head_of(node)
        span = self.data.span(head)
        self.source.line(f"w += n + {head}")
        return span

    def string(self, node: Node, variable: str) -> None:
        """Read the string at ``q``."""
        line = self.source.line
        text = self.data.text()
        if node.bound >= 0:
            line(f"if n > {node.bound}: refuse()")
        line(f"w += n + 5; {variable} = {text}")

    # Vectors ----------------------------------------------------------------------------------------------------------

    def vector(self, index: int) -> str:
        """The function that reads the vector or map at ``q``."""
        return self.later("vector", index, self._vector)

    def _vector(self, name: str, index: int) -> None:
        line, node = self.source.line, self.program.nodes[index]
        item, head = self.program.nodes[node.item], head_of(node)
        width = item.size if node.op in {Op.NUMBERS, Op.STRUCTS} else 4
        align = item.align if node.op is Op.STRUCTS else width
        inner = items_of(self.program.nodes, item) if node.op is Op.STRUCTS else 0
        with self.source.block(f"def {name}(b, q, s, seen, c, d):"):
            has_offsets = node.op not in {Op.NUMBERS, Op.STRUCTS}
            buffer, first = self.data.offsets(head) if has_offsets else self.data.items(head, width)
            if align > 4:
                line(f"if n and q + {head} & {align - 1}: refuse()")
            if node.bound >= 0:
                line(f"if n != {node.bound}: refuse()")
            line(f"s[0] -= {f'{1 + inner} * ' if inner else ''}n; s[1] -= {width} * n + {head}")
            line("if s[0] < 0 or s[1] < 0: refuse()")
            if self.program.counts_depth:
                line("if d >= LIMIT: refuse()")
                line("d += 1")
                if node.op is Op.STRUCTS:
                    line(f"if n and d + {levels_of(self.program.nodes, item)} > LIMIT: refuse()")
            if node.op is Op.STRUCTS:
                line(f"x = {buffer}[{first}:{first} + {width} * n]")
                line(f"if len(x) != {width} * n: refuse()")
                line(f"return {contained(node, f'{read_structs.function(self, node.item)}(x)')}")
                return
            if node.op is Op.NUMBERS:
                line(f"return {contained(node, self._numbers(item, buffer, first))}")
                return
            line(f"if not n: return {'{}' if node.op is Op.MAP else contained(node, '()')}")
            line("i = (q >> 2) + 1; x = s[2][i:i + n].tolist()")
            line("if len(x) != n or 0 in x: refuse()")
            line("p = map(add, range(q + 4, q + 4 + 4 * n, 4), x)")
            if node.op is Op.STRINGS:
                line(f"{self.data.shared}; w = 0; r = []; push = r.append")
                with self.source.block("for q in p:"):
                    self.string(item, "x")
                    line("if w > t: refuse()")
                    line("push(x)")
                line("s[1] -= w")
                line(f"return {contained(node, 'r')}")
            else:
                line(f"return {contained(node, f'{self.rows(node.item)}(b, p, s, seen, c, d)')}")

    def _numbers(self, item: Node, buffer: str, first: str) -> str:
        """Write what reads ``n`` numbers; the list."""
        if item.op is Op.NULL:
            self.source.line(f"if {first} + n > len({buffer}): refuse()")
            return "[None] * n"
        code = code_of(item)
        few = self.source.constant([struct.Struct(f"<{count}{code}").unpack_from for count in range(_FEW)])
        dtype = np.dtype("?" if code == "?" else f"<{code}")
        many = f"frombuffer({buffer}, {self.source.constant(dtype)}, n, {first}).tolist()"
        self.source.line(f"x = {few}[n]({buffer}, {first}) if n < len({few}) else {many}")
        return f"map({self.source.constant(dict(item.values))}.__getitem__, x)" if item.op is Op.ENUM else "x"

    def tensor(self, index: int) -> str:
        """The function that reads the tensor whose table is at ``p``."""
        return self.later("tensor", index, self._tensor)

    def _tensor(self, name: str, index: int) -> None:
        line, node = self.source.line, self.program.nodes[index]
        read = self.source.constant(array_reader(node.neutral))  # type: ignore[arg-type]  # a Tensor
        forms = self._forms(index)
        longs = self.source.constant([struct.Struct(f"<{count}q").unpack_from for count in range(_FEW)])
        with self.source.block(f"def {name}(b, p, s, seen, c):"):
            line(f"u, m, y, z, o, h = {self.source.constant(forms.find)}(b, p - I32(b, p)[0], seen)")
            line("_, i, j, k = u(b, p)")
            line("if p & m != y or not i or not j: refuse()")
            line("q = p + o + i; n = U32(b, q)[0]")
            line("if q & 3 or n > MOST_DIMENSIONS or n and q + 4 & 7: refuse()")
            line(f"x = {longs}[n](b, q + 4) if n < len({longs}) else unpack(f'<{{n}}q', b, q + 4)")
            line("q = p + h + j")
            buffer, first = self.data.tensor()
            line("s[1] -= z + 8 * n + i + 8")
            line("if s[1] < 0: refuse()")
            line(f"return {read}({buffer}, k, x, {first}, i, c)")


def _takes_attributes(cls: Any, names: Iterable[str | None]) -> bool:
    """Whether to set the attributes of a plain dataclass is to make it, and its names may stand in code."""
    return not cls.__dataclass_params__.frozen and all(
        name and name.isascii() and name.isidentifier() for name in names
    )


def contained(node: Node, items: str) -> str:
    """Items in the container that the schema has."""
    if node.op is Op.MAP or (node.op is Op.TABLES and node.container is list and items != "()"):
        return items
    if items in {"[None] * n", "r"} or node.op is Op.STRUCTS:  # lists already
        return items if node.container is list else f"tuple({items})"
    return f"{node.container.__name__}({items})"


def head_of(node: Node) -> int:
    """Bytes of the length of a vector."""
    return 8 if node.wide_length else 4
