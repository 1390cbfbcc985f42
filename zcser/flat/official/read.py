"""Readers over the official accessors, generated from a layout: the calls that flatc's Python code makes, made eagerly.

1. Every byte is read through ``flatbuffers.table.Table``: ``Offset`` finds a slot, ``Get``, ``String``, ``Vector``,
   ``Indirect`` and ``Union`` read it, ``GetVectorAsNumpy`` reads a vector of scalars as a whole.
2. Readers trust what they read: a verifier comes first, or the caller vouches for the bytes. Their exceptions on bytes
   that are no message are of many kinds; the caller makes a `DecodeError` of each.
3. Without copies, bytes are slices of the buffer and tensors are arrays over it, read-only both. A tensor that does not
   lie at an address that fits its dtype is copied: unaligned pointers are handed to nobody.

Nothing of the flatbuffers package is imported here: its classes come in a `Runtime`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from zcser.core.source import Source
from zcser.flat.layout import Form, Layout, Missing, Number, Slot, element_form
from zcser.flat.official.calls import Runtime, read_bytes, refuse, tensor_reader
from zcser.schema.classes import positional
from zcser.schema.model import (
    Bytes,
    Enum,
    Kind,
    List,
    Map,
    Optional,
    Ref,
    Str,
    Tensor,
    Type,
    Union,
    strip_optional,
)

__all__ = ["ReadGenerator", "vtable_place"]


def vtable_place(index: int) -> int:
    """Where a slot stands in a vtable, in bytes; what ``Table.Offset`` takes."""
    return 4 + 2 * index


class ReadGenerator:
    """Writes one function per table: ``t`` is the table, ``c`` whether to copy.

    Parameters
    ----------
    layout
        What is read.
    runtime
        The official package.
    """

    def __init__(self, layout: Layout, runtime: Runtime) -> None:
        self.layout = layout
        self.runtime = runtime
        self.source = Source()
        self.source.namespace.update(
            Table=runtime.table,
            ABSENT=object(),
            refuse=refuse,
            read_bytes=read_bytes,
            read_tensor=tensor_reader(runtime),
        )
        self.records: dict[str, str] = {}
        self.waiting: list[Callable[[], None]] = []
        self.names = itertools.count()

    def later(self, kind: str, write: Callable[[str], None]) -> str:
        """The name of a function that `write` will write; functions do not stand inside each other."""
        name = f"{kind}{next(self.names)}"
        self.waiting.append(lambda: write(name))
        return name

    def compile(self) -> dict[str, Any]:
        """Write what waits, and run it; the namespace."""
        while self.waiting:
            self.waiting.pop()()
        return self.source.compile("FlatBuffers reader")

    def function(self, type_: Type) -> str:
        """The reader of the table of a value that stands alone."""
        # Types are equal whatever the classes of their values are: only records, whose names differ, share functions.
        if isinstance(type_, Ref):
            if type_.name not in self.records:
                self.records[type_.name] = self.later("record", lambda name: self.record(name, type_))
            return self.records[type_.name]
        return "read_tensor" if isinstance(type_, Tensor) else self.later("box", lambda name: self.box(name, type_))

    def box(self, name: str, type_: Type) -> None:
        """Write the reader of a box."""
        with self.source.block(f"def {name}(t, c):"):
            (slot,) = self.layout.table(type_).slots
            self.slot(slot, strip_optional(type_)[0], "x")
            self.source.line("return x")

    def entry(self, name: str, type_: Map) -> None:
        """Gives key and value."""
        with self.source.block(f"def {name}(t, c):"):
            key, value = self.layout.entries[type_].slots
            self.slot(key, type_.key, "y")
            self.slot(value, strip_optional(type_.value)[0], "x")
            self.source.line("return y, x")

    def record(self, name: str, type_: Ref) -> None:
        """Write the reader of a record."""
        record, line = self.layout.schema.resolve(type_), self.source.line
        slots = {slot.field.name: slot for slot in self.layout.records[type_.name].slots if slot.field}
        with self.source.block(f"def {name}(t, c):"):
            for number, item in enumerate(record.fields):
                self.slot(slots[item.name], strip_optional(item.type)[0], f"a{number}")
            keys = [self.source.constant(item.name) for item in record.fields]
            pairs = ", ".join(f"{key}: a{number}" for number, key in enumerate(keys))
            if record.cls is not None:
                cls = self.source.constant(record.cls)
                values = ", ".join(f"a{number}" for number in range(len(keys)))
                in_order = positional(record.cls, [item.name for item in record.fields]) == len(keys)
                line(f"return {cls}({values if in_order else f'**{{{pairs}}}'})")
            elif not any(item.may_be_absent for item in record.fields):
                line(f"return {{{pairs}}}")
            else:
                line("r = {}")
                for number, (item, key) in enumerate(zip(record.fields, keys, strict=True)):
                    absent = f"if a{number} is not ABSENT: " if item.may_be_absent else ""
                    line(f"{absent}r[{key}] = a{number}")
                line("return r")

    def slot(self, slot: Slot, type_: Type, variable: str) -> None:
        """Read a slot into a variable."""
        line = self.source.line
        line(f"o = t.Offset({vtable_place(slot.index)})")
        if slot.form is Form.UNION and isinstance(type_, Union):
            line(f"n = t.Offset({vtable_place(slot.index - 1)})")
            line(f"n = t.Get({self.flags(self.layout.number(Bytes()))}, n + t.Pos) if n else 0")
        with self.source.block("if o:"):
            boxed = isinstance(slot.type, Optional)
            self.present(Optional(type_) if boxed else type_, variable)
        line(f"else: {variable} = {self.missing(slot, type_)}")

    def missing(self, slot: Slot, type_: Type) -> str:
        """What stands for a slot that the table lacks."""
        match slot.missing:
            case Missing.ZERO:
                if isinstance(type_, Enum):
                    return self.source.constant(type_.values[0])
                return "None" if type_.kind is Kind.NULL else repr(self.layout.zero(type_))
            case Missing.NONE:
                return "None"
            case Missing.ABSENT:
                return "ABSENT"
            case Missing.DEFAULT if slot.field is not None:
                return f"{self.source.constant(slot.field)}.make_default()"
        return "refuse()"

    def present(self, type_: Type, variable: str) -> None:
        """Read what is there, at ``o`` in the table ``t``."""
        line = self.source.line
        if isinstance(type_, Union):
            line("u = Table(t.Bytes, 0)")
            line("t.Union(u, o)")
            for option, planned in zip(type_.options, self.layout.unions[type_].options, strict=True):
                head = "if" if planned.number == 1 else "elif"
                line(f"{head} n == {planned.number}: {variable} = {self.alone(option, 'u')}")
            line(f"else: {variable} = refuse()")
        else:
            line(f"{variable} = {self.expression(type_)}")

    def alone(self, type_: Type, table: str) -> str:
        """The value of a type that stands alone in a table."""
        return f"{self.function(type_)}({table}, c)"

    def expression(self, type_: Type) -> str:
        """The value of any type but a union, at ``o`` in the table ``t``."""
        match type_:
            case Str():
                return "str(t.String(o + t.Pos), 'utf-8')"
            case Bytes():
                return "read_bytes(t, o, c)"
            case List():
                return f"{self.later('list', lambda name: self.list(name, type_))}(t, o, c)"
            case Map():
                return f"{self.later('map', lambda name: self.map(name, type_))}(t, o, c)"
            case Ref() | Tensor() | Optional():
                return self.alone(type_, "Table(t.Bytes, t.Indirect(o + t.Pos))")
        return self.scalar(type_, f"t.Get({self.flags(self.layout.number(type_))}, o + t.Pos)")

    def flags(self, number: Number) -> str:
        """The class that stands for a scalar type."""
        return self.source.constant(self.runtime.flags(number))

    def scalar(self, type_: Type, number: str) -> str:
        """A scalar, out of the number on the wire."""
        if isinstance(type_, Enum):
            return f"{self.members(type_)}[{number}]"
        return "None" if type_.kind is Kind.NULL else number

    def members(self, type_: Enum) -> str:
        """An enum's members as they stand in values, by number."""
        planned = (number for _, number, _ in self.layout.enums[type_].members)
        return self.source.constant(dict(zip(planned, type_.values, strict=True)))

    def list(self, name: str, type_: List) -> None:
        """Write the reader of a vector that is a list, at ``o`` in the table ``t``."""
        item = type_.item
        with self.source.block(f"def {name}(t, o, c):"):
            match element_form(type_):
                case Form.SCALAR:
                    items = f"t.GetVectorAsNumpy({self.flags(self.layout.number(item))}, o).tolist()"
                    if isinstance(item, Enum):
                        items = f"list(map({self.members(item)}.__getitem__, {items}))"
                    elif item.kind is Kind.NULL:
                        items = f"[None] * len({items})"
                case Form.STRING:
                    items = self.each("str(t.String(y), 'utf-8')")
                case _:
                    items = self.each(self.alone(item, "Table(t.Bytes, t.Indirect(y))"))
            self.source.line(f"return {items if type_.container == 'list' else f'tuple({items})'}")

    def map(self, name: str, type_: Map) -> None:
        """Write the reader of a vector that is a map, at ``o`` in the table ``t``."""
        entry = self.later("entry", lambda name: self.entry(name, type_))
        with self.source.block(f"def {name}(t, o, c):"):
            self.source.line(f"return dict({self.each(f'{entry}(Table(t.Bytes, t.Indirect(y)), c)')})")

    def each(self, item: str) -> str:
        """A list of what `item` makes of each place ``y`` in a vector of offsets."""
        self.source.line("x = t.Vector(o)")
        return f"[{item} for y in range(x, x + 4 * t.VectorLen(o), 4)]"
