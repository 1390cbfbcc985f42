"""Readers over the library's dynamic readers, generated from a layout: one function per struct and list, made eagerly.

1. A function takes a reader of the library, a `Reading`, and the number of containers around. The library checks every
   pointer as it is followed; what it does not know, sizes, lengths and depth, is checked here.
2. Their exceptions on bytes that are no message are of many kinds; the caller makes a `DecodeError` of each.
3. The library reads a null pointer as an empty text, data or list. So only what is empty is asked whether it is there.
4. Items are counted, since a list of structs that have no size on the wire can claim any number of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from zcser.capnp.layout import Layout, Missing, Slot, Struct, is_scalar
from zcser.capnp.tensors import Memory, tensor_reader
from zcser.capnp.write import Fields
from zcser.core.errors import DecodeError
from zcser.core.options import Limits
from zcser.core.source import Source
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

__all__ = ["ReadGenerator", "Reader", "Reading"]


class Reading:
    """The state of one read.

    Attributes
    ----------
    memory
        Where bytes and tensors are aliased; None to copy them.
    left
        Items that lists and maps may still have.
    """

    __slots__ = ("left", "memory")

    def __init__(self, memory: Memory | None, left: int) -> None:
        self.memory = memory
        self.left = left


Reader = Callable[[Any, Reading, int], Any]
"""Reader of the library, state, and the containers around, to the value."""


def refuse(path: str) -> NoReturn:
    """Refuse a message that lacks what the schema requires."""
    raise DecodeError("a required field is missing", path=path)


def unfit(what: str) -> NoReturn:
    """Refuse text, bytes or a list of another size than the schema's."""
    raise DecodeError(f"{what} is needed, and the message has another size")


def too_many() -> NoReturn:
    """Refuse more items than the limit."""
    raise DecodeError("more items in all lists and maps than limits.elements")


def too_deep() -> NoReturn:
    """Refuse more depth than the limit."""
    raise DecodeError("nested deeper than limits.depth")


def sized_text(text: str, type_: Str) -> str:
    """Text of at most the type's size."""
    return text if type_.size is None or len(text.encode()) <= type_.size else unfit(str(type_))


def sized_bytes(data: bytes | memoryview, type_: Bytes) -> bytes | memoryview:
    """Bytes of exactly the type's size."""
    return data if len(data) == type_.size else unfit(str(type_))


