"""Layouts from ctypes Structures: offsets and size are what ctypes gives them, packing and byte order included.

``c_char * n`` is bytes of exact size, where ctypes would stop at the first NUL. A field whose name begins with an
underscore is padding. Fields of base classes come first.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

from zcser.core.errors import SchemaError
from zcser.header.records.from_struct import scalar_of
from zcser.header.records.model import Array, ByteOrder, Bytes, Field, Part, Struct, tuple_class

__all__ = ["struct_of_ctypes"]


def struct_of_ctypes(cls: type[ctypes.Structure]) -> Struct:
    """The layout of a Structure.

    Raises
    ------
    SchemaError
        It is none, or has a bit field, a union, a pointer or another type that a record cannot have.
    """
    if not (isinstance(cls, type) and issubclass(cls, ctypes.Structure)):
        raise SchemaError(f"a subclass of ctypes.Structure is needed, not {cls!r}")
    fields = []
    for base in reversed(cls.__mro__):
        for declared in vars(base).get("_fields_", ()):
            name, path = declared[0], f"{cls.__name__}/{declared[0]}"
            if len(declared) > 2:
                raise SchemaError("a bit field has no bytes of its own; use the integer that holds it", path=path)
            if not name.startswith("_"):
                fields.append(Field(name, _part(declared[1], path), getattr(cls, name).offset))
    own = tuple_class(cls.__name__, [field.name for field in fields])
    return Struct(cls.__name__, tuple(fields), ctypes.sizeof(cls), ctypes.alignment(cls), own)


def _part(type_: Any, path: str) -> Part:
    if issubclass(type_, ctypes.Structure):
        return struct_of_ctypes(type_)
    if issubclass(type_, ctypes.Array):
        if type_._type_ is ctypes.c_char and type_._length_ > 0:
            return Bytes(type_._length_)
        return Array(_part(type_._type_, path), (type_._length_,))
    code = getattr(type_, "_type_", None)
    if isinstance(code, str):
        scalar = scalar_of(code, ctypes.sizeof(type_), _order_of(type_))
        if scalar is not None:
            return scalar
    raise SchemaError(
        f"a record has no {type_.__name__}; use integers, floats, chars, arrays and Structures", path=path
    )


def _order_of(type_: Any) -> ByteOrder:
    if ctypes.sizeof(type_) > 1 and getattr(type_, "__ctype_be__", None) is type_:
        return "big"
    if getattr(type_, "__ctype_le__", None) is type_:
        return "little"
    return "little" if sys.byteorder == "little" else "big"
