"""Frames that are cut, flipped, torn, foreign, or of hostile lengths: refused with the reason."""

from __future__ import annotations

import struct
import tracemalloc
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.frame.pieces import PIECES
from zcser import registry
from zcser.core.errors import (
    ChecksumError,
    DecodeError,
    FrameChecksumError,
    FrameError,
    FrameTruncatedError,
    TruncatedError,
)
from zcser.frame import frame_segments, read_frame, read_frames
from zcser.frame.plain import plain_end, plain_end_in_python
from zcser.native import backend

TEXT = registry.codec("json", str)
MIXED = [b"abc", b"", b"defgh"]


def frame(codec, value, **options) -> bytes:
    return b"".join(frame_segments(codec, value, **options))


def sealed(head: bytes, body: bytes = b"") -> bytes:
    """A frame with a right CRC on a head of 60 bytes that is not."""
    return head + struct.pack("<I", zlib.crc32(head)) + body


def flipped(data: bytes, bit: int) -> bytes:
    damaged = bytearray(data)
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)


@pytest.mark.parametrize("checksum", ["crc32", "xxh3"])
@pytest.mark.parametrize(
    ("codec", "value"), [(TEXT, "abc"), (PIECES, MIXED), (PIECES, [])], ids=["one", "three", "none"]
)
def test_every_flipped_bit_is_found(codec, value, checksum):
    data = frame(codec, value, checksum=checksum)
    for bit in range(8 * len(data)):
        with pytest.raises(FrameError) as caught:
            read_frame(flipped(data, bit))
        if bit >= 8 * 64 and codec is TEXT:
            assert isinstance(caught.value, FrameChecksumError)
            assert caught.value.offset == 64


def test_without_a_checksum_every_flipped_bit_of_head_and_table_is_found():
    data = frame(PIECES, MIXED, checksum=None)
    for bit in range(8 * (64 + 3 * 8 + 4)):
        with pytest.raises(FrameError):
            read_frame(flipped(data, bit))


@pytest.mark.parametrize("checksum", ["crc32", None])
@pytest.mark.parametrize(("codec", "value"), [(TEXT, "abc"), (PIECES, MIXED)], ids=["one", "three"])
def test_every_cut_is_found(codec, value, checksum):
    data = frame(codec, value, checksum=checksum)
    for size in range(len(data)):
        with pytest.raises(FrameTruncatedError, match="cut") as caught:
            read_frame(data[:size])
        assert isinstance(caught.value, TruncatedError)
        assert caught.value.offset == size


@pytest.mark.parametrize(
    "data",
    [
        b"data" * 20,
        b"<html><body>502 Bad Gateway</body></html>" * 2,
        bytes(64),
        b"\xff" * 200,
        b"\x89PNG\r\n\x1a\n" * 9,
    ],
)
def test_what_is_no_frame_is_named_by_its_beginning(data):
    for size in (5, 40, len(data)):
        with pytest.raises(FrameError, match="no frame") as caught:
            read_frame(data[:size])
        assert repr(data[: min(8, size)]) in str(caught.value)


@pytest.mark.parametrize(("place", "value"), [(4, 0), (4, 2), (5, 3), (6, 13), (7, 2), (7, 255)])
def test_a_frame_of_a_later_version_is_told_from_a_damaged_one(place, value):
    head = bytearray(frame(TEXT, "abc")[:60])
    head[place] = value
    with pytest.raises(FrameError, match="newer zcser") as caught:
        read_frame(sealed(bytes(head), bytes(64)))
    assert not isinstance(caught.value, ChecksumError)


def test_slots_that_are_torn_between_two_frames_are_never_read_as_a_mixture():
    # Case 31: the reader sees "written" while part of the old message is still there.
    codec = registry.codec("msgpack", dict[str, int | list[int]])
    old_value, new_value = {"step": 1, "tok": list(range(8))}, {"step": 2, "tok": list(range(100, 108))}
    old, new = frame(codec, old_value), frame(codec, new_value)
    assert len(old) == len(new)
    refused = 0
    for cut in range(len(new) + 1):
        slot = new[:cut] + old[cut:]
        try:
            found = read_frame(slot).decode(codec)
        except FrameChecksumError:
            refused += 1
            assert slot not in (old, new)
        else:
            assert found == (new_value if slot == new else old_value)
    assert refused > 40


@pytest.mark.parametrize("checksum", ["crc32", None])
@pytest.mark.parametrize(("codec", "value"), [(TEXT, "abc"), (PIECES, MIXED)], ids=["one", "three"])
def test_a_frame_whose_memory_is_overwritten_stays_within_it(codec, value, checksum):
    memory = bytearray(frame(codec, value, checksum=checksum))
    found = read_frame(memory)
    lengths = [piece.nbytes for piece in found.segments]
    memory[:] = b"\xff" * len(memory)
    assert (found.wire, found.checksum, found.alignment) == (codec.wire, checksum, 64)
    assert [bytes(piece) for piece in found.segments] == [b"\xff" * length for length in lengths]
    with pytest.raises(FrameError, match="no frame"):
        read_frame(memory)


def hostile_head(*, payload: int, count: int, kind: bytes = b"\x89ZCF\x01\0\x0c\x01") -> bytes:
    return sealed(struct.pack("<8sQ8sQ24sI", kind, payload, bytes(8), 0, b"json", count))