class ReadGenerator:
    """Writes the functions: ``r`` is a struct reader, ``l`` a list reader, ``s`` the state, ``d`` the depth."""

    def __init__(self, layout: Layout, fields: Fields, limits: Limits) -> None:
        self.layout = layout
        self.fields = fields
        self.source = Source()
        self.source.namespace.update(
            ABSENT=object(), LIMIT=limits.depth, refuse=refuse, unfit=unfit, too_many=too_many, too_deep=too_deep,
            sized_text=sized_text, sized_bytes=sized_bytes,
        )  # fmt: skip
        self.records: dict[str, str] = {}
        self.waiting: list[Callable[[], None]] = []
        self.arguments = "s, d"
        """What a struct's function takes besides its reader."""

    def later(self, kind: str, write: Callable[[str], None]) -> str:
        """The name of a function that `write` will write; functions do not stand inside each other."""
        name = f"{kind}_{self.source.variable()}"
        self.waiting.append(lambda: write(name))
        return name

    def compile(self) -> dict[str, Any]:
        """Write what waits, and run it; the namespace."""
        while self.waiting:
            self.waiting.pop()()
        return self.source.compile("Cap'n Proto reader")

    def root(self) -> str:
        """The reader of a message's root struct."""
        root = self.layout.schema.root
        return self.function(root) if isinstance(root, Ref) else self.later("root", lambda name: self.box(name, root))

    def function(self, type_: Type) -> str:
        """The reader of the struct of a record, tensor, union or optional, or of the list of a list or map."""
        match type_:
            # Types are equal whatever the classes of their values are: only records, whose names differ, share functions.
            case Ref():
                if type_.name not in self.records:
                    self.records[type_.name] = self.later("record", lambda name: self.record(name, type_))
                return self.records[type_.name]
            case Tensor():
                return self.tensor(type_)
            case Union():
                return self.later("union", lambda name: self.union(name, type_))
            case List():
                return self.later("list", lambda name: self.list(name, type_))
            case Map():
                return self.later("map", lambda name: self.map(name, type_))
        return self.later("box", lambda name: self.box(name, type_))

    def tensor(self, type_: Tensor) -> str:
        """The reader of a tensor's struct."""
        struct = self.layout.struct(type_)
        dtype, shape, data = (slot.name for slot in struct.slots)
        read = tensor_reader(type_, self.fields(struct, dtype), self.fields(struct, shape), data)
        return self.source.constant(read)

    def head(self) -> None:
        """Name what every slot of ``r`` is read by."""
        self.source.line("g, h = r._get_by_field, r._has_by_field")

    def enter(self) -> None:
        """Count a container."""
        self.source.line("if d >= LIMIT: too_deep()")
        self.source.line("d += 1")

    def box(self, name: str, type_: Type) -> None:
        """Write the reader of a box."""
        struct = self.layout.boxes[type_]
        with self.source.block(f"def {name}(r, {self.arguments}):"):
            self.head()
            self.slot(struct, struct.slots[0], strip_optional(type_)[0], "x")
            self.source.line("return x")

    def entry(self, name: str, type_: Map) -> None:
        """Gives key and value."""
        struct = self.layout.entries[type_]
        with self.source.block(f"def {name}(r, s, d):"):
            self.head()
            self.slot(struct, struct.slots[0], type_.key, "y")
            self.slot(struct, struct.slots[1], strip_optional(type_.value)[0], "x")
            self.source.line("return y, x")

    def union(self, name: str, type_: Union) -> None:
        """Write the reader of a union's struct."""
        struct = self.layout.unions[type_]
        with self.source.block(f"def {name}(r, {self.arguments}):"):
            self.head()
            self.source.line("w = r._which_str()")
            for number, (option, slot) in enumerate(zip(type_.options, struct.slots, strict=True)):
                # An option that this schema does not know is an exception of the library.
                last = number == len(struct.slots) - 1
                condition = f"{'elif' if number else 'if'} w == {self.source.constant(slot.name)}:"
                with self.source.block("else:" if last else condition):
                    self.slot(struct, slot, option, "x")
            self.source.line("return x")

    def record(self, name: str, type_: Ref) -> None:
        """Write the reader of a record's struct."""
        record, line = self.layout.schema.resolve(type_), self.source.line
        struct = self.layout.records[type_.name]
        slots = {slot.field.name: slot for slot in struct.slots if slot.field}
        with self.source.block(f"def {name}(r, s, d):"):
            self.enter()
            self.head()
            for number, item in enumerate(record.fields):
                self.slot(struct, slots[item.name], strip_optional(item.type)[0], f"a{number}")
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
                line("x = {}")
                for number, (item, key) in enumerate(zip(record.fields, keys, strict=True)):
                    absent = f"if a{number} is not ABSENT: " if item.may_be_absent else ""
                    line(f"{absent}x[{key}] = a{number}")
                line("return x")

    def slot(self, struct: Struct, slot: Slot, type_: Type, variable: str) -> None:
        """Read a slot of ``r`` into a variable."""
        line = self.source.line
        field = self.source.constant(self.fields(struct, slot.name))
        stored = slot.type if isinstance(slot.type, Optional) else type_
        found = self.present(stored, f"g({field})", slot.name)
        missing = self.missing(struct, slot)
        if slot.flag is not None:
            line(f"{variable} = {found} if g({self.source.constant(self.fields(struct, slot.flag))}) else {missing}")
        elif is_scalar(stored):
            line(f"{variable} = {found}")
        elif may_be_empty(stored):
            line(f"{variable} = {found}")
            line(f"if not {variable} and not h({field}): {variable} = {missing}")
        else:
            line(f"{variable} = {found} if h({field}) else {missing}")

    def missing(self, struct: Struct, slot: Slot) -> str:
        """What stands for a slot that the struct lacks."""
        match slot.missing:
            case Missing.NONE:
                return "None"
            case Missing.ABSENT:
                return "ABSENT"
            case Missing.DEFAULT if slot.field is not None:
                return f"{self.source.constant(slot.field)}.make_default()"
        names = [struct.record.name, slot.field.name] if struct.record and slot.field else [struct.name, slot.name]
        return f"refuse({self.source.constant('/'.join(names))})"

    def present(self, type_: Type, found: str, name: str | None) -> str:
        """The value of what the library found; `name` is that of the field of ``r``, None in a list."""
        match type_:
            case Str(size):
                return found if size is None else f"sized_text({found}, {self.source.constant(type_)})"
            case Bytes(size):
                lent = f"memoryview({found})" if name is None else f"s.memory.data(r, {self.source.constant(name)})"
                data = f"({found} if s.memory is None else {lent})"
                return data if size is None else f"sized_bytes({data}, {self.source.constant(type_)})"
            case Enum():
                return f"{self.source.constant(type_.values)}[{found}.raw]"
        if type_.kind is Kind.NULL:
            return "None"
        return found if is_scalar(type_) else f"{self.function(type_)}({found}, {self.arguments})"

    def counted(self) -> None:
        """Count a container and its items."""
        line = self.source.line
        self.enter()
        line("n = len(l)")
        line("s.left -= n")
        line("if s.left < 0: too_many()")

    def list(self, name: str, type_: List) -> None:
        """Write the reader of a list."""
        item, line = type_.item, self.source.line
        with self.source.block(f"def {name}(l, s, d):"):
            self.counted()
            if type_.length is not None:
                line(f"if n != {type_.length}: unfit({self.source.constant(str(type_))})")
            found = self.present(item, "y", None)
            container = type_.container
            if found == "y":
                line(f"return {container}(map(l._get, range(n)))")
            elif found == "None":
                line(f"return {'[None]' if container == 'list' else '(None,)'} * n")
            else:
                items = f"[{found} for y in map(l._get, range(n))]"
                line(f"return {items if container == 'list' else f'tuple({items})'}")

    def map(self, name: str, type_: Map) -> None:
        """Write the reader of a map's list of entries."""
        entry = self.later("entry", lambda name: self.entry(name, type_))
        with self.source.block(f"def {name}(l, s, d):"):
            self.counted()
            self.source.line(f"return dict([{entry}(y, s, d) for y in map(l._get, range(n))])")


def may_be_empty(type_: Type) -> bool:
    """Whether an empty value of a type is the same as what the library gives for a null pointer, and no error by itself."""
    match type_:
        case Bytes(size=int(size)) | List(length=int(size)):
            return size == 0
        case Str() | Bytes() | List() | Map():
            return True
    return False
