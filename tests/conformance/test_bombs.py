"""A few bytes that ask for much: refused at once, with no more memory than the bytes themselves are worth.

Written by hand for each wire, from its own specification.
"""

from __future__ import annotations

import struct
import tracemalloc

import numpy as np
import pytest

from tests.conformance.laws import INFO, codecs, has, param, read
from tests.conformance.schemas import Node
from zcser import registry
from zcser.core.errors import DecodeError
from zcser.schema.model import Field as SchemaField
from zcser.schema.model import Int, List, Optional, Ref, Schema, Tensor
from zcser.schema.model import Record as SchemaRecord

LISTS = Schema(
    Ref("L"), (SchemaRecord("L", (SchemaField("a", List(Ref("L")), 1), SchemaField("n", Optional(Int()), 2))),)
)

JSON = {
    "open arrays": (LISTS, b"[" * 100_000),
    "nested arrays": (list[list[int]], b"[" * 100_000 + b"]" * 100_000),
    "open objects": (LISTS, b'{"a":' * 100_000),
    "nested records": (LISTS, b'{"a":[' * 50_000 + b"]}" * 50_000),
    "nested in an unknown field": (LISTS, b'{"a":[],"n":null,"x":' + b"[" * 90_000 + b"]" * 90_000 + b"}"),
    "integer of a million digits": (int, b"9" * 1_000_000),
    "float of a million digits": (float, b"9" * 1_000_000 + b".0"),
    "negative integer of a million digits": (list[int], b"[-" + b"1" * 1_000_000 + b"]"),
    "exponent": (float, b"1e" + b"9" * 100_000),
    "key of a million digits": (dict[int, int], b'{"' + b"1" * 1_000_000 + b'":1}'),
    "huge shape": (np.ndarray, b'{"dtype":"float64","shape":[4294967296,4294967296],"base64":""}'),
    "shape that wraps to nothing": (np.ndarray, b'{"dtype":"float64","shape":[9223372036854775807,9223372036854775807,2],"base64":""}'),
    "negative shape": (np.ndarray, b'{"dtype":"int8","shape":[-1,-4],"base64":"AAAAAA=="}'),
    "shape over 64 bits": (np.ndarray, b'{"dtype":"int8","shape":[18446744073709551617,0],"base64":""}'),
    "shape of a thousand dimensions": (np.ndarray, b'{"dtype":"int8","shape":[' + b"1," * 999 + b'1],"base64":"AA=="}'),
    "dtype of objects": (np.ndarray, b'{"dtype":"object","shape":[1],"base64":"AAAAAAAAAAA="}'),
    "dtype by its code": (np.ndarray, b'{"dtype":"<f8","shape":[1],"base64":"AAAAAAAAAAA="}'),
}  # fmt: skip


def tensor_map(dtype: bytes, shape: bytes, data: bytes) -> bytes:
    """A tensor of the msgpack wire: {"dtype": str, "shape": array, "data": bin}."""
    return b"\x83\xa5dtype" + dtype + b"\xa5shape" + shape + b"\xa4data" + data


