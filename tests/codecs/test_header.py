"""The header codec beyond what every codec is held to: its bytes, its padding, alignment, segments and limits."""

from __future__ import annotations

import ctypes
import dataclasses
import enum
import gc
import math
import pickle
import struct
from typing import Annotated, Any, Literal, TypedDict

import msgspec
import numpy as np
import pytest

from zcser.codecs.header import HeaderCodec
from zcser.core.buffers import address
from zcser.core.errors import (
    BufferTooSmallError,
    DecodeError,
    EncodeError,
    ReleasedViewError,
    TruncatedError,
    UnsupportedOperation,
)
from zcser.core.fidelity import equal
from zcser.core.options import Limits, Options
from zcser.core.view import RecordView, SequenceView, at, release, retained_bytes, to_value
from zcser.payloads import get
from zcser.schema.annotations import Float32, Int8, Int16, Int32, Length, UInt8, UInt16, UInt32, UInt64
from zcser.schema.from_python import schema_of
from zcser.schema.model import Bytes, Field, Int, List, Record, Ref, Schema, Str, Tensor


class Phase(enum.IntEnum):
    PREFILL = 1
    DECODE = 7


class Unit(enum.Enum):
    METRE = "m"
    SECOND = "s"


@dataclasses.dataclass
class Point:
    x: Int16
    y: Float32


@dataclasses.dataclass
class Sample:
    flag: bool
    count: UInt32
    tag: Annotated[str, Str(6)]
    digest: Annotated[bytes, Bytes(3)]
    phase: Phase
    unit: Unit
    mode: Literal["on", "off"]
    step: Literal[-1, 1]
    point: Point
    points: Annotated[list[Point], Length(2)]
    numbers: tuple[Int8, Int8, Int8]
    total: float
    tensor: Annotated[np.ndarray, Tensor("int16", (2, 2))]
    nothing: None


SAMPLE = Sample(
    flag=True,
    count=0x01020304,
    tag="né",
    digest=b"\x00xy",
    phase=Phase.DECODE,
    unit=Unit.SECOND,
    mode="off",
    step=-1,
    point=Point(-2, 1.5),
    points=[Point(3, -0.0), Point(4, math.inf)],
    numbers=(-1, 0, 127),
    total=0.1,
    tensor=np.array([[1, -1], [256, 2]], np.int16),
    nothing=None,
)

# By hand, field by field; gaps are zero.
SAMPLE_BYTES = b"".join(
    [
        b"\x01", b"\0\0\0",                          # 0 flag, gap to 4
        b"\x04\x03\x02\x01",                         # 4 count
        b"n\xc3\xa9\0\0\0",                          # 8 tag, UTF-8, padded
        b"\0xy",                                     # 14 digest
        b"\x07", b"\x01", b"\x01", b"\xff",          # 17 phase, unit, mode, step
        b"\0\0\0",                                   # gap to 24
        b"\xfe\xff", b"\0\0", b"\0\0\xc0\x3f",       # 24 point: x, gap, y
        b"\x03\0", b"\0\0", b"\0\0\0\x80",           # 32 points/0
        b"\x04\0", b"\0\0", b"\0\0\x80\x7f",         # 40 points/1
        b"\xff\0\x7f", b"\0\0\0\0\0",                # 48 numbers, gap to 56
        bytes.fromhex("9a9999999999b93f"),           # 56 total: 0.1
        b"\x01\0\xff\xff\0\x01\x02\0",               # 64 tensor; 72 bytes
    ]
)  # fmt: skip


def codec_of(source: Any, **options: Any) -> HeaderCodec[Any]:
    return HeaderCodec(schema_of(source), Options(**options))


def filled(size: int) -> bytearray:
    return bytearray(b"\xaa" * size)


def aligned(size: int, alignment: int = 64) -> memoryview:
    """Writable memory whose address is a multiple of `alignment`, full of 0xAA."""
    room = np.full(size + alignment, 0xAA, np.uint8)
    start = -address(room) % alignment
    return room[start : start + size].data


