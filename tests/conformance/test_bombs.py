"""A few bytes that ask for much: refused at once, with no more memory than the bytes themselves are worth.

Written by hand for each wire, from its own specification.
"""

from __future__ import annotations

import struct
import tracemalloc
from typing import Any

import numpy as np
import pytest

from tests.conformance.laws import INFO, codecs, has, param, read
from tests.conformance.schemas import Empty, Node
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


def zig_zag(number: int) -> bytes:
    """An int or long of Avro's specification."""
    return varint((number << 1 ^ number >> 63) & (1 << 64) - 1)


AVRO = {
    "array of 2**62 items": (list[int], zig_zag(2**62)),
    "array of 2**31 items with one": (list[int], zig_zag(2**31) + b"\x02"),
    "array of 2**62 items of no bytes": (list[None], zig_zag(2**62) + b"\0"),
    "array of -2**63 items": (list[int], zig_zag(-(2**63)) + b"\0" + b"\x02"),
    "blocks of arrays without end": (list[int], (zig_zag(-1) + b"\0\x02") * 1000),
    "map of 2**62 entries": (dict[str, int], zig_zag(2**62)),
    "4 GiB of bytes": (bytes, zig_zag(2**32)),
    "2**62 bytes of text": (str, zig_zag(2**62)),
    "negative length of text": (str, zig_zag(-5) + b"abcdef"),
    "negative length of bytes": (list[bytes], b"\x02" + zig_zag(-1) + b"\0"),
    "varint without end": (int, b"\x80" * 100_000),
    "option that there is not": (int | str, zig_zag(2)),
    "open records": (LISTS, b"\x02" * 1_000_000),
    "nested records": (LISTS, b"\x02" * 100_000 + b"\0" * 200_000),
    "huge shape": (np.ndarray, b"\x0aint64\x04" + zig_zag(2**62) + b"\x04\0\0"),
    "negative shape": (np.ndarray, b"\x08int8\x04\x01\x07\0\x080000"),
    "dtype of objects": (np.ndarray, b"\x0cobject\x02\x02\0\x1000000000"),
}
# By Thrift's own documents of the two protocols: a root that is no record is field 1 of a struct.
THRIFT = {
    "list of 2**31 - 1 items": (list[int], b"\x19\xf6\xff\xff\xff\xff\x07"),
    "list of 2**32 - 1 items": (list[int], b"\x19\xf6\xff\xff\xff\xff\x0f"),
    "list of a type that there is not": (list[int], b"\x19\xff\xff\xff\xff\xff\x07"),
    "list of another type": (list[int], b"\x19\x28\0\0\0"),
    "unknown list of nothing": (list[int], b"\x29\xf0\xff\xff\xff\xff\x07\0"),
    "map of 2**31 - 1 entries": (dict[str, int], b"\x1b\xff\xff\xff\xff\x07\x86"),
    "2**31 - 1 bytes": (bytes, b"\x18\xff\xff\xff\xff\x07"),
    "2**32 - 1 bytes of text": (str, b"\x18\xff\xff\xff\xff\x0f"),
    "varint without end": (int, b"\x16" + b"\x80" * 100_000),
    "open structs": (LISTS, b"\x19\x1c" * 100_000),
    "open structs with large lists": (LISTS, b"\x19\xfc\xff\x07" * 1000),
    "open unknown structs": (LISTS, b"\x5c" * 100_000),
    "open unknown lists": (LISTS, b"\x59" + b"\x19" * 100_000),
    "no field set": (int, b"\0"),
    "two options of a union": (int | str, b"\x1c\x16\x02\x18\x01a\0\0"),
    "no option of a union": (int | str, b"\x1c\0\0"),
    "a tensor without a shape": (np.ndarray, b"\x1c\x18\x04int8\0\0"),
    "negative shape": (np.ndarray, b"\x1c\x18\x04int8\x19\x26\x01\x07\x18\x040000\0\0"),
}
THRIFT_BINARY = {
    "list of 2**31 - 1 items": (list[int], b"\x0f\0\x01\x0a\x7f\xff\xff\xff"),
    "list of -1 items": (list[int], b"\x0f\0\x01\x0a\xff\xff\xff\xff\0"),
    "list of a type that there is not": (list[int], b"\x0f\0\x01\x01\x7f\xff\xff\xff"),
    "list of another type": (list[int], b"\x0f\0\x01\x02\0\0\0\x01\x01\0"),
    "unknown list of nothing": (list[int], b"\x0f\0\x02\x01\x7f\xff\xff\xff\0"),
    "map of 2**31 - 1 entries": (dict[str, int], b"\x0d\0\x01\x0b\x0a\x7f\xff\xff\xff"),
    "map of -1 entries": (dict[str, int], b"\x0d\0\x01\x0b\x0a\xff\xff\xff\xff\0"),
    "2**31 - 1 bytes": (bytes, b"\x0b\0\x01\x7f\xff\xff\xff"),
    "-1 bytes of text": (str, b"\x0b\0\x01\xff\xff\xff\xff\0"),
    "-1 bytes in an unknown field": (int, b"\x0a\0\x01\0\0\0\0\0\0\0\x05\x0b\0\x02\xff\xff\xff\xff\0"),
    "open structs": (LISTS, b"\x0f\0\x01\x0c\0\0\0\x01" * 10_000),
    "open unknown structs": (LISTS, b"\x0c\0\x09" * 100_000),
    "no field set": (int, b"\0"),
    "text of half a character": (str, b"\x0b\0\x01\0\0\0\x01\xc3\0"),
    "text of that and U+FFFD": (str, b"\x0b\0\x01\0\0\0\x04\xef\xbf\xbd\xc3\0"),
}
OBJECTS = {
    **PICKLE,
    "a class that numpy has": (np.ndarray, b"\x80\x05cnumpy\nmemmap\n)R."),
    "an attribute of a class that it may name": (
        Node,
        b"\x80\x05\x8c\x1ctests.conformance.schemas\x8c\x0dNode.__init__\x93.",
    ),
    "a class without its fields": (Node, b"\x80\x05ctests.conformance.schemas\nNode\n)\x81."),
    "an array of pointers": (np.ndarray, b"\x80\x05cnumpy\ndtype\n\x8c\x01O\x85R."),
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
# By hand from RFC 8949 and the registry of tags.
CBOR = {
    "array of 2**64 items": (list[int], b"\x9b" + b"\xff" * 8),
    "array of 4 G items with one": (list[int], b"\x9a\xff\xff\xff\xff\x01"),
    "map of 2**64 entries": (dict[str, int], b"\xbb" + b"\xff" * 8),
    "2**63 bytes": (bytes, b"\x5b\x80" + bytes(7)),
    "2**31 of text": (str, b"\x7a\x80\x00\x00\x00"),
    "open arrays": (LISTS, b"\x81" * 1_000_000),
    "open arrays without length": (LISTS, b"\x9f" * 1_000_000),
    "nested arrays": (LISTS, b"\x81" * 100_000 + b"\xf6"),
    "nested records": (LISTS, b"\xa1\x61a\x81" * 100_000 + b"\xa0"),
    "open text without length": (str, b"\x7f" * 100_000),
    "open tags": (int, b"\xc6" * 1_000_000),
    "map in a key": (dict[str, int], b"\xa1" * 300 + b"\xf6" * 301),
    "a bignum as wide as the message": (int, b"\xc2\x5a\x00\x0f\x42\x40" + b"\xff" * 1_000_000),
    "a decimal of 2**63 digits": (int, b"\xc4\x82\x1b\x7f" + b"\xff" * 7 + b"\x01"),
    "a float of 2**32 bits": (float, b"\xc5\x82\x1a\xff\xff\xff\xff\x01"),
    "a fraction over 0": (float, b"\xd8\x1e\x82\x01\x00"),
    "a regular expression": (str, b"\xd8\x23\x6c(a{9,9999})*x"),
    "a mail": (str, b"\xd8\x24\x63a:b"),
    "a list in itself": (LISTS, b"\xa2\x61a\xd8\x1c\x81\xd8\x1d\x00\x61n\xf6"),
    "a record in itself": (LISTS, b"\xd8\x1c\xa2\x61a\x81\xd8\x1d\x00\x61n\xf6"),
    "lists that are shared": (list[list[int]], b"\x82\xd8\x1c\x80\xd8\x1d\x00"),
    "text by its number": (list[str], b"\xd9\x01\x00\x82\x63abc\xd8\x19\x00"),
    "a date": (int, b"\xc1\x00"),
    "a set": (list[int], b"\xd9\x01\x02\x81\x01"),
    "huge shape": (np.ndarray, b"\xd8\x28\x82\x82\x1b" + b"\x7f" * 8 + b"\x02\xd8\x40\x41\x00"),
    "negative shape": (np.ndarray, b"\xd8\x28\x82\x82\x20\x20\xd8\x40\x41\x00"),
    "shape that wraps to nothing": (np.ndarray, b"\xd8\x28\x82\x83\x1b\x7f" + b"\xff" * 7 + b"\x1b\x7f" + b"\xff" * 7 + b"\x02\xd8\x40\x40"),
    "shape of a thousand dimensions": (np.ndarray, b"\xd8\x28\x82\x99\x03\xe8" + b"\x01" * 1000 + b"\xd8\x40\x41\x00"),
    "elements that are cut": (np.ndarray, b"\xd8\x45\x43abc"),
    "a typed array of text": (np.ndarray, b"\xd8\x40\x61a"),
    "a typed array as a key": (dict[str, int], b"\xa1\xd8\x40\x41a\x01"),
    "quadruple precision": (np.ndarray, b"\xd8\x57\x50" + bytes(16)),
}  # fmt: skip


def document(elements: bytes) -> bytes:
    """A document of BSON: its length, its elements, a NUL."""
    return struct.pack("<i", len(elements) + 5) + elements + b"\0"


def nested_documents(levels: int, key: bytes = b"\x03a\0") -> bytes:
    data = b"\x05\0\0\0\0"
    for _ in range(levels):
        data = document(key + data)
    return data


def root(kind: int, data: bytes) -> bytes:
    """What stands for a value that is no document: the value of ``{"value": ...}``."""
    return document(bytes([kind]) + b"value\0" + data)


# By hand from https://bsonspec.org/spec.html.
BSON = {
    "length of 2 GiB": (dict[str, int], b"\xff\xff\xff\x7f\0"),
    "negative length": (dict[str, int], b"\xff\xff\xff\xff\0"),
    "length of 4": (dict[str, int], b"\x04\0\0\0\0"),
    "text of 2 GiB": (str, root(2, b"\xff\xff\xff\x7fa\0")),
    "text of no length": (str, root(2, b"\0\0\0\0\0")),
    "text of negative length": (str, root(2, b"\xff\xff\xff\xffa\0")),
    "binary of 2 GiB": (bytes, root(5, b"\xff\xff\xff\x7f\0a")),
    "binary of another subtype": (bytes, root(5, b"\1\0\0\0\x80a")),
    "array of 2 GiB": (list[int], root(4, b"\xff\xff\xff\x7f\0")),
    "nested documents": (LISTS, nested_documents(20_000)),
    "nested arrays": (list[list[int]], nested_documents(20_000, b"\x040\0")),
    "a key without end": (dict[str, int], document(b"\x10" + b"a" * 100_000)),
    "a regular expression": (str, root(11, b"(a{9,9999})*x\0\0")),
    "code": (str, root(13, b"\2\0\0\0a\0")),
    "code with a scope": (str, root(15, struct.pack("<ii", 4 + 4 + 2 + 5, 2) + b"a\0" + document(b""))),
    "a date": (int, root(9, bytes(8))),
    "a date of year 292277025": (int, root(9, b"\xff" * 7 + b"\x7f")),
    "an id": (str, root(7, bytes(12))),
    "a reference": (str, root(3, document(b"\x02$ref\0\2\0\0\0a\0\x10$id\0\1\0\0\0"))),
    "a decimal of 6144 digits": (int, root(19, b"\1" + bytes(13) + b"\xfe\x5f")),
    "a decimal that is no number": (float, root(19, bytes(15) + b"\x7c")),
    "an unknown type": (int, root(32, b"")),
    "another key": (int, document(b"\x10valua\0\1\0\0\0")),
    "a key more": (int, document(b"\x10value\0\1\0\0\0\x10x\0\1\0\0\0")),
    "huge shape": (
        np.ndarray,
        document(
            b"\x02dtype\0\6\0\0\0int64\0\x04shape\0"
            + document(b"\x120\0" + b"\xff" * 7 + b"\x7f\x101\0\2\0\0\0")
            + b"\x05data\0\0\0\0\0\0"
        ),
    ),
}


def arrow_bombs() -> dict[str, tuple[Any, bytes]]:
    """Written by pyarrow, which writes whatever it is told; the lengths are put in by hand."""
    try:
        import pyarrow as pa
    except ImportError:
        return {}

    def stream(*columns: Any, names: str = "value", **options: Any) -> bytes:
        sink = pa.BufferOutputStream()
        batch = pa.record_batch(list(columns), names=list(names.split()))
        with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
            writer.write_batch(batch)
        return sink.getvalue().to_pybytes()

    def claiming(length: int, claim: int, column: Any, *, nodes: bool = True) -> bytes:
        """A column whose length, in the metadata and in offsets, or in these alone, is another."""
        data = stream(column).replace(struct.pack("<ii", 0, length), struct.pack("<iI", 0, claim & 0xFFFFFFFF))
        return data.replace(struct.pack("<q", length), struct.pack("<q", claim)) if nodes else data

    two_of_one = pa.UnionArray.from_dense(
        pa.array([0, 0], pa.int8()), pa.array([0, 0], pa.int32()), [pa.array(["x"])], ["str"]
    )
    rows = stream(pa.array([[1, 2]]))
    head = rows[:4]
    return {
        "compressed zeros": (bytes, stream(pa.array([bytes(1 << 20)]), compression="zstd")),
        "a dictionary": (str, stream(pa.array(["a"]).dictionary_encode())),
        "2 G nulls": (list[None], claiming(77, 2**31 - 1, pa.array([[None] * 77], pa.list_(pa.null())))),
        "1 T rows of nulls": (None, claiming(77, 2**40, pa.nulls(77))),
        "1 T rows of empty records": (list[Empty], claiming(77, 2**40, pa.nulls(77))),
        "list over its end": (list[int], claiming(77, 2**31 - 1, pa.array([[0] * 77]), nodes=False)),
        "union that names one slot twice": (list[str | int], stream(pa.ListArray.from_arrays(pa.array([0, 2], pa.int32()), two_of_one))),
        "metadata of 2 GiB": (list[int], head + b"\xff\xff\xff\x7f"),
        "metadata of -8 bytes": (list[int], head + b"\xf8\xff\xff\xff"),
        "metadata of ones": (list[int], head + b"\x20\0\0\0" + b"\xff" * 32),
        "metadata of zeros": (list[int], head + b"\x20\0\0\0" + bytes(32)),
        "two batches": (list[int], rows[:-8] + rows[len(pa.ipc.open_stream(rows).schema.serialize()) :]),
        "huge shape": (np.ndarray, stream(pa.array([{"dtype": "int64", "shape": [2**62, 4], "data": b""}]))),
        "negative shape": (np.ndarray, stream(pa.array([{"dtype": "int8", "shape": [-1, -4], "data": b"abcd"}]))),
    }  # fmt: skip


def safetensors(header: bytes, data: bytes = b"") -> bytes:
    """From the format's README: a length, a header, the data."""
    return struct.pack("<Q", len(header)) + header + data


def entry(dtype: bytes, shape: bytes, start: int, stop: int, name: bytes = b"value") -> bytes:
    return b'"%s":{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}' % (name, dtype, shape, start, stop)


SAFETENSORS = {
    "header of 2**64 - 1 bytes": (np.ndarray, b"\xff" * 8),
    "header of 2**63 bytes": (np.ndarray, struct.pack("<Q", 2**63) + b"{}"),
    "header of 100 MB and one": (np.ndarray, struct.pack("<Q", 100_000_001) + b"{}"),
    "no header": (np.ndarray, bytes(8)),
    "nested in the header": (np.ndarray, safetensors(b'{"value":' + b"[" * 100_000)),
    "nested in the metadata": (LISTS, safetensors(b'{"__metadata__":{"a":"' + b"[" * 100_000 + b'"}}')),
    "overlapping tensors": (np.ndarray, safetensors(b"{%s,%s}" % (entry(b"U8", b"[4]", 0, 4), entry(b"U8", b"[4]", 2, 6, b"b")), bytes(6))),
    "a hole between tensors": (np.ndarray, safetensors(b"{%s,%s}" % (entry(b"U8", b"[2]", 0, 2), entry(b"U8", b"[2]", 4, 6, b"b")), bytes(6))),
    "the same bytes twice": (np.ndarray, safetensors(b"{%s,%s}" % (entry(b"U8", b"[4]", 0, 4), entry(b"U8", b"[4]", 0, 4, b"b")), bytes(4))),
    "beyond the end": (np.ndarray, safetensors(b"{%s}" % entry(b"U8", b"[400]", 0, 400), bytes(4))),
    "bytes of no tensor": (np.ndarray, safetensors(b"{%s}" % entry(b"U8", b"[2]", 0, 2), bytes(4))),
    "not from the beginning": (np.ndarray, safetensors(b"{%s}" % entry(b"U8", b"[2]", 2, 4), bytes(4))),
    "offsets the wrong way": (np.ndarray, safetensors(b"{%s}" % entry(b"U8", b"[2]", 4, 2), bytes(4))),
    "huge shape": (np.ndarray, safetensors(b"{%s}" % entry(b"F64", b"[4294967296,4294967296]", 0, 0))),
    "shape that wraps to nothing": (np.ndarray, safetensors(b"{%s}" % entry(b"F64", b"[9223372036854775807,9223372036854775807,2]", 0, 0))),
    "negative shape": (np.ndarray, safetensors(b"{%s}" % entry(b"U8", b"[-1,-4]", 0, 4), bytes(4))),
    "shape over 64 bits": (np.ndarray, safetensors(b"{%s}" % entry(b"U8", b"[18446744073709551617,0]", 0, 0))),
    "shape of a thousand dimensions": (np.ndarray, safetensors(b"{%s}" % entry(b"U8", b"[" + b"1," * 999 + b"1]", 0, 1), b"x")),
    "unknown dtype": (np.ndarray, safetensors(b"{%s}" % entry(b"O", b"[1]", 0, 8), bytes(8))),
    "half a byte": (np.ndarray, safetensors(b"{%s}" % entry(b"F4", b"[3]", 0, 1), b"x")),
    "a tensor twice": (np.ndarray, safetensors(b"{%s,%s}" % (entry(b"U8", b"[2]", 0, 2), entry(b"U8", b"[2]", 0, 2)), b"ab")),
    "metadata twice": (str, safetensors(b'{"__metadata__":{"value":"a","value":"b"}}')),
    "metadata of numbers": (str, safetensors(b'{"__metadata__":{"value":1}}')),
    "a dtype of objects": (np.ndarray, safetensors(b'{"__metadata__":{"/dtypes":"{\\"value\\":\\"object\\"}"},%s}' % entry(b"U8", b"[1,8]", 0, 8), bytes(8))),
}  # fmt: skip


def kserve(json: bytes, data: bytes = b"", length: bytes | None = None) -> bytes:
    """From the head of zcser/kserve/body.py: HTTP's field, an empty line, the body."""
    length = b"%d" % len(json) if length is None else length
    return b"Inference-Header-Content-Length: " + length + b"\r\n\r\n" + json + data


def kserve_input(datatype: bytes, shape: bytes, rest: bytes) -> bytes:
    return b'{"inputs":[{"name":"value","datatype":"%s","shape":%s,%s}]}' % (datatype, shape, rest)


def binary(size: int) -> bytes:
    return b'"parameters":{"binary_data_size":%d}' % size


KSERVE = {
    "no JSON": (np.ndarray, b"hello" * 2000),
    "a JSON of 10**18 bytes": (np.ndarray, kserve(b"{}", length=b"9" * 18)),
    "a length of a million digits": (np.ndarray, kserve(b"{}", length=b"9" * 1_000_000)),
    "two lengths": (np.ndarray, b"Inference-Header-Content-Length: 2\r\n" + kserve(b"{}")),
    "nested": (np.ndarray, kserve(b'{"inputs":' + b"[" * 100_000)),
    "nested data": (np.ndarray, kserve(kserve_input(b"INT8", b"[1]", b'"data":' + b"[" * 900 + b"]" * 900))),
    "data beyond the end": (np.ndarray, kserve(kserve_input(b"INT8", b"[99]", binary(99)), b"x")),
    "data of 2**62 bytes": (np.ndarray, kserve(kserve_input(b"INT8", b"[4611686018427387904]", binary(2**62)), b"x")),
    "bytes of no tensor": (np.ndarray, kserve(kserve_input(b"INT8", b"[1]", binary(1)), b"xy")),
    "a negative size": (np.ndarray, kserve(kserve_input(b"INT8", b"[1]", binary(-1)), b"x")),
    "huge shape": (np.ndarray, kserve(kserve_input(b"FP64", b"[4294967296,4294967296]", binary(0)))),
    "huge shape of numbers": (np.ndarray, kserve(kserve_input(b"FP64", b"[4294967296,4294967296]", b'"data":[]'))),
    "negative shape": (np.ndarray, kserve(kserve_input(b"INT8", b"[-1,-4]", binary(4)), b"abcd")),
    "shape of a thousand dimensions": (np.ndarray, kserve(kserve_input(b"INT8", b"[" + b"1," * 999 + b"1]", binary(1)), b"x")),
    "an input twice": (np.ndarray, kserve(kserve_input(b"INT8", b"[0]", binary(0)).replace(b"[{", b"[{" + kserve_input(b"INT8", b"[0]", binary(0))[12:-3] + b"},{"))),
    "an element of 4 GiB": (list[bytes], kserve(kserve_input(b"BYTES", b"[1]", binary(4)), b"\xff\xff\xff\xff")),
    "half a length": (list[bytes], kserve(kserve_input(b"BYTES", b"[1]", binary(2)), b"\1\0")),
    "fewer elements than its shape": (list[bytes], kserve(kserve_input(b"BYTES", b"[2000000000]", binary(4)), bytes(4))),
    "numbers out of range": (np.ndarray, kserve(kserve_input(b"INT8", b"[1]", b'"data":[300]'))),
}  # fmt: skip
BOMBS = {
    "json": JSON,
    "bson": BSON,
    "cbor": CBOR,
    "msgpack": MSGPACK,
    "protobuf": PROTOBUF,
    "flatbuffers": FLATBUFFERS,
    "pickle": PICKLE,
    "pickle-objects": OBJECTS,
    "header": HEADER,
    "avro": AVRO,
    "thrift": THRIFT,
    "thrift-binary": THRIFT_BINARY,
    "arrow": arrow_bombs(),
    "safetensors": SAFETENSORS,
    "kserve": KSERVE,
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
