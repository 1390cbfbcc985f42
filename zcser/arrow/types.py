"""The Arrow schema of a schema: how every kind stands in columns.

1. A message is one record batch. The fields of a record are its columns; a root that is a list of records has a row for
   each, any other root one row. A root that is neither stands in one column, ``value``.
2. Null, bool, int, float, str, bytes, list and record are Arrow's own, of the same width; a list of fixed length is a
   fixed-size list, bytes of fixed size are fixed-size binary, a map is a map.
3. An enum stands by its value, plain: a dictionary would be a message of its own for each such column.
4. A union is a dense union, its children named as its options. Arrow's unions hold no nulls: one that may be None has a
   further child, ``null``.
5. A tensor is a fixed-shape tensor (the canonical extension type) where the schema fixes dtype and shape, it has elements
   and Arrow has the dtype; else a struct of dtype, shape and data, its elements little-endian, in C order.
6. A field that may be None or missing is nullable. Where it may be either, it stands in a struct with one field, ``value``:
   the struct is null where the field is missing.
7. Arrow's types are finite trees, and its readers go 64 levels deep: recursive schemas are refused, and deeper ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NoReturn

import pyarrow as pa

from zcser.core.errors import SchemaError
from zcser.schema.model import (
    Bool,
    Bytes,
    Enum,
    Field,
    Float,
    Int,
    List,
    Map,
    Null,
    Optional,
    Record,
    Ref,
    Schema,
    Str,
    Tensor,
    Type,
    Union,
    walk,
)

__all__ = ["NULL", "VALUE", "Columns", "columns_of", "inner_record", "is_wrapped", "tensor_value_type"]

VALUE = "value"
"""The column of a root that has no fields, and the field of a wrapper."""

NULL = "null"
"""The child of a union that may be None."""

_MOST_LEVELS = 64
"""kMaxNestingDepth of Arrow C++, for which pyarrow has no option."""

_MOST_ITEMS = 2**31 - 1
"""Of a fixed-size list."""

_TENSOR_VALUES = {
    "uint8": pa.uint8(), "uint16": pa.uint16(), "uint32": pa.uint32(), "uint64": pa.uint64(),
    "int8": pa.int8(), "int16": pa.int16(), "int32": pa.int32(), "int64": pa.int64(),
    "float16": pa.float16(), "float32": pa.float32(), "float64": pa.float64(),
}  # fmt: skip


@dataclass(frozen=True)
class Columns:
    """How the values of a schema become rows.

    Attributes
    ----------
    schema
        The schema.
    record
        Whose fields are the columns.
    many
        Whether a value is a list of rows; else it is one.
    bare
        Whether the row is a wrapper of the value.
    struct
        The record as an Arrow struct type.
    """

    schema: Schema
    record: Record
    many: bool
    bare: bool
    struct: pa.StructType

    @property
    def arrow_schema(self) -> pa.Schema:
        """The columns."""
        return pa.schema(list(self.struct))


def columns_of(schema: Schema, codec: str) -> Columns:
    """The columns of a schema.

    Raises
    ------
    SchemaError
        Arrow has no form for a part of it; names the part.
    """
    root = schema.root
    inner = root.item if isinstance(root, List) else root
    bare = not isinstance(inner, Ref)
    record = schema.resolve(inner) if isinstance(inner, Ref) else inner_record(root)
    struct = _Types(schema, codec).struct(record, "" if bare else record.name, 0)
    return Columns(schema, record, many=isinstance(root, List) and not bare, bare=bare, struct=struct)


def inner_record(type_: Type) -> Record:
    """A record around a value of some type."""
    return Record("", (Field(VALUE, type_, 1),))


def is_wrapped(item: Field) -> bool:
    """Whether a field may be missing and may be None (rule 6)."""
    return not item.required and isinstance(item.type, Optional | Null)


def tensor_value_type(type_: Tensor) -> pa.DataType | None:
    """The type of the elements of a fixed-shape tensor; None where the tensor is a struct."""
    if type_.dtype is None or type_.shape is None or None in type_.shape:
        return None
    elements = math.prod(extent or 0 for extent in type_.shape)
    return _TENSOR_VALUES.get(type_.dtype) if type_.shape and 0 < elements <= _MOST_ITEMS else None


class _Types:
    def __init__(self, schema: Schema, codec: str) -> None:
        self.schema = schema
        self.codec = codec

    def refuse(self, reason: str, path: str) -> NoReturn:
        raise SchemaError(reason, path=path, codec=self.codec)

    def struct(self, record: Record, path: str, level: int) -> pa.StructType:
        # A wrapper has no name; its field's path is that of what it wraps.
        return pa.struct(
            [self.field(item, f"{path}/{item.name}" if record.name else path, level + 1) for item in record.fields]
        )

    def field(self, item: Field, path: str, level: int) -> pa.Field:
        if is_wrapped(item):
            return pa.field(item.name, self.struct(inner_record(item.type), path, level + 1), nullable=True)
        type_ = Optional(item.type) if not item.required else item.type
        return self.named(item.name, type_, path, level)

    def named(self, name: str, type_: Type, path: str, level: int) -> pa.Field:
        nullable = isinstance(type_, Optional | Null)
        return pa.field(name, self.type(type_, path, level), nullable=nullable)

    def type(self, type_: Type, path: str, level: int) -> pa.DataType:
        if level >= _MOST_LEVELS:
            self.refuse(f"nested deeper than the {_MOST_LEVELS} levels that Arrow reads", path)
        match type_:
            case Null():
                return pa.null()
            case Bool():
                return pa.bool_()
            case Int(bits=None):
                self.refuse("integers over 64 bits have no form; use json, or a str", path)
            case Int(bits=bits, signed=signed):
                return pa.type_for_alias(f"{'' if signed else 'u'}int{bits}")
            case Float(bits=bits):
                return pa.float32() if bits == 32 else pa.float64()
            case Str():
                return pa.string()
            case Bytes(size=size):
                return pa.binary() if size is None else pa.binary(size)
            case Enum():
                return self.enum(type_, path)
            case Tensor():
                return _tensor(type_)
            case Optional(item=Union() as union):
                return self.union(union, path, level, nullable=True)
            case Optional(item):
                return self.type(item, path, level)
            case List(item=item, length=length):
                inner = self.named("item", item, f"{path}/*", level + 1)
                return pa.list_(inner) if length is None else pa.list_(inner, length)
            case Map(key, value):
                keys = self.named("key", key, f"{path}/*", level + 2)
                return pa.map_(keys, self.named("value", value, f"{path}/*", level + 2))
            case Union():
                return self.union(type_, path, level, nullable=False)
            case Ref(name):
                if name in self.schema.recursive:
                    self.refuse(f"recursive: {name} can contain itself, and Arrow's types are finite", path)
                return self.struct(self.schema.resolve(type_), name, level)
        raise AssertionError(type_)

    def enum(self, type_: Enum, path: str) -> pa.DataType:
        if not type_.of_ints:
            return pa.string()
        values = [int(value) for _, value in type_.members]
        if min(values) >= -(2**63) and max(values) < 2**63:
            return pa.int64()
        if min(values) >= 0 and max(values) < 2**64:
            return pa.uint64()
        self.refuse(f"the values of {type_} do not fit 64 bits", path)

    def union(self, type_: Union, path: str, level: int, *, nullable: bool) -> pa.DataType:
        options = zip(type_.names, type_.options, strict=True)
        children = [self.named(name, option, path, level + 1) for name, option in options]
        if nullable:
            children.append(pa.field(NULL, pa.null()))
        if len(children) > 127:
            self.refuse(f"{len(children)} options are more than the 127 that a union of Arrow has", path)
        return pa.dense_union(children)


def _tensor(type_: Tensor) -> pa.DataType:
    values = tensor_value_type(type_)
    if values is not None:
        return pa.fixed_shape_tensor(values, type_.shape)
    return pa.struct(
        [
            pa.field("dtype", pa.string(), nullable=False),
            pa.field("shape", pa.list_(pa.field("item", pa.int64(), nullable=False)), nullable=False),
            pa.field("data", pa.binary(), nullable=False),
        ]
    )


def reaches(schema: Schema, type_: Type, wanted: tuple[type[Type], ...]) -> bool:
    """Whether a type holds one of some kinds at any depth, or a field that is wrapped; of a schema without recursion."""
    for part in walk(type_):
        if isinstance(part, wanted):
            return True
        if isinstance(part, Ref):
            fields = schema.resolve(part).fields
            if any(is_wrapped(item) or reaches(schema, item.type, wanted) for item in fields):
                return True
    return False