def test_the_bytes_are_those_worked_out_by_hand():
    codec = codec_of(Sample)
    assert len(SAMPLE_BYTES) == 72
    assert codec.encode(SAMPLE) == SAMPLE_BYTES
    assert equal(codec.decode(SAMPLE_BYTES), SAMPLE)
    assert codec.encoded_size(SAMPLE) == 72


def test_gaps_are_zeroed_when_written_and_ignored_when_read():
    codec = codec_of(Sample)
    out = aligned(72)
    assert codec.encode_into(SAMPLE, out) == 72
    assert bytes(out) == SAMPLE_BYTES
    noisy = bytearray(SAMPLE_BYTES)
    for gap in (1, 2, 3, 21, 22, 23, 26, 27, 34, 42, 51, 55):
        noisy[gap] = 0xFF
    assert equal(codec.decode(noisy), SAMPLE)
    assert equal(to_value(codec.view(noisy)), SAMPLE)


def test_ctypes_reads_what_encode_writes_and_the_other_way_round():
    kinds = {
        "batch_id": ctypes.c_uint64, "created_ns": ctypes.c_int64, "kv_cache_offset": ctypes.c_uint64,
        "kv_cache_bytes": ctypes.c_uint64, "seq_len": ctypes.c_uint32, "num_tokens": ctypes.c_uint32,
        "num_requests": ctypes.c_uint32, "step": ctypes.c_uint32, "kv_cache_usage": ctypes.c_float,
        "num_blocks": ctypes.c_uint32, "block_size": ctypes.c_uint16, "worker": ctypes.c_uint16,
        "priority": ctypes.c_int8, "cache_dtype": ctypes.c_uint8, "is_prefill": ctypes.c_bool, "is_last": ctypes.c_bool,
    }  # fmt: skip
    batch_meta = type("BatchMeta", (ctypes.LittleEndianStructure,), {"_fields_": list(kinds.items())})
    payload = get("batch-meta")
    codec = HeaderCodec(payload.schema, Options())
    for value in payload.values(16):
        data = codec.encode(value)
        assert len(data) == ctypes.sizeof(batch_meta) == 64
        theirs = batch_meta.from_buffer_copy(data)
        assert all(getattr(theirs, name) == getattr(value, name) for name in kinds)
        assert equal(codec.decode(bytes(theirs)), value)


@pytest.mark.parametrize("path", ["count", "points/1/x", "numbers/2", "point/y", "points/0/y"])
def test_numbers_out_of_range_are_refused_before_anything_is_written(path):
    value = pickle.loads(pickle.dumps(SAMPLE))
    too_large = {"count": 2**32, "points/1/x": 2**15, "numbers/2": 128}.get(path, 3.5e38)
    match path.split("/"):
        case ["points", index, name]:
            setattr(value.points[int(index)], name, too_large)
        case ["point", name]:
            setattr(value.point, name, too_large)
        case ["numbers", _]:
            value.numbers = (1, 2, too_large)
        case [name]:
            setattr(value, name, too_large)
    for guard in ("on", "off"):
        codec = codec_of(Sample, guard=guard)
        out = aligned(100)
        for operation in (
            codec.encode,
            codec.encode_segments,
            lambda v, codec=codec, out=out: codec.encode_into(v, out),
        ):
            with pytest.raises(EncodeError) as caught:
                operation(value)
            assert caught.value.path == f"/{path}"
            assert caught.value.codec == "header"
        assert bytes(out) == b"\xaa" * 100


class Reals(TypedDict):
    one: Float32
    many: Annotated[list[Float32], Length(3)]


LARGEST = 3.4028234663852886e38  # the largest float32
HALFWAY = 3.4028235677973366e38  # half a unit above it: what rounds to infinity


