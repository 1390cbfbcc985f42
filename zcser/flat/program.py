"""The program of a layout: what both engines, the one in Python and the one in C, are driven by.

1. A program is a list of nodes; a node says how one kind of Python value stands on the wire, and names others by their
   index. It holds all that an engine needs, so that neither looks at the schema again.
2. Both engines write the same bytes. What is written for a value is settled here:

   ============ =====================================================================================================
   order        The size of what follows, where the message is size-prefixed; the root's offset; the file identifier,
                where there is one; then each table, followed at once by what its slots point to, in the order of the
                slots; the items of a vector of offsets follow it in order. All of this is the head. What the tail
                holds comes after, in the order in which it was met. Places are counted from the first byte, that of
                the size prefix included.
   vtable       Before the first table of its form in the message, up to the last slot that is present. A table is of a
                form with another where both stand for the same node and have the same slots. A message remembers the
                first `REMEMBERED` forms of a node; further ones are written each time.
   table        Its offset to the vtable, then the slots by falling size, equal sizes by number; a table with a slot of
                8 bytes begins 4 bytes before a multiple of 8, with a struct aligned to more, 4 before a multiple of
                that; slots go by falling alignment before they go by falling size. A scalar is written even if it is
                0, so that its bytes are there to be changed in place; a null is not written, unless it may be absent;
                what a dict may lack (`Place.may_lack`) and lacks is not written.
   string       Length, bytes, a 0. One that is `shared` stands in the tail, once for equal ones.
   struct       Inline: its fields at their offsets, the gaps 0. As the value of a union, at a multiple of its alignment
                (of 4 at least), where a table would stand.
   structs      Length and items, the first at a multiple of their alignment (of 4 at least).
   numbers      Length and items; items of 8 bytes begin at a multiple of 8.
   map          A vector of its entries, sorted by key.
   unions       Two vectors, at the place of the union's number and of its value: that of the numbers first, then that of
                the offsets, then the values in their order. An item that is None has number 0 and offset 0.
   nested       A whole message of its own, in the tail.
   tail         The bytes of tensors, of nested messages, and `bytes` of `TAIL` and more: length and data, the data at a
                multiple of `ALIGNMENT`. So do all vectors and strings that a wide offset leads to, and vectors whose
                alignment is more than that of their items (`Node.align`). A shared string has a multiple of 4.
   gaps         Everything begins at a multiple of 4. What lies between is 0. A message ends with its last byte.
   ============ =====================================================================================================
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from zcser.core.dtypes import number_of
from zcser.flat.layout import Form, Layout, Missing, Slot, element_form
from zcser.schema.model import (
    Bytes,
    Enum,
    Kind,
    List,
    Map,
    Optional,
    Record,
    Ref,
    Schema,
    Str,
    Tensor,
    Type,
    Union,
    strip_optional,
)

__all__ = ["ALIGNMENT", "REMEMBERED", "TAIL", "Choice", "Construct", "Node", "Op", "Place", "Program", "program_of"]

ALIGNMENT = 64
"""Bytes that data in the tail is aligned to: a cache line, and what vector units and accelerators ask for at most."""

TAIL = 256
"""Bytes from which a `bytes` value stands in the tail; shorter ones are cheaper to copy than to align."""

REMEMBERED = 32
"""Forms of one node that a message remembers."""


class Op(enum.IntEnum):
    """What a node is. The numbers are those of ``Op`` in ``zcser/native/flat/flat.h``."""

    NULL = 0
    BOOL = 1
    INT8 = 2
    UINT8 = 3
    INT16 = 4
    UINT16 = 5
    INT32 = 6
    UINT32 = 7
    INT64 = 8
    UINT64 = 9
    FLOAT32 = 10
    FLOAT64 = 11
    ENUM = 12
    STRING = 13
    BYTES = 14
    NUMBERS = 15
    STRINGS = 16
    TABLE = 17
    TABLES = 18
    MAP = 19
    UNION = 20
    TENSOR = 21
    BOX = 22
    ENTRY = 23
    # What schemas from .fbs and .bfbs have besides.
    STRUCT = 24
    ARRAY = 25
    STRUCTS = 26
    ONEOF = 27
    ONEOFS = 28
    NESTED = 29


_OF_NUMBER = {
    "bool": Op.BOOL, "byte": Op.INT8, "ubyte": Op.UINT8, "short": Op.INT16, "ushort": Op.UINT16, "int": Op.INT32,
    "uint": Op.UINT32, "long": Op.INT64, "ulong": Op.UINT64, "float": Op.FLOAT32, "double": Op.FLOAT64,
}  # fmt: skip

Construct = Literal["direct", "positional", "keywords"]
"""How a record's object is made: a new object whose attributes are set, or a call of its class."""


