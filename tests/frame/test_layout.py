"""Every byte of a frame, against the table at the head of `zcser.frame.layout`, by hand."""

from __future__ import annotations

import dataclasses
import struct
import zlib
from typing import Annotated

import pytest
import xxhash

from tests.frame.pieces import PIECES, SCHEMA, JoinedPieces
from zcser import registry
from zcser.core.errors import CodecUnavailableError, EncodeError
from zcser.core.options import Options
from zcser.frame import frame_segments, read_frame
from zcser.schema.annotations import UInt8, UInt32, UInt64
from zcser.schema.model import Bytes, Str

TEXT = registry.codec("json", str)


def frame(codec, value, **options) -> bytes:
    return b"".join(frame_segments(codec, value, **options))


def test_a_frame_of_one_message_byte_by_byte():
    data = frame(TEXT, "abc", checksum=None)
    assert data[:8] == b"\x89ZCF" + bytes([1, 0, 6, 0])
    assert data[8:16] == bytes([5, 0, 0, 0, 0, 0, 0, 0])
    assert data[16:24].hex() == TEXT.schema.fingerprint
    assert data[24:32] == bytes(8)
    assert data[32:56] == b"json" + bytes(20)
    assert data[56:60] == bytes([1, 0, 0, 0])
    assert data[60:64] == zlib.crc32(data[:60]).to_bytes(4, "little")
    assert data[64:] == b'"abc"' + bytes(59)


def test_a_frame_of_segments_byte_by_byte():
    data = frame(PIECES, [b"abc", b"", b"defgh"], checksum=None, alignment=16)
    assert data[6:8] == bytes([4, 1])
    assert struct.unpack_from("<Q", data, 8) == (8,)
    assert struct.unpack_from("<I", data, 56) == (3,)
    table = struct.pack("<3Q", 3, 0, 5)
    assert data[64:92] == table + zlib.crc32(table).to_bytes(4, "little")
    assert data[92:] == bytes(4) + b"abc" + bytes(13) + b"defgh" + bytes(11)


@dataclasses.dataclass
class Head:
    magic: Annotated[bytes, Bytes(4)]
    version: UInt8
    checksum: UInt8
    alignment: UInt8
    flags: UInt8
    payload: UInt64
    fingerprint: Annotated[bytes, Bytes(8)]
    digest: UInt64
    wire: Annotated[str, Str(24)]
    segments: UInt32
    crc: UInt32


def test_the_head_is_a_record_of_the_header_codec():
    data = frame(TEXT, "abc", checksum="xxh3", alignment=1)
    head = registry.codec("header", Head).decode(data[:64])
    fingerprint = bytes.fromhex(TEXT.schema.fingerprint)
    digest = xxhash.xxh3_64_intdigest(b'"abc"')
    assert head == Head(b"\x89ZCF", 1, 2, 0, 0, 5, fingerprint, digest, "json", 1, zlib.crc32(data[:60]))


def test_the_checksum_is_of_all_that_follows_the_head():
    data = frame(PIECES, [b"abc", b"defgh"], checksum="crc32")
    assert data[5] == 1
    assert struct.unpack_from("<Q", data, 24) == (zlib.crc32(data[64:]),)
    data = frame(PIECES, [b"abc", b"defgh"], checksum="xxh3")
    assert data[5] == 2
    assert struct.unpack_from("<Q", data, 24) == (xxhash.xxh3_64_intdigest(data[64:]),)


@pytest.mark.parametrize("alignment", [1, 2, 64, 128, 4096])
@pytest.mark.parametrize("pieces", [[], [b"x"], [b"x" * 64], [b"x", b"", b"y" * 4095, b"z" * 65]], ids=len)
def test_segments_begin_at_multiples_of_the_alignment_and_so_does_the_next_frame(alignment, pieces):
    data = frame(PIECES, pieces, alignment=alignment)
    assert len(data) % alignment == 0
    found = read_frame(data)
    assert (found.alignment, found.end, found.segments) == (alignment, len(data), pieces)
    position = 64 if len(pieces) == 1 else 64 + 8 * len(pieces) + 4
    for piece in pieces:
        position = -(-position // alignment) * alignment
        assert data[position : position + len(piece)] == piece
        position += len(piece)


@pytest.mark.parametrize("alignment", [0, 3, 48, 8192, -64, 64.0, True, None])
def test_an_alignment_that_is_none_is_an_error(alignment):
    with pytest.raises(ValueError, match="power of 2"):
        frame(TEXT, "", alignment=alignment)


def test_an_unknown_checksum_is_an_error():
    with pytest.raises(ValueError, match="crc32"):
        frame(TEXT, "", checksum="md5")


def test_segments_that_can_be_joined_are_one_message_on_request():
    codec = JoinedPieces(SCHEMA, Options())
    joined = frame(codec, [b"abc", b"", b"defgh"], join=True)
    assert read_frame(joined).segments == [b"abcdefgh"]
    assert read_frame(joined).decode(codec) == [b"abcdefgh"]
    assert read_frame(frame(codec, [], join=True)).segments == [b""]
    for apart in (frame(codec, [b"abc", b"defgh"]), frame(codec, [b"abc", b"defgh"], join=False)):
        assert read_frame(apart).segments == [b"abc", b"defgh"]
    twice = memoryview(b"abc")
    assert read_frame(frame(codec, [twice, twice], join=True)).segments == [b"abcabc"]
    with pytest.raises(EncodeError, match="cannot be joined"):
        frame(PIECES, [b"abc", b"def"], join=True)


def test_a_frame_larger_than_the_receiver_takes_is_refused_when_it_is_made():
    assert len(frame(TEXT, "x" * 62, max_bytes=128)) == 128
    with pytest.raises(EncodeError, match="frame of 192 bytes, where max_bytes is 128"):
        frame(TEXT, "x" * 63, max_bytes=128)
    with pytest.raises(EncodeError, match="65537 segments"):
        frame(PIECES, [b""] * 65537)
    assert len(read_frame(frame(PIECES, [b"", b"x"] * 32768)).segments) == 65536


def test_the_pieces_of_a_frame_alias_the_segments():
    tensor = bytearray(10_000)
    pieces = frame_segments(PIECES, [b"abc", tensor], checksum=None)
    before = b"".join(pieces)
    tensor[5000] = 1
    after = b"".join(pieces)
    assert [n for n in range(len(before)) if before[n] != after[n]] == [192 + 5000]


def test_a_wire_without_a_place_in_the_head_is_refused():
    class Long(JoinedPieces):
        wire = "w" * 25

    class Foreign(JoinedPieces):
        wire = "wire-é"

    for cls in (Long, Foreign):
        with pytest.raises(EncodeError, match="24 ASCII"):
            frame(cls(SCHEMA, Options()), [b""])


def test_a_checksum_whose_library_is_missing_names_the_extra(monkeypatch):
    data = frame(TEXT, "abc", checksum="xxh3")
    monkeypatch.setitem(__import__("sys").modules, "xxhash", None)
    with pytest.raises(CodecUnavailableError, match=r"zcser\[frame\]"):
        frame(TEXT, "abc", checksum="xxh3")
    with pytest.raises(ValueError, match=r"zcser\[frame\]"):
        read_frame(data)