def test_float32_is_rounded_and_refused_exactly_where_struct_refuses_it():
    codec = codec_of(Reals)
    fits = math.nextafter(HALFWAY, 0.0)
    with pytest.raises(OverflowError):
        struct.pack("<f", HALFWAY)
    out = bytearray(16)
    for value in (fits, -fits, math.nan, math.inf, -math.inf, 1e-50, -0.0, 0.1):
        for many in ([value, 0.0, 1.0], [1.0, value, math.nan], [math.nan, math.inf, value]):
            codec.encode_into({"one": value, "many": many}, out)
            assert out == struct.pack("<4f", value, *many)
    assert codec.decode(codec.encode({"one": fits, "many": [0.0] * 3}))["one"] == LARGEST
    for value in (HALFWAY, -HALFWAY, 1e300):
        for many in ([value, 0.0, 1.0], [1.0, math.nan, value], [math.nan, math.inf, value]):
            before = bytes(out)
            with pytest.raises(EncodeError, match="too large for float32"):
                codec.encode_into({"one": 0.0, "many": many}, out)
            assert out == before


@pytest.mark.parametrize(
    ("tag", "reason"),
    [
        ("a\0", "text that ends in NUL is the same as its padding"),
        ("\0", "text that ends in NUL"),
        ("sevenly", r"7 bytes of UTF-8 do not fit str\[6\]"),
        ("ééé€", r"9 bytes of UTF-8 do not fit str\[6\]"),
        ("\ud800", "lone surrogate"),
        (b"bytes", r"str\[6\] is needed, not bytes"),
    ],
)
def test_text_that_would_not_come_back_is_refused_with_its_path(tag, reason):
    codec = codec_of(Sample)
    out = aligned(72)
    value = dataclasses.replace(SAMPLE, tag=tag)
    for operation in (codec.encode, codec.convert, codec.encode_segments, lambda v: codec.encode_into(v, out)):
        with pytest.raises(EncodeError, match=reason) as caught:
            operation(value)
        assert caught.value.path == "/tag"
    assert bytes(out) == b"\xaa" * 72


def test_text_that_ends_in_nul_is_found_inside_lists():
    codec = HeaderCodec(Schema(List(Str(4), length=3)), Options())
    with pytest.raises(EncodeError, match="ends in NUL") as caught:
        codec.encode(["a", "b\0c", "d\0"])
    assert caught.value.path == "/2"


def test_text_may_hold_nul_inside_and_fill_its_place():
    codec = codec_of(Annotated[str, Str(4)])
    for text in ("", "a\0b", "abcd", "\0a", "éé"):
        assert codec.decode(codec.encode(text)) == text
    assert codec.encode("a\0b") == b"a\0b\0"


@pytest.mark.parametrize(
    ("place", "byte", "path", "offset", "reason"),
    [
        (17, 2, "/phase", 17, "2 is the number of no member of enum Phase"),
        (18, 9, "/unit", 18, "9 is the number of no member of enum Unit"),
        (20, 0, "/step", 20, "0 is the number of no member"),
        (9, 0x28, "/tag", 9, "not UTF-8"),
        (8, 0xFF, "/tag", 8, "not UTF-8: invalid start byte"),
    ],
)
def test_bytes_that_mean_nothing_are_a_decode_error_with_path_and_offset(place, byte, path, offset, reason):
    codec = codec_of(Sample)
    data = bytearray(SAMPLE_BYTES)
    data[place] = byte
    if place == 9:
        data[8:10] = b"\xc3\x28"
        offset = 8
    restoring = lambda data: codec.restore(codec.load(data))
    for read in (codec.decode, lambda data: codec.decode(data, copy=False), codec.view, restoring):
        with pytest.raises(DecodeError, match=reason) as caught:
            read(data)
        assert (caught.value.path, caught.value.offset, caught.value.codec) == (path, offset, "header")
    trusting = codec.view(data, verify=False)
    assert trusting.count == SAMPLE.count
    for read in (lambda: trusting[path[1:]], lambda: to_value(trusting)):
        with pytest.raises(DecodeError, match="bytes that mean nothing"):
            read()


