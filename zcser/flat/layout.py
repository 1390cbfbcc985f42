"""How a schema stands in FlatBuffers tables: the FlatBuffers column of the mapping table.

1. A record is a table; the field of id n stands in slot n - 1, after one more slot for each union of a lower id. Ids
   that no field has leave their slot empty, so that a slot never changes its meaning. Each kind takes:

   ======== =======================================================================================================
   null     ubyte, always 0
   bool     bool
   int      byte to long, ubyte to ulong, of its own width; unbounded: `SchemaError`
   float    float, double
   str      string
   bytes    [ubyte]
   enum     enum over the narrowest of ubyte to long that holds it, unsigned where it can be; closed. Ints keep their
            values, strs are numbered from 0. An int outside 64 bits: `SchemaError`
   tensor   table Tensor { dtype:DType; shape:[long]; data:[ubyte] }
   record   its table
   union    union of tables, options numbered from 1 in their order; two slots, the number and the table
   optional a scalar ``= null``; a string, vector, table or union is there or not
   list     vector of scalars, of strings, or of tables
   map      vector of tables { key; value; }, sorted by key: strings by their UTF-8 bytes, False before True
   ======== =======================================================================================================

2. What a vector or union cannot hold directly stands in a box, a table ``{ value; }``: bytes, lists, maps, optionals
   and unions inside a list; all but records and tensors inside a union. So does a field that can be both absent and
   None, and a root that is no record.
3. A scalar that a table lacks is 0, for an enum its first member, as FlatBuffers has it. A scalar field that may be
   absent, or has another default than that, is ``= null`` and written even if it is 0.
4. A string, vector, table or union that a table lacks is None, absent or the field's default, in this order of
   what the field can be; where it can be none of them the message is refused.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from zcser.core.dtypes import NAMES, enum_member
from zcser.schema.model import Enum, Field, Float, Int, Kind, List, Map, Record, Ref, Schema, Tensor, Type, Union

__all__ = [
    "DTYPE",
    "SIGNED",
    "UNSIGNED",
    "EnumPlan",
    "Form",
    "Layout",
    "Missing",
    "Number",
    "Option",
    "Slot",
    "Table",
    "UnionPlan",
    "element_form",
    "form_of",
]


@dataclass(frozen=True, slots=True)
class Number:
    """A scalar type of FlatBuffers: its name in .fbs, its `struct` code, its size and alignment in bytes."""

    name: str
    code: str
    size: int

    @property
    def dtype(self) -> str:
        """The numpy dtype of a vector of them."""
        return "?" if self.code == "?" else f"<{self.code}"


_BOOL = Number("bool", "?", 1)
SIGNED = {8: Number("byte", "b", 1), 16: Number("short", "h", 2), 32: Number("int", "i", 4), 64: Number("long", "q", 8)}
UNSIGNED = {
    8: Number("ubyte", "B", 1),
    16: Number("ushort", "H", 2),
    32: Number("uint", "I", 4),
    64: Number("ulong", "Q", 8),
}
_FLOATS = {32: Number("float", "f", 4), 64: Number("double", "d", 8)}


class Form(enum.Enum):
    """What stands in a slot, or in an element of a vector."""

    SCALAR = "scalar"
    STRING = "string"
    NUMBERS = "vector of scalars"
    STRINGS = "vector of strings"
    TABLE = "table"
    TABLES = "vector of tables"
    UNION = "union"


class Missing(enum.Enum):
    """What it means that a table lacks a slot."""

    ZERO = "zero"
    NONE = "none"
    ABSENT = "absent"
    DEFAULT = "default"
    REFUSED = "refused"


_SCALARS = frozenset({Kind.NULL, Kind.BOOL, Kind.INT, Kind.FLOAT, Kind.ENUM})


def form_of(type_: Type) -> Form:
    """What a type stands as in a slot."""
    if type_.kind in _SCALARS:
        return Form.SCALAR
    match type_.kind:
        case Kind.STR:
            return Form.STRING
        case Kind.BYTES:
            return Form.NUMBERS
        case Kind.MAP:
            return Form.TABLES
        case Kind.UNION:
            return Form.UNION
    if isinstance(type_, List):
        return {Form.SCALAR: Form.NUMBERS, Form.STRING: Form.STRINGS, Form.TABLE: Form.TABLES}[element_form(type_)]
    return Form.TABLE


def element_form(list_: List) -> Form:
    """What a list's items stand as: SCALAR, STRING or TABLE."""
    form = form_of(list_.item)
    return form if form in (Form.SCALAR, Form.STRING) else Form.TABLE


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a table.

    Attributes
    ----------
    index
        Its number in the vtable; a union's number stands in the slot before.
    name
        In .fbs.
    type
        What stands there; an Optional only where the field can be absent too, and then in a box.
    missing
        What it means that the table lacks it.
    field
        The record's field, None in other tables.
    key
        Whether it sorts the vector that the table stands in.
    """

    index: int
    name: str
    type: Type
    missing: Missing
    field: Field | None = None
    key: bool = False

    @property
    def form(self) -> Form:
        """What stands there."""
        return form_of(self.type)


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its name in .fbs, its slots in order of their numbers, and the record that it stands for, if any."""

    name: str
    slots: tuple[Slot, ...]
    record: Record | None = None

    @property
    def slot_count(self) -> int:
        """Slots with the empty ones."""
        return self.slots[-1].index + 1 if self.slots else 0


