"""The normal form of a value: what ``decode(encode(value))`` gives.

These changes, and no others, are made; `normal` is idempotent:

1. numpy scalars, and subclasses of int, float, str and bytes, become the built-in itself; bytearray and memoryview
   become bytes. A bool is no int.
2. An int in a float field becomes a float where that is exact.
3. A 32-bit float is rounded to nearest; one that would overflow is refused.
4. A list or tuple becomes the container that the schema names; a subclass of dict becomes a dict.
5. An array becomes little-endian and C-ordered. Its dtype, shape and bits never change. A tensor of another library
   (`zcser.core.dlpack`) becomes the array over its memory.
6. A member of an int or str enum may be given by its value.
7. A field that a dict may lack and does has its default, where it has one.
8. A subclass of datetime, date, time, timedelta, Decimal or UUID becomes the class itself, ``fold`` 0, and a time zone its
   offset from UTC: in a field of aware datetimes it becomes UTC. What is finer than a microsecond is refused.
9. A set becomes a frozenset, or the other way round, as the schema names it. Items that become equal are refused.

Everything else that does not fit is an `EncodeError` with the path. Every codec refuses alike: integers out of range,
lone surrogates, unknown or missing fields, values of another class, depth, cycles, object arrays.

The walk is an interpreter over the schema. Codecs generate faster code for the same rules, and come here for the words
when a value does not fit.
"""

from __future__ import annotations

import copy
import math
import struct
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from zcser.core.dlpack import ForeignTensorError, array_of, is_foreign_tensor
from zcser.core.dtypes import dtype_name, refusal
from zcser.core.errors import EncodeError
from zcser.core.options import Limits
from zcser.core.paths import pointer
from zcser.core.words import brief
from zcser.schema.classes import construct, has_extras
from zcser.schema.from_python import schema_of
from zcser.schema.model import (
    Bytes,
    Enum,
    Float,
    Int,
    Kind,
    List,
    Logical,
    Map,
    Null,
    Optional,
    Record,
    Ref,
    Schema,
    Set,
    Str,
    Tensor,
    Type,
    Union,
)
from zcser.schema.values import VALUE_TYPES

__all__ = ["Normaliser", "Path", "normal"]

_FLOAT = struct.Struct("<f")

Path = tuple[str | int, ...]
"""Of a part of a value: fields' names, keys and positions."""


class _Root(str):
    """The name of a transparent record's field: a step in Python, and none in a message, whose depth is bounded."""

    __slots__ = ()


def normal(
    schema: Any,
    value: Any,
    *,
    strict: bool = False,
    finite: bool = False,
    limits: Limits | None = None,
    codec: str | None = None,
) -> Any:
    """The normal form of a value.

    Parameters
    ----------
    schema
        A `zcser.Schema`, or what one can be made from.
    value
        A value of it.
    strict
        Refuse whatever would be changed.
    finite
        Refuse NaN and infinities in float fields (not in tensors), as formats must that have no form for them.
    limits
        Bounds on depth and elements; the defaults of `Limits` otherwise.
    codec
        Name that an error carries.

    Returns
    -------
    Any
        The normal value; parts that are normal already are the same objects.

    Raises
    ------
    EncodeError
        The value does not fit the schema, with the path of the first part that does not.
    """
    walker = Normaliser(schema_of(schema), strict=strict, finite=finite, limits=limits or Limits(), codec=codec)
    return walker(value)


