"""The Avro form of a schema: what each kind stands as, and the names that it has there.

1. Null, bool, float, str, bytes, list and record stand as Avro's own. A field's place in a message is that of its id among
   the ids of its record.
2. An int stands as ``int`` where that holds all its values, else as ``long``; an unsigned one of 64 bits, for which Avro has
   no type, as the ``fixed`` of its 8 bytes, little-endian. Bytes of one size are a ``fixed``.
3. An enum stands by its members' names, so that their values need not be names.
4. A map with keys of text is a ``map``; any other is an ``array`` of records with ``key`` and ``value``.
5. A tensor is a record of its dtype's name, its shape and its little-endian bytes.
6. An optional is a union that begins with ``null``, and so is a field that may be absent. Where that may be None too, the
   value has a record around it.
7. A union is Avro's. Where two options would be one type to Avro, or to Python once they are read, all of them that are
   not named types already have a record around them.
8. Items that would take no bytes stand in a union of one, which is a byte: a few bytes must not stand for many items.
9. A record takes no bytes itself, so that those around values cost nothing.
"""

from __future__ import annotations

from zcser.schema.model import (
    Bytes,
    Enum,
    Field,
    Float,
    Int,
    Kind,
    List,
    Map,
    Null,
    Optional,
    Record,
    Ref,
    Schema,
    Tensor,
    Type,
    Union,
)
from zcser.schema.names import Scope, distinct, identifier, type_name
from zcser.tree.form import refuse_unbounded

__all__ = ["PRIMITIVES", "Plan"]

PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")

_TAKEN = (*PRIMITIVES, "record", "error", "enum", "array", "map", "fixed", "union", "request", "error_union")

_PRIMITIVE = {Kind.NULL: "null", Kind.BOOL: "boolean", Kind.STR: "string", Kind.BYTES: "bytes"}

_CLASSES = {Kind.ENUM: str, Kind.TENSOR: dict, Kind.RECORD: dict, Kind.MAP: dict, Kind.LIST: list}