MSGPACK = {
    "array of 4 G items": (list[int], b"\xdd\xff\xff\xff\xff"),
    "array of 4 G items with one": (list[int], b"\xdd\xff\xff\xff\xff\x01"),
    "map of 4 G entries": (dict[str, int], b"\xdf\xff\xff\xff\xff"),
    "4 GiB of bytes": (bytes, b"\xc6\xff\xff\xff\xff"),
    "4 GiB of text": (str, b"\xdb\xff\xff\xff\xff"),
    "extension of 4 GiB": (bytes, b"\xc9\xff\xff\xff\xff\x01"),
    "open arrays": (LISTS, b"\x91" * 1_000_000),
    "nested arrays": (LISTS, b"\x91" * 100_000 + b"\xc0"),
    "open maps": (LISTS, b"\x81\xa1a" * 100_000),
    "nested records": (LISTS, b"\x81\xa1a\x91" * 100_000 + b"\x80"),
    "map in a key": (dict[str, int], b"\x81" * 50_000 + b"\xc0" * 50_001),
    "an extension as a value": (int, b"\xd4\x05\x00"),
    "timestamp": (int, b"\xd6\xff\x00\x00\x00\x00"),
    "huge shape": (np.ndarray, tensor_map(b"\xa5int64", b"\x92\xcf\x7f\xff\xff\xff\xff\xff\xff\xff\x02", b"\xc4\x00")),
    "negative shape": (np.ndarray, tensor_map(b"\xa4int8", b"\x92\xff\xff", b"\xc4\x01\x00")),
    "shape of floats": (np.ndarray, tensor_map(b"\xa4int8", b"\x91\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00", b"\xc4\x01\x00")),
    "shape of bools": (np.ndarray, tensor_map(b"\xa4int8", b"\x91\xc3", b"\xc4\x01\x00")),
    "dtype of objects": (np.ndarray, tensor_map(b"\xa6object", b"\x91\x01", b"\xc4\x08\x00\x00\x00\x00\x00\x00\x00\x00")),
}  # fmt: skip


