"""Writers for the official builder, generated from a layout: the code that flatc would make for each record, and better.

1. Children come before their table, as the builder demands; the fields of a table go in by falling size, so that
   nothing is padded.
2. Vectors of scalars are handed over as one array, bytes as one string. Vectors of offsets are computed by numpy and
   handed over as one array too, where that is faster than an offset at a time.
3. A tensor's bytes are aligned to 64 inside the message, which flatc's own Python code would not do.
4. With `normalise` every value's class is looked at first, and what is not normal yet is made so or refused. Any other
   exception of a writer means that the value does not fit; the caller finds the words.

Nothing of the flatbuffers package is imported here: writers call the methods of the builder that they are given.
"""

from __future__ import annotations

import math
import operator
import struct
from array import array
from collections.abc import Callable, Sequence
from typing import cast

import numpy as np

from zcser.core.source import Source
from zcser.flat.layout import Form, Layout, Missing, Slot, element_form
from zcser.flat.official.calls import Normalise, Writer, fitted, offset_vector, tensor_writer
from zcser.schema.model import (
    Bytes,
    Enum,
    Float,
    Kind,
    List,
    Map,
    Optional,
    Record,
    Ref,
    Str,
    Tensor,
    Type,
    Union,
    strip_optional,
)

__all__ = ["compile_writer"]

_PREPEND = {
    "bool": "PrependBoolSlot", "byte": "PrependInt8Slot", "ubyte": "PrependUint8Slot", "short": "PrependInt16Slot",
    "ushort": "PrependUint16Slot", "int": "PrependInt32Slot", "uint": "PrependUint32Slot", "long": "PrependInt64Slot",
    "ulong": "PrependUint64Slot", "float": "PrependFloat32Slot", "double": "PrependFloat64Slot",
}  # fmt: skip


def compile_writer(layout: Layout, *, normalise: Normalise | None, depth: int) -> Writer:
    """The writer of a layout's root.

    Parameters
    ----------
    layout
        What is written.
    normalise
        Makes a value normal, or raises; None to trust the values.
    depth
        ``limits.depth``.
    """
    return _Generator(layout, normalise, depth).compile()


