"""Wire forms of dates, decimals and UUIDs; expected values are arithmetic by hand, published, or the standard library's."""

from __future__ import annotations

import calendar
import ipaddress
import json
import pickle
import struct
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Context, Decimal, localcontext
from pathlib import Path
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import msgpack
import pytest

import zcser
from zcser.core.errors import DecodeError, EncodeError
from zcser.core.fidelity import difference
from zcser.schema.annotations import AwareDatetime, NaiveDatetime
from zcser.schema.normal import normal

EAST = timezone(timedelta(hours=5, minutes=30))
MOMENT = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
SECONDS = calendar.timegm((2026, 1, 2, 3, 4, 5))

# A value, what is in its place in binary formats, and in formats of text.
FORMS: dict[str, tuple[Any, Any, Any, Any]] = {
    "an instant": (AwareDatetime, MOMENT, SECONDS * 1_000_000 + 6, "2026-01-02T03:04:05.000006+00:00"),
    "the epoch": (AwareDatetime, datetime(1970, 1, 1, tzinfo=UTC), 0, "1970-01-01T00:00:00+00:00"),
    "before the epoch": (
        AwareDatetime,
        datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        -1,
        "1969-12-31T23:59:59.999999+00:00",
    ),
    "the first instant": (
        AwareDatetime,
        datetime(1, 1, 1, tzinfo=UTC),
        -719_162 * 86_400 * 10**6,
        "0001-01-01T00:00:00+00:00",
    ),
    "an instant in the east": (
        AwareDatetime,
        MOMENT.astimezone(EAST),
        SECONDS * 1_000_000 + 6,
        "2026-01-02T03:04:05.000006+00:00",
    ),
    "a wall clock": (NaiveDatetime, datetime(1970, 1, 2), 86_400_000_000, "1970-01-02T00:00:00"),
    "either, naive": (datetime, datetime(2026, 1, 2), "2026-01-02T00:00:00", "2026-01-02T00:00:00"),
    "either, aware": (
        datetime,
        datetime(2026, 1, 2, tzinfo=EAST),
        "2026-01-02T00:00:00+05:30",
        "2026-01-02T00:00:00+05:30",
    ),
    "a day": (date, date(1970, 2, 1), 31, "1970-02-01"),
    "the last day": (date, date(9999, 12, 31), 2_932_896, "9999-12-31"),
    "a time": (time, time(1, 2, 3, 4), 3_723_000_004, "01:02:03.000004"),
    "a span": (timedelta, timedelta(days=1, microseconds=-1), 86_399_999_999, 86_399_999_999),
    "a span back": (timedelta, timedelta(seconds=-1), -1_000_000, -1_000_000),
    "money": (Decimal, Decimal("1.50"), "1.50", "1.50"),
    "minus zero": (Decimal, Decimal("-0E+3"), "-0E+3", "-0E+3"),
    "no number": (Decimal, Decimal("sNaN12"), "sNaN12", "sNaN12"),
    # RFC 9562, appendix A.1.
    "a uuid": (
        UUID,
        UUID("C232AB00-9414-11EC-B3C8-9F6BDECED846"),
        bytes.fromhex("c232ab00941411ecb3c89f6bdeced846"),
        "c232ab00-9414-11ec-b3c8-9f6bdeced846",
    ),
    "a path": (Path, Path("a") / "b", "a/b", "a/b"),
    "an address": (ipaddress.IPv6Address, ipaddress.IPv6Address("2001:DB8::1"), "2001:db8::1", "2001:db8::1"),
    "a network": (ipaddress.IPv4Network, ipaddress.IPv4Network("10.0.0.0/8"), "10.0.0.0/8", "10.0.0.0/8"),
    "a set": (set[int], {3, -1, 2}, [-1, 2, 3], [-1, 2, 3]),
    "a set of text": (frozenset[str], frozenset("bca"), ["a", "b", "c"], ["a", "b", "c"]),
    "a set of days": (set[date], {date(1970, 1, 3), date(1970, 1, 2)}, [1, 2], ["1970-01-02", "1970-01-03"]),
    "keys": (
        dict[UUID, date],
        {UUID(int=5): date(1970, 1, 1)},
        {str(UUID(int=5)): 0},
        {str(UUID(int=5)): "1970-01-01"},
    ),
    "keys that are days": (dict[date, int], {date(1970, 1, 3): 1}, {2: 1}, {"1970-01-03": 1}),
}