@dataclass(frozen=True, slots=True)
class Place:
    """A slot of a table, or a field of a struct.

    Attributes
    ----------
    index
        Its number in the vtable; a union's number stands in the slot before.
    node
        Index of the node that stands there.
    missing
        What it means that the table lacks it.
    name
        The record's field; None in other tables.
    zero
        The value of a slot that is lacking with `Missing.ZERO`; None otherwise.
    make_default
        Makes the value with `Missing.DEFAULT`; None otherwise.
    may_lack
        Whether a dict may lack the field although it is never absent: it is not written then, and reads as `missing` says.
    offset
        In a struct: bytes from its start. -1 in tables.
    is_key
        Whether vectors of the table are sorted by it.
    """

    index: int
    node: int
    missing: Missing
    name: str | None
    zero: Any = None
    make_default: Callable[[], Any] | None = None
    may_lack: bool = False
    offset: int = -1
    is_key: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """An option of a union whose values are dicts with one key.

    Attributes
    ----------
    name
        The key.
    number
        On the wire, from 1.
    node
        Index of its node: a TABLE, STRUCT or STRING.
    """

    name: str
    number: int
    node: int


@dataclass(slots=True)
class Node:
    """One node. What its `Op` does not need has the default.

    Attributes
    ----------
    op
        What it is.
    neutral
        The type of its values, in the neutral schema.
    size
        Bytes that it takes inline: of a scalar its width, of a struct or array its bytes, of everything else those of its
        offset: 4, or 8 for a wide one.
    align
        Of a struct, array or scalar: what its place is a multiple of. Of a vector: what the place of its data is a
        multiple of where that is more than its items ask for, else 0.
    number
        ENUM: the scalar that it stands in.
    values
        ENUM: (number, value) of each member in their order.
    bound
        STRING: most bytes; BYTES: bytes; NUMBERS, STRINGS, TABLES: items. -1: any.
    item
        NUMBERS, STRINGS, TABLES, STRUCTS, ARRAY, ONEOFS: node of the items; MAP: its ENTRY; NESTED: its root, a TABLE. -1:
        none.
    container
        NUMBERS, STRINGS, TABLES: list or tuple.
    options
        UNION: exact class of the values and node of each option, numbered from 1.
    choices
        ONEOF: the options.
    places
        TABLE, BOX (one), ENTRY (key and value): the slots, by number; STRUCT: the fields, by offset.
    cls
        TABLE: class of the record's values, None for dicts.
    construct
        TABLE with a class: how its objects are made.
    dtype
        TENSOR: number of its dtype (`zcser.core.dtypes`), -1 for any.
    shape
        TENSOR: its extents, -1 for any extent; None for any shape.
    wide_length
        BYTES, NUMBERS, STRUCTS: the length has 8 bytes.
    is_shared
        STRING: equal ones of a message stand there once.
    """

    op: Op
    neutral: Type
    size: int = 4
    align: int = 0
    number: Op = Op.NULL
    values: tuple[tuple[int, Any], ...] = ()
    bound: int = -1
    item: int = -1
    container: type = list
    options: tuple[tuple[type, int], ...] = ()
    choices: tuple[Choice, ...] = ()
    places: tuple[Place, ...] = ()
    cls: type | None = None
    construct: Construct = "keywords"
    dtype: int = -1
    shape: tuple[int, ...] | None = None
    wide_length: bool = False
    is_shared: bool = False


@dataclass(frozen=True)
class Program:
    """The nodes of a layout, or of a .bfbs schema.

    Attributes
    ----------
    schema
        What the values are.
    nodes
        All nodes. Not to be changed.
    root
        Index of the root's: a TABLE, TENSOR or BOX.
    counts_depth
        Whether values may nest deeper than the schema does, which is where it is recursive.
    identifier
        The 4 bytes that stand after the root's offset; empty: none.
    is_prefixed
        Whether a message begins with its size, 4 bytes that do not count themselves.
    """

    schema: Schema
    nodes: tuple[Node, ...]
    root: int
    counts_depth: bool
    identifier: bytes = b""
    is_prefixed: bool = False


def program_of(layout: Layout) -> Program:
    """The program of a layout."""
    planner = _Planner(layout)
    root = planner.alone(layout.schema.root)
    return Program(layout.schema, tuple(planner.nodes), root, bool(layout.schema.recursive))


