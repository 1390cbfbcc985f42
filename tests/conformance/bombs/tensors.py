"""Bombs of the wires of tensors: Arrow, safetensors, KServe; by hand but for Arrow's, which pyarrow writes."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from tests.conformance.bombs.base import LISTS
from tests.conformance.schemas import Empty


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
