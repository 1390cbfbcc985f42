"""The encoder in Python. What it writes is read by the official runtime, held against bytes laid out by hand, and equal to
what the C engine writes, where that is built."""

from __future__ import annotations

import dataclasses
import itertools
import struct
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import zcser
from tests.conformance.laws import make
from tests.conformance.schemas import CASES, Node, Point
from tests.conformance.strategies import samples
from zcser.core.buffers import address
from zcser.core.errors import BufferTooSmallError, EncodeError, SchemaError
from zcser.core.options import Limits, Options
from zcser.flat.plan import layout_of
from zcser.flat.program import Program, program_of
from zcser.flat.pure import write as pure_write
from zcser.flat.pure.write import PureWriter
from zcser.schema.annotations import Int32
from zcser.schema.from_python import schema_of
from zcser.schema.model import Float, Int, List, Schema
from zcser.schema.normal import Normaliser


def carried() -> dict[str, Schema]:
    found = {}
    for name, schema in CASES.items():
        try:
            layout_of(schema)
        except SchemaError:
            continue
        found[name] = schema
    return found


CARRIED = carried()


def program(source: Any) -> Program:
    return program_of(layout_of(schema_of(source)))


def normaliser(source: Any, options: Options) -> Normaliser:
    return Normaliser(schema_of(source), strict=options.strict, finite=False, limits=options.limits)


def writer(source: Any, options: Options | None = None) -> PureWriter:
    options = options or Options()
    return PureWriter(program(source), options, normal=normaliser(source, options))


def make_dirty(used: PureWriter) -> None:
    """Fill the memory that the next message is written into."""
    for scratch in used._pool:
        scratch.memory[:] = b"\xaa" * len(scratch.memory)


def normal_samples(name: str, count: int) -> list[Any]:
    """Values of a case, plain and loose, and without those that `normal` refuses."""
    schema, found = CARRIED[name], []
    for value in (*samples(schema, count), *samples(schema, count, loose=True)):
        try:
            zcser.normal(schema, value)
        except EncodeError:
            continue
        found.append(value)
    return found


# --- what is written ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CARRIED)
def test_the_official_runtime_reads_what_was_written_over_dirty_memory(name: str) -> None:
    official, own = make("flatbuffers-official", name), writer(CARRIED[name])
    for value in normal_samples(name, 6):
        message = own.encode(value)
        assert zcser.equal(official.decode(message), zcser.normal(CARRIED[name], value))
        make_dirty(own)
        assert own.encode(value) == message


@pytest.mark.parametrize("name", CARRIED)
def test_every_way_to_encode_gives_the_same_bytes(name: str) -> None:
    own = writer(CARRIED[name])
    for value in normal_samples(name, 5):
        message = own.encode(value)
        out = bytearray(b"\xaa" * (len(message) + 16))
        assert own.encode_into(value, out, 8) == own.encoded_size(value) == len(message)
        assert out == b"\xaa" * 8 + message + b"\xaa" * 8
        assert b"".join(own.encode_segments(value)) == message


