"""The laws, for schemas that are lowered: what comes back, by every codec, in views too, and of bytes that are damaged."""

from __future__ import annotations

import dataclasses
import pickle
import random
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings

from tests.conformance.laws import INFO, assert_same, writer_of
from tests.lower.sources import Buyer, Colour, Fixed, Line, Order, Point, Stamp, fixed, orders
from zcser import registry
from zcser.core.codec import LEDGER
from zcser.core.errors import DecodeError, EncodeError, ReleasedViewError, UnsupportedOperation
from zcser.core.view import RecordView, at, release, to_value
from zcser.schema.from_python import schema_of
from zcser.schema.normal import normal

ORDER, FIXED = schema_of(Order), schema_of(Fixed)


def make(name: str, source: Any = ORDER, **options: Any) -> Any:
    trusted = {"allow_untrusted_code": True} if INFO[name].trusted_only else {}
    return registry.codec(name, source, **trusted, **options)


# Orders have no fixed size for the header, a map for KServe, whose parameters are scalars, and a union whose records stand-in
# classes stand for, which pickle cannot name.
CODECS = [name for name in INFO if name not in {"header", "kserve", "pickle"} and writer_of(name) is not None]
DECODERS = {name: make(name) for name in CODECS}
ENCODERS = {name: DECODERS[writer_of(name)] for name in CODECS}

quick = settings(deadline=None, suppress_health_check=list(HealthCheck))


@quick
@given(orders)
def test_what_comes_back_is_the_normal_value_and_views_show_it(order):
    expected = normal(ORDER, order)
    assert_same(normal(ORDER, expected, strict=True), expected)
    for name, codec in DECODERS.items():
        encoder = ENCODERS[name]
        data = encoder.encode(order)
        assert encoder.encode(expected) == data
        assert_same(codec.decode(data), expected)
        if "view" in codec.info.operations:
            view = codec.view(data)
            assert_same(to_value(view), expected)
            assert view.created == expected.created
            assert_same(to_value(view["what"]), expected.what)
            assert_same(to_value(view.lines), expected.lines)
            assert_same(dict(view.buyer.seen.items()), expected.buyer.seen)
            assert view["colours"] == expected.colours
            for key in expected.parents:
                assert codec.pointer(("parents", str(key), "note"))(view) == expected.parents[key].note
        if "encode_segments" in codec.info.operations and "decode_segments" in codec.info.operations:
            assert_same(codec.decode_segments(codec.encode_segments(order)), expected)
        if "encode_into" in codec.info.operations:
            room = bytearray(len(data) + 64)
            assert codec.encode_into(order, room) == len(data)
        if set(LEDGER) <= codec.info.operations:
            assert codec.dump(codec.convert(order)) == data
            assert_same(codec.restore(codec.load(data)), expected)


@quick
@given(fixed)
def test_a_record_of_value_types_has_a_fixed_layout(value):
    codec = make("header", FIXED)
    data = codec.encode(value)
    assert len(data) == codec.encoded_size(value)
    assert_same(codec.decode(data), normal(FIXED, value))
    assert_same(to_value(codec.view(data)), normal(FIXED, value))


ORDER_BY_HAND = Order(
    id=UUID(int=7),
    buyer=Buyer(
        fullName="Ada", born=date(1815, 12, 10), emails=frozenset({"a@b"}), seen={date(2026, 1, 2): datetime(1, 1, 1)}
    ),
    lines=[Line(UUID(int=8), Decimal("1.50"), Point(1), datetime(2026, 1, 2, tzinfo=UTC))],
    created=datetime(2026, 1, 2, 3, 4, 5, 6),
    opens=time(9, 30),
    took=timedelta(seconds=-1),
    colours={Colour.RED, Colour.BLUE},
    weights={0.5, -1.0},
    spans={(date(2026, 1, 2), date(2026, 1, 3)), ()},
    parents={UUID(int=9): Stamp(datetime(2026, 1, 2, tzinfo=UTC), "")},
    what={3, 1},
    stock={"sku": UUID(int=1), "counted": datetime(2026, 1, 2, tzinfo=timezone(timedelta(hours=2)))},
    file=Path("a/b"),
    host=IPv4Address("10.0.0.1"),
    peers=(IPv6Address("fe80::1"),),
)


def test_damaged_messages_are_decode_errors_or_values_of_the_schema():
    rng = random.Random(4)
    for name, codec in DECODERS.items():
        if codec.info.trusted_only:
            continue
        data = ENCODERS[name].encode(ORDER_BY_HAND)
        for _ in range(150):
            damaged = bytearray(data)
            for _ in range(rng.randint(1, 3)):
                damaged[rng.randrange(len(damaged))] = rng.choice((0, 1, 0x30, 0x39, 0x7F, 0xFF, rng.randrange(256)))
            try:
                value = codec.decode(bytes(damaged))
            except DecodeError:
                if "view" in codec.info.operations:
                    with pytest.raises(DecodeError):
                        to_value(codec.view(bytes(damaged)))
                continue
            assert_same(normal(ORDER, value, strict=True), value)
            if "view" in codec.info.operations:
                assert_same(to_value(codec.view(bytes(damaged))), value)