class _Planner:
    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.nodes: list[Node] = []
        # Types are equal whatever the classes of their values are: only records, whose names differ, are shared.
        self.records: dict[str, int] = {}

    def add(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def alone(self, type_: Type) -> int:
        """The node of a value in a table of its own: a root, an item of a vector of tables, an option of a union."""
        match type_:
            case Ref(name):
                return self.record(name, type_)
            case Tensor():
                return self.tensor(type_)
        index = self.add(Node(Op.BOX, type_))
        (slot,) = self.layout.table(type_).slots
        self.nodes[index].places = (self.place(slot, strip_optional(type_)[0]),)
        return index

    def record(self, name: str, type_: Ref) -> int:
        if name in self.records:
            return self.records[name]
        record = self.layout.schema.record(name)
        index = self.records[name] = self.add(
            Node(Op.TABLE, type_, cls=record.cls, construct=_construct(record))
        )  # entered before its fields, which may lead back to it
        slots = self.layout.records[name].slots
        self.nodes[index].places = tuple(
            self.place(slot, strip_optional(slot.field.type)[0]) for slot in slots if slot.field is not None
        )
        return index

    def place(self, slot: Slot, type_: Type) -> Place:
        """A slot with a value of `type_`, which is boxed where the slot says so."""
        node = self.alone(slot.type) if isinstance(slot.type, Optional) else self.node(type_)
        zero = None
        if slot.missing is Missing.ZERO:
            zero = (
                type_.values[0]
                if isinstance(type_, Enum)
                else None
                if type_.kind is Kind.NULL
                else self.layout.zero(type_)
            )
        make_default = slot.field.make_default if slot.missing is Missing.DEFAULT and slot.field else None
        return Place(slot.index, node, slot.missing, slot.field.name if slot.field else None, zero, make_default)

    def node(self, type_: Type) -> int:
        """The node of a value in a slot."""
        match type_:
            case Ref() | Tensor():
                return self.alone(type_)
            case Str(size):
                return self.add(Node(Op.STRING, type_, bound=-1 if size is None else size))
            case Bytes(size):
                return self.add(Node(Op.BYTES, type_, bound=-1 if size is None else size))
            case List():
                return self.list(type_)
            case Map():
                return self.map(type_)
            case Union(options):
                index = self.add(Node(Op.UNION, type_))
                python_type = self.layout.schema.python_type
                self.nodes[index].options = tuple((python_type(option), self.alone(option)) for option in options)
                return index
        return self.scalar(type_)

    def scalar(self, type_: Type) -> int:
        number = self.layout.number(type_)
        if isinstance(type_, Enum):
            numbers = (number for _, number, _ in self.layout.enums[type_].members)
            values = tuple(zip(numbers, type_.values, strict=True))
            return self.add(Node(Op.ENUM, type_, size=number.size, number=_OF_NUMBER[number.name], values=values))
        op = Op.NULL if type_.kind is Kind.NULL else _OF_NUMBER[number.name]
        return self.add(Node(op, type_, size=number.size))

    def list(self, type_: List) -> int:
        form = element_form(type_)
        op = {Form.SCALAR: Op.NUMBERS, Form.STRING: Op.STRINGS, Form.TABLE: Op.TABLES}[form]
        container = list if type_.container == "list" else tuple
        bound = -1 if type_.length is None else type_.length
        index = self.add(Node(op, type_, bound=bound, container=container))
        self.nodes[index].item = self.alone(type_.item) if form is Form.TABLE else self.node(type_.item)
        return index

    def map(self, type_: Map) -> int:
        index = self.add(Node(Op.MAP, type_))
        entry = self.add(Node(Op.ENTRY, type_))
        key, value = self.layout.entries[type_].slots
        self.nodes[index].item = entry
        self.nodes[entry].places = (self.place(key, type_.key), self.place(value, strip_optional(type_.value)[0]))
        return index

    def tensor(self, type_: Tensor) -> int:
        dtype = -1 if type_.dtype is None else number_of(type_.dtype)
        shape = None if type_.shape is None else tuple(-1 if extent is None else extent for extent in type_.shape)
        return self.add(Node(Op.TENSOR, type_, dtype=dtype, shape=shape))


def _construct(record: Record) -> Construct:
    cls = record.cls
    if cls is None:
        return "keywords"
    try:
        parameters = list(inspect.signature(cls).parameters.values())
    except ValueError:  # a class of C
        return "keywords"
    if [item.name for item in parameters] != [item.name for item in record.fields] or any(
        item.kind is not item.POSITIONAL_OR_KEYWORD for item in parameters
    ):
        return "keywords"
    return "direct" if _is_plain(cls, record) else "positional"


def _is_plain(cls: Any, record: Record) -> bool:
    """Whether a dataclass's own ``__init__`` does nothing but set the fields."""
    own = cls.__dict__
    return (
        "__dataclass_params__" in own
        and own["__dataclass_params__"].init
        # What dataclass wrote is named as its class is, and its code comes from no file.
        and getattr(own.get("__init__"), "__code__", None) is not None
        and own["__init__"].__code__.co_filename == "<string>"
        and not hasattr(cls, "__post_init__")
        and cls.__new__ is object.__new__
        and (own["__dataclass_params__"].frozen or cls.__setattr__ is object.__setattr__)
        and [item.name for item in dataclasses.fields(cls)] == [item.name for item in record.fields]
    )