@pytest.mark.parametrize("case", FORMS)
def test_a_value_stands_as_its_documented_wire_form(case):
    hint, value, binary, text = FORMS[case]
    packed, written = zcser.codec("msgpack", hint).encode(value), zcser.codec("json", hint).encode(value)
    assert msgpack.unpackb(packed, strict_map_key=False) == binary
    assert json.loads(written) == text
    expected = normal(hint, value)
    assert difference(zcser.codec("msgpack", hint).decode(packed), expected) is None
    assert difference(zcser.codec("json", hint).decode(written), expected) is None


def test_a_fixed_layout_holds_the_numbers_little_endian():
    assert zcser.codec("header", AwareDatetime).encode(MOMENT) == struct.pack("<q", SECONDS * 1_000_000 + 6)
    assert zcser.codec("header", UUID).encode(UUID(int=5)) == UUID(int=5).bytes


@pytest.mark.parametrize(
    ("hint", "value", "expected"),
    [
        (AwareDatetime, MOMENT.astimezone(EAST), MOMENT),
        (AwareDatetime, datetime(2026, 7, 1, 14, tzinfo=ZoneInfo("Europe/Berlin")), datetime(2026, 7, 1, 12, tzinfo=UTC)),
        (datetime, datetime(2026, 7, 1, tzinfo=ZoneInfo("Europe/Berlin")), datetime(2026, 7, 1, tzinfo=timezone(timedelta(hours=2)))),
        (datetime, datetime(2026, 7, 1, fold=1), datetime(2026, 7, 1)),
        # The second of the two hours that Berlin has in this night.
        (
            AwareDatetime,
            datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Berlin")),
            datetime(2026, 10, 25, 1, 30, tzinfo=UTC),
        ),
        (time, time(1, fold=1), time(1)),
        (set[int], frozenset({1}), {1}),
        (frozenset[float], {1}, frozenset({1.0})),
    ],
)  # fmt: skip
def test_what_normal_changes_strict_refuses(hint, value, expected):
    assert difference(normal(hint, value), expected) is None
    assert difference(normal(hint, expected, strict=True), expected) is None
    codec, strict = zcser.codec("msgpack", hint), zcser.codec("msgpack", hint, strict=True)
    assert difference(codec.decode(codec.encode(value)), expected) is None
    with pytest.raises(EncodeError, match="strict"):
        strict.encode(value)
    assert strict.encode(expected) == codec.encode(value)


class Moment(datetime):
    """A subclass, as those of pendulum and freezegun are."""


class Timestamp(datetime):
    """As that of pandas."""

    nanosecond = 7


class NoOffset(tzinfo):
    def utcoffset(self, _when):
        return None


def test_a_subclass_becomes_its_base_unless_it_is_finer():
    for hint, value in (
        (datetime, Moment(2026, 1, 2)),
        (NaiveDatetime, Moment(2026, 1, 2)),
        (UUID, type("U", (UUID,), {})(int=5)),
    ):
        found = normal(hint, value)
        assert type(found) in (datetime, UUID)
        assert found == value
    with pytest.raises(EncodeError, match="finer than a microsecond"):
        normal(datetime, Timestamp(2026, 1, 2))