def test_the_fault_of_an_item_is_named_with_its_index():
    rows = Record("Rows", (Field("rows", List(Ref("Row"), length=2), 1),))
    row = Record("Row", (Field("phase", schema_of(Phase).root, 1),))
    with pytest.raises(DecodeError) as caught:
        HeaderCodec(Schema(Ref("Rows"), (rows, row)), Options()).decode(b"\x01\x02")
    assert (caught.value.path, caught.value.offset) == ("/rows/1/phase", 1)


def test_only_the_exact_length_is_a_message():
    codec = codec_of(Sample)
    for read in (codec.decode, codec.view, codec.load, lambda data: codec.decode_segments([data])):
        for size in (0, 1, 71):
            with pytest.raises(TruncatedError, match=f"{size} bytes are too few: a message has 72"):
                read(SAMPLE_BYTES[:size])
        with pytest.raises(DecodeError, match="73 bytes are too many: a message has 72") as caught:
            read(SAMPLE_BYTES + b"\0")
        assert caught.value.offset == 72


class Frame(TypedDict):
    number: UInt16
    image: Annotated[np.ndarray, Tensor("float64", (8, 8))]
    blob: Annotated[bytes, Bytes(256)]
    small: Annotated[np.ndarray, Tensor("float32", (3,))]
    end: UInt8


def frame() -> dict[str, Any]:
    return {
        "number": 513,
        "image": np.arange(64, dtype=np.float64).reshape(8, 8),
        "blob": bytes(range(256)),
        "small": np.array([1, 2, 3], np.float32),
        "end": 9,
    }


# By hand: number at 0, image at 8..520, blob at 520..776, small at 776..788, end at 788, 789 rounded up to 792.
FRAME_BYTES = (
    b"\x01\x02" + bytes(6) + np.arange(64, dtype="<f8").tobytes() + bytes(range(256)) + np.array([1, 2, 3], "<f4").tobytes()
    + b"\x09" + bytes(3)
)  # fmt: skip


def test_segments_alias_big_tensors_and_bytes_and_join_to_the_message():
    codec, value = codec_of(Frame), frame()
    segments = codec.encode_segments(value)
    assert [segment.nbytes for segment in segments] == [8, 512, 256, 16]
    assert address(segments[1]) == address(value["image"])
    assert address(segments[2]) == address(value["blob"])
    assert b"".join(segments) == codec.encode(value) == FRAME_BYTES
    value["image"][0, 0] = 77.0
    assert struct.unpack_from("<d", segments[1])[0] == 77.0


def test_a_record_without_big_parts_is_one_segment():
    assert [bytes(part) for part in codec_of(Sample).encode_segments(SAMPLE)] == [SAMPLE_BYTES]


def test_decode_segments_aliases_the_segments_and_copies_on_request():
    codec = codec_of(Frame)
    segments = [bytearray(part) for part in codec.encode_segments(frame())]
    found = codec.decode_segments(segments, copy=False)
    copied = codec.decode_segments(segments)
    for name, segment, offset in (("image", 1, 0), ("blob", 2, 0), ("small", 3, 0)):
        assert address(found[name]) == address(segments[segment]) + offset
    assert not found["image"].flags.writeable
    assert found["blob"].readonly
    assert equal(copied, frame())
    assert copied["image"].flags.writeable
    segments[1][0:8] = struct.pack("<d", 5.0)
    assert found["image"][0, 0] == 5.0
    assert copied["image"][0, 0] == 0.0


def test_segments_that_are_cut_otherwise_are_refused():
    codec = codec_of(Frame)
    data = FRAME_BYTES
    for wrong in ([data], [data[:8], data[8:]], [data[:9], data[9:520], data[520:776], data[776:]], []):
        with pytest.raises(DecodeError):
            codec.decode_segments(wrong)
    with pytest.raises(DecodeError, match="a list of segments is needed, not bytes"):
        codec.decode_segments(data)
    with pytest.raises(DecodeError, match="not cut as this layout is"):
        codec.decode_segments([data[:8], data[8:520], data[520:775], data[775:]])