def test_codecs_are_pickled_shared_by_threads_and_immutable():
    expected = normal(ORDER, ORDER_BY_HAND)
    for name, codec in DECODERS.items():
        again = pickle.loads(pickle.dumps(codec))
        data = pickle.loads(pickle.dumps(ENCODERS[name])).encode(ORDER_BY_HAND)
        assert again.info == codec.info
        assert_same(again.decode(data), expected)
        with ThreadPoolExecutor(4) as pool:
            for found in pool.map(codec.decode, [data] * 8):
                assert_same(found, expected)
        with pytest.raises(AttributeError, match="immutable"):
            codec.schema = None


def test_info_is_that_of_the_codec_but_for_the_ledger_of_one_that_was_fused():
    for name, codec in DECODERS.items():
        plain = INFO[name]
        more = frozenset(LEDGER) if plain.fused else frozenset()
        expected = dataclasses.replace(make(name, dict[str, int]).info, operations=plain.operations | more, fused=False)
        assert codec.info == expected
        for operation in plain.operations:
            assert callable(getattr(codec, operation))


def test_a_missing_operation_is_told_in_the_codecs_own_words():
    with pytest.raises(UnsupportedOperation, match="codec 'json' has no view"):
        make("json").view(b"")
    assert not hasattr(make("json"), "view")


def test_a_schema_without_such_types_has_the_codec_itself():
    for name in INFO:
        if name not in {"header", "kserve"}:
            assert type(make(name, dict[str, int])) is registry.codec_class(name)


def test_views_of_orders_are_records_that_release():
    for name in ("protobuf", "flatbuffers", "flatbuffers-official", "simdjson"):
        if name not in DECODERS:
            continue
        view = DECODERS[name].view(ENCODERS[name].encode(ORDER_BY_HAND))
        assert isinstance(view, RecordView)
        assert at(view, "/lines/0/price") == Decimal("1.50")
        assert view.lines[0]["_sku"] == UUID(int=8)
        assert UUID(int=9) in view.parents
        assert UUID(int=10) not in view.parents
        assert 9 not in view.parents
        with pytest.raises(KeyError):
            view.parents[UUID(int=10)]
        assert view.what == {1, 3}
        assert "Ada" in repr(view.buyer)
        assert_same(pickle.loads(pickle.dumps(view)), normal(ORDER, ORDER_BY_HAND))
        lines = view.lines
        release(view)
        with pytest.raises(ReleasedViewError):
            view["created"]
        with pytest.raises(ReleasedViewError):
            lines[0]


@dataclasses.dataclass
class Chain:
    at: date
    next: Chain | None = None


def test_records_that_contain_themselves_are_bounded():
    def chain(length: int) -> Chain:
        found = Chain(date(2026, 1, 2))
        for _ in range(length - 1):
            found = Chain(date(2026, 1, 2), found)
        return found

    endless = chain(1)
    endless.next = endless
    for name in CODECS:
        if name in {"arrow", "thrift", "thrift-binary"}:
            continue  # Arrow's types are finite; Thrift's library has a bound of its own, 64 levels
        codec, encoder = make(name, Chain), make(writer_of(name), Chain)
        assert codec.decode(encoder.encode(chain(100))) == chain(100)
        for value in (chain(101), endless):
            with pytest.raises(EncodeError, match="nested deeper than 100 levels") as caught:
                encoder.encode(value)
            assert caught.value.path == "/next" * 100


def test_lines_of_json_are_lifted_one_by_one():
    codec = make("json")
    data = codec.encode_lines([ORDER_BY_HAND, ORDER_BY_HAND])
    found = list(codec.decode_lines(data))
    assert len(found) == 2
    assert_same(found[1], normal(ORDER, ORDER_BY_HAND))
    if "simdjson" in DECODERS:
        assert [view.took for view in DECODERS["simdjson"].view_lines(data)] == [timedelta(seconds=-1)] * 2


def test_a_value_that_is_refused_in_a_line_has_its_line_and_its_path():
    codec = make("json", list[Decimal])
    with pytest.raises(DecodeError, match="no decimal") as caught:
        list(codec.decode_lines(b'["1"]\n\n["2", "x"]\n'))
    assert (caught.value.line, caught.value.path) == (3, "/1")
    with pytest.raises(EncodeError, match="decimal is needed"):
        codec.encode_lines([[Decimal(1)], [1.5]])


def test_a_place_of_a_message_is_patched_with_a_lowered_value():
    codec = make("flatbuffers", Fixed)
    value = Fixed(
        id=UUID(int=1),
        at=datetime(2026, 1, 2, tzinfo=UTC),
        local=datetime(2026, 1, 2),
        day=date(2026, 1, 2),
        clock=time(1),
        took=timedelta(1),
        either=datetime(2026, 1, 2),
        days=[date(2026, 1, 2)] * 2,
        name="n",
        raw=b"abc",
    )
    message = bytearray(codec.encode(value))
    codec.patch(message, "/day", date(2027, 3, 4))
    codec.patcher("/took", ("at",))(message, timedelta(2), datetime(2027, 3, 4, tzinfo=UTC))
    expected = dataclasses.replace(value, day=date(2027, 3, 4), took=timedelta(2), at=datetime(2027, 3, 4, tzinfo=UTC))
    assert_same(codec.decode(message), expected)
    before = bytes(message)
    with pytest.raises(EncodeError, match="date is needed"):
        codec.patch(message, "/day", "2027-03-04")
    assert message == before