@pytest.mark.parametrize(
    ("hint", "value", "word"),
    [
        (AwareDatetime, datetime(2026, 1, 2), "NaiveDatetime"),
        (AwareDatetime, datetime(1, 1, 1, tzinfo=EAST), "outside the years"),
        (NaiveDatetime, MOMENT, "AwareDatetime"),
        (datetime, datetime(2026, 1, 2, tzinfo=NoOffset()), "no offset"),
        (datetime, datetime(2026, 1, 2, tzinfo=timezone(timedelta(microseconds=1))), "no whole number of seconds"),
        (datetime, "2026-01-02", "datetime is needed, not str"),
        (date, MOMENT, "time would be lost"),
        (time, time(1, tzinfo=UTC), "use a datetime"),
        (timedelta, timedelta.max, "64 bits"),
        (Decimal, 1.5, "decimal is needed"),
        (UUID, str(UUID(int=5)), "uuid is needed"),
        (Path, Path("\udc80"), "surrogate"),
        (ipaddress.IPv4Address, ipaddress.IPv4Interface("10.0.0.1/8"), "IPv4Interface"),
        (set[int], [1], "set of int64 is needed, not list"),
        (set[int], {1.0}, "int64 is needed"),
        (set[float], {2**53, float(2**53), 2**53 + 1} - {2**53}, "exact"),
    ],
)
def test_what_has_no_form_is_refused_with_its_path(hint, value, word):
    for name in ("json", "msgpack", "protobuf", "flatbuffers"):
        with pytest.raises(EncodeError, match=word) as caught:
            zcser.codec(name, dict[str, list[hint]]).encode({"a": [value]})
        assert caught.value.path.startswith("/a/0")
        assert caught.value.codec == name


@pytest.mark.parametrize(
    ("hint", "wire", "path"),
    [
        (AwareDatetime, {"b": ["2026-01-02T03:04:05"]}, "/b/0"),
        (AwareDatetime, {"b": ["2026-01-02T03:04:05.123456789Z"]}, "/b/0"),
        (AwareDatetime, {"b": ["0001-01-01T00:00:00+05:00"]}, "/b/0"),
        (NaiveDatetime, {"b": ["2026-01-02T03:04:05Z"]}, "/b/0"),
        (datetime, {"b": ["2026-01-02T03:04:05", "2026-01-02"]}, "/b/1"),
        (datetime, {"b": ["20260102T030405.1234567"]}, "/b/0"),
        (datetime, {"b": ["2026-01-02T03:04:05+00:00:01.5"]}, "/b/0"),
        (datetime, {"b": ["2026-01-02T03:04:05,5+01:00", "2026-01-02T03:04:05.123456+00:00:00.0000009"]}, "/b/1"),
        (date, {"b": ["2026-02-30"]}, "/b/0"),
        (time, {"b": ["25:00"]}, "/b/0"),
        (time, {"b": ["01:02:03.1234567"]}, "/b/0"),
        (time, {"b": ["01:02:03+01:00"]}, "/b/0"),
        (Decimal, {"b": ["1,5"]}, "/b/0"),
        (UUID, {"b": ["c232ab00-9414-11ec"]}, "/b/0"),
        (ipaddress.IPv4Address, {"b": ["10.0.0.256"]}, "/b/0"),
        (set[int], {"b": [[1, 2], [3, 3]]}, "/b/1"),
        (dict[Decimal, int], {"b": [{"1.0": 1, "1.00": 2}]}, "/b/0"),
        (dict[date, int], {"b": [{"1970-13-01": 1}]}, "/b/0/1970-13-01"),
        (date | str, {"b": [{"Date": {"value": "x"}}]}, "/b/0"),
    ],
)
def test_text_that_is_no_such_value_is_a_decode_error_with_its_path(hint, wire, path):
    with pytest.raises(DecodeError) as caught:
        zcser.codec("json", dict[str, list[hint]]).decode(json.dumps(wire).encode())
    assert caught.value.path == path


def test_numbers_out_of_range_are_decode_errors():
    for hint, number in (
        (AwareDatetime, 2**62),
        (NaiveDatetime, -(2**62)),
        (date, 3_000_000),
        (time, 86_400 * 10**6),
        (time, -1),
    ):
        with pytest.raises(DecodeError) as caught:
            zcser.codec("msgpack", list[hint]).decode(msgpack.packb([number]))
        assert caught.value.path == "/0"


