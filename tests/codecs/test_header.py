"""The header codec beyond what every codec is held to: its bytes, its padding and limits."""

from __future__ import annotations

import ctypes
import dataclasses
import math
import pickle
import struct
from typing import Annotated, TypedDict

import numpy as np
import pytest

from tests.codecs.header_samples import (
    FRAME_BYTES,
    SAMPLE,
    SAMPLE_BYTES,
    Frame,
    Phase,
    Sample,
    Unit,
    aligned,
    codec_of,
    frame,
)
from zcser.codecs.header import HeaderCodec
from zcser.core.errors import (
    DecodeError,
    EncodeError,
    TruncatedError,
)
from zcser.core.fidelity import equal
from zcser.core.options import Limits, Options
from zcser.core.view import to_value
from zcser.payloads import get
from zcser.schema.annotations import Float32, Length
from zcser.schema.from_python import schema_of
from zcser.schema.model import Field, List, Record, Ref, Schema, Str


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


def test_a_codec_pickles_and_says_what_it_is():
    codec = codec_of(Frame)
    assert equal(pickle.loads(pickle.dumps(codec)).decode(FRAME_BYTES), frame())
    assert (codec.info.wire, codec.info.library, codec.info.joinable, codec.info.self_delimiting) == (
        "header", "struct", True, True,
    )  # fmt: skip
    assert set(codec.info.reads.values()) == {"alias"}