class Normaliser:
    """`normal` for one schema and set of rules, to call many times."""

    def __init__(self, schema: Schema, *, strict: bool, finite: bool, limits: Limits, codec: str | None = None) -> None:
        self.schema = schema
        self.strict = strict
        self.finite = finite
        self.limits = limits
        self.codec = codec
        self._left = limits.elements

    def __call__(self, value: Any) -> Any:
        """The normal form of a whole value."""
        return self.part(self.schema.root, value)

    def part(self, type_: Type, value: Any) -> Any:
        """The normal form of a value of one type of the schema."""
        # A copy for each call counts the elements, so that threads can share this object.
        return copy.copy(self)._of(type_, value, ())

    def _of(self, type_: Type, value: Any, path: Path) -> Any:
        return _WALK[type_.kind](self, type_, value, path)

    def _refuse(self, message: str, path: Path) -> NoReturn:
        raise EncodeError(message, path=pointer(path), codec=self.codec)

    def _wrong(self, type_: Type, value: Any, path: Path) -> NoReturn:
        shown = "" if isinstance(value, np.ndarray) else f" {brief(value)}"
        self._refuse(f"{type_} is needed, not {type(value).__name__}{shown}", path)

    def _changed(self, type_: Type, value: Any, path: Path) -> None:
        if self.strict:
            self._refuse(f"strict: {type(value).__name__} would be changed to {type_}", path)

    def _null(self, type_: Null, value: Any, path: Path) -> None:
        if value is not None:
            self._wrong(type_, value, path)

    def _bool(self, type_: Type, value: Any, path: Path) -> bool:
        if type(value) is bool:
            return value
        if isinstance(value, np.bool_):
            self._changed(type_, value, path)
            return bool(value)
        self._wrong(type_, value, path)

    def _int(self, type_: Int, value: Any, path: Path) -> int:
        number: int = value
        if type(value) is not int:
            if isinstance(value, bool) or not isinstance(value, int | np.integer):
                self._wrong(type_, value, path)
            self._changed(type_, value, path)
            number = int(value)
        low, high = type_.low, type_.high
        if (low is not None and number < low) or (high is not None and number > high):
            self._refuse(f"integer {brief(number)} is outside {type_}", path)
        return number

    def _float(self, type_: Float, value: Any, path: Path) -> float:
        number: float = value
        if type(value) is not float:
            if isinstance(value, float | np.floating):
                self._changed(type_, value, path)
                number = float(value)
                if not math.isnan(number) and number != value:  # np.longdouble holds more than a double
                    self._refuse("a long double does not fit float64 exactly", path)
            elif isinstance(value, int | np.integer) and not isinstance(value, bool):
                self._changed(type_, value, path)
                number = self._exact_float(int(value), path)
            else:
                self._wrong(type_, value, path)
        if type_.bits == 32:
            number = self._float32(number, path)
        if self.finite and number - number != 0.0:  # NaN for NaN and both infinities, 0.0 for all else
            self._refuse(f"{number} has no form in this format; use None or another codec", path)
        return number

    def _exact_float(self, value: int, path: Path) -> float:
        try:
            number = float(value)
        except OverflowError:
            number = 0.0
        if number != value:
            self._refuse(f"integer {brief(value)} is not exact as a float", path)
        return number

    def _float32(self, number: float, path: Path) -> float:
        try:
            rounded: float = _FLOAT.unpack(_FLOAT.pack(number))[0]
        except OverflowError:
            self._refuse(f"{number!r} is too large for float32", path)
        if self.strict and rounded != number and not math.isnan(number):
            self._refuse(f"strict: {number!r} would be rounded to float32", path)
        return rounded

    def _str(self, type_: Str, value: Any, path: Path) -> str:
        text: str = value
        if type(value) is not str:
            if not isinstance(value, str):
                self._wrong(type_, value, path)
            self._changed(type_, value, path)
            text = str.__str__(value)
        try:
            encoded = text.encode() if type_.size is not None or not text.isascii() else b""
        except UnicodeEncodeError as error:
            self._refuse(f"lone surrogate {text[error.start]!a} at character {error.start} has no UTF-8 form", path)
        if type_.size is not None and len(encoded) > type_.size:
            self._refuse(f"{len(encoded)} bytes of UTF-8 do not fit {type_}", path)
        return text

    def _bytes(self, type_: Bytes, value: Any, path: Path) -> bytes:
        data: bytes = value
        if type(value) is not bytes:
            if not isinstance(value, bytes | bytearray | memoryview):
                self._wrong(type_, value, path)
            self._changed(type_, value, path)
            try:
                data = value.tobytes() if isinstance(value, memoryview) else bytes(value)
            except ValueError:
                self._refuse("the memoryview was released", path)
        if type_.size is not None and len(data) != type_.size:
            self._refuse(f"{type_} is needed, not {len(data)} bytes", path)
        return data

    def _enum(self, type_: Enum, value: Any, path: Path) -> Any:
        if type_.cls is not None and type(value) is type_.cls:
            return value
        if type(value) is type(type_.members[0][1]):
            for _, member in type_.members:
                if member == value:
                    if type_.cls is None:
                        return value
                    self._changed(type_, value, path)
                    return type_.cls(value)
        self._refuse(f"{brief(value)} is not a member of {type_}: {', '.join(name for name, _ in type_.members)}", path)

    def _logical(self, type_: Logical, value: Any, path: Path) -> Any:
        form = VALUE_TYPES[type_.name]
        if not isinstance(value, form.cls):
            self._wrong(type_, value, path)
        try:
            new = form.normal(value)
        except ValueError as error:
            self._refuse(str(error), path)
        if new is not value:
            self._changed(type_, value, path)
        if isinstance(form.text.type, Str):
            self._str(form.text.type, form.text.lower(new), path)  # a path may hold what no text does
        return new

    def _set(self, type_: Set, value: Any, path: Path) -> Any:
        if not isinstance(value, set | frozenset):
            self._wrong(type_, value, path)
        self._bound(path, value)
        items = [self._of(type_.item, item, (*path, index)) for index, item in enumerate(value)]
        container = frozenset if type_.frozen else set
        if type(value) is container:
            if all(old is new for old, new in zip(value, items, strict=True)):
                return value
        else:
            self._changed(type_, value, path)
        found = container(items)
        if len(found) != len(items):
            self._refuse("items become equal", path)
        return found

    def _tensor(self, type_: Tensor, value: Any, path: Path) -> np.ndarray[Any, Any]:
        array: np.ndarray[Any, Any]
        if type(value) in (np.ndarray, np.memmap):
            array = np.asarray(value)
        elif is_foreign_tensor(value):
            self._changed(type_, value, path)
            try:
                array = array_of(value)
            except ForeignTensorError as error:
                self._refuse(str(error), path)
        else:
            self._wrong(type_, value, path)
        name = dtype_name(array.dtype)
        if name is None:
            self._refuse(refusal(array.dtype), path)
        if type_.dtype is not None and name != type_.dtype:
            self._refuse(f"{type_} is needed, not dtype {name}; convert it with .astype()", path)
        if type_.shape is not None and (
            len(type_.shape) != array.ndim
            or any(want is not None and want != have for want, have in zip(type_.shape, array.shape, strict=True))
        ):
            self._refuse(f"{type_} is needed, not shape {list(array.shape)}", path)
        return self._laid_out(type_, value, array, path)

    def _laid_out(self, type_: Tensor, value: Any, array: np.ndarray[Any, Any], path: Path) -> np.ndarray[Any, Any]:
        """An array that fits its type, little-endian and C-ordered."""
        if array.dtype.byteorder == ">" or (array.dtype.byteorder == "=" and sys.byteorder == "big"):
            self._changed(type_, value, path)
            array = array.astype(array.dtype.newbyteorder("<"))
        if not array.flags.c_contiguous:
            self._changed(type_, value, path)
            # np.ascontiguousarray would make a 0-d array one-dimensional.
            array = array.copy(order="C")
        return array

    def _optional(self, type_: Optional, value: Any, path: Path) -> Any:
        return None if value is None else self._of(type_.item, value, path)

    def _list(self, type_: List, value: Any, path: Path) -> Any:
        if not isinstance(value, list | tuple):
            self._wrong(type_, value, path)
        if type_.length is not None and len(value) != type_.length:
            self._refuse(f"{type_} is needed, not {len(value)} items", path)
        self._bound(path, value)
        items = [self._of(type_.item, item, (*path, index)) for index, item in enumerate(value)]
        container = list if type_.container == "list" else tuple
        if type(value) is container:
            if all(old is new for old, new in zip(value, items, strict=True)):
                return value
        else:
            self._changed(type_, value, path)
        return container(items)

    def _map(self, type_: Map, value: Any, path: Path) -> dict[Any, Any]:
        if not isinstance(value, dict):
            self._wrong(type_, value, path)
        self._bound(path, value)
        found: dict[Any, Any] = {}
        same = type(value) is dict
        if not same:
            self._changed(type_, value, path)
        for key, item in value.items():
            where = (*path, key if isinstance(key, str) else brief(key))
            new_key, new_item = self._of(type_.key, key, where), self._of(type_.value, item, where)
            if new_key in found:
                self._refuse(f"two keys become {brief(new_key)}", path)
            found[new_key] = new_item
            same = same and new_key is key and new_item is item
        return value if same else found

    def _union(self, type_: Union, value: Any, path: Path) -> Any:
        for option in type_.options:
            if type(value) is self.schema.python_type(option):
                return self._of(option, value, path)
        # Second turn: what normal may change, as np.float32 where a float is an option.
        near = [option for option in type_.options if _is_near(option, value)]
        for option in near[:-1]:
            try:
                return self._of(option, value, path)
            except EncodeError:
                continue
        if near:
            return self._of(near[-1], value, path)
        self._wrong(type_, value, path)

    def _record(self, type_: Ref, value: Any, path: Path) -> Any:
        record = self.schema.resolve(type_)
        self._bound(path, ())
        if record.cls is None:
            return self._dict_record(record, value, path)
        if type(value) is not record.cls:
            self._wrong(type_, value, path)
        if has_extras(record.cls) and (extras := getattr(value, "__pydantic_extra__", None)):
            extra = next(iter(extras))
            self._refuse(f"{brief(extra)} is not a field of {record.name}, and would be lost", path)
        changed = {}
        for item in record.fields:
            try:
                old = getattr(value, item.name)
            except AttributeError:
                self._refuse(f"field {item.name!r} of {record.name} is unset", path)
            new = self._of(item.type, old, (*path, _Root(item.name) if record.transparent else item.name))
            if new is not old:
                changed[item.name] = new
        if not changed:
            return value
        try:
            return construct(
                record.cls, {item.name: changed.get(item.name, getattr(value, item.name)) for item in record.fields}
            )
        except Exception as error:  # noqa: BLE001 - the class's own constructor may raise anything
            self._refuse(f"{record.name} refuses its normal fields: {type(error).__name__}", path)

    def _dict_record(self, record: Record, value: Any, path: Path) -> dict[str, Any]:
        if not isinstance(value, dict):
            self._wrong(Ref(record.name), value, path)
        known = record.by_name
        for key in value:
            if key not in known:
                self._refuse(f"{brief(key)} is not a field of {record.name}, and would be lost", path)
        found: dict[str, Any] = {}
        for item in record.fields:
            if item.name in value:
                step = _Root(item.name) if record.transparent else item.name
                found[item.name] = self._of(item.type, value[item.name], (*path, step))
            elif item.required:
                self._refuse(f"field {item.name!r} of {record.name} is missing", path)
            elif item.has_default:
                if self.strict:
                    self._refuse(f"strict: field {item.name!r} of {record.name} is missing, and has a default", path)
                found[item.name] = self._of(item.type, item.make_default(), (*path, item.name))
        if type(value) is dict and len(value) == len(found) and all(value[key] is new for key, new in found.items()):
            return value
        if type(value) is not dict:
            self._changed(Ref(record.name), value, path)
        return found

    def _bound(self, path: Path, items: Any) -> None:
        most = self.limits.depth
        if len(path) >= most and len(path) - sum(type(step) is _Root for step in path) >= most:
            self._refuse(f"nested deeper than {self.limits.depth} levels, or contains itself", path)
        self._left -= len(items)
        if self._left < 0:
            self._refuse(f"more items in all lists and maps than limits.elements = {self.limits.elements}", path)