@pytest.mark.parametrize("name", CARRIED)
@pytest.mark.parametrize("size", [8, 100])
def test_memory_that_grows_changes_nothing(name: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = writer(CARRIED[name])
    monkeypatch.setattr(pure_write, "_SMALLEST", size)
    for value in normal_samples(name, 3):
        small = writer(CARRIED[name])
        assert small.scratch_size == size
        assert small.encode(value) == expected.encode(value)


@pytest.mark.parametrize("name", CARRIED)
@pytest.mark.parametrize(
    "options", [Options(), Options(strict=True), Options(limits=Limits(depth=3, elements=3, bytes=400))], ids=str
)
def test_the_c_engine_writes_the_same_bytes_and_refuses_the_same_values(name: str, options: Options) -> None:
    pytest.importorskip("zcser.native._flat")
    from zcser.flat.native.engine import make_engine

    schema = CARRIED[name]
    normal = normaliser(schema, options)
    own = PureWriter(program(schema), options, codec="flatbuffers", normal=normal)
    engine = make_engine(program(schema), options, codec="flatbuffers", normal=normal)

    def outcome(encode: Any, value: Any) -> Any:
        try:
            return encode(value)
        except EncodeError as error:
            return str(error)

    for value in (*samples(schema, 8), *samples(schema, 8, loose=True), *samples(schema, 8, junk=True)):
        assert outcome(own.encode, value) == outcome(engine.encode, value)
        assert outcome(own.encode_segments, value) == outcome(engine.encode_segments, value)


@dataclasses.dataclass
class Pair:
    number: Int32
    text: str | None


def test_bytes_laid_out_by_hand() -> None:
    # The root's offset; the vtable of 2 slots; the table: number and string by number; the string.
    expected = struct.pack("<I 4H iiI I3sx", 12, 8, 12, 4, 8, 8, -5, 4, 3, b"abc")
    assert writer(Pair).encode(Pair(-5, "abc")) == expected
    # The vtable ends with the last slot that is there, and is padded.
    assert writer(Pair).encode(Pair(1, None)) == struct.pack("<I 3H2x ii", 12, 6, 8, 4, 8, 1)


def test_tables_of_one_form_share_a_vtable_and_stand_4_bytes_before_a_multiple_of_8() -> None:
    @dataclasses.dataclass
    class Points:
        points: list[Point]

    expected = struct.pack(
        "<I 3H2x iI III 4H 4x idf idf",
        *(12, 6, 8, 4, 8, 4),  # root; its vtable at 4; its table at 12
        *(2, 44 - 24, 60 - 28),  # the vector at 20
        *(8, 16, 4, 12),  # the points' vtable at 32; behind it, 40 would not do for a table
        *(44 - 32, 1.0, 2.0),
        *(60 - 32, 3.0, 4.0),
    )
    assert writer(Points).encode(Points([Point(1.0, 2.0), Point(3.0, 4.0)])) == expected


@dataclasses.dataclass
class Flags:
    a: bool | None
    b: bool | None
    c: bool | None
    d: bool | None
    e: bool | None
    f: bool | None


@dataclasses.dataclass
class ManyFlags:
    many: list[Flags]


def test_a_message_remembers_32_forms_of_a_node() -> None:
    forms = [Flags(*flags) for flags in itertools.product((True, None), repeat=6)]
    value = ManyFlags(forms)
    once, twice = (len(writer(ManyFlags).encode(ManyFlags(items))) for items in (forms, forms + forms))
    # All tables come twice, and so do the vtables of the 32 forms that come last.
    tables = sum(4 + -(-sum(flag is True for flag in dataclasses.astuple(form)) // 4) * 4 for form in forms)
    vtables = 0
    for form in forms[32:]:
        last = max((place for place, flag in enumerate(dataclasses.astuple(form), 1) if flag), default=0)
        vtables += -(-(4 + 2 * last) // 4) * 4
    assert twice - once == 64 * 4 + tables + vtables
    assert zcser.codec("flatbuffers-official", ManyFlags).decode(writer(ManyFlags).encode(value)) == value


# --- the tail, segments -------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Data:
    small: bytes
    large: bytes
    tensor: np.ndarray


def data(size: int = 300) -> Data:
    return Data(b"s" * 255, b"L" * size, np.arange(size, dtype=np.int16))


def test_large_data_stand_in_the_tail_at_multiples_of_64() -> None:
    message, value = writer(Data).encode(data()), data()
    small, large, tensor = (message.index(part) for part in (value.small, value.large, value.tensor.tobytes()))
    assert small < large < tensor
    assert (large % 64, tensor % 64) == (0, 0)
    assert message[large - 4 : large] == struct.pack("<I", 300)
    assert len(message) == tensor + 600


def test_segments_from_4096_bytes_on_alias_the_value() -> None:
    value = data(4096)
    segments = writer(Data).encode_segments(value)
    assert [len(segment) for segment in segments[1::2]] == [4096, 8192]
    assert [address(segment) for segment in segments[1::2]] == [address(value.large), address(value.tensor)]
    assert all(segment.readonly for segment in segments)
    assert len(writer(Data).encode_segments(data(2047))) == 1


def test_what_is_returned_does_not_alias_scratch_memory() -> None:
    own = writer(Data)
    segments = own.encode_segments(data())
    message = b"".join(segments)
    make_dirty(own)
    assert b"".join(segments) == message


# --- encode_into --------------------------------------------------------------------------------------------------------


def test_a_buffer_that_is_too_small_is_left_alone() -> None:
    own, out = writer(Data), bytearray(b"\xaa" * 100)
    with pytest.raises(BufferTooSmallError) as caught:
        own.encode_into(data(), out, 8)
    assert (caught.value.needed, caught.value.available) == (len(own.encode(data())), 92)
    assert out == b"\xaa" * 100


@pytest.mark.parametrize(
    ("value", "alignment"), [(Pair(1, "x"), 4), (Point(1.0, 2.0), 8), (data(), 8)], ids=["narrow", "double", "tensor"]
)
def test_an_address_that_does_not_fit_is_refused(value: Any, alignment: int) -> None:
    own = writer(type(value))
    memory = np.zeros(4096, np.uint8)
    first = -memory.ctypes.data % 64
    for offset in range(first, first + 16):
        if offset % 4 == first % 4 and (offset - first) % alignment == 0:
            assert own.encode_into(value, memory, offset) == len(own.encode(value))
        else:
            memory[:] = 7
            with pytest.raises(EncodeError, match=f"no multiple of {alignment}; pass another offset"):
                own.encode_into(value, memory, offset)
            assert (memory == 7).all()


def test_a_tensor_may_lie_in_the_buffer_that_is_written() -> None:
    memory = np.zeros(1024, np.int64)
    memory[:40] = np.arange(40)
    value = Data(b"", b"", memory[8:40])
    expected = writer(Data).encode(dataclasses.replace(value, tensor=value.tensor.copy()))
    size = writer(Data).encode_into(value, memory)
    assert memory.tobytes()[:size] == expected


# --- what does not fit --------------------------------------------------------------------------------------------------


def test_an_int_in_a_float_field_needs_no_normal_form() -> None:
    def refuse(_value: Any) -> Any:
        raise AssertionError

    own = PureWriter(program(Point), Options(), normal=refuse)
    assert own.encode(Point(1, 2)) == own.encode(Point(1.0, 2.0))


@pytest.mark.parametrize("number", [2**53 + 1, 10**400])
def test_an_int_that_is_not_exact_as_a_float_is_refused(number: int) -> None:
    with pytest.raises(EncodeError, match="not exact") as caught:
        writer(Point).encode(Point(number, 0.0))
    assert caught.value.path == "/x"


def test_a_value_that_does_not_fit_twice_is_an_encode_error() -> None:
    own = PureWriter(program(Pair), Options(), codec="flatbuffers", normal=lambda value: value)
    with pytest.raises(EncodeError, match="the message cannot be built: ") as caught:
        own.encode(Pair(2**31, None))
    assert caught.value.codec == "flatbuffers"


def test_strict_refuses_what_normal_would_change() -> None:
    with pytest.raises(EncodeError, match="strict"):
        writer(Point, Options(strict=True)).encode(Point(1, 2.0))


def test_limits_hold() -> None:
    size = len(writer(list[str]).encode(["a", "b"]))
    assert writer(list[str], Options(limits=Limits(bytes=size, elements=2))).encode(["a", "b"])
    with pytest.raises(EncodeError, match=f"{size} bytes are more than limits.bytes = {size - 1}"):
        writer(list[str], Options(limits=Limits(bytes=size - 1))).encode(["a", "b"])
    with pytest.raises(EncodeError, match=r"limits\.elements = 1"):
        writer(list[str], Options(limits=Limits(elements=1))).encode(["a", "b"])
    # Items of lists inside each other count together: 2 and 1 and 1.
    with pytest.raises(EncodeError, match=r"limits\.elements = 3"):
        writer(list[list[str]], Options(limits=Limits(elements=3))).encode([["a"], ["b"]])


def test_depth_counts_records_and_lists() -> None:
    value = Node(1, [Node(2, [])])  # record, list, record, list
    assert writer(Node, Options(limits=Limits(depth=4))).encode(value)
    with pytest.raises(EncodeError, match="nested deeper than 3"):
        writer(Node, Options(limits=Limits(depth=3))).encode(value)


def test_a_list_that_contains_itself_is_refused() -> None:
    value = Node(1, [])
    value.children.append(value)
    with pytest.raises(EncodeError, match="contains itself"):
        writer(Node).encode(value)


# --- scratch memory -----------------------------------------------------------------------------------------------------


def test_scratch_memory_grows_once_and_is_kept() -> None:
    own = writer(list[str])
    value = ["x" * 100] * 1000
    first = own.encode(value)
    growths, size = own.growths, own.scratch_size
    assert growths > 0
    assert size >= len(first) - 200  # the last string may lie past where a table may begin
    assert own.encode(value) == first
    assert own.growths == growths


def test_reserved_memory_does_not_grow() -> None:
    own = writer(list[str])
    own.reserve(1 << 20)
    assert own.scratch_size == 1 << 20
    own.encode(["x" * 100] * 1000)
    assert own.growths == 0
    own.reserve(10)
    assert own.scratch_size == 1 << 20


def test_threads_share_a_writer() -> None:
    own = writer(list[str])
    values = [[str(number)] * (50 * number) for number in range(1, 9)]
    expected = [writer(list[str]).encode(value) for value in values]
    barrier = threading.Barrier(8)

    def encode(place: int) -> bool:
        barrier.wait()
        return all(own.encode(values[place]) == expected[place] for _ in range(50))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(encode, range(8)))


# --- schemas of unusual size --------------------------------------------------------------------------------------------


def nested(depth: int) -> tuple[Any, Any]:
    type_, value = int, 1
    for _ in range(depth):
        type_, value = list[type_], [value]  # type: ignore[valid-type,assignment]
    return type_, value


def wide(count: int) -> tuple[Any, Any]:
    cls = dataclasses.make_dataclass("Wide", [(f"f{place}", bool | None) for place in range(count)])
    return cls, cls(*(None if place % 3 else True for place in range(count)))


def optioned(count: int) -> tuple[Any, Any]:
    options: Any = [dataclasses.make_dataclass(f"Option{place}", [("a", int)]) for place in range(count)]
    union = options[0]
    for option in options[1:]:
        union |= option
    return list.__class_getitem__(union), [option(5) for option in options]


@pytest.mark.parametrize(("source", "value"), [nested(30), wide(300), optioned(200)], ids=["deep", "wide", "union"])
def test_a_schema_may_be_deep_or_wide(source: Any, value: Any) -> None:
    message = writer(source).encode(value)
    assert zcser.equal(zcser.codec("flatbuffers-official", source).decode(message), value)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"])
@pytest.mark.parametrize("count", [0, 1, 3, 63, 64, 257, 1001])
def test_vectors_of_numbers_of_any_length(dtype: str, count: int) -> None:
    bits: Any = 8 * int(dtype[1])
    source = Schema(List(Float(bits) if dtype[0] == "f" else Int(bits, dtype[0] == "i")))
    numbers = np.resize(np.array([0, 1, 100, 7], dtype), count).tolist()
    own = writer(source)
    own.encode(numbers)
    make_dirty(own)
    message = own.encode(numbers)
    # The vector comes last.
    assert message.endswith(struct.pack("<I", count) + np.array(numbers, f"<{dtype}").tobytes())
    assert zcser.equal(zcser.codec("flatbuffers-official", source).decode(message), numbers)