def test_a_big_layout_decodes_from_every_buffer():
    codec = codec_of(Frame)
    assert equal(codec.decode(FRAME_BYTES), frame())
    for offset in range(4):
        room = aligned(len(FRAME_BYTES) + offset)
        room[offset:] = FRAME_BYTES
        found = codec.decode(room[offset:], copy=False)
        assert equal({**found, "blob": bytes(found["blob"])}, frame())
        assert address(found["image"]) == address(room) + offset + 8
        assert found["image"].flags.aligned == (offset == 0)


def test_encode_into_refuses_a_place_that_would_misalign_a_tensor():
    codec = codec_of(Frame)
    out = aligned(len(FRAME_BYTES) + 64)
    for offset in (1, 2, 4, 7, 12):
        with pytest.raises(EncodeError, match=f"offset {offset} of this buffer is no multiple of 8 in memory"):
            codec.encode_into(frame(), out, offset)
        assert bytes(out) == b"\xaa" * len(out)
    assert codec.encode_into(frame(), out, 8) == len(FRAME_BYTES)
    assert bytes(out) == b"\xaa" * 8 + FRAME_BYTES + b"\xaa" * 56
    # The address counts, not the offset.
    assert codec.encode_into(frame(), out[1:], 7) == len(FRAME_BYTES)


def test_a_layout_without_tensors_goes_to_any_place():
    codec = codec_of(Point)
    out = filled(20)
    assert codec.encode_into(Point(1, 2.0), out, 3) == 8
    assert out == b"\xaa" * 3 + struct.pack("<hxxf", 1, 2.0) + b"\xaa" * 9


@pytest.mark.parametrize("source", [Point, Frame])
def test_encode_into_leaves_the_buffer_alone_when_it_does_not_fit(source):
    codec = codec_of(source)
    value, size = (Point(1, 2.0), 8) if source is Point else (frame(), len(FRAME_BYTES))
    for room, offset in ((size - 1, 0), (size + 8, 16), (size, size)):
        out = aligned(room)
        with pytest.raises(BufferTooSmallError) as caught:
            codec.encode_into(value, out, offset)
        assert (caught.value.needed, caught.value.available) == (size, room - offset)
        assert bytes(out) == b"\xaa" * room
    for offset in (-1, -size, True, 1.0, size + 1):
        out = aligned(size)
        with pytest.raises(EncodeError, match="is outside the buffer"):
            codec.encode_into(value, out, offset)
        assert bytes(out) == b"\xaa" * size
    with pytest.raises(EncodeError, match="read-only"):
        codec.encode_into(value, bytes(size))


def test_a_view_reads_every_field_where_it_stands():
    codec = codec_of(Sample)
    data = bytearray(SAMPLE_BYTES)
    view = codec.view(data)
    assert isinstance(view, RecordView)
    assert (view.flag, view["count"], view.tag, view.phase, view.unit) == (
        True,
        0x01020304,
        "né",
        Phase.DECODE,
        Unit.SECOND,
    )
    assert (view.mode, view.step, view.total, view.nothing) == ("off", -1, 0.1, None)
    assert bytes(view.digest) == b"\0xy"
    assert view.digest.readonly
    assert (view.point.x, view.point["y"]) == (-2, 1.5)
    assert isinstance(view.points, SequenceView)
    assert (len(view.points), view.points[-1].x, [point.x for point in view.points]) == (2, 4, [3, 4])
    assert list(view.numbers) == [-1, 0, 127]
    assert view.numbers[1:] == [0, 127]
    assert address(view.tensor) == address(data) + 64
    assert not view.tensor.flags.writeable
    assert at(view, "/points/1/x") == 4
    data[4] = 0xFF
    data[40] = 9
    assert view["count"] == 0x010203FF
    assert view.points[1].x == 9
    with pytest.raises(KeyError, match="'cuont' is not a field of Sample"):
        view["cuont"]
    with pytest.raises(IndexError):
        view.points[2]
    assert set(view) == {item.name for item in dataclasses.fields(Sample)}


