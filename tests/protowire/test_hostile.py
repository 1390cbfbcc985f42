"""Bytes that are no message of the schema, and messages nested too deep: a value or one clear error, from decode and view
alike.
"""

from __future__ import annotations

import re
from typing import Any, NotRequired, TypedDict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conformance.laws import assert_same, read
from tests.protowire.outer import OUTER_BYTES, OUTER_CODEC, STRICT_CODEC, codec_of
from zcser.codecs.protobuf import ProtobufCodec
from zcser.core.errors import DecodeError, EncodeError
from zcser.core.options import Limits, Options
from zcser.core.view import to_value
from zcser.schema.model import Bytes, Field, List, Null, Optional, Record, Ref, Schema, Str, Union


class Link(TypedDict):
    next: NotRequired[Link | None]  # a wrapper and a record: two messages a level, and one level of the value


class Tree(TypedDict):
    kids: dict[str, Tree]  # an entry and a record


def chain(levels: int, wrap: Any) -> Any:
    value: Any = wrap(None)
    for _ in range(levels - 1):
        value = wrap(value)
    return value


@pytest.mark.parametrize(
    ("source", "wrap", "most", "path"),
    [
        # 1 + 2 * 49 = 99 messages, and a last wrapper around None
        (Link, lambda inner: {"next": inner}, 50, "/next" * 50),
        # 1 + 2 * 49 = 99 messages
        (Tree, lambda inner: {"kids": {} if inner is None else {"k": inner}}, 50, "/kids/k" * 50),
    ],
    ids=["wrappers", "maps"],
)
def test_what_is_nested_too_deep_for_parsers_is_refused_with_its_path(source, wrap, most, path):
    codec = codec_of(source, limits=Limits(depth=1000))
    deepest = chain(most, wrap)
    assert_same(codec.decode(codec.encode(deepest)), deepest)
    assert_same(to_value(codec.view(codec.encode(deepest))), deepest)
    with pytest.raises(EncodeError, match="nested deeper than the 100 levels") as caught:
        codec.encode(chain(most + 1, wrap))
    assert caught.value.path == path


def test_bytes_nested_too_deep_are_refused():
    body = b""
    for _ in range(2000):
        size = len(body)
        varint = bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])
        body = b"\x0a" + varint + body
    for call in (codec_of(Link).decode, codec_of(Link).view):
        with pytest.raises(DecodeError):
            call(body)


@pytest.mark.parametrize("codec", [OUTER_CODEC, STRICT_CODEC], ids=["drop", "refuse"])
def test_every_flipped_bit_gives_a_value_or_a_decode_error(codec):
    refused = 0
    for place in range(len(OUTER_BYTES) * 8):
        flipped = bytearray(OUTER_BYTES)
        flipped[place // 8] ^= 1 << place % 8
        refused += isinstance(read(codec, flipped), DecodeError)
    assert refused > len(OUTER_BYTES)


def test_every_truncation_gives_a_value_or_a_decode_error():
    for size in range(len(OUTER_BYTES)):
        read(OUTER_CODEC, OUTER_BYTES[:size])


@given(st.binary(max_size=64))
def test_random_bytes_give_a_value_or_a_decode_error(data):
    read(OUTER_CODEC, data)
    read(OUTER_CODEC, OUTER_BYTES + data)
    read(STRICT_CODEC, data + OUTER_BYTES)


SIZED = Schema(
    Ref("Sized"),
    (
        Record(
            "Sized",
            (
                Field("text", Optional(Str(3)), 1),
                Field("texts", List(Str(3)), 2),
                Field("blob", Bytes(2), 3),
                Field("blobs", List(Optional(Bytes(2))), 4, required=False),
                Field("null", Null(), 5),
                Field("either", Optional(Union((Str(1), Bytes(1)))), 6),
            ),
        ),
    ),
)


@pytest.mark.parametrize(
    "data",
    [
        "0a 04 61626364 1a 02 0000",
        "0a 04 e4bda0 61 1a 02 0000",
        "12 04 61626364 1a 02 0000",
        "1a 01 00",
        "",
        "1a 02 0000 22 03 0a 01 00",
        "1a 02 0000 32 04 0a 02 6161",
        "1a 02 0000 32 02 12 00",
    ],
)
def test_sizes_of_the_schema_are_checked_on_the_wire(data):
    codec = ProtobufCodec(SIZED, Options())
    assert codec.decode(bytes.fromhex("1a 02 0000"))["blob"] == b"\0\0"
    for call in (codec.decode, codec.view):
        with pytest.raises(DecodeError):
            call(bytes.fromhex(data))


@pytest.mark.parametrize(
    ("tensor", "reason"),
    [
        ("0809 1a0100", "1 bytes do not fit float16"),
        ("0801 1201ff", "not a protobuf message"),  # the shape's varint is cut
        ("0801 120a ffffffffffffffffff01", "0 bytes do not fit uint8 of shape [-1]"),
        ("0801 1214 ffffffffffffffffff01 ffffffffffffffffff01 1a0100", "1 bytes do not fit uint8 of shape [-1, -1]"),
        ("0801 1209 ffffffffffffffff7f", "0 bytes do not fit uint8 of shape [9223372036854775807]"),
        (
            "0801 1213 808080808010 00 808080808010 808080808010",
            "no array can have the shape",
        ),  # 2**39, 0, 2**39, 2**39
        ("08e807", "unknown dtype number 1000"),
        ("08ffffffffffffffffff01", "unknown dtype number -1"),
        ("", "missing"),
        ("0801 1242" + "01" * 66 + "1a0100", "66 dimensions"),
        ("0801 12e807" + "01" * 1000 + "1a0100", "1000 dimensions"),
    ],
)
def test_a_tensor_that_is_none_is_refused(tensor, reason):
    message = bytes.fromhex(tensor)
    size = len(message)
    varint = bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])
    codec = codec_of(np.ndarray)
    for call in (codec.decode, codec.view):
        with pytest.raises(DecodeError, match=re.escape(reason)):
            call(b"\x0a" + varint + message)
