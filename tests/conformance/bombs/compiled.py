"""Bombs of the wires that a schema lays out: protobuf, FlatBuffers, Avro, Thrift, Cap'n Proto, Fory, fixed layouts; by hand, from
their specifications.
"""

from __future__ import annotations

import struct

import numpy as np

from tests.conformance.bombs.base import LISTS, varint
from tests.conformance.schemas import Node


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
