"""The writers of a program's messages, generated as Python code.

1. A table that is used in one place is written there; one that is used in several, or in itself, has a function. So the
   code of a message's usual parts is one piece, without calls.
2. What is not in normal form raises. A class is looked at here, a range is left to `struct`.
3. Some memory is kept free past the last place where a table may begin: a table with its vtable, and the lengths and gaps
   of what follows it, need no look of their own.
"""

from __future__ import annotations

import contextlib
import keyword
import struct
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from zcser.flat.layout import Missing
from zcser.flat.program import Node, Op, Program
from zcser.flat.pure import write_calls, write_nested, write_structs
from zcser.flat.pure.write_calls import State
from zcser.flat.pure.write_forms import Form, Part, form_of, is_optional, number_packs, shape_packs, text_packs
from zcser.flat.pure.write_tables import TableCode
from zcser.flat.pure.write_values import Cursor, ValueCode, class_of

__all__ = ["Writer", "compile_writer"]

Writer = Callable[..., tuple[int, int]]
"""Buffer, its memoryview, the last place where a table may begin, state, tail and value, to the root's place and the end."""

_SLACK = 1 << 10
"""Bytes, besides those of tables: more than a short `bytes`, or the shape of a tensor, takes."""

_FIRST_VTABLE = 4
"""Place in a `State` of the first vtable."""

_NESTED = 4
"""Tables inside each other that are written in one function: CPython has a bound on nested loops and indentation."""


def compile_writer(program: Program, depth: int) -> tuple[Writer, State, int]:
    """Make the writer of a program.

    Parameters
    ----------
    program
        What is written.
    depth
        ``limits.depth``.

    Returns
    -------
    tuple
        The writer; the state that a message begins with, but for its elements; the bytes that a buffer has behind the last
        place where a table may begin.
    """
    generator = WriterCode(program, depth)
    writer = generator.compile()
    generator.state += [0] * generator.vtables
    return writer, generator.state, generator.slack