def test_parts_of_a_view_give_their_value_and_pickle_as_it():
    view = codec_of(Sample).view(SAMPLE_BYTES)
    assert equal(to_value(view), SAMPLE)
    assert equal(to_value(view.point), SAMPLE.point)
    assert equal(to_value(view.points), SAMPLE.points)
    assert equal(to_value(view.points[1]), SAMPLE.points[1])
    assert equal(to_value(view.numbers), SAMPLE.numbers)
    assert equal(pickle.loads(pickle.dumps(view)), SAMPLE)
    assert equal(pickle.loads(pickle.dumps(view.points)), SAMPLE.points)


def test_release_ends_access_through_every_part():
    data = bytearray(SAMPLE_BYTES)
    view = codec_of(Sample).view(data)
    point, points, numbers, tensor, digest = view.point, view.points, view.numbers, view.tensor, view.digest
    assert [retained_bytes(part) for part in (view, point, points)] == [72, 72, 72]
    release(points)
    release(view)
    reads = [
        lambda: view.flag, lambda: view.nothing, lambda: view.tag, lambda: view.tensor, lambda: view.phase,
        lambda: view["point"].x, lambda: point.x, lambda: points[0].x, lambda: len(points), lambda: list(numbers),
        lambda: to_value(view), lambda: to_value(points),
    ]  # fmt: skip
    for read in reads:
        with pytest.raises(ReleasedViewError):
            read()
    assert "released" in repr(view)
    assert "released" in repr(points)
    assert retained_bytes(view) == 0
    assert equal(tensor, SAMPLE.tensor)
    assert bytes(digest) == SAMPLE.digest


@pytest.mark.parametrize("how", ["view", "decode", "decode_segments"])
def test_arrays_lock_the_memory_that_they_alias(how):
    codec = codec_of(Frame)
    data = bytearray(FRAME_BYTES)
    if how == "decode_segments":
        segments = [bytearray(part) for part in codec.encode_segments(frame())]
        array, data = codec.decode_segments(segments, copy=False)["image"], segments[1]
    else:
        array = codec.view(data).image if how == "view" else codec.decode(data, copy=False)["image"]
    gc.collect()
    with pytest.raises(BufferError):
        data.clear()
    with pytest.raises(ValueError, match="WRITEABLE"):
        array.flags.writeable = True
    del array
    data.clear()


@dataclasses.dataclass(kw_only=True)
class Keyword:
    b: UInt8
    a: UInt16


@dataclasses.dataclass(init=False)
class Own:
    a: UInt16
    b: UInt8

    def __init__(self, b: int, a: int) -> None:
        self.a, self.b = a, b


class Packed(msgspec.Struct, frozen=True):
    a: UInt16
    b: UInt8 = 5


class KeywordStruct(msgspec.Struct, kw_only=True):
    a: UInt16
    b: UInt8


class Single(TypedDict):
    only: UInt64


@dataclasses.dataclass
class Dotted:
    only: Int32


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (Keyword(a=1, b=2), b"\x02\0\x01\0"),
        (Own(a=1, b=2), b"\x01\0\x02\0"),
        (Packed(1, 2), b"\x01\0\x02\0"),
        (KeywordStruct(a=1, b=2), b"\x01\0\x02\0"),
        (Dotted(-1), b"\xff" * 4),
    ],
)
def test_values_of_every_sort_of_class_are_made_field_by_name(value, data):
    codec = codec_of(type(value))
    assert codec.encode(value) == data
    assert equal(codec.decode(data), value)
    assert equal(codec.decode(bytearray(data), copy=False), value)


