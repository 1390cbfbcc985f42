"""Values of two schemas that are to be compared: their classes differ, what they hold may not."""

from __future__ import annotations

import enum
import math
import struct
from typing import Any, Final

import numpy as np

from zcser.core.fidelity import difference, field_names
from zcser.schema.model import (
    Bool,
    Bytes,
    Enum,
    Field,
    Float,
    Int,
    List,
    Logical,
    Map,
    Null,
    Optional,
    Ref,
    Schema,
    Str,
    Tensor,
    Type,
)
from zcser.schema.values import wire_form

__all__ = ["ABSENT", "NOTHING", "carried", "fields_of", "option_of", "plain", "stands_in"]

ABSENT: Final = object()
"""Of a field that a dict lacks."""

NOTHING: Final = object()
"""What `carried` gives where a type has no value that means the one written."""

_FLOAT32 = struct.Struct("<f")


def plain(value: Any) -> Any:
    """A value with its records as dicts and its enum members as their values."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    names = field_names(value)
    return value if names is None else {name: plain(getattr(value, name)) for name in names}


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of a record's value."""
    if isinstance(value, dict):
        return value
    return {name: getattr(value, name) for name in field_names(value) or vars(value)}


def option_of(schema: Schema, options: tuple[Type, ...], value: Any) -> Type:
    """The option of a union that a value of the schema is."""
    return next(option for option in options if type(value) is schema.python_type(option))


def stands_in(schema: Schema, item: Field, value: Any) -> str | None:
    """How a reader's value stands in for one that was not there; None where it does not.

    Rule 1 of `zcser.evolution.model`: a declared default is the only one; without it None or absence; else zero.
    """
    if value is ABSENT:
        return "absent" if item.may_be_absent else None
    if item.has_default:
        same = difference(plain(value), plain(item.make_default())) is None
        return "the declared default" if same else None
    if isinstance(item.type, Optional):
        return "None" if value is None else None
    return "the zero of its kind" if not item.may_be_absent and is_zero(schema, item.type, value) else None


def is_zero(schema: Schema, type_: Type, value: Any) -> bool:
    """Whether a value is what formats without presence give for nothing: 0, empty, False, an enum's first or zero."""
    match type_:
        case Null() | Optional():
            return value is None
        case Bool() | Int() | Str() | Bytes():
            return not any(value) if isinstance(type_, Bytes) else not value
        case Float():
            return bool(value == 0.0)
        case Enum():
            member = value.value if isinstance(value, enum.Enum) else value
            return bool(member in {0, type_.members[0][1]})
        case Tensor():
            return not any(np.asarray(value).tobytes())
        case List():
            return all(is_zero(schema, type_.item, item) for item in value)
        case Map():
            return not value
        case Ref():
            fields = fields_of(value)
            return all(
                stands_in(schema, item, fields.get(item.name, ABSENT)) is not None
                for item in schema.resolve(type_).fields
            )
    return False


def carried(old: Type, new: Type, value: Any) -> Any:
    """What a change of a scalar's type means for a value, as a value that `plain` gives.

    Numbers stay the number, where the new type holds it exactly; bool and int are 0 and 1; an int as text is its digits; text and bytes are UTF-8; an
    enum is its member's name among enums (a renamed one is found by its value), its value among ints and strs; a date, UUID
    and the like is its wire form (`zcser.schema.values`).

    Returns
    -------
    Any
        The value, or `NOTHING`.
    """
    if isinstance(value, enum.Enum):
        value = value.value
    match old, new:
        case Enum(), Enum():
            return _member(old, new, value)
        case (Enum(), Int() | Str()) | (Int() | Str(), Enum()) | (Bool() | Int() | Float(), Bool() | Int() | Float()):
            return _scalar(new, value)
        case Int(), Str():
            return _sized(new, str(value))
        case Str(), Int():
            digits = value.removeprefix("-")
            number = int(value) if digits.isascii() and digits.isdigit() and len(digits) < 20 else NOTHING
            return _int(new, number) if str(number) == value else NOTHING
        case Str(), Bytes():
            return _sized(new, value.encode())
        case Bytes(), Str():
            try:
                return _sized(new, value.decode())
            except UnicodeDecodeError:
                return NOTHING
        case (Str(), Str() as text) | (Bytes(), Bytes() as text):
            return _sized(text, value)
        case Tensor(), Tensor():
            return _tensor(new, value)
        case Logical(), Str() | Bytes() | Int():
            form = wire_form(old, text=isinstance(new, Str))
            return form.lower(value) if form.type.kind is new.kind else NOTHING
    return value if old == new else NOTHING


def _member(old: Enum, new: Enum, value: Any) -> Any:
    names = {same: name for name, same in old.members}
    members = dict(new.members)
    if names[value] in members:
        return members[names[value]]
    before = dict(old.members)
    renamed = [name for name, same in new.members if same == value and name not in before]
    return value if renamed else NOTHING


def _scalar(new: Type, value: Any) -> Any:
    match new:
        case Enum():
            return (
                value if any(value == member and type(value) is type(member) for _, member in new.members) else NOTHING
            )
        case Str():
            return _sized(new, value) if isinstance(value, str) else NOTHING
        case Bool():
            return bool(value) if value in (0, 1) else NOTHING
        case Int():
            return _int(new, value)
        case Float():
            return _float(new, value)
    return NOTHING


def _int(new: Int, value: Any) -> Any:
    if isinstance(value, str) or (isinstance(value, float) and not value.is_integer()):
        return NOTHING
    number = int(value)
    fits = (new.low is None or new.low <= number) and (new.high is None or number <= new.high)
    return number if fits else NOTHING


def _float(new: Float, value: Any) -> Any:
    try:
        number = float(value)
        if new.bits == 32:
            number = _FLOAT32.unpack(_FLOAT32.pack(number))[0]
    except OverflowError:
        return NOTHING
    return number if math.isnan(number) or number == value else NOTHING


def _sized(new: Str | Bytes, value: str | bytes) -> Any:
    if new.size is None:
        return value
    size = len(value.encode() if isinstance(value, str) else value)
    fits = size <= new.size if isinstance(new, Str) else size == new.size
    return value if fits else NOTHING


def _tensor(new: Tensor, value: Any) -> Any:
    """An array of the dtype and shape that it has, or of the dtype that it has no other number in."""
    if new.shape is not None and (
        len(new.shape) != value.ndim
        or any(want is not None and want != have for want, have in zip(new.shape, value.shape, strict=True))
    ):
        return NOTHING
    if new.dtype is None or value.dtype.name == new.dtype:
        return value
    try:
        if not np.can_cast(value.dtype, np.dtype(new.dtype), "safe"):
            return NOTHING
    except TypeError:  # a dtype that numpy alone does not know
        return NOTHING
    return value.astype(new.dtype)