class _Generator:
    """Writes one function per table: ``b`` is the builder, ``x`` the value, ``d`` the depth around it."""

    def __init__(self, layout: Layout, normalise: Normalise | None, depth: int) -> None:
        self.layout = layout
        self.normalise = normalise
        self.counts_depth = bool(layout.schema.recursive)
        self.source = Source()
        self.source.namespace.update(
            N=normalise, LIMIT=depth, ABSENT=object(), offsets=offset_vector, array=array, pack=struct.pack,
            frombuffer=np.frombuffer, copysign=math.copysign,
        )  # fmt: skip
        self.records: dict[str, str] = {}
        self.waiting: list[Callable[[], None]] = []
        self.count = 0

    def compile(self) -> Writer:
        root = self.function(self.layout.schema.root)
        while self.waiting:
            self.waiting.pop()()
        return cast("Writer", self.source.compile("FlatBuffers writer")[root])

    def later(self, kind: str, write: Callable[[str], None]) -> str:
        """The name of a function that `write` will write; functions do not stand inside each other."""
        self.count += 1
        name = f"{kind}{self.count}"
        self.waiting.append(lambda: write(name))
        return name

    def function(self, type_: Type) -> str:
        """The function that writes the table of a value that stands alone."""
        # Types are equal whatever the classes of their values are: only records, whose names differ, share functions.
        if isinstance(type_, Ref):
            if type_.name not in self.records:
                self.records[type_.name] = self.later("record", lambda name: self.record(name, type_))
            return self.records[type_.name]
        if isinstance(type_, Tensor):
            return self.source.constant(tensor_writer(type_, self.normalise))
        return self.later("box", lambda name: self.box(name, type_))

    def box(self, name: str, type_: Type) -> None:
        with self.source.block(f"def {name}(b, x, d):"):
            (slot,) = self.layout.table(type_).slots
            self.table([(slot, strip_optional(type_)[0], "x")], slot.index + 1)

    def entry(self, name: str, type_: Map) -> None:
        with self.source.block(f"def {name}(b, y, x, d):"):
            key, value = self.layout.entries[type_].slots
            self.table([(key, type_.key, "y"), (value, strip_optional(type_.value)[0], "x")], value.index + 1)

    def union(self, name: str, type_: Union) -> None:
        """Gives the option's number and its offset."""
        line = self.source.line
        with self.source.block(f"def {name}(b, x, d):"):
            line("c = x.__class__")
            for option, planned in zip(type_.options, self.layout.unions[type_].options, strict=True):
                cls = self.source.constant(self.layout.schema.python_type(option))
                line(f"if c is {cls}: return {planned.number}, {self.function(option)}(b, x, d)")
            if self.normalise is None:
                line("raise TypeError(f'{c.__name__} is no option of the union')")
            else:
                line(f"return {name}(b, N({self.source.constant(type_)}, x), d)")

    def record(self, name: str, type_: Ref) -> None:
        record, line = self.layout.schema.resolve(type_), self.source.line
        table = self.layout.records[type_.name]
        fields = {item.name: f"a{number}" for number, item in enumerate(record.fields)}
        with self.source.block(f"def {name}(b, x, d):"):
            self.check(type_, "x", f"x.__class__ is not {self.source.constant(record.cls or dict)}")
            if self.counts_depth:
                line("d += 1")
                line("if d > LIMIT: raise RecursionError('nested deeper than limits.depth')")
            if record.cls is None:
                self.dict_fields(record, fields)
            elif fields:
                get = self.source.constant(operator.attrgetter(*fields))
                line(f"{', '.join(fields.values())} = {get}(x)")
            slots = [
                (slot, strip_optional(slot.field.type)[0], fields[slot.field.name])
                for slot in table.slots
                if slot.field
            ]
            self.table(slots, table.slot_count)

    def dict_fields(self, record: Record, fields: dict[str, str]) -> None:
        line, optional = self.source.line, []
        for item in record.fields:
            variable, key = fields[item.name], self.source.constant(item.name)
            line(f"{variable} = x.get({key}, ABSENT)" if item.may_be_absent else f"{variable} = x[{key}]")
            if item.may_be_absent:
                optional.append(f" + ({variable} is not ABSENT)")
        if self.normalise is not None:
            line(f"if len(x) != {len(fields) - len(optional)}{''.join(optional)}: raise KeyError('an unknown field')")

    def table(self, slots: Sequence[tuple[Slot, Type, str]], count: int) -> None:
        """Write a table of slots, each with the type and variable of its value."""
        line = self.source.line
        stores: list[tuple[int, str]] = []
        for slot, type_, variable in slots:
            absent = {Missing.ABSENT: "ABSENT", Missing.NONE: "None"}.get(slot.missing)
            empty = f"{variable} = {'None' if slot.form is Form.SCALAR else 0}"
            if slot.form is Form.UNION:
                empty = f"t{variable} = {variable} = 0"
            if absent:
                with self.source.block(f"if {variable} is not {absent}:"):
                    self.value(slot, type_, variable)
                if empty != f"{variable} = {absent}":
                    line(f"else: {empty}")
            else:
                self.value(slot, type_, variable)
            stores += self.stores(slot, variable)
        line(f"b.StartObject({count})")
        for _, store in sorted(stores, key=lambda store: -store[0]):
            line(store)
        line("return b.EndObject()")

    def stores(self, slot: Slot, variable: str) -> list[tuple[int, str]]:
        """What puts a value into its slot, with its size."""
        if slot.form is not Form.SCALAR:
            stores = [(4, f"b.PrependUOffsetTRelativeSlot({slot.index}, {variable}, 0)")]
            if slot.form is Form.UNION:
                stores.append((1, f"b.PrependUint8Slot({slot.index - 1}, t{variable}, 0)"))
            return stores
        number = self.layout.number(slot.type)
        zero = repr(self.layout.zero(slot.type))
        if slot.missing is not Missing.ZERO:
            zero = "None"
        elif isinstance(slot.type, Float):
            # The builder leaves out what equals the default, and -0.0 == 0.0.
            zero = f"0.0 if {variable} or copysign(1.0, {variable}) > 0 else None"
        return [(number.size, f"b.{_PREPEND[number.name]}({slot.index}, {variable}, {zero})")]

    def check(self, type_: Type, variable: str, condition: str) -> None:
        """Make a variable normal where `condition` says that it is not."""
        if self.normalise is not None:
            self.source.line(f"if {condition}: {variable} = N({self.source.constant(type_)}, {variable})")

    def value(self, slot: Slot, type_: Type, variable: str) -> None:
        """Replace a value by what its slot takes: a number, or the offset of what was written."""
        line = self.source.line
        if isinstance(slot.type, Optional):
            box = self.function(Optional(type_))
            line(f"{variable} = {box}(b, {variable}, d)")
            return
        match type_:
            case Ref() | Tensor():
                line(f"{variable} = {self.function(type_)}(b, {variable}, d)")
            case Union():
                union = self.later("union", lambda name: self.union(name, type_))
                line(f"t{variable}, {variable} = {union}(b, {variable}, d)")
            case List():
                self.list(type_, variable)
            case Map():
                self.map(type_, variable)
            case Str(size):
                self.check(type_, variable, f"{variable}.__class__ is not str")
                fit = "" if size is None else self.source.constant(fitted(size))
                line(f"{variable} = b.CreateString({fit}({variable}))")
            case Bytes(size):
                unfit = "" if size is None else f" or len({variable}) != {size}"
                self.check(type_, variable, f"{variable}.__class__ is not bytes{unfit}")
                line(f"{variable} = b.CreateByteVector({variable})")
            case Enum():
                self.check(type_, variable, f"{variable}.__class__ is not {self.class_of(type_)}")
                line(f"{variable} = {self.numbers(type_)}[{variable}]")
            case _:
                self.check(type_, variable, f"{variable}.__class__ is not {self.class_of(type_)}")
                if type_.kind is Kind.NULL:
                    line(f"{variable} = 0")

    def class_of(self, type_: Type) -> str:
        return self.source.constant(self.layout.schema.python_type(type_))

    def numbers(self, type_: Enum) -> str:
        """The numbers of an enum's members, by the member as it stands in a value."""
        planned = (number for _, number, _ in self.layout.enums[type_].members)
        return self.source.constant(dict(zip(type_.values, planned, strict=True)))

    def inner_depth(self) -> str:
        if not self.counts_depth:
            return "d"
        self.source.line("if d >= LIMIT: raise RecursionError('nested deeper than limits.depth')")
        return "d + 1"

    def list(self, type_: List, variable: str) -> None:
        line, form, item = self.source.line, element_form(type_), type_.item
        depth = self.inner_depth()
        unfit = f"{variable}.__class__ is not {type_.container}"
        if type_.length is not None:
            unfit += f" or len({variable}) != {type_.length}"
        if form is not Form.TABLE:
            unfit += f" or not {self.source.constant(frozenset({self.layout.schema.python_type(item)}))}"
            unfit += f".issuperset(map(type, {variable}))"
        self.check(type_, variable, unfit)
        if form is Form.SCALAR:
            line(f"{variable} = {self.scalars(item, variable)}")
        elif form is Form.STRING and isinstance(item, Str):
            text = "i" if item.size is None else f"{self.source.constant(fitted(item.size))}(i)"
            line("create = b.CreateString")
            line(f"{variable} = offsets(b, [create({text}) for i in {variable}])")
        else:
            line(f"{variable} = offsets(b, [{self.function(item)}(b, i, {depth}) for i in {variable}])")

    def scalars(self, type_: Type, variable: str) -> str:
        """The call that writes a vector of scalars."""
        code, size = self.layout.number(type_).code, self.layout.number(type_).size
        if type_.kind is Kind.NULL:
            return f"b.CreateByteVector(bytes(len({variable})))"
        numbers = f"map({self.numbers(type_)}.__getitem__, {variable})" if isinstance(type_, Enum) else variable
        if code in "?B":
            return f"b.CreateByteVector(bytes({numbers}))"
        # Both refuse numbers out of range, which numpy before 2.0 does not; for a large float32 only pack's "<" does.
        if code == "f":
            return f"b.CreateNumpyVector(frombuffer(pack(f'<{{len({variable})}}f', *{variable}), '<f4'))"
        packed = f"array({code!r}, {numbers})"
        if size == 1:
            return f"b.CreateByteVector({packed}.tobytes())"
        return f"b.CreateNumpyVector(frombuffer({packed}, {code!r}))"

    def map(self, type_: Map, variable: str) -> None:
        depth = self.inner_depth()
        cls = self.source.constant(frozenset({self.layout.schema.python_type(type_.key)}))
        self.check(type_, variable, f"{variable}.__class__ is not dict or not {cls}.issuperset(map(type, {variable}))")
        entry = self.later("entry", lambda name: self.entry(name, type_))
        # Code points sort as UTF-8 bytes do.
        self.source.line(
            f"{variable} = offsets(b, [{entry}(b, i, {variable}[i], {depth}) for i in sorted({variable})])"
        )
