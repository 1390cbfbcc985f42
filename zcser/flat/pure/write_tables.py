"""The code that writes one table.

A table goes into memory in one piece, once all that it points to is written; with it go the string that stands first behind
it, and the box of a scalar that stands last behind it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

from zcser.flat.inline import HAS_NUMBER, is_scalar
from zcser.flat.layout import Missing
from zcser.flat.program import Node, Op, Place
from zcser.flat.pure import write_structs, write_unions
from zcser.flat.pure.write_forms import Forms, boxed_packs, form_of, parts_of, text_packs
from zcser.flat.pure.write_values import Cursor

if TYPE_CHECKING:
    from zcser.flat.pure.write_code import WriterCode

__all__ = ["TableCode"]


class TableCode:
    """Writes the code of one table; see `WriterCode.table`."""

    def __init__(self, generator: WriterCode, index: int, values: Sequence[str], *, known: bool) -> None:
        self.generator = generator
        self.source = generator.source
        self.index = index
        self.known = known
        self.parts = parts_of(generator.nodes, generator.nodes[index].places)
        self.bits = {part.index: part.bit for part in self.parts}
        self.values = {place.index: value for place, value in zip(generator.nodes[index].places, values, strict=True)}
        self.pointers = [item for item in generator.nodes[index].places if not self.is_inline(item)]
        self.is_fixed = not any(self.bits.values())
        self.form = form_of(self.parts, 0 if self.is_fixed else -1)
        first = self.pointers[0] if self.pointers else None
        # The string that goes into memory with the table.
        self.text = first if first and self.is_text(first) and not self.bits[first.index] else None
        self.text_size = self.source.variable()
        self.place, self.vtable, self.pack = (self.source.variable() for _ in range(3))
        self.offsets = {index: str(offset) for index, offset in self.form.offsets.items()}
        # What stands in each part.
        self.stored: dict[int, str] = {}

    def node(self, place: Place) -> Node:
        """What stands there."""
        return self.generator.nodes[place.node]

    def is_inline(self, place: Place) -> bool:
        """Whether the value stands in the table itself."""
        return is_scalar(self.node(place)) or self.node(place).op is Op.STRUCT

    def is_text(self, place: Place) -> bool:
        """Whether a string stands there that is not left to the tail."""
        node = self.node(place)
        return node.op is Op.STRING and not node.is_shared and node.size == 4

    def write(self) -> str:
        """Write the code; the name of the table's place."""
        if self.is_fixed:
            self.generator.begin(self.form, self.generator.new_vtable(), self.place, self.vtable)
            self.pack = self.source.constant(
                text_packs(self.form.format) if self.text else struct.Struct(self.form.format).pack_into
            )
            self.generator.cursor = Cursor(self.place, self.form.size, aligned=True)
        else:
            self.begin_varying()
        if self.text is None:
            self.source.line(f"if {self.place} > e: raise Full({self.place})")
        for place in self.generator.nodes[self.index].places:
            if self.is_inline(place):
                self.inline(place)
        finished = False
        for place in self.pointers:
            if place is self.text:
                self.put_text(place)
            elif self.bits[place.index]:
                self.optional(place)
            elif self.node(place).op is Op.UNION:
                finished = self.may_finish_in(place)
                self.union(place, finish=finished)
            elif self.node(place).op in HAS_NUMBER:
                write_unions.write_place(self, place)
            else:
                self.point(place)
        if not finished:
            self.finish()
        return self.place

    def begin_varying(self) -> None:
        """Find the form of this table by the slots that it has, then its vtable."""
        line, generator, variable = self.source.line, self.generator, self.source.variable
        mask, key, raw, size, align = (variable() for _ in range(5))
        places = [item for item in generator.nodes[self.index].places if self.bits.get(item.index)]
        line(f"{mask} = 0")
        for place in places:
            line(f"if {self.values[place.index]} is not {_lacking(place)}: {mask} |= {self.bits[place.index]}")
        asked = [item.index for item in self.pointers]
        asked += [item.index - 1 for item in self.pointers if self.node(item).op is Op.ONEOFS]
        forms = self.source.constant(Forms(self.index, self.parts, asked, with_text=self.text is not None))
        self.offsets = {index: variable() for index in asked}
        found = ", ".join([key, raw, self.pack, size, align, *self.offsets.values()])
        line(f"{found} = {forms}[{mask}]")
        line(f"{self.vtable} = s[2].get({key})")
        generator.spare(self.form)
        with self.source.block(f"if {self.vtable} is None:"):
            line(f"{self.vtable} = {generator.cursor.rounded()}")
            line(f"{self.place} = put_vtable(b, s, {key}, {raw}, {self.vtable})")
        with self.source.block("else:"):
            line(f"{self.place} = {generator.cursor.rounded()}")
        if self.form.align == 8:
            with self.source.block(f"if {align}:"):
                generator.need(8)
                generator.before(8, self.place)
        elif self.form.align:
            with self.source.block(f"if {align}:"):
                line(f"if s[1] < {align}: s[1] = {align}")
                line(f"{self.place} = put_gap(b, {self.place}, ({self.place} + {align} + 3 & -{align}) - 4)")
        generator.cursor = Cursor(f"{self.place} + {size}")

    def inline(self, place: Place) -> None:
        """Look at what stands inline; of one that is lacking an empty string is packed."""
        value, node = self.values[place.index], self.node(place)
        if not self.bits.get(place.index):
            stored = self.bytes_of(node, value, known=self.known)
            if place.index in self.bits:
                self.stored[place.index] = stored
            return
        with self.source.block(f"if {value} is {_lacking(place)}:"):
            self.source.line(f"{value} = b''")
        with self.source.block("else:"):
            number = self.bytes_of(node, value)
            if number != value:
                self.source.line(f"{value} = {number}")
        self.stored[place.index] = value

    def bytes_of(self, node: Node, value: str, *, known: bool = False) -> str:
        """Look at what stands inline; the expression of its number, or of its bytes."""
        if node.op is Op.STRUCT:
            return write_structs.packed(self.generator, node, value)
        return self.generator.scalar(node, value, known=known)

    def put_text(self, place: Place) -> None:
        """Prepare the string that goes into memory with the table."""
        generator, line, value = self.generator, self.source.line, self.values[place.index]
        generator.text(self.node(place), value, self.text_size, known=self.known)
        line(f"if {self.place} + {self.text_size} > e: raise Full({self.place} + {self.text_size})")
        if self.is_fixed:
            start = self.form.size + 3 & -4
            self.stored[place.index] = str(start - self.form.offsets[place.index])
            generator.cursor = Cursor(f"{self.place} + {self.text_size}", start + 5)
        else:
            start_name = self.source.variable()
            line(f"{start_name} = {generator.cursor.rounded()}")
            self.stored[place.index] = self.distance(place, start_name)
            generator.cursor = Cursor(f"{start_name} + {self.text_size}", 5)

    def slot(self, place: Place) -> str:
        """Where a slot stands."""
        return f"{self.place} + {self.offsets[place.index]}"

    def distance(self, place: Place, target: str) -> str:
        """The offset from a slot to what it leads to."""
        return self.distance_from(place.index, target)

    def distance_from(self, index: int, target: str) -> str:
        """The same from the slot of a number."""
        return f"{target} - {self.place} - {self.offsets[index]}"

    def point(self, place: Place) -> None:
        """Write what a slot leads to."""
        target = self.generator.target(place.node, self.values[place.index], self.slot(place), known=self.known)
        self.stored[place.index] = self.distance(place, target)

    def optional(self, place: Place) -> None:
        """Write what a slot leads to, if it is there."""
        generator, value, line = self.generator, self.values[place.index], self.source.line
        generator.settle()
        # Of a union, the option's number too.
        indices = (place.index - 1, place.index) if self.node(place).op in HAS_NUMBER else (place.index,)
        names = [self.source.variable() for _ in indices]
        with generator.branch(f"if {value} is not {_lacking(place)}:", generator.cursor):
            if self.node(place).op is Op.UNION:
                self.union(place)
            elif self.node(place).op in HAS_NUMBER:
                write_unions.write_place(self, place)
            else:
                self.point(place)
            line(f"{', '.join(names)} = {', '.join(self.stored[index] for index in indices)}")
        line(f"else: {' = '.join(names)} = b''")
        self.stored.update(zip(indices, names, strict=True))

    def may_finish_in(self, place: Place) -> bool:
        """Whether the table, its string and a box behind it follow each other at once."""
        before = [item for item in self.pointers if item is not self.text]
        return self.is_fixed and before == [place]

    def union(self, place: Place, *, finish: bool = False) -> None:
        """Write the option that a value is of; `finish` the table in each branch."""
        generator, line, value = self.generator, self.source.line, self.values[place.index]
        cls, kind, offset = (self.source.variable() for _ in range(3))
        line(f"{cls} = {value}.__class__")
        start = generator.cursor
        for number, (option, index) in enumerate(self.node(place).options, 1):
            head = f"{'if' if number == 1 else 'elif'} {cls} is {self.source.constant(option)}:"
            with generator.branch(head, start):
                self.stored[place.index - 1] = str(number)
                if finish and _is_plain_box(generator.nodes, index):
                    self.finish_with_box(place, index)
                    continue
                target = generator.alone(index, value, known=True)
                self.stored[place.index] = self.distance(place, target)
                if finish:
                    self.finish()
                else:
                    line(f"{kind} = {number}; {offset} = {self.stored[place.index]}")
        line("else: raise Misfit")
        self.stored[place.index - 1], self.stored[place.index] = kind, offset

    def finish(self) -> None:
        """Write the table."""
        self.source.line(f"{self.packing()}(b, {', '.join(self.arguments())})")

    def packing(self) -> str:
        """What packs the table."""
        return f"{self.pack}[{self.text_size}]" if self.text else self.pack

    def arguments(self) -> list[str]:
        """What is packed."""
        stored = [self.stored[part.index] for part in self.parts]
        text = [self.text_size, self.values[self.text.index]] if self.text else []
        return [self.place, f"{self.place} - {self.vtable}", *stored, *text]

    def finish_with_box(self, place: Place, index: int) -> None:
        """Write the table, its string and the box of a scalar behind it in one piece, where the box has its vtable."""
        generator, line, source = self.generator, self.source.line, self.source
        nodes, box, vtable, seen = generator.nodes, source.variable(), source.variable(), generator.new_vtable()
        (inner,) = nodes[index].places
        form = form_of(parts_of(nodes, (inner,)), 0)
        number = generator.scalar(nodes[inner.node], self.values[place.index], known=True)
        self.stored[place.index] = self.distance(place, box)
        packs = source.constant(boxed_packs(self.form, form, has_text=self.text is not None))
        key = f"{self.text_size} << 3 | {self.place} & 4" if self.text else f"{self.place} & 4"
        begin = generator.cursor.rounded()
        line(f"{vtable} = {seen}")
        with source.block(f"if {vtable}:"):
            line(f"{box} = {begin}{' | 4' if form.align else ''}")
            line(f"{packs}[{key}](b, {', '.join(self.arguments())}, {box} - {vtable}, {number})")
        with source.block("else:"):
            line(f"{seen} = {vtable} = {begin}")
            generator.put_vtable(form, vtable)
            line(f"{box} = {vtable} + {len(form.vtable)}")
            if form.align:
                generator.before(form.align, box)
            pack = source.constant(struct.Struct(form.format).pack_into)
            line(f"{pack}(b, {box}, {box} - {vtable}, {number})")
            self.finish()
        generator.cursor = Cursor(box, form.size, aligned=True)


def _lacking(place: Place) -> str:
    return "None" if place.missing is Missing.NONE else "ABSENT"


def _is_plain_box(nodes: Sequence[Node], index: int) -> bool:
    """Whether a node is the box of one scalar."""
    node = nodes[index]
    if node.op is not Op.BOX:
        return False
    inner = nodes[node.places[0].node]
    return is_scalar(inner) and inner.op is not Op.NULL and node.places[0].missing is Missing.ZERO