_WALK: dict[Kind, Callable[[Normaliser, Any, Any, Path], Any]] = {
    Kind.NULL: Normaliser._null,
    Kind.BOOL: Normaliser._bool,
    Kind.INT: Normaliser._int,
    Kind.FLOAT: Normaliser._float,
    Kind.STR: Normaliser._str,
    Kind.BYTES: Normaliser._bytes,
    Kind.ENUM: Normaliser._enum,
    Kind.TENSOR: Normaliser._tensor,
    Kind.OPTIONAL: Normaliser._optional,
    Kind.LIST: Normaliser._list,
    Kind.MAP: Normaliser._map,
    Kind.UNION: Normaliser._union,
    Kind.LOGICAL: Normaliser._logical,
    Kind.SET: Normaliser._set,
    Kind.RECORD: Normaliser._record,
}


def _is_near(type_: Type, value: Any) -> bool:
    """Whether a value of another class may be meant for a type."""
    if isinstance(type_, Enum):
        return type(value) is type(type_.members[0][1])
    if isinstance(type_, Tensor) and is_foreign_tensor(value):
        return True
    if isinstance(type_, Logical):
        return isinstance(value, VALUE_TYPES[type_.name].cls)
    return isinstance(value, _NEAR.get(type_.kind, ()))


_NEAR: dict[Kind, tuple[type, ...]] = {
    Kind.BOOL: (np.bool_,),
    Kind.INT: (int, np.integer),
    Kind.FLOAT: (int, float, np.number),
    Kind.STR: (str,),
    Kind.BYTES: (bytes, bytearray, memoryview),
    Kind.LIST: (list, tuple),
    Kind.MAP: (dict,),
    Kind.SET: (set, frozenset),
    Kind.RECORD: (dict,),
    Kind.TENSOR: (np.ndarray,),
}