class WriterCode(ValueCode):
    """Writes a function for each table that is used in several places, and one for the root.

    Those take all variables that code has, and the value ``x``; they return the table's place and the cursor.
    """

    def __init__(self, program: Program, depth: int) -> None:
        super().__init__(program)
        self.program = program
        # What a message begins with, nested ones too; it is complete when all code is written.
        self.state: State = [0, 4, None, None]
        self.source.namespace.update(
            {name: getattr(write_calls, name) for name in write_calls.__all__},
            LIMIT=depth,
            OFFSET=struct.Struct("<I").pack_into,
            ZERO=b"\0",
            TEXT=text_packs(),
            BLOB=text_packs(terminated=False),
            ABSENT=object(),
        )
        self.functions: set[str] = set()
        self.waiting: list[Callable[[], None]] = []
        self.vtables = 0
        self.slack = _SLACK
        self.nested = 0
        uses = Counter(index for node in self.nodes for index in _leads_to(node))
        uses[program.root] += 1
        self.shared = {index for index, count in uses.items() if count > 1}
        # The root of a nested message has a function: what it writes is a message of its own.
        self.shared |= {node.item for node in self.nodes if node.op is Op.NESTED}
        self.varies = any(is_optional(place) for node in self.nodes for place in node.places)
        self.shares = any(node.is_shared for node in self.nodes)

    def compile(self) -> Writer:
        """Write and run the code."""
        with self.source.block("def write(b, m, e, s, t, x):"):
            self.begin_message("s")
            if self.counts_depth:
                self.source.line("d = 0")
            self.cursor = Cursor(str(first_place(self.program)), aligned=True)
            place = self.alone(self.program.root, "x")
            self.source.line(f"return {place}, {self.cursor.exact()}")
        while self.waiting:
            self.waiting.pop()()
        return cast("Writer", self.source.compile("FlatBuffers writer in Python")["write"])

    def begin_message(self, state: str) -> None:
        """Make what belongs to one message."""
        if self.varies:
            self.source.line(f"{state}[2] = {{}}")
        if self.shares:
            self.source.line(f"{state}[3] = {{}}")

    def later(self, kind: str, index: int, write: Callable[[str, int], None]) -> str:
        """The name of the function of a kind for a node, which `write` will write."""
        name = f"{kind}{index}"
        if name not in self.functions:
            self.functions.add(name)
            self.waiting.append(lambda: write(name, index))
        return name

    def function(self, index: int) -> str:
        """The function that writes a table."""
        return self.later("write", index, self._function)

    def _function(self, name: str, index: int) -> None:
        self.cursor, self.depth, self.nested = Cursor("c"), 0, 0
        with self.source.block(f"def {name}(b, m, e, s, t, c, x{', d' if self.counts_depth else ''}):"):
            place = self.body(index, "x")
            self.source.line(f"return {place}, {self.cursor.exact()}")

    # --- tables -------------------------------------------------------------------------------------------------------

    def alone(self, index: int, value: str, *, known: bool = False) -> str:
        """Write the table of a value that stands alone; the name of its place. `known`: its class has been looked at."""
        if index not in self.shared and self.nested < _NESTED:
            self.nested += 1
            place = self.body(index, value, known=known)
            self.nested -= 1
            return place
        place = self.source.variable()
        depth = f", d + {self.depth}" if self.counts_depth else ""
        self.source.line(f"{place}, c = {self.function(index)}(b, m, e, s, t, {self.cursor.exact()}, {value}{depth})")
        self.cursor = Cursor("c")
        return place

    def body(self, index: int, value: str, *, known: bool = False) -> str:
        """Write the table of a value that stands alone, here."""
        node = self.nodes[index]
        if node.op is Op.TENSOR:
            return self.tensor(node, value)
        if node.op is Op.BOX:
            return self.table(index, [value], known=known)
        self.bound_depth()
        self.depth += 1
        place = self.table(index, self.fields(node, value, known=known))
        self.depth -= 1
        return place

    def fields(self, node: Node, value: str, *, known: bool) -> list[str]:
        """Read the fields of a record."""
        line, constant = self.source.line, self.source.constant
        if not known:
            self.expect(value, node.cls or dict)
        names = [self.source.variable() for _ in node.places]
        if any(place.may_lack for place in node.places):
            self.lacking_fields(node, value, names)
            return names
        required, optional = 0, []
        for name, place in zip(names, node.places, strict=True):
            if node.cls is not None:
                line(f"{name} = {self.attribute(value, str(place.name))}")
            elif place.missing is Missing.ABSENT:
                line(f"{name} = {value}.get({constant(place.name)}, ABSENT)")
                optional.append(name)
            else:
                line(f"{name} = {value}[{constant(place.name)}]")
                required += 1
        if node.cls is None:
            count = self.source.variable()
            line(f"{count} = len({value}) - {required}")
            for name in optional:
                line(f"if {name} is not ABSENT: {count} -= 1")
            self.refuse_if(count)
        return names

    def lacking_fields(self, node: Node, value: str, names: Sequence[str]) -> None:
        """Read the fields of a dict that may lack some without their being absent."""
        line, constant = self.source.line, self.source.constant
        known = constant(frozenset(place.name for place in node.places))
        self.refuse_if(f"not {known}.issuperset({value})")
        for name, place in zip(names, node.places, strict=True):
            key = constant(place.name)
            if not is_optional(place):
                line(f"{name} = {value}[{key}]")
            elif place.missing is Missing.NONE and place.may_lack:
                line(f"{name} = {value}.get({key})")
            else:
                line(f"{name} = {value}.get({key}, ABSENT)")

    def attribute(self, value: str, name: str) -> str:
        """An attribute of a value."""
        # Only an ASCII identifier may be pasted: Python would fold others to another name.
        if name.isascii() and name.isidentifier() and not keyword.iskeyword(name):
            return f"{value}.{name}"
        return f"getattr({value}, {self.source.constant(name)})"

    def table(self, index: int, values: Sequence[str], *, known: bool = False) -> str:
        """Write a table of a node, whose places have these values."""
        return TableCode(self, index, values, known=known).write()

    def new_vtable(self) -> str:
        """Where the state has the vtable of a fixed form."""
        self.vtables += 1
        return f"s[{_FIRST_VTABLE - 1 + self.vtables}]"

    def begin(self, form: Form, seen: str, place: str, vtable: str) -> None:
        """Find or write the vtable of a fixed form, and the place of a table behind it."""
        line, block = self.source.line, self.source.block
        size = len(form.vtable)
        self.spare(form)
        line(f"{vtable} = {seen}")
        with block(f"if {vtable}:"):
            line(f"{place} = {self.cursor.rounded()}")
        with block("else:"):
            line(f"{seen} = {vtable} = {self.cursor.rounded()}")
            self.put_vtable(form, vtable)
            line(f"{place} = {vtable} + {size}")
        if form.align:
            self.before(form.align, place)

    def spare(self, form: Form) -> None:
        """Have room for a table and its vtable where a table may begin."""
        self.slack = max(self.slack, _SLACK + 2 * (len(form.vtable) + form.size))

    def put_vtable(self, form: Form, at: str) -> None:
        """Write the vtable of a fixed form."""
        put = self.source.constant(struct.Struct(f"{len(form.vtable)}s").pack_into)
        self.source.line(f"{put}(b, {at}, {self.source.constant(form.vtable)})")
        if form.align:
            self.need(form.align)

    def tensor(self, node: Node, value: str) -> str:
        """The table of a tensor and its shape, in one piece."""
        line = self.source.line
        place, vtable, number, data, shape = (self.source.variable() for _ in range(5))
        form = form_of((Part(1, "I"), Part(2, "I"), Part(0, "B")), 0)
        line(f"{number}, {data} = tensor_parts({value}, {node.dtype}, {self.source.constant(node.shape)})")
        line(f"{shape} = {value}.shape")
        self.begin(form, self.new_vtable(), place, vtable)
        line(f"if {place} > e: raise Full({place})")
        self.need(8)
        first = f"({place} + {struct.calcsize(form.format)} | 4)"
        packs = self.source.constant(shape_packs(form.format, ("4x", "")))
        line(
            f"{packs}[len({shape}) << 3 | {place} & 4](b, {place}, {place} - {vtable}, {first} - {place} - 4, 0, {number},"
            f" len({shape}), *{shape})"
        )
        line(f"t.append(({place} + {form.offsets[2]}, {data}, None))")
        line(f"c = {first} + 4 + 8 * len({shape})")
        self.cursor = Cursor("c", aligned=True)
        return place

    # --- what offsets lead to -----------------------------------------------------------------------------------------

    def target(self, index: int, value: str, slot: str, *, known: bool = False) -> str:
        """Write what an offset at `slot` leads to; an expression of its place, or of `slot` where the tail will hold it."""
        node = self.nodes[index]
        match node.op:
            case Op.STRING:
                return self.string(node, value, slot, known=known)
            case Op.BYTES:
                return self.blob(node, value, slot)
            case Op.NUMBERS:
                return self.numbers(node, value, slot)
            case Op.STRUCT:
                return write_structs.alone(self, node, value)
            case Op.STRUCTS:
                return write_structs.vector(self, node, value, slot)
            case Op.NESTED:
                return write_nested.nested(self, node, value, slot)
            case Op.STRINGS | Op.TABLES:
                return self.items(node, value)
            case Op.MAP:
                return self.map(node, value)
        return self.alone(index, value, known=known)

    def items(self, node: Node, value: str) -> str:
        """A vector of offsets to strings or tables."""
        size, item = self.count(node, value), self.source.variable()
        with self.vector(size, f"for {item} in {value}:") as vector:
            if node.op is Op.STRINGS:
                vector.item = self.string(self.nodes[node.item], item, vector.slot)
            else:
                vector.item = self.alone(node.item, item)
        return vector.place

    def map(self, node: Node, value: str) -> str:
        """A vector of entries, sorted by their keys."""
        line, entry = self.source.line, self.nodes[node.item]
        size, key, item = self.count(node, value), self.source.variable(), self.source.variable()
        self.expect_each(value, class_of(self.nodes[entry.places[0].node]))
        # Code points sort as UTF-8 bytes do.
        with self.vector(size, f"for {key} in sorted({value}):") as vector:
            line(f"{item} = {value}[{key}]")
            self.nested += 1
            vector.item = self.table(node.item, [key, item])
            self.nested -= 1
        return vector.place

    @contextlib.contextmanager
    def vector(self, size: str, loop: str) -> Iterator[_Vector]:
        """A vector of offsets to what the loop's body writes."""
        line = self.source.line
        place, offsets, at = (self.source.variable() for _ in range(3))
        line(f"{place} = {self.cursor.rounded()}")
        line(f"c = {place} + 4 + 4 * {size}; {at} = {place} + 4; {offsets} = []")
        line("if c > e: raise Full(c)")
        vector = _Vector(place, at)
        self.depth += 1
        with self.branch(loop, Cursor("c")):
            yield vector
            line(f"{offsets}.append({vector.item} - {at}); {at} += 4")
        self.depth -= 1
        packs = self.source.constant(number_packs("I", 4))
        line(f"{packs}[{size}](b, {place}, {size}, *{offsets})")


@dataclass(slots=True)
class _Vector:
    """A vector of offsets: its place, that of the item at work, and that of what the loop's body wrote for it."""

    place: str
    slot: str
    item: str = ""


def _leads_to(node: Node) -> Iterator[int]:
    """The nodes that a node names."""
    yield from (place.node for place in node.places)
    yield from (index for _, index in node.options)
    yield from (choice.node for choice in node.choices)
    if node.item >= 0:
        yield node.item


def first_place(program: Program) -> int:
    """Where the first vtable of a message stands."""
    return 4 * program.is_prefixed + 4 + len(program.identifier)