@pytest.mark.parametrize(
    ("payload", "count"),
    [(2**64 - 1, 1), (2**63, 1), (2**31, 1), (2**64 - 1, 2), (0, 2**32 - 1), (0, 2**16 + 1), (2**40, 0), (10, 2**16)],
)
def test_a_hostile_length_allocates_nothing(payload, count):
    data = hostile_head(payload=payload, count=count) + bytes(100)
    tracemalloc.start()
    try:
        with pytest.raises(FrameError):
            read_frame(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100_000


def test_a_table_must_add_up_to_the_payload():
    for lengths in ((3, 6), (2**63, 2**63), (2**64 - 1, 9)):
        table = struct.pack("<2Q", *lengths)
        body = table + struct.pack("<I", zlib.crc32(table)) + bytes(20_000)
        with pytest.raises(FrameError, match="head says 8"):
            read_frame(hostile_head(payload=8, count=2) + body)


def test_padding_counts_against_the_limit():
    # 1000 bytes that ask for 1000 pages.
    data = frame(PIECES, [b"x"] * 1000, alignment=4096)
    assert len(data) == 4096 * 1002  # head and table take two
    assert len(read_frame(data, max_bytes=len(data)).segments) == 1000
    with pytest.raises(FrameError, match="max_bytes"):
        read_frame(data, max_bytes=len(data) - 1)


@pytest.mark.parametrize("codec", ["one", "three"])
def test_the_limit_is_on_the_whole_frame(codec):
    data = frame(TEXT, "abc") if codec == "one" else frame(PIECES, MIXED)
    assert read_frame(data, max_bytes=len(data)).end == len(data)
    for limit in (len(data) - 1, 64, 10, 0):
        with pytest.raises(FrameError, match=rf"max_bytes is {limit}|more than a frame may have"):
            read_frame(data, max_bytes=limit)


@pytest.mark.parametrize("offset", [-1, -64, -128, 129, 2**40, 2**70])
def test_an_offset_outside_the_buffer_is_refused(offset):
    with pytest.raises(FrameError, match="outside"):
        read_frame(frame(TEXT, "abc"), offset=offset)


def test_offsets_of_errors_count_from_the_buffer():
    good, bad = frame(TEXT, "abc"), flipped(frame(TEXT, "abc"), 8 * 70)
    frames = read_frames(good + bad)
    assert next(frames).decode(TEXT) == "abc"
    with pytest.raises(FrameChecksumError) as caught:
        next(frames)
    assert caught.value.offset == len(good) + 64
    with pytest.raises(FrameTruncatedError) as cut:
        list(read_frames(good + good[:-1]))
    assert cut.value.offset == 2 * len(good) - 1


@pytest.mark.parametrize("source", [None, "text", 5, np.zeros(3, object), np.zeros((99, 2), np.uint8).T])
def test_what_is_no_buffer_is_a_decode_error(source):
    with pytest.raises(DecodeError):
        read_frame(source)


MUTATIONS = st.lists(st.tuples(st.integers(0, 2**16), st.integers(0, 255)), min_size=1, max_size=8)


@given(
    pieces=st.lists(st.binary(max_size=100), max_size=5),
    power=st.integers(0, 8),
    checksum=st.sampled_from([None, "crc32", "xxh3"]),
    changes=MUTATIONS,
    reseal=st.booleans(),
)
def test_mutated_frames_raise_frame_errors_or_give_segments_of_the_buffer(pieces, power, checksum, changes, reseal):
    data = bytearray(frame(PIECES, pieces, alignment=1 << power, checksum=checksum))
    for place, byte in changes:
        data[place % (60 if reseal else len(data))] = byte
    if reseal:
        data[60:64] = struct.pack("<I", zlib.crc32(data[:60]))
    try:
        found = read_frame(data)
    except FrameError:
        return
    assert found.end <= len(data)
    assert sum(piece.nbytes for piece in found.segments) == found.payload_bytes <= len(data)
    assert isinstance(found.wire + found.fingerprint + repr(found), str)


@pytest.mark.skipif(backend == "pure", reason="the C engine is not built, or not asked for")
@given(
    text=st.text(max_size=40),
    power=st.integers(0, 12),
    changes=st.lists(st.tuples(st.integers(0, 150), st.integers(0, 255)), max_size=2),
    reseal=st.booleans(),
    place_and_room=st.tuples(st.integers(-70, 70), st.integers(-1, 300)),
)
def test_the_check_of_plain_frames_is_the_same_in_c(text, power, changes, reseal, place_and_room):
    offset, room = place_and_room
    data = bytearray(frame(TEXT, text, alignment=1 << power, checksum=None))
    for place, byte in changes:
        data[place % min(len(data), 150)] = byte
    if reseal:
        data[60:64] = struct.pack("<I", zlib.crc32(data[:60]))
    for place in (0, offset):
        buffer = bytes(max(0, place)) + bytes(data)
        for limit in (2**70, room, len(data)):
            for source in (buffer, memoryview(buffer), buffer[:-1]):
                assert plain_end(source, place, limit) == plain_end_in_python(source, place, limit)


def test_the_check_of_plain_frames_takes_the_plain_alone():
    for check in (plain_end, plain_end_in_python):
        data = frame(TEXT, "abc", checksum=None)
        assert check(data, 0, len(data)) == len(data) == 128
        assert check(b"..." + data + b"...", 3, 128) == 131
        assert check(data, 0, 127) == check(data[:-1], 0, 128) == check(data, 2**70, 128) == check(data, 0, -1) == 0
        assert check(frame(TEXT, "abc"), 0, 128) == check(frame(PIECES, MIXED, checksum=None), 0, 999) == 0
        for wrong in ((data, None, 1), (data, 0, "x")):
            with pytest.raises(TypeError):
                check(*wrong)