def varint(number: int) -> bytes:
    """Base 128, low groups first: protobuf's encoding document."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def nested_messages(levels: int) -> bytes:
    """Field 2 of length-delimited type inside itself; `Node.children` if ids are the numbers."""
    data = b""
    for _ in range(levels):
        data = b"\x12" + varint(len(data)) + data
    return data


PROTOBUF = {
    "length of 4 GiB": (bytes, b"\x0a\xff\xff\xff\xff\x0f"),
    "length of 2**63": (list[int], b"\x0a" + varint(2**63)),
    "length that wraps": (str, b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
    "varint without end": (int, b"\x08" + b"\x80" * 100_000),
    "varint of eleven bytes": (int, b"\x08" + b"\x80" * 10 + b"\x01"),
    "nested messages": (Node, nested_messages(3000)),
    "open groups": (Node, b"\x0b" * 100_000),
    "groups in an unknown field": (Node, b"\xa3\x06" * 100_000),
    "unpaired end of group": (Node, b"\x0c"),
    "field number 0": (Node, b"\x00\x01"),
    "wire type 7": (Node, b"\x0f"),
}


def shared_tables(levels: int) -> bytes:
    """`Node`s each of which names the one below it twice: 2**levels tables to who does not count."""
    data = bytearray()

    def prepend(*words: int) -> int:
        data[0:0] = struct.pack(f"<{len(words)}I", *words)
        return len(data)

    # Built from the end, as builders do: a position is counted from there, an offset is the difference of two.
    below = 0
    for level in range(levels):
        size = len(data)
        vector = prepend(2, size + 8 - below, size + 4 - below) if level else prepend(0)
        # The table's two words are the way back to its vtable and the field children, whose slot is 1; then the vtable.
        below = prepend(8, len(data) + 4 - vector)
        data[0:0] = struct.pack("<HHHH", 8, 8, 0, 4)
    prepend(len(data) + 4 - below)
    return bytes(data)


FLATBUFFERS = {
    "root beyond the end": (Node, b"\xf0\xff\xff\xff" + bytes(40)),
    "root at itself": (Node, bytes(64)),
    "all ones": (Node, b"\xff" * 64),
    "vtable beyond the end": (Node, struct.pack("<Ii", 4, -(2**31)) + bytes(32)),
    "vtable at the table": (Node, struct.pack("<Ii", 4, 0) + bytes(32)),
    "shared tables": (Node, shared_tables(45)),
    "vector of 4 G items": (list[int], struct.pack("<IHHHHiII", 12, 6, 8, 4, 0, 8, 4, 0xFFFFFFFF)),
    "vector over its end": (list[int], struct.pack("<IHHHHiIIq", 12, 6, 8, 4, 0, 8, 4, 2, 5)),
    "odd root": (Node, struct.pack("<I", 7) + bytes(61)),
}
# By hand from pickletools' table of opcodes. What asks for more memory than there is cannot be here: nothing bounds it.
PICKLE = {
    "a class": (int, b"\x80\x05cbuiltins\nint\n."),
    "a call": (int, b"\x80\x05cbuiltins\neval\n(V1+1\ntR."),
    "a call by a name on the stack": (int, b"\x80\x05\x8c\x08builtins\x8c\x04eval\x93\x8c\x011\x85R."),
    "an instance of the first protocol": (int, b"(ibuiltins\nlist\n."),
    "an extension": (int, b"\x80\x05\x82\x01."),
    "a persistent id": (int, b"\x80\x05Psomething\n."),
    "a buffer that is not there": (bytes, b"\x80\x05\x97."),
    "a list in itself": (LISTS, b"\x80\x05]\x94h\x00a."),
    "a record in itself": (LISTS, b"\x80\x05}\x94(\x8c\x01a]\x94h\x00a\x8c\x01nNu."),
    "open lists": (LISTS, b"\x80\x05" + b"]" * 1_000_000),
    "nested lists": (LISTS, b"\x80\x05" + b"]" * 100_000 + b"a" * 99_999 + b"."),
    "unmatched pops": (int, b"\x80\x05" + b"0" * 1000 + b"."),
    "no protocol": (int, b"\x80\x63."),
    "a frame of 2**63": (int, b"\x80\x05\x95" + b"\xff" * 8 + b"K\x01."),
    "digits": (int, b"I" + b"9" * 100_000 + b"\n."),
}


def capnp_message(*words: int, claim: int | None = None) -> bytes:
    """A message of one segment; `claim` is what its table says that it has, in words."""
    count = len(words) if claim is None else claim
    return struct.pack(f"<II{len(words)}Q", 0, count, *(word & 2**64 - 1 for word in words))


# Pointers, from the encoding spec: the kind in the lowest two bits, an offset in words, then what the kind says.
def to_struct(offset: int, data: int, pointers: int) -> int:
    return offset << 2 & 0xFFFFFFFF | data << 32 | pointers << 48


def to_list(offset: int, size: int, count: int) -> int:
    return 1 | offset << 2 & 0xFFFFFFFF | size << 32 | count << 35


def shared_lists(levels: int) -> bytes:
    """`Node`s in lists of two, each of whose children are the list of the next level: 2**levels nodes to who counts them."""
    words = [to_struct(0, 1, 2), 0, to_list(1, 7, 6), 0]
    for level in range(levels):
        words.append(2 << 2 | 1 << 32 | 2 << 48)  # the tag of two structs, one word of data and two pointers each
        last = level == levels - 1
        words += [0, to_list(0, 0, 0) if last else to_list(4, 7, 6), 0]
        words += [0, to_list(0, 0, 0) if last else to_list(1, 7, 6), 0]
    return capnp_message(*words)


TEXT_WORDS = 1024
CAPNP = {
    "nothing": (int, b""),
    "a segment of 4 G words": (list[int], capnp_message(claim=2**32 - 1)),
    "4 G segments": (list[int], b"\xff" * 64),
    "513 segments": (list[int], struct.pack("<514I", 512, *[0] * 513)),
    "list of 2**29 items": (list[int], capnp_message(to_struct(0, 0, 1), to_list(0, 5, 2**29 - 1))),
    "list of 2**29 items of no size": (list[int], capnp_message(to_struct(0, 0, 1), to_list(0, 0, 2**29 - 1))),
    "list of 2**29 nulls": (list[None], capnp_message(to_struct(0, 0, 1), to_list(0, 1, 2**29 - 1))),
    "list of 2**29 structs of no size": (LISTS, capnp_message(to_struct(0, 0, 1), to_list(0, 7, 0), (2**29 - 1) << 2)),
    "list of 2**29 structs that are void": (LISTS, capnp_message(to_struct(0, 0, 1), to_list(0, 0, 2**29 - 1))),
    "more structs than words": (LISTS, capnp_message(to_struct(0, 0, 1), to_list(0, 7, 1), 1000 << 2 | 1 << 32, 0)),
    "text of 512 MiB": (str, capnp_message(to_struct(0, 0, 1), to_list(0, 2, 2**29 - 1))),
    "text without its NUL": (str, capnp_message(to_struct(0, 0, 1), to_list(0, 2, 8), 0x4141414141414141)),
    "a struct in itself": (Node, capnp_message(to_struct(0, 1, 2), 0, to_list(1, 0, 0), to_struct(-3, 1, 2))),
    "a list in itself": (LISTS, capnp_message(to_struct(0, 0, 1), to_list(0, 7, 1), 1 << 2 | 1 << 48, to_list(-2, 7, 1))),
    "far into nowhere": (Node, capnp_message(2 | 5 << 32)),
    "far to itself": (Node, capnp_message(2)),
    "far twice": (Node, capnp_message(2 | 4 | 1 << 3, 2, 2)),
    "a capability": (str, capnp_message(to_struct(0, 0, 1), 3)),
    "shared lists": (Node, shared_lists(45)),
    "the same text a thousand times": (
        list[str],
        capnp_message(
            to_struct(0, 0, 1),
            to_list(0, 6, 1000),
            *(to_list(999 - number, 2, TEXT_WORDS * 8) for number in range(1000)),
            *[0x4141414141414141] * (TEXT_WORDS - 1), 0x41414141414141,
        ),
    ),
    "negative shape": (
        np.ndarray,
        capnp_message(to_struct(0, 0, 1), to_struct(0, 1, 2), 1, to_list(1, 5, 1), to_list(1, 2, 8), -1, 0),
    ),
    "huge shape": (
        np.ndarray,
        capnp_message(to_struct(0, 0, 1), to_struct(0, 1, 2), 1, to_list(1, 5, 2), to_list(2, 2, 8), 2**62, 2**62, 0),
    ),
}  # fmt: skip
# By hand from the xlang specification: the header, a value that is no reference, the type's number, its body.
FORY_LIST = b"\x01\xff\x16"
FORY = {
    "list of 2**31 - 1 items": (list[int], FORY_LIST + varint(2**31 - 1) + b"\x08\x07"),
    "list of 2**24 nulls": (list[None], FORY_LIST + varint(2**24) + b"\x08\x01"),
    "map of 2**31 - 1 entries": (dict[str, int], b"\x01\xff\x18" + varint(2**31 - 1) + b"\x00\x01"),
    "text of 2 GiB": (str, b"\x01\xff\x15" + varint(2**33)),
    "bytes of 2 GiB": (bytes, b"\x01\xff\x29" + varint(2**31 - 1)),
    "nested lists": (LISTS, b"\x01\xff" + b"\x16\x01\x08" * 100_000),
    "a named class": (int, b"\x01\xff\x1a\x00\x00\x08builtins\x04eval"),
    "a registered class that is not": (int, b"\x01\xff\x1f\x63\x01"),
    "the form of Python alone": (int, b"\x00\xff\x07\x02"),
    "buffers that are not there": (bytes, b"\x03\xff\x29\x00"),
    "half a pair of surrogates": (str, b"\x01\xff\x15\x09\x00\xd8"),
    "a set": (list[int], b"\x01\xff\x17\x01\x08\x07\x02"),
    "nothing": (int, b""),
}
HEADER = {
    "too short": (int, b"\0"),
    "too long": (int, bytes(1000)),
    "empty": (float, b""),
}
BOMBS = {
    "json": JSON,
    "msgpack": MSGPACK,
    "protobuf": PROTOBUF,
    "flatbuffers": FLATBUFFERS,
    "pickle": PICKLE,
    "header": HEADER,
    "capnp": CAPNP,
    "fory": FORY,
}

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


LENGTHS = {"msgpack": msgpack_lengths(), "protobuf": protobuf_lengths(), "flatbuffers": flatbuffers_lengths()}
NESTED = {
    "msgpack": (
        lambda part: part,
        lambda part: b"\x91" + part,
        lambda part: b"\x81\xa1k" + part,
        lambda part: b"\x81" + part,
    ),
    "protobuf": (lambda part: part,),  # inside another length these bytes are two good numbers
    "flatbuffers": (lambda part: part,),
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