class Plan:
    """What the emitter and the walks ask about a schema.

    Parameters
    ----------
    schema
        The neutral schema.
    codec
        Name that an error carries.

    Raises
    ------
    SchemaError
        It has integers of any size.
    """

    def __init__(self, schema: Schema, codec: str | None = None) -> None:
        self.schema = schema
        self._scope = Scope(*_TAKEN)
        self._records = {record.name: self._scope.take(identifier(record.name)) for record in schema.records}
        self._fields = {record.name: distinct([item.name for item in record.fields]) for record in schema.records}
        self._made: dict[tuple[str, Type], str] = {}
        self._symbols: dict[Enum, tuple[str, ...]] = {}
        refuse_unbounded(schema, codec)
        self._empty = {record.name for record in schema.records if self._takes_nothing(record, frozenset())}

    # Names ----------------------------------------------------------------------------------------------------------

    def record_name(self, record: str) -> str:
        """The Avro name of a record."""
        return self._records[record]

    def fields(self, record: Record) -> list[tuple[str, Field]]:
        """The fields of a record with their Avro names, in the order in which they are written."""
        names = self._fields[record.name]
        pairs = [(names[item.name], item) for item in record.fields]
        return sorted(pairs, key=lambda pair: pair[1].id)

    def enum_name(self, enum: Enum) -> str:
        """The Avro name of an enum."""
        return self._name(enum, "")

    def symbols(self, enum: Enum) -> tuple[str, ...]:
        """The symbols of an enum, in the order of its members."""
        if enum not in self._symbols:
            self._symbols[enum] = tuple(distinct([name for name, _ in enum.members]).values())
        return self._symbols[enum]

    def fixed_name(self, type_: Int | Bytes) -> str:
        """The name of the ``fixed`` of an unsigned 64-bit integer, or of bytes of one size."""
        return self._name(type_, str(type_.size) if isinstance(type_, Bytes) else "")

    def tensor_name(self) -> str:
        """The name of the record of all tensors."""
        return self._name(Tensor(), "")

    def entry_name(self, type_: Map) -> str:
        """The name of the record of one entry of a map."""
        return self._name(type_, "Entry")

    def value_name(self, type_: Type) -> str:
        """The name of the record around a value: rules 6 and 7."""
        return self._name(type_, "Value")

    def root_name(self) -> str:
        """A name that nothing in the emitted schema has, for a record around it."""
        return self._scope.take("Root")

    def _name(self, type_: Type, suffix: str) -> str:
        # Given in the order of first use, which is the emitter's: the same for the same schema.
        key = (suffix, type_)
        if key not in self._made:
            self._made[key] = self._scope.take(type_name(type_) + suffix)
        return self._made[key]

    # Forms ----------------------------------------------------------------------------------------------------------

    def is_fixed(self, type_: Type) -> bool:
        """Whether a type is a ``fixed``."""
        return type_ == Int(64, signed=False) or (isinstance(type_, Bytes) and bool(type_.size))

    def is_named(self, type_: Type) -> bool:
        """Whether a type has a name in Avro: a record, an enum or a ``fixed``."""
        return type_.kind in {Kind.RECORD, Kind.TENSOR, Kind.ENUM} or self.is_fixed(type_)

    def primitive(self, type_: Type) -> str | None:
        """The name of a type that Avro has itself; None for all others."""
        match type_:
            case Int() | Bytes() if self.is_fixed(type_):
                return None
            case Int(high=high):
                return "int" if high is not None and high < 1 << 31 else "long"
            case Float(bits=bits):
                return "float" if bits == 32 else "double"
        return _PRIMITIVE.get(type_.kind)

    def branch_name(self, type_: Type) -> str:
        """How a library tells an option of a union by name."""
        match type_:
            case Ref(name):
                return self.record_name(name)
            case Enum():
                return self.enum_name(type_)
            case Tensor():
                return self.tensor_name()
            case Int() | Bytes() if self.is_fixed(type_):
                return self.fixed_name(type_)
        return self.primitive(type_) or ("map" if self.is_map(type_) else "array")

    def is_map(self, type_: Type) -> bool:
        """Whether a type is an Avro ``map``."""
        return isinstance(type_, Map) and type_.key.kind is Kind.STR

    def wraps(self, union: Union) -> bool:
        """Whether the options of a union that have no name stand in records of their own."""
        named = [option for option in union.options if self.is_named(option)]
        others = [self.read_class(option) for option in union.options if not self.is_named(option)]
        alone = len(named) == 1 and self.read_class(named[0]) in others
        return alone or len(set(others)) < len(others)

    def is_tagged(self, union: Union) -> bool:
        """Whether a library has to say which named option it has read."""
        return self.wraps(union) or sum(map(self.is_named, union.options)) > 1

    def read_class(self, type_: Type) -> type:
        """The Python class that a library reads a type of one class as."""
        if self.is_fixed(type_):
            return bytes
        if isinstance(type_, Map) and not self.is_map(type_):
            return list
        return _CLASSES.get(type_.kind) or self.schema.python_type(type_)

    def is_doubly_absent(self, item: Field) -> bool:
        """Whether a field may be absent and may be None, so that its value needs a record around it."""
        return item.may_be_absent and isinstance(item.type, Optional | Null)

    def takes_nothing(self, type_: Type) -> bool:
        """Whether values of a type have no bytes."""
        return isinstance(type_, Null) or (isinstance(type_, Ref) and type_.name in self._empty)

    def _takes_nothing(self, record: Record, seen: frozenset[str]) -> bool:
        if record.name in seen:
            return False  # a record that holds itself without a union or list has no values
        seen |= {record.name}
        return not any(item.may_be_absent for item in record.fields) and all(
            isinstance(item.type, Null)
            or (isinstance(item.type, Ref) and self._takes_nothing(self.schema.resolve(item.type), seen))
            for item in record.fields
        )

    def stands(self, type_: Type) -> bool:
        """Whether normal values of a type are their own data, so that nothing need be built."""
        match type_:
            case List(item=item):
                return self.stands(item)
            case Map(value=value):
                return self.is_map(type_) and self.stands(value)
        return self.primitive(type_) is not None or (isinstance(type_, Bytes))
