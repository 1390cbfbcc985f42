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
HEADER = {
    "too short": (int, b"\0"),
    "too long": (int, bytes(1000)),
    "empty": (float, b""),
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
    "msgpack": MSGPACK,
    "protobuf": PROTOBUF,
    "flatbuffers": FLATBUFFERS,
    "pickle": PICKLE,
    "header": HEADER,
    "arrow": arrow_bombs(),
    "safetensors": SAFETENSORS,
    "kserve": KSERVE,
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
