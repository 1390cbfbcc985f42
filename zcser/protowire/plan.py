"""How a schema stands in protobuf messages: the protobuf column of the mapping table.

1. A record is a message; a field's number is its id. Each kind takes:

   ======== =======================================================================================================
   null     enum NullValue of one value, 0; read as None whatever its number
   bool     bool
   int      int32 or int64, unsigned uint32 or uint64; 8 and 16 bits in 32, range-checked; unbounded: `SchemaError`
   float    float, double
   str      string
   bytes    bytes
   enum     enum; ints keep their values, strs are numbered from 1. Where no member is 0, ``<NAME>_UNSPECIFIED = 0`` is
            added, which decode refuses. An int outside 32 bits: `SchemaError`
   tensor   message Tensor { DType dtype = 1; repeated int64 shape = 2; bytes data = 3; }
   record   its message
   union    message { oneof kind { ... } }, options numbered from 1 in their order
   optional ``optional`` of a scalar; a message, list or map is there or not
   list     repeated (packed for numbers)
   map      map<K, V>
   ======== =======================================================================================================

2. What protobuf cannot nest stands in a wrapper message ``{ T value = 1; }``: an optional, list or map inside a list,
   map, union or optional; a field that can be both absent and None; a root that is no record.
3. A field that may be absent has presence, as an optional has. A scalar with a default other than zero has it too, so
   that an older message gives the default. ``optional`` and plain scalars are one on the wire, but a plain one writes
   no zero: to a peer whose class has such a default, a peer whose class has none sends the default instead of zero.
4. A list, map or optional that a message lacks is empty or None, whatever its default: that is how protobuf writes
   empty and None. A required record, tensor or union that it lacks, and that has no default, is a `DecodeError`.
5. A codec with ``aligned=True`` adds a field to a tensor's message that no schema declares, 15, of zeros, before and
   behind the data, which readers step over (`zcser.protowire.padding`).
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from zcser.schema.model import Bytes, Enum, Field, List, Map, Schema, Type

__all__ = ["UNION_ONEOF", "Declared", "EnumPlan", "Label", "Message", "Missing", "Oneof", "Plan", "Shape", "Slot"]

UNION_ONEOF = "kind"
"""The name of the oneof in a union's message."""


class Label(enum.Enum):
    """How often a protobuf field occurs."""

    ONE = "one"
    MANY = "many"
    MAP = "map"


class Missing(enum.Enum):
    """What it means that a message lacks a field."""

    ZERO = "zero"
    """Its zero value: False, 0, "", an empty list. Such a field has no presence."""
    NONE = "none"
    ABSENT = "absent"
    DEFAULT = "default"
    REFUSED = "refused"


class Shape(enum.Enum):
    """What a message stands for."""

    RECORD = "record"
    TENSOR = "tensor"
    UNION = "union"
    WRAPPER = "wrapper"


@dataclass(frozen=True, slots=True)
class Slot:
    """One protobuf field of a message.

    Attributes
    ----------
    name, number
        Of the protobuf field.
    label
        ONE, MANY or MAP.
    type
        What stands in it: the `List` for MANY, the `Map` for MAP, for ONE what is left once presence told None and
        absence.
    message
        Index in `Plan.messages` of the message that one occurrence (item, map value) is; None for a scalar.
    missing
        What it means that it is not there.
    path
        Where in the schema, for errors.
    field
        The record's field; None in wrappers and unions.
    """

    name: str
    number: int
    label: Label
    type: Type
    message: int | None
    missing: Missing
    path: str
    field: Field | None = None

    @property
    def presence(self) -> bool:
        """Whether the message tells if the field is there."""
        return self.missing is not Missing.ZERO and self.label is Label.ONE

    def default(self) -> Any:
        """A fresh default of the record's field."""
        return self.field.make_default() if self.field is not None else None

    @property
    def item(self) -> Type:
        """The type of one occurrence."""
        match self.label, self.type:
            case Label.MANY, List(item=item):
                return item
            case Label.MAP, Map(value=value):
                return value
        return self.type

    @property
    def is_bytes(self) -> bool:
        """Whether one occurrence is bytes."""
        return self.message is None and isinstance(self.item, Bytes)


Oneof = tuple[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Declared:
    """What protobuf's own declaration of records says besides their schema, by name of the record.

    Attributes
    ----------
    required
        Numbers of fields that a message may not lack though they are scalars.
    oneofs
        See `Message`.
    """

    required: Mapping[str, frozenset[int]] = field(default_factory=dict)
    oneofs: Mapping[str, tuple[Oneof, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Message:
    """One message, as one place of the schema uses it.

    Attributes
    ----------
    index
        Its place in `Plan.messages`.
    name
        Its name in the file. Uses of one type in several places share it, and so do all tensors.
    shape
        What it stands for.
    type
        The `Ref`, `Tensor` or `Union` that it is, or what a wrapper wraps.
    slots
        Its fields; none for a tensor.
    path
        Where in the schema, for errors.
    oneofs
        Of a record that protobuf itself declares: name and numbers of fields of which at most one may be there.
    """

    index: int
    name: str
    shape: Shape
    type: Type
    slots: tuple[Slot, ...]
    path: str
    oneofs: tuple[Oneof, ...] = ()


@dataclass(frozen=True, slots=True)
class EnumPlan:
    """An enum of the file: its values by name, the zero first, and the numbers of the members' values."""

    name: str
    values: tuple[tuple[str, int], ...]
    numbers: dict[Any, int]


@dataclass(frozen=True, slots=True)
class Plan:
    """The messages of a schema."""

    schema: Schema
    messages: tuple[Message, ...]
    root: int
    enums: dict[Enum, EnumPlan]

    def depths(self) -> tuple[float, float]:
        """Deepest nesting of values (records, lists, maps) and of messages on the wire; inf where it is unbounded."""
        if self.schema.recursive:
            return math.inf, math.inf
        try:
            return self._depths(self.root, {})
        except RecursionError:  # a chain of records longer than Python's stack
            return math.inf, math.inf

    def containing(self, some: set[int]) -> set[int]:
        """The messages of which one of `some` is a part, or that are one."""
        found = set(some)
        grown = True
        while grown:
            more = {message.index for message in self.messages if any(slot.message in found for slot in message.slots)}
            grown = not more <= found
            found |= more
        return found

    def carriers(self) -> set[int]:
        """The messages that hold bytes or a tensor, or in which one does."""
        return self.containing(
            {
                message.index
                for message in self.messages
                if message.shape is Shape.TENSOR or any(slot.is_bytes for slot in message.slots)
            }
        )

    @property
    def has_maps(self) -> bool:
        """Whether some message has a map."""
        return any(slot.label is Label.MAP for message in self.messages for slot in message.slots)

    def _depths(self, index: int, known: dict[int, tuple[float, float]]) -> tuple[float, float]:
        if index not in known:
            message = self.messages[index]
            own = 1 if message.shape is Shape.RECORD else 0
            values, wires = float(own), 0.0
            for slot in message.slots:
                inner_values, inner_wires = (0.0, 0.0) if slot.message is None else self._depths(slot.message, known)
                container = slot.label is not Label.ONE
                entry = slot.label is Label.MAP  # an entry of a map is a message of its own
                values = max(values, own + container + inner_values)
                wires = max(wires, entry + inner_wires)
            known[index] = (values, 1 + wires)
        return known[index]
