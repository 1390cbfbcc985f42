"""Layouts from dataclasses and NamedTuples, by the annotations of their fields.

1. ``bool``, ``int`` (int64), ``float`` (float64), the widths of `zcser.schema.annotations` (``UInt16``, ``Float32``),
   ``Annotated[bytes, Bytes(16)]`` of `zcser.schema.model`, and nested classes.
2. ``np.float16``, or any other scalar type of numpy, also as ``Annotated[float, np.float16]``, follows the layout's byte
   order; a dtype in ``Annotated[int, np.dtype(">u4")]`` has its own.
3. ``tuple[T, T, T]``, ``Annotated[tuple[T, ...], Length(3)]`` and the same of list are arrays, and so is
   ``Annotated[np.ndarray, Tensor("float32", (2, 3))]``, which a value has as a numpy array.
4. Fields stand in their order: as C would place them, or without gaps where `packed`.
"""

from __future__ import annotations

import dataclasses
import typing
from typing import Any, NoReturn

import numpy as np

from zcser.core.dtypes import dtype_named
from zcser.core.errors import SchemaError
from zcser.header.records.from_dtype import part_of_dtype
from zcser.header.records.from_struct import scalar_of
from zcser.header.records.model import MAX_HEIGHT, Array, ByteOrder, Container, Field, Part, Struct
from zcser.header.records.model import Bytes as BytesPart
from zcser.schema.annotations import Length
from zcser.schema.model import Bool, Bytes, Float, Int, Tensor, Type

__all__ = ["struct_of_class"]

_PLAIN: dict[Any, Type] = {bool: Bool(), int: Int(64), float: Float(64)}


def struct_of_class(cls: type, *, byteorder: ByteOrder, packed: bool) -> Struct:
    """The layout of a class.

    Raises
    ------
    SchemaError
        It is neither a dataclass nor a NamedTuple, does not take its fields by position, or an annotation has no fixed
        size.
    """
    if byteorder not in {"little", "big"}:
        raise SchemaError(f'the byte order is "little" or "big", not {byteorder!r}')
    return _Reader(byteorder, packed).struct(cls)


class _Reader:
    def __init__(self, byteorder: ByteOrder, packed: bool) -> None:
        self.byteorder = byteorder
        self.packed = packed
        self.level = 0

    def struct(self, cls: type) -> Struct:
        fields: list[Field] = []
        offset, alignment = 0, 1
        self.level += 1
        if self.level > MAX_HEIGHT:
            _refuse(f"{cls.__name__} contains itself, or is nested deeper than {MAX_HEIGHT} levels", cls.__name__)
        for name, hint in _hints(cls).items():
            part = self.part(hint, f"{cls.__name__}/{name}")
            own = 1 if self.packed else part.alignment
            offset = -(-offset // own) * own
            fields.append(Field(name, part, offset))
            offset += part.size
            alignment = max(alignment, own)
        self.level -= 1
        return Struct(cls.__name__, tuple(fields), -(-offset // alignment) * alignment, alignment, cls)

    def part(self, hint: Any, path: str) -> Part:
        extras: tuple[Any, ...] = ()
        if typing.get_origin(hint) is typing.Annotated:
            hint, *rest = typing.get_args(hint)
            extras = tuple(rest)
        for extra in reversed(extras):
            match extra:
                case np.dtype():
                    return part_of_dtype(extra, name=path.replace("/", "_"), path=path)
                case type() if issubclass(extra, np.generic):
                    return self.of_numpy(extra, path)
                case Length(items=items):
                    return self.array(hint, items, path)
                case Type():
                    return self.of_type(extra, path)
        if hint in _PLAIN:
            return self.of_type(_PLAIN[hint], path)
        if isinstance(hint, type) and issubclass(hint, np.generic):
            return self.of_numpy(hint, path)
        if typing.get_origin(hint) is tuple:
            kinds = typing.get_args(hint)
            if kinds and Ellipsis not in kinds and all(kind == kinds[0] for kind in kinds):
                return Array(self.part(kinds[0], path), (len(kinds),))
        if isinstance(hint, type) and (dataclasses.is_dataclass(hint) or hasattr(hint, "_fields")):
            return self.struct(hint)
        _refuse(f"{getattr(hint, '__name__', hint)} has no fixed size; see RecordLayout.from_class", path)

    def of_type(self, type_: Type, path: str) -> Part:
        match type_:
            case Bool():
                return self.scalar("?", 1)
            case Int(bits=int() as bits):
                return self.scalar("i" if type_.signed else "I", bits // 8)
            case Float():
                return self.scalar("f" if type_.bits == 32 else "d", type_.bits // 8)
            case Bytes(size=int() as size):
                return BytesPart(size)
            case Tensor(dtype=str() as name, shape=tuple() as shape) if None not in shape:
                try:
                    dtype = dtype_named(name)
                except LookupError as error:
                    _refuse(str(error), path)
                extents = tuple(extent for extent in shape if extent is not None)
                return Array(self.of_numpy(dtype.type, path), extents, "ndarray")
        _refuse(f"{type_} has no fixed size, or no form in a record", path)

    def scalar(self, code: str, size: int) -> Part:
        found = scalar_of(code, size, self.byteorder)
        assert found is not None, "the codes and sizes above are all there are"  # noqa: S101 - for mypy
        return found

    def of_numpy(self, type_: type[np.generic], path: str) -> Part:
        dtype = np.dtype(type_).newbyteorder("<" if self.byteorder == "little" else ">")
        return part_of_dtype(dtype, name=path.replace("/", "_"), path=path)

    def array(self, hint: Any, length: int, path: str) -> Array:
        container: Container = "list" if typing.get_origin(hint) is list else "tuple"
        kinds = typing.get_args(hint)
        if typing.get_origin(hint) not in {list, tuple} or kinds[1:] not in {(), (Ellipsis,)}:
            _refuse(f"Length stands with list[T] or tuple[T, ...], not with {hint}", path)
        return Array(self.part(kinds[0], path), (length,), container)


def _hints(cls: type) -> dict[str, Any]:
    if not isinstance(cls, type) or not (
        dataclasses.is_dataclass(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields"))
    ):
        _refuse(f"a dataclass or NamedTuple is needed, not {cls!r}", None)
    try:
        hints = typing.get_type_hints(cls, localns={cls.__name__: cls}, include_extras=True)
    except Exception as error:
        raise SchemaError(f"the annotations cannot be read: {error}", path=cls.__name__) from error
    if dataclasses.is_dataclass(cls):
        fields = dataclasses.fields(cls)
        odd = next((field.name for field in fields if not field.init or field.kw_only), None)
        if odd is not None:
            _refuse("a field that is not given by position cannot be read", f"{cls.__name__}/{odd}")
        names = [field.name for field in fields]
    else:
        names = list(cls._fields)
    missing = next((name for name in names if name not in hints), None)
    if missing is not None:
        _refuse("the field has no annotation", f"{cls.__name__}/{missing}")
    return {name: hints[name] for name in names}


def _refuse(reason: str, path: str | None) -> NoReturn:
    raise SchemaError(reason, path=path)