def test_dicts_need_exactly_their_keys():
    codec = codec_of(Single)
    assert codec.decode(codec.encode({"only": 5})) == {"only": 5}
    with pytest.raises(EncodeError, match="field 'only' of Single is missing"):
        codec.encode({})
    with pytest.raises(EncodeError, match="'more' is not a field of Single"):
        codec.encode({"only": 5, "more": 1})
    with pytest.raises(EncodeError, match="'more' is not a field of Single"):
        codec.encode({"more": 1})


def test_a_field_whose_name_has_a_dot_is_read_as_one_name():
    record = Record("R", (Field("a.b", Int(8), 1), Field("a", Int(8), 2)), cls=type("R", (), {}))
    value = record.cls()
    setattr(value, "a.b", 1)
    value.a = 2
    assert HeaderCodec(Schema(Ref("R"), (record,)), Options()).encode(value) == b"\x01\x02"


@dataclasses.dataclass
class Even:
    number: UInt8

    def __post_init__(self) -> None:
        if self.number % 2:
            raise ValueError(f"{self.number} is odd")


def test_a_class_that_refuses_its_fields_is_a_decode_error():
    codec = codec_of(Even)
    assert codec.decode(b"\x02") == Even(2)
    for read in (codec.decode, lambda data: codec.restore(codec.load(data))):
        with pytest.raises(DecodeError, match="no value can be made of this message: 3 is odd"):
            read(b"\x03")


@pytest.mark.parametrize(
    ("source", "value", "data"),
    [
        (int, -2, b"\xfe" + b"\xff" * 7),
        (bool, True, b"\x01"),
        (Unit, Unit.SECOND, b"\x01"),
        (None, None, b""),
        (Annotated[bytes, Bytes(2)], b"ab", b"ab"),
        (Annotated[list[Phase], Length(2)], [Phase.DECODE, Phase.PREFILL], b"\x07\x01"),
        (Annotated[list[list[UInt8]], Length(0)], None, None),
        (tuple[UInt8, UInt8], (1, 2), b"\x01\x02"),
        (Annotated[np.ndarray, Tensor("uint8", ())], np.array(7, np.uint8), b"\x07"),
        (Annotated[np.ndarray, Tensor("bfloat16", (0, 3))], None, b""),
        (Annotated[list[None], Length(3)], [None] * 3, b""),
    ],
    ids=str,
)
def test_a_root_may_be_any_type_of_one_size(source, value, data):
    if data is None:
        with pytest.raises(ValueError, match="fixed"):
            codec_of(source)
        return
    if value is None and source is not None:
        value = np.empty((0, 3), pytest.importorskip("ml_dtypes").bfloat16)
    codec = codec_of(source)
    assert codec.encode(value) == data
    assert equal(codec.decode(data), value)
    assert equal(to_value(codec.view(data)), value)
    assert b"".join(codec.encode_segments(value)) == data


