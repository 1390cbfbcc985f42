"""A few bytes that ask for much: refused at once, with no more memory than the bytes themselves are worth."""

from __future__ import annotations

import struct
import tracemalloc

import numpy as np
import pytest

from tests.conformance.bombs import BOMBS
from tests.conformance.bombs.base import varint
from tests.conformance.bombs.compiled import shared_lists, shared_tables, zig_zag
from tests.conformance.bombs.keyed import document
from tests.conformance.laws import INFO, codecs, has, param, read
from tests.conformance.schemas import Node
from zcser import registry
from zcser.core.errors import DecodeError
from zcser.schema.model import Field as SchemaField
from zcser.schema.model import Record as SchemaRecord
from zcser.schema.model import Ref, Schema, Tensor

CELLS = [
    param(name, bomb)
    for name in registry.names()
    for wire, bombs in BOMBS.items()
    if (INFO[name].wire if name in INFO else name.partition("-")[0]) == wire
    for bomb in bombs
]


@pytest.mark.parametrize(("name", "bomb"), CELLS)
def test_a_bomb_is_a_decode_error_in_bounded_memory(name, bomb):
    schema, data = BOMBS[INFO[name].wire][bomb]
    codec = registry.codec(name, schema)
    if bomb != "shared tables":  # of which nothing is allocated, but which takes seconds to trace
        tracemalloc.start()
    try:
        found = read(codec, data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    if bomb not in ("nested in an unknown field", "exponent", "float of a million digits"):
        assert isinstance(found, DecodeError), found
    assert peak < 64 << 20


def msgpack_lengths() -> list[bytes]:
    """Every header with a length, of every width, that claims the most that it can, half of that, and one too many."""
    widths = {
        0xC4: 1, 0xC5: 2, 0xC6: 4, 0xC7: 1, 0xC8: 2, 0xC9: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4, 0xDC: 2, 0xDD: 4, 0xDE: 2, 0xDF: 4,
    }  # fmt: skip
    claims = [
        bytes([head]) + claim.to_bytes(width, "big")
        for head, width in widths.items()
        for claim in (2, 1 << 8 * width - 1, (1 << 8 * width) - 1)
    ]
    return [*claims, b"\x9f", b"\x8f", b"\xbf"]  # and those of a single byte


def protobuf_lengths() -> list[bytes]:
    lengths = (2, 127, 128, 2**14, 2**21, 2**28, 2**31 - 1, 2**31, 2**32 - 1, 2**32 + 1, 2**35, 2**63 - 1, 2**64 - 1)
    return [b"\x0a" + varint(length) for length in lengths]


def flatbuffers_lengths() -> list[bytes]:
    # A table with one field, a vector of the claimed length at the end of the buffer.
    claims = (2, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x3FFFFFFF, 0x40000000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFC, 0xFFFFFFFF)
    return [struct.pack("<IHHHHiII", 12, 6, 8, 4, 0, 8, 4, claim) for claim in claims]


def avro_lengths() -> list[bytes]:
    return [zig_zag(sign * length) for length in (3, 64, 2**14, 2**31, 2**32, 2**62, 2**63 - 1) for sign in (1, -1)]


def cbor_lengths() -> list[bytes]:
    """Every major type that has a length, with each width of it."""
    claims = [
        bytes([major | 23 + power]) + claim.to_bytes(1 << power - 1, "big")
        for major in (0x40, 0x60, 0x80, 0xA0)
        for power in (1, 2, 3, 4)
        for claim in (2, 1 << (8 << power - 1) - 1, (1 << (8 << power - 1)) - 1)
    ]
    return [*claims, b"\x97", b"\xb7", b"\x77", b"\x57", b"\x5f", b"\x7f", b"\x9f", b"\xbf"]


LENGTHS = {
    "cbor": cbor_lengths(),
    "msgpack": msgpack_lengths(),
    "protobuf": protobuf_lengths(),
    "flatbuffers": flatbuffers_lengths(),
    "avro": avro_lengths(),
    "thrift": [head + varint(n) for head in (b"\x18", b"\x19\xf6", b"\x1b") for n in (2, 2**14, 2**31 - 1, 2**32 - 1)],
    "thrift-binary": [
        head + struct.pack(">i", n)
        for head in (b"\x0b\0\x01", b"\x0f\0\x01\x0a", b"\x0d\0\x01\x0b\x0a")
        for n in (2, 2**15, 2**31 - 1, -1, -(2**31))
    ],
}
NESTED = {
    "msgpack": (
        lambda part: part,
        lambda part: b"\x91" + part,
        lambda part: b"\x81\xa1k" + part,
        lambda part: b"\x81" + part,
    ),
    "cbor": (
        lambda part: part,
        lambda part: b"\x81" + part,
        lambda part: b"\xa1\x61k" + part,
        lambda part: b"\xa1" + part,
    ),
    "bson": (lambda part: part, lambda part: document(b"\3k\0" + part)),
    "protobuf": (lambda part: part,),  # inside another length these bytes are two good numbers
    "flatbuffers": (lambda part: part,),
    "thrift": (lambda part: part,),
    "thrift-binary": (lambda part: part,),
    "avro": (lambda part: part,),  # an array around it would be a good message to bytes
}


@pytest.mark.parametrize("name", [param(name) for name, info in INFO.items() if info.wire in LENGTHS])
def test_15_a_length_of_any_width_counts_only_as_far_as_there_are_bytes(name):
    wire = INFO[name].wire
    sources = (
        list[int],
        list[str],
        list[list[int]],
        list[bytes],
        dict[str, str],
        list[dict[str, int]],
        bytes,
        str,
        np.ndarray,
    )
    made = [registry.codec(name, source) for source in sources]
    tracemalloc.start()
    try:
        for length in LENGTHS[wire]:
            for around in NESTED[wire]:
                for behind in (b"", b"\x01"):
                    for codec in made:
                        assert isinstance(read(codec, around(length) + behind), DecodeError), (codec.schema, length)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 16 << 20


def test_the_shared_tables_are_a_good_message_while_they_are_few():
    if "flatbuffers-official" not in INFO:
        pytest.skip("no codec of the wire is installed")
    leaf = Node(0, [])
    codec = registry.codec("flatbuffers-official", Node)
    assert codec.decode(shared_tables(3)) == Node(0, [Node(0, [leaf, leaf]), Node(0, [leaf, leaf])])


def test_the_shared_lists_are_a_good_message_while_they_are_few():
    if "capnp" not in INFO:
        pytest.skip("no codec of the wire is installed")
    leaf = Node(0, [])
    inner = Node(0, [leaf, leaf])
    # Each list but the last one is reached twice, which no writer does; there is room for that in a small message.
    assert registry.codec("capnp", Node).decode(shared_lists(2)) == Node(0, [inner, inner])


def test_every_wire_has_bombs():
    assert {info.wire for info in INFO.values()} <= set(BOMBS)


@pytest.mark.parametrize("name", codecs())
def test_a_tensor_of_no_elements_may_have_any_shape_that_numpy_has(name):
    schema = Schema(Ref("T"), (SchemaRecord("T", (SchemaField("t", Tensor("int8", (0, 2**20)), 1),)),))
    if not has(name, "encode"):
        pytest.skip("has no encode")
    codec = registry.codec(name, schema)
    found = codec.decode(codec.encode({"t": np.zeros((0, 2**20), np.int8)}))
    assert found["t"].shape == (0, 2**20)
