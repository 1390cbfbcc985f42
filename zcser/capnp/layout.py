"""How a schema stands in Cap'n Proto: the capnp column of the mapping table.

1. A record is a struct. Ordinals count from @0 in the order of the fields' ids, without holes, as the format demands: a
   field of a new, higher id changes no place of the others, and a class may be reordered at will. A field that is removed
   would move those behind it, as in any .capnp file. Each kind takes:

   ======== =======================================================================================================
   null     Bool, always false: Void takes no room, so that a few bytes could claim a list of any length
   bool     Bool
   int      Int8 to Int64, UInt8 to UInt64, of its own width; unbounded: `SchemaError`
   float    Float32, Float64
   str      Text
   bytes    Data
   enum     enum; enumerants count from @0 in the order of the members, whatever their values; closed
   tensor   struct Tensor { dtype :DType; shape :List(Int64); data :Data }
   record   its struct
   union    a struct of one anonymous union, with a member per option
   optional a pointer that is null or not; beside a scalar stands a flag, ``hasCount :Bool`` before ``count :Int64``
   list     List; of optionals: of structs { value }
   map      List of structs { key; value }
   ======== =======================================================================================================

2. A field that can be both absent and None, and a root that is no record, is a struct { value }. A record without fields
   has one of its own, for the reason that null has.
3. A scalar that a message lacks is zero, for an enum its first member: the format cannot tell. A scalar field that may be
   absent, or has a default, has a flag. The default itself stands in no schema, where it would be part of the wire.
4. A pointer that is null is None, absent or the field's default, in this order of what the field can be; where it can be
   none of them the message is refused.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from zcser.core.dtypes import NAMES, enum_member
from zcser.schema.model import Enum, Field, Kind, Map, Record, Ref, Schema, Tensor, Type, Union

__all__ = ["DTYPE", "EnumPlan", "Layout", "Missing", "Slot", "Struct", "is_scalar"]


class Missing(enum.Enum):
    """What it means that a struct lacks a slot."""

    ZERO = "zero"
    NONE = "none"
    ABSENT = "absent"
    DEFAULT = "default"
    REFUSED = "refused"


_SCALARS = frozenset({Kind.NULL, Kind.BOOL, Kind.INT, Kind.FLOAT, Kind.ENUM})


def is_scalar(type_: Type) -> bool:
    """Whether a type stands in a struct itself, not behind a pointer."""
    return type_.kind in _SCALARS


@dataclass(frozen=True, slots=True)
class Slot:
    """A field of a struct.

    Attributes
    ----------
    name
        In .capnp.
    type
        What stands there; an Optional only where the field can be absent too.
    missing
        What it means that the struct lacks it.
    field
        The record's field, None in other structs.
    flag
        Name of the flag that says whether a scalar is there; it has the ordinal before.
    """

    name: str
    type: Type
    missing: Missing
    field: Field | None = None
    flag: str | None = None


@dataclass(frozen=True, slots=True)
class Struct:
    """A struct: its name in .capnp, its slots in order of their ordinals, and the record that it stands for, if any."""

    name: str
    slots: tuple[Slot, ...]
    record: Record | None = None
    is_union: bool = False


@dataclass(frozen=True, slots=True)
class EnumPlan:
    """An enum: its name in .capnp, and (name in .capnp, value) of its members by their ordinals."""

    name: str
    members: tuple[tuple[str, int | str], ...]


DTYPE = Enum("DType", tuple((enum_member(name), number) for number, name in enumerate(NAMES)))
"""The enum of tensor dtypes, numbered as in `zcser.core.dtypes`."""


@dataclass(frozen=True)
class Layout:
    """The structs and enums of a schema. The dicts are not to be changed.

    Types are looked up by equality; what differs only in the class of its values shares a struct.
    """

    schema: Schema
    records: dict[str, Struct] = field(default_factory=dict)
    boxes: dict[Type, Struct] = field(default_factory=dict)
    entries: dict[Map, Struct] = field(default_factory=dict)
    unions: dict[Union, Struct] = field(default_factory=dict)
    enums: dict[Enum, EnumPlan] = field(default_factory=dict)
    tensors: list[Struct] = field(default_factory=list)

    def struct(self, type_: Type) -> Struct:
        """The struct of a record, tensor, union or optional, and of any type that is boxed."""
        match type_:
            case Ref(name):
                return self.records[name]
            case Tensor():
                return self.tensors[0]
            case Union() if type_ in self.unions:
                return self.unions[type_]
        return self.boxes[type_]

    @property
    def root(self) -> Struct:
        """The root struct."""
        root = self.schema.root
        return self.records[root.name] if isinstance(root, Ref) else self.boxes[root]

    @property
    def structs(self) -> tuple[Struct, ...]:
        """All structs, the records first."""
        others = (self.tensors, self.boxes.values(), self.unions.values(), self.entries.values())
        return (*self.records.values(), *(struct for group in others for struct in group))