def test_what_normal_changes_is_changed():
    codec = codec_of(Sample)
    loose = dataclasses.replace(
        SAMPLE,
        flag=np.True_,
        count=np.uint32(0x01020304),
        digest=bytearray(b"\0xy"),
        phase=7,
        unit="s",
        points=tuple(SAMPLE.points),
        numbers=[-1, np.int8(0), 127],
        tensor=np.asfortranarray(SAMPLE.tensor.astype(">i2")),
    )
    assert codec.encode(loose) == SAMPLE_BYTES
    with pytest.raises(EncodeError, match="strict") as caught:
        codec_of(Sample, strict=True).encode(loose)
    assert caught.value.path == "/flag"
    assert codec_of(Sample, strict=True).encode(SAMPLE) == SAMPLE_BYTES


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"flag": 1}, "/flag"),
        ({"count": True}, "/count"),
        ({"count": 1.0}, "/count"),
        ({"total": "1"}, "/total"),
        ({"mode": "ON"}, "/mode"),
        ({"step": True}, "/step"),
        ({"step": 0}, "/step"),
        ({"phase": Unit.METRE}, "/phase"),
        ({"digest": b"four"}, "/digest"),
        ({"point": (1, 2.0)}, "/point"),
        ({"points": SAMPLE.points[:1]}, "/points"),
        ({"points": [SAMPLE.point, None]}, "/points/1"),
        ({"numbers": (1, 2)}, "/numbers"),
        ({"numbers": (1, 2, None)}, "/numbers/2"),
        ({"tensor": SAMPLE.tensor.astype(np.int32)}, "/tensor"),
        ({"tensor": SAMPLE.tensor.reshape(4)}, "/tensor"),
        ({"tensor": [[1, 2], [3, 4]]}, "/tensor"),
        ({"nothing": 0}, "/nothing"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, dict) else "",
)
def test_what_does_not_fit_is_refused_with_its_path_in_every_operation(change, path):
    codec = codec_of(Sample)
    value = dataclasses.replace(SAMPLE, **change)
    out = aligned(72)
    for operation in (
        codec.encode, codec.convert, codec.encoded_size, codec.encode_segments, lambda v: codec.encode_into(v, out),
    ):  # fmt: skip
        with pytest.raises(EncodeError) as caught:
            operation(value)
        assert (caught.value.path, caught.value.codec) == (path, "header")
    assert bytes(out) == b"\xaa" * 72


def test_the_ledger_is_the_tuple_of_wire_fields():
    codec = codec_of(Sample)
    native = codec.convert(SAMPLE)
    assert native == (
        True, 0x01020304, b"n\xc3\xa9", b"\0xy", 7, 1, 1, -1, -2, 1.5, 3, -0.0, 4, math.inf, -1, 0, 127, 0.1,
        SAMPLE.tensor.tobytes(),
    )  # fmt: skip
    assert codec.dump(native) == SAMPLE_BYTES
    assert len(codec.load(SAMPLE_BYTES)) == len(native)
    assert equal(codec.restore(codec.load(SAMPLE_BYTES)), SAMPLE)


@pytest.mark.parametrize("native", [(), (1, 2), None, "text", [None] * 19])
def test_what_are_no_wire_fields_is_an_error_of_ours(native):
    codec = codec_of(Sample)
    with pytest.raises(EncodeError):
        codec.dump(native)
    with pytest.raises(DecodeError):
        codec.restore(native)


def test_wire_fields_of_another_length_are_not_dumped():
    codec = codec_of(Frame)
    native = codec.convert(frame())
    with pytest.raises(EncodeError, match="take 791 bytes, the layout 792"):
        codec.dump((native[0], native[1], native[2][:-1], *native[3:]))


def test_limits_on_bytes_hold_in_both_directions():
    codec = codec_of(Sample, limits=Limits(bytes=71))
    for operation in (
        codec.encode,
        codec.convert,
        codec.encode_segments,
        lambda v: codec.encode_into(v, bytearray(99)),
    ):
        with pytest.raises(EncodeError, match=r"72 bytes are more than limits\.bytes = 71"):
            operation(SAMPLE)
    for read in (codec.decode, codec.view, codec.load, lambda data: codec.decode_segments([data])):
        with pytest.raises(DecodeError, match=r"72 bytes are more than limits\.bytes = 71"):
            read(SAMPLE_BYTES)
    assert codec_of(Sample, limits=Limits(bytes=72)).encode(SAMPLE) == SAMPLE_BYTES


def test_there_is_no_view_of_segments():
    with pytest.raises(UnsupportedOperation, match="'header' has no view_segments"):
        codec_of(Sample).view_segments([])


def test_a_codec_pickles_and_says_what_it_is():
    codec = codec_of(Frame)
    assert equal(pickle.loads(pickle.dumps(codec)).decode(FRAME_BYTES), frame())
    assert (codec.info.wire, codec.info.library, codec.info.joinable, codec.info.self_delimiting) == (
        "header", "struct", True, True,
    )  # fmt: skip
    assert set(codec.info.reads.values()) == {"alias"}