@dataclass(frozen=True, slots=True)
class EnumPlan:
    """An enum: its name in .fbs, its scalar, and (name in .fbs, number, value) of its members, in their order."""

    name: str
    number: Number
    members: tuple[tuple[str, int, int | str], ...]

    @property
    def zero(self) -> int:
        """The number of a slot that the table lacks."""
        return self.members[0][1]


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a union: its number, name in .fbs, type, and the table that it stands in."""

    number: int
    name: str
    type: Type
    table: Table


@dataclass(frozen=True, slots=True)
class UnionPlan:
    """A union: its name in .fbs and its options."""

    name: str
    options: tuple[Option, ...]


DTYPE = Enum("DType", tuple((enum_member(name).upper(), number) for number, name in enumerate(NAMES)))
"""The enum of tensor dtypes, numbered as in `zcser.core.dtypes`."""


@dataclass(frozen=True)
class Layout:
    """The tables, enums and unions of a schema. The dicts are not to be changed.

    Types are looked up by equality; what differs only in the class of its values shares a table.
    """

    schema: Schema
    records: dict[str, Table] = field(default_factory=dict)
    boxes: dict[Type, Table] = field(default_factory=dict)
    entries: dict[Map, Table] = field(default_factory=dict)
    enums: dict[Enum, EnumPlan] = field(default_factory=dict)
    unions: dict[Union, UnionPlan] = field(default_factory=dict)
    tensors: list[Table] = field(default_factory=list)

    def table(self, type_: Type) -> Table:
        """The table that a value stands in as a root, as an item of a vector of tables, or as an option of a union."""
        if isinstance(type_, Ref):
            return self.records[type_.name]
        return self.tensors[0] if isinstance(type_, Tensor) else self.boxes[type_]

    @property
    def root(self) -> Table:
        """The root table."""
        return self.table(self.schema.root)

    @property
    def tables(self) -> tuple[Table, ...]:
        """All tables, the records first."""
        return (*self.records.values(), *self.tensors, *self.boxes.values(), *self.entries.values())

    def number(self, type_: Type) -> Number:
        """The scalar that a null, bool, int, float, enum, or an item of bytes stands in."""
        match type_:
            case Int(int() as bits, signed):
                return (SIGNED if signed else UNSIGNED)[bits]
            case Float(bits):
                return _FLOATS[bits]
            case Enum():
                return self.enums[type_].number
        return _BOOL if type_.kind is Kind.BOOL else UNSIGNED[8]

    def zero(self, type_: Type) -> int | float | bool:
        """The number of a scalar slot that the table lacks."""
        match type_:
            case Enum():
                return self.enums[type_].zero
            case Float():
                return 0.0
        return False if type_.kind is Kind.BOOL else 0
