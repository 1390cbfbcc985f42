"""Frames of every codec: what was written is read, by codecs of the same wire and schema and by no others."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import numpy as np
import pytest

from tests.conformance.laws import INFO, assert_same, codecs, has
from tests.frame.pieces import PIECES
from zcser import registry
from zcser.core.errors import DecodeError, FrameError
from zcser.core.view import to_value
from zcser.frame import frame_segments, read_frame
from zcser.schema.annotations import Int32
from zcser.schema.model import Tensor

Matrix = Annotated[np.ndarray, Tensor("float32", (32, 32))]


@dataclasses.dataclass
class Sample:
    id: Int32
    weight: float
    matrix: Matrix


@dataclasses.dataclass
class Renamed:
    id: Int32
    mass: float
    matrix: Matrix


@dataclasses.dataclass
class Small:
    id: Int32
    weight: float
    bytes: Annotated[np.ndarray, Tensor("uint8", (1,))]  # without an input some codecs carry nothing


SAMPLE = Sample(7, 0.5, np.arange(1024, dtype=np.float32).reshape(32, 32))


def made(name: str, schema):
    """A codec that trusts what these tests wrote."""
    return registry.codec(name, schema, allow_untrusted_code=INFO[name].trusted_only)


def frame(codec, value, **options) -> bytes:
    return b"".join(frame_segments(codec, value, **options))


@pytest.mark.parametrize("checksum", ["crc32", "xxh3", None])
@pytest.mark.parametrize("name", codecs("encode"))
def test_what_is_framed_is_decoded_and_viewed(name, checksum):
    codec = made(name, Sample)
    found = read_frame(frame(codec, SAMPLE, checksum=checksum))
    assert (found.wire, found.fingerprint) == (INFO[name].wire, codec.schema.fingerprint)
    assert found.checksum == checksum
    assert_same(found.decode(codec), SAMPLE)
    assert_same(found.decode(codec, copy=False), SAMPLE)
    if has(name, "view"):
        assert_same(to_value(found.view(codec)), SAMPLE)


@pytest.mark.parametrize("name", codecs("encode"))
def test_codecs_of_a_wire_read_each_others_frames_and_no_other_does(name):
    data = frame(made(name, Sample), SAMPLE, join=INFO[name].joinable or None)
    for other, info in INFO.items():
        reader = made(other, Sample)
        if info.wire == INFO[name].wire:
            assert_same(read_frame(data).decode(reader), SAMPLE)
        else:
            with pytest.raises(FrameError, match=rf"wire '{INFO[name].wire}', where '{info.wire}'") as caught:
                read_frame(data).decode(reader)
            assert (caught.value.codec, caught.value.offset) == (other, 32)


@pytest.mark.parametrize("name", codecs("encode"))
def test_a_frame_of_another_schema_is_refused(name):
    # Case 65: on some wires the bytes of one message read as another.
    data = frame(made(name, Sample), SAMPLE)
    reader = made(name, Renamed)
    for read in (read_frame(data).decode, *([read_frame(data).view] if has(name, "view") else [])):
        with pytest.raises(FrameError, match="another version of the schema") as caught:
            read(reader)
        assert (caught.value.codec, caught.value.offset) == (name, 16)


@pytest.mark.parametrize("name", codecs("encode"))
def test_cut_messages_are_refused_where_the_wire_alone_could_not(name):
    # Case 65: six of 41 truncations of one protobuf message parse.
    codec = made(name, Small)
    data = frame(codec, Small(1, 0.5, np.zeros(1, np.uint8)), alignment=1)
    for size in range(len(data)):
        with pytest.raises(FrameError):
            read_frame(data[:size])


def test_a_message_that_is_wrong_in_a_frame_that_is_right_is_the_codecs_error():
    class Wrong(type(registry.codec("json", Sample))):
        def encode(self, value):
            return b'{"id": 1'

    codec = registry.codec("json", Sample)
    found = read_frame(frame(Wrong(codec.schema, codec.options), SAMPLE))
    with pytest.raises(DecodeError) as caught:
        found.decode(codec)
    assert not isinstance(caught.value, FrameError)


def test_segments_that_a_codec_cannot_read_apart_are_refused_with_the_way_out():
    codec = registry.codec("json", list[bytes])

    class Apart(type(PIECES)):
        wire = "json"

    found = read_frame(frame(Apart(codec.schema, codec.options), [b"a", b"b"]))
    with pytest.raises(FrameError, match=r"no decode_segments\(\).*join=True"):
        found.decode(codec)


@pytest.mark.parametrize("name", codecs("encode_segments"))
def test_tensors_are_never_copied_into_a_frame(name):
    codec = made(name, Sample)
    matrix = SAMPLE.matrix.copy()
    pieces = frame_segments(codec, Sample(7, 0.5, matrix), checksum=None)
    before = b"".join(pieces)
    matrix[0, 0] = 99
    assert b"".join(pieces) != before


ALIASING = [
    value
    for value in codecs("view")
    if value.values[0] in INFO and INFO[value.values[0]].reads["tensor"] == "alias" and has(value.values[0], "encode")
]


@pytest.mark.parametrize("name", ALIASING)
def test_what_a_codec_reads_without_a_copy_aliases_the_frame(name):
    codec = made(name, Sample)
    data = bytearray(frame(codec, SAMPLE, checksum=None))
    view = read_frame(data).view(codec)
    place = data.index(SAMPLE.matrix.tobytes())
    data[place : place + 4] = np.float32(99).tobytes()
    assert view.matrix[0, 0] == 99
