"""Bombs of the wires of keys and values: JSON, MessagePack, CBOR, BSON, pickles; by hand, from their specifications."""

from __future__ import annotations

import struct

import numpy as np

from tests.conformance.bombs.base import LISTS
from tests.conformance.schemas import Node

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
