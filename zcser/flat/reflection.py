"""The messages of .bfbs files, as the neutral schema has them: what ``reflection.fbs`` of FlatBuffers declares.

They are read by this package's own engine, as any message is. The vectors of a .bfbs file that hold named things are
sorted by name, those of fields too; a field's place is its `id`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from zcser.schema.annotations import Float64, Id, Int8, Int32, Int64, UInt16, UInt32, UInt64

__all__ = [
    "BFBS",
    "BaseType",
    "EnumDef",
    "EnumVal",
    "FieldDef",
    "FileDef",
    "KeyValue",
    "ObjectDef",
    "SchemaDef",
    "TypeDef",
]

BFBS = b"BFBS"
"""The file identifier, at byte 4 of a message."""


class BaseType:
    """Numbers of ``reflection.BaseType``. A plain int in the messages, so that a newer one can be named and refused."""

    NONE = 0
    UTYPE = 1
    BOOL = 2
    BYTE = 3
    UBYTE = 4
    SHORT = 5
    USHORT = 6
    INT = 7
    UINT = 8
    LONG = 9
    ULONG = 10
    FLOAT = 11
    DOUBLE = 12
    STRING = 13
    VECTOR = 14
    OBJECT = 15
    UNION = 16
    ARRAY = 17
    VECTOR64 = 18


@dataclass(slots=True)
class TypeDef:
    """``reflection.Type``: of a field, an enum or a union's member."""

    base_type: Int8 = 0
    element: Int8 = 0
    index: Int32 = -1
    fixed_length: UInt16 = 0
    base_size: UInt32 = 4
    element_size: UInt32 = 0


@dataclass(slots=True)
class KeyValue:
    """An attribute, as ``force_align: 16``."""

    key: str
    value: str | None = None


@dataclass(slots=True)
class EnumVal:
    """A member of an enum, or an option of a union."""

    name: str
    value: Int64 = 0
    union_type: Annotated[TypeDef | None, Id(4)] = None
    documentation: list[str] | None = None
    attributes: list[KeyValue] | None = None


@dataclass(slots=True)
class EnumDef:
    """An enum or union."""

    name: str
    values: list[EnumVal]
    is_union: bool
    underlying_type: TypeDef
    attributes: list[KeyValue] | None = None


@dataclass(slots=True)
class FieldDef:
    """A field of a table or struct."""

    name: str
    type: TypeDef
    id: UInt16 = 0
    offset: UInt16 = 0
    default_integer: Int64 = 0
    default_real: Float64 = 0.0
    deprecated: bool = False
    required: bool = False
    key: bool = False
    attributes: list[KeyValue] | None = None
    documentation: list[str] | None = None
    optional: bool = False
    padding: UInt16 = 0
    offset64: bool = False


@dataclass(slots=True)
class ObjectDef:
    """A table or struct."""

    name: str
    fields: list[FieldDef] = field(default_factory=list)
    is_struct: bool = False
    minalign: Int32 = 1
    bytesize: Int32 = 0
    attributes: list[KeyValue] | None = None
    documentation: list[str] | None = None


@dataclass(slots=True)
class FileDef:
    """A source: its name relative to the root source's folder, behind ``//``."""

    filename: str


@dataclass(slots=True)
class SchemaDef:
    """A whole file."""

    objects: list[ObjectDef]
    enums: list[EnumDef]
    file_ident: str | None = None
    file_ext: str | None = None
    root_table: ObjectDef | None = None
    advanced_features: Annotated[UInt64, Id(7)] = 0
    fbs_files: list[FileDef] | None = None
