"""Segments, places in buffers and alignment of the header codec."""

from __future__ import annotations

import struct

import pytest

from tests.codecs.header_samples import (
    FRAME_BYTES,
    SAMPLE,
    SAMPLE_BYTES,
    Frame,
    Point,
    Sample,
    aligned,
    codec_of,
    filled,
    frame,
)
from zcser.core.buffers import address
from zcser.core.errors import (
    BufferTooSmallError,
    DecodeError,
    EncodeError,
    UnsupportedOperation,
)
from zcser.core.fidelity import equal


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


def test_there_is_no_view_of_segments():
    with pytest.raises(UnsupportedOperation, match="'header' has no view_segments"):
        codec_of(Sample).view_segments([])
