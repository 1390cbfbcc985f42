"""Values that Python has a class for and formats have not: dates, decimals, UUIDs, paths, addresses.

1. Each stands in a message as a *wire form*: one scalar of the schema, that every codec carries. Formats of text have a
   form of text, the others one of numbers or bytes where that is exact:

   ================ =================================== ===============================================================
   name             in binary formats                   in formats of text
   ================ =================================== ===============================================================
   datetime         ISO 8601 text, offset kept          the same
   datetime_utc     int64: microseconds since 1970 UTC  ISO 8601 text with ``+00:00``; any offset is read
   datetime_naive   int64: microseconds since 1970      ISO 8601 text without offset
   date             int32: days since 1970-01-01        ISO 8601 text
   time             int64: microseconds since midnight  ISO 8601 text
   timedelta        int64: microseconds                 the same
   decimal          ``str(value)``, which is exact      the same
   uuid             16 bytes, big-endian (RFC 9562)     text with hyphens
   path, ipv4, ...  ``str(value)``                      the same
   ================ =================================== ===============================================================

2. A key of a map stands as an int or text: where the binary form is neither, as its text.
3. `datetime` is aware or naive as each value is. Only text can say both; a field that is declared to be one of them is a
   number. A `datetime_utc` is an instant: its `normal` form is in UTC. A `datetime` keeps its offset, and loses the name
   of its zone.
4. The functions that write take normal values alone, and raise whatever they like for others: `zcser.schema.normal`
   makes a value normal, or says why there is no such thing.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID, SafeUUID

from zcser.schema.types import Bytes, Int, Kind, Logical, Str, Type

__all__ = ["LOGICAL_OF", "VALUE_TYPES", "ValueType", "WireForm", "wire_form"]


@dataclass(frozen=True, slots=True)
class WireForm:
    """What values stand as: a type of the schema, and the functions to it and back."""

    type: Type
    lower: Callable[[Any], Any]
    lift: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class ValueType:
    """A class of values.

    Attributes
    ----------
    cls
        The exact class of normal values.
    binary, text
        Wire forms.
    normal
        The normal form of an instance of `cls` or of a subclass, the same object where it is normal. Raises ValueError
        with the reason where there is none.
    """

    cls: type
    binary: WireForm
    text: WireForm
    normal: Callable[[Any], Any]


def wire_form(logical: Logical, *, text: bool, key: bool = False) -> WireForm:
    """The form in which values stand in formats of text or in others, as keys of maps or elsewhere."""
    found = VALUE_TYPES[logical.name]
    if text or (key and found.binary.type.kind not in (Kind.INT, Kind.STR)):
        return found.text
    return found.binary


class _NotNormalError(ValueError):
    """A value that is not normal was to be written."""


_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - of naive values
_EPOCH_UTC = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_MICROSECONDS = 1_000_000
_DAY = 86_400


# datetime ---------------------------------------------------------------------------------------------------------------


def _plain(value: Any, cls: type[datetime | date | time]) -> None:
    """Refuse what an instance of a subclass has besides."""
    if type(value) is not cls and getattr(value, "nanosecond", False):  # pandas.Timestamp, and its NaT
        raise ValueError(f"a {type(value).__name__} that is finer than a microsecond")


def _moved(value: datetime, zone: timezone | None) -> datetime:
    """The same wall clock, as an exact datetime in another zone."""
    return datetime(
        value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond, zone
    )  # fmt: skip


def _normal_datetime(value: datetime) -> datetime:
    zone = value.tzinfo
    if type(value) is datetime and not value.fold and (zone is None or _is_plain_zone(zone)):
        return value
    _plain(value, datetime)
    if zone is None:
        return _moved(value, None)
    offset = value.utcoffset()
    if offset is None:
        raise ValueError("a datetime whose time zone has no offset")
    if offset.microseconds:
        raise ValueError("a datetime whose offset is no whole number of seconds")
    return _moved(value, timezone(offset))


def _is_plain_zone(zone: tzinfo) -> bool:
    """Whether a zone is an offset alone, of whole seconds: what others write CPython 3.11 may read as UTC."""
    return zone is UTC or (type(zone) is timezone and not zone.utcoffset(None).microseconds)


def _normal_utc(value: datetime) -> datetime:
    if type(value) is datetime and value.tzinfo is UTC and not value.fold:
        return value
    _plain(value, datetime)
    offset = value.utcoffset()
    if offset is None:
        raise ValueError("a datetime without a time zone; give it one, or annotate the field with NaiveDatetime")
    try:
        return (_moved(value, None) - offset).replace(tzinfo=UTC)
    except OverflowError:
        raise ValueError("a datetime that is outside the years 1 to 9999 in UTC") from None


def _normal_naive(value: datetime) -> datetime:
    if value.tzinfo is not None:
        raise ValueError("a datetime with a time zone; take it off, or annotate the field with AwareDatetime")
    if type(value) is datetime and not value.fold:
        return value
    _plain(value, datetime)
    return _moved(value, None)


def _of_span(span: timedelta) -> int:
    return (span.days * _DAY + span.seconds) * _MICROSECONDS + span.microseconds


def _to_text(value: datetime) -> str:
    if value.__class__ is not datetime or value.fold:
        raise _NotNormalError
    if value.tzinfo is not None and not _is_plain_zone(value.tzinfo):
        raise _NotNormalError
    return value.isoformat()


def _utc_to_int(value: datetime) -> int:
    if value.__class__ is not datetime or value.tzinfo is not UTC or value.fold:
        raise _NotNormalError
    return _of_span(value - _EPOCH_UTC)


def _utc_to_text(value: datetime) -> str:
    if value.__class__ is not datetime or value.tzinfo is not UTC or value.fold:
        raise _NotNormalError
    return value.isoformat()


def _utc_of_int(number: int) -> datetime:
    return _EPOCH_UTC + timedelta(0, 0, number)


def _naive_to_int(value: datetime) -> int:
    if value.__class__ is not datetime or value.tzinfo is not None or value.fold:
        raise _NotNormalError
    return _of_span(value - _EPOCH)


def _naive_to_text(value: datetime) -> str:
    if value.__class__ is not datetime or value.tzinfo is not None or value.fold:
        raise _NotNormalError
    return value.isoformat()


def _naive_of_int(number: int) -> datetime:
    return _EPOCH + timedelta(0, 0, number)


# With hyphens and a T the zone, or a fraction and then the zone, stand behind the 19th character. Python cuts off what is
# beyond microseconds, and takes fractions in zones, which no datetime of ours has.
_TO_MICROSECONDS = re.compile(r".{4}-.{14}(?:[.,][0-9]{0,6}0*(?![0-9]))?[^.,]*", re.DOTALL)


def _datetime_of_text(text: str) -> datetime:
    value = datetime.fromisoformat(text)
    if _TO_MICROSECONDS.fullmatch(text) is None:
        raise ValueError("a date and a time to microseconds are needed, as 2026-01-02T03:04:05.000006+00:00")
    return value


def _utc_of_text(text: str) -> datetime:
    value = _datetime_of_text(text)
    if value.tzinfo is None:
        raise ValueError("a time zone is needed")
    return value if value.tzinfo is UTC else value.astimezone(UTC)


def _naive_of_text(text: str) -> datetime:
    value = _datetime_of_text(text)
    if value.tzinfo is not None:
        raise ValueError("there must be no time zone")
    return value


# date, time, timedelta --------------------------------------------------------------------------------------------------


def _normal_date(value: date) -> date:
    if isinstance(value, datetime):
        raise ValueError("a datetime, whose time would be lost; use .date()")  # noqa: TRY004 - a value, of a date's subclass
    return value if type(value) is date else date(value.year, value.month, value.day)


def _date_to_int(value: date) -> int:
    if value.__class__ is not date:
        raise _NotNormalError
    return value.toordinal() - _EPOCH_DAY


def _date_of_int(number: int) -> date:
    return date.fromordinal(number + _EPOCH_DAY)


def _date_to_text(value: date) -> str:
    if value.__class__ is not date:
        raise _NotNormalError
    return value.isoformat()


def _normal_time(value: time) -> time:
    if value.tzinfo is not None:
        raise ValueError("a time with a time zone has no form, as an offset needs a date; use a datetime")
    if type(value) is time and not value.fold:
        return value
    _plain(value, time)
    return time(value.hour, value.minute, value.second, value.microsecond)


def _time_to_int(value: time) -> int:
    if value.__class__ is not time or value.tzinfo is not None or value.fold:
        raise _NotNormalError
    return ((value.hour * 60 + value.minute) * 60 + value.second) * _MICROSECONDS + value.microsecond


def _time_of_int(number: int) -> time:
    seconds, microsecond = divmod(number, _MICROSECONDS)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return time(hour, minute, second, microsecond)


def _time_to_text(value: time) -> str:
    if value.__class__ is not time or value.tzinfo is not None or value.fold:
        raise _NotNormalError
    return value.isoformat()


def _time_of_text(text: str) -> time:
    value = time.fromisoformat(text)
    if value.tzinfo is not None or (len(text) > 15 and text[2] == ":" and text[15:].strip("0")):
        raise ValueError("a time without a zone, to microseconds, is needed, as 03:04:05.000006")
    return value


_MOST = (1 << 63) - 1


def _normal_span(value: timedelta) -> timedelta:
    if type(value) is not timedelta:
        if getattr(value, "nanoseconds", False):  # pandas.Timedelta
            raise ValueError(f"a {type(value).__name__} that is finer than a microsecond")
        value = timedelta(value.days, value.seconds, value.microseconds)
    if not -_MOST - 1 <= _of_span(value) <= _MOST:
        raise ValueError("a timedelta of more microseconds than 64 bits hold")
    return value


def _span_to_int(value: timedelta) -> int:
    if value.__class__ is not timedelta:
        raise _NotNormalError
    return _of_span(value)


def _span_of_int(number: int) -> timedelta:
    return timedelta(0, 0, number)


# Decimal, UUID, and what is its text --------------------------------------------------------------------------------------


def _normal_decimal(value: Decimal) -> Decimal:
    return value if type(value) is Decimal else Decimal(value)


def _decimal_to_text(value: Decimal) -> str:
    if value.__class__ is not Decimal:
        raise _NotNormalError
    return str(value)


def _decimal_of_text(text: str) -> Decimal:
    value = Decimal(text)
    # Where the caller's context has no trap for what is no number, that became NaN.
    if value.is_nan() and "nan" not in text.lower():
        raise ValueError("no decimal number")
    return value


def _normal_uuid(value: UUID) -> UUID:
    return value if type(value) is UUID else UUID(int=value.int)


def _uuid_to_bytes(value: UUID) -> bytes:
    if value.__class__ is not UUID:
        raise _NotNormalError
    return value.int.to_bytes(16)


def _uuid_of_bytes(data: bytes | memoryview) -> UUID:
    return _uuid_of_int(int.from_bytes(data)) if len(data) == 16 else UUID(bytes=bytes(data))


def _uuid_to_text(value: UUID) -> str:
    if value.__class__ is not UUID:
        raise _NotNormalError
    digits = value.int.to_bytes(16).hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def _uuid_of_text(text: str) -> UUID:
    digits = text.replace("-", "")
    if len(digits) == 32:
        try:
            return _uuid_of_int(int(digits, 16))
        except ValueError:
            pass
    # With braces or a prefix; or it is none, and the class has the words.
    return UUID(text)


_new, _set, _UNKNOWN = object.__new__, object.__setattr__, SafeUUID.unknown


def _uuid_of_int(number: int) -> UUID:
    """As ``UUID(int=number)``, whose constructor takes several times as long to find out which argument it was given."""
    value = _new(UUID)
    _set(value, "int", number)
    _set(value, "is_safe", _UNKNOWN)
    return value


def _text_type(cls: type) -> ValueType:
    """A class whose instances are made of their own text."""

    def normal(value: Any) -> Any:
        if type(value) is not cls:
            raise ValueError(f"a {cls.__name__} is needed, not {type(value).__name__}")
        return value

    def lower(value: Any) -> str:
        if value.__class__ is not cls:
            raise _NotNormalError
        return str(value)

    form = WireForm(Str(), lower, cls)
    return ValueType(cls, form, form, normal)


_I32, _I64, _TEXT = Int(32), Int(64), Str()
_DATETIME = WireForm(_TEXT, _to_text, _datetime_of_text)
_SPAN = WireForm(_I64, _span_to_int, _span_of_int)
_DECIMAL = WireForm(_TEXT, _decimal_to_text, _decimal_of_text)

VALUE_TYPES: dict[str, ValueType] = {
    # At most 42 characters, as 9999-12-31T23:59:59.999999+23:59:59.999999, so that fixed layouts have it too.
    "datetime": ValueType(datetime, WireForm(Str(42), _to_text, _datetime_of_text), _DATETIME, _normal_datetime),
    "datetime_utc": ValueType(
        datetime, WireForm(_I64, _utc_to_int, _utc_of_int), WireForm(_TEXT, _utc_to_text, _utc_of_text), _normal_utc
    ),
    "datetime_naive": ValueType(
        datetime,
        WireForm(_I64, _naive_to_int, _naive_of_int),
        WireForm(_TEXT, _naive_to_text, _naive_of_text),
        _normal_naive,
    ),
    "date": ValueType(
        date,
        WireForm(_I32, _date_to_int, _date_of_int),
        WireForm(_TEXT, _date_to_text, date.fromisoformat),
        _normal_date,
    ),
    "time": ValueType(
        time, WireForm(_I64, _time_to_int, _time_of_int), WireForm(_TEXT, _time_to_text, _time_of_text), _normal_time
    ),
    "timedelta": ValueType(timedelta, _SPAN, _SPAN, _normal_span),
    "decimal": ValueType(Decimal, _DECIMAL, _DECIMAL, _normal_decimal),
    "uuid": ValueType(
        UUID,
        WireForm(Bytes(16), _uuid_to_bytes, _uuid_of_bytes),
        WireForm(_TEXT, _uuid_to_text, _uuid_of_text),
        _normal_uuid,
    ),
    "path": _text_type(type(Path())),
    "ipv4": _text_type(ipaddress.IPv4Address),
    "ipv6": _text_type(ipaddress.IPv6Address),
    "ipv4_network": _text_type(ipaddress.IPv4Network),
    "ipv6_network": _text_type(ipaddress.IPv6Network),
}

LOGICAL_OF: dict[type, Logical] = {Path: Logical("path")}
"""What an annotation of a class means."""
for _name, _type in VALUE_TYPES.items():
    LOGICAL_OF.setdefault(_type.cls, Logical(_name))