def test_other_writers_of_rfc_3339_are_read():
    codec = zcser.codec("json", list[AwareDatetime])
    found = codec.decode(
        b'["2026-01-02T03:04:05.000006Z", "2026-01-02T08:34:05.000006000+05:30", "2026-01-02 03:04:05.000006+00:00"]'
    )
    assert difference(found, [MOMENT] * 3) is None


def test_a_uuid_of_text_is_what_its_class_makes_of_the_text():
    codec = zcser.codec("json", UUID)
    text = "c232ab00-9414-11ec-b3c8-9f6bdeced846"
    forms = [
        text,
        text.upper(),
        text.replace("-", ""),
        f"{{{text}}}",
        f"urn:uuid:{text}",
        "c2_32ab0094-1411ecb3c89f6bdeced84",
    ]
    for form in forms:
        found, wanted = codec.decode(json.dumps(form).encode()), UUID(form)
        assert (found, found.is_safe, hash(found), pickle.dumps(found)) == (
            wanted,
            wanted.is_safe,
            hash(wanted),
            pickle.dumps(wanted),
        )
        assert codec.encode(found) == f'"{wanted}"'.encode()
    for form in ("", text[:-1], text + "0", "g" + text[1:], "_" + text[1:], "0x" + "-" * 4 + text[2:] + "u"):
        with pytest.raises(DecodeError):
            codec.decode(json.dumps(form).encode())


@pytest.mark.parametrize("seconds", [863, -1, -86_399, 5 * 3600 + 53 * 60 + 28])
def test_an_offset_of_seconds_comes_back(seconds):
    # As of local mean times, which zones had before they were standardised (Kolkata's was +05:53:28).
    zone = timezone(timedelta(seconds=seconds))
    moments = [datetime(1849, 12, 9, 20, 17, 23, micro, zone) for micro in (0, 6, 120_000)]
    for name in ("json", "msgpack"):
        codec = zcser.codec(name, list[datetime])
        assert difference(codec.decode(codec.encode(moments)), moments) is None


def test_no_context_of_decimals_lets_text_become_nan():
    with localcontext(Context(traps=[])), pytest.raises(DecodeError):
        zcser.codec("json", Decimal).decode(b'"abc"')


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (Decimal("1.0"), Decimal("1.00")),
        (Decimal("NaN"), Decimal("NaN1")),
        (MOMENT, MOMENT.astimezone(EAST)),
        (MOMENT, MOMENT.replace(tzinfo=None)),
        (datetime(2026, 1, 2), datetime(2026, 1, 2, fold=1)),
        (datetime(2026, 1, 2), date(2026, 1, 2)),
        ({1}, {True}),
        ({1}, frozenset({1})),
        ({0.0}, {-0.0}),
        ({(1, 0.0)}, {(1, -0.0)}),
        ({1}, {1, 2}),
    ],
)
def test_values_that_python_calls_equal_may_differ(left, right):
    assert not zcser.equal(left, right)
    assert not zcser.equal([right], [left])


def test_values_that_python_calls_different_may_be_equal():
    nan = float("nan")
    assert zcser.equal({nan, float("nan")}, {float("nan"), nan})
    assert zcser.equal(Decimal("sNaN"), Decimal("sNaN"))
    assert zcser.equal(datetime(2026, 1, 2, tzinfo=timezone(timedelta(0), "GMT")), datetime(2026, 1, 2, tzinfo=UTC))


def test_equal_sets_have_equal_bytes():
    # Small ints lie in a set by value, modulo its size: 0 and 8 collide, and come out as they went in.
    one, other = {0, 8}, {8, 0}
    assert list(one) != list(other)
    for name in ("json", "msgpack", "protobuf", "flatbuffers", "pickle5"):
        codec = zcser.codec(name, set[int])
        assert codec.encode(one) == codec.encode(other)
