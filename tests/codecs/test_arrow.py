"""The codec `arrow` against pyarrow itself: what it writes pyarrow reads as rows, and what others write it reads."""

from __future__ import annotations

import base64
import dataclasses
import json
from typing import Annotated, Any

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'zcser[arrow]'")

import pyarrow as pa

from tests.conformance.schemas import CASES, Node
from zcser import registry
from zcser.arrow.emit import emit_arrow
from zcser.core.buffers import address
from zcser.core.errors import DecodeError, SchemaError, TruncatedError
from zcser.schema.annotations import Float32, Int32, UInt16
from zcser.schema.model import Field, Int, Optional, Record, Ref, Schema, Tensor


@dataclasses.dataclass
class Row:
    id: Int32
    name: str | None
    scores: list[float]
    tags: dict[str, UInt16]
    either: int | str
    image: Annotated[np.ndarray, Tensor("float32", (2, 3))]


ROWS = [
    Row(1, "one", [0.5, float("inf")], {"a": 1}, 7, np.arange(6, dtype=np.float32).reshape(2, 3)),
    Row(2, None, [], {}, "text", np.ones((2, 3), np.float32)),
]


def stream(batch: Any, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def test_a_list_of_records_is_a_table_to_pyarrow():
    table = pa.ipc.open_stream(registry.codec("arrow", list[Row]).encode(ROWS)).read_all()
    table.validate(full=True)
    assert table.column("id").to_pylist() == [1, 2]
    assert table.schema.field("id").type == pa.int32()
    assert table.column("name").to_pylist() == ["one", None]
    assert table.column("scores").to_pylist() == [[0.5, float("inf")], []]
    assert table.column("tags").to_pylist() == [[("a", 1)], []]
    assert table.column("either").to_pylist() == [7, "text"]
    images = table.column("image").combine_chunks().to_numpy_ndarray()
    np.testing.assert_array_equal(images, [row.image for row in ROWS])


@dataclasses.dataclass
class Plain:
    id: int
    weight: float
    text: str
    blob: bytes
    numbers: list[int]


def test_what_other_writers_write_is_read_by_name_and_kind():
    batch = pa.record_batch(
        {
            "extra": pa.array([1]),
            "numbers": pa.array([[3, 4]], pa.large_list(pa.uint8())),
            "blob": pa.array([b"xyz"], pa.large_binary()),
            "text": pa.array(["abc"], pa.string_view()),
            "weight": pa.array([0.25], pa.float32()),
            "id": pa.array([5], pa.int16()),
        }
    )
    data = stream(batch)
    codec = registry.codec("arrow", Plain)
    assert codec.decode(data) == Plain(5, 0.25, "abc", b"xyz", [3, 4])
    assert codec.view(data).numbers[1] == 4
    with pytest.raises(DecodeError, match="'extra' is not a field"):
        registry.codec("arrow", Plain, unknown_fields="refuse").decode(data)
    for wrong in (pa.array(["5"]), pa.array([5.0]), pa.array([True]), pa.array([None], pa.int64())):
        with pytest.raises(DecodeError) as caught:
            codec.decode(stream(batch.set_column(batch.schema.get_field_index("id"), "id", wrong)))
        assert caught.value.path == "/id"


def test_a_stream_without_its_end_mark_or_with_more_than_one_batch_is_refused():
    codec = registry.codec("arrow", list[Row])
    data = codec.encode(ROWS)
    with pytest.raises(TruncatedError, match="end mark"):
        codec.decode(data[:-8])
    batch = data[len(pa.ipc.open_stream(data).schema.serialize()) : -8]
    with pytest.raises(DecodeError, match="more than one batch"):
        codec.decode(data[:-8] + batch + data[-8:])
    with pytest.raises(DecodeError, match="compressed"):
        codec.decode(stream(pa.ipc.open_stream(data).read_next_batch(), compression="lz4"))


def test_tensors_and_bytes_alias_an_aligned_message_whatever_their_form():
    fixed = Annotated[np.ndarray, Tensor("float64", (4,))]
    message = dataclasses.make_dataclass("Both", [("fixed", fixed), ("free", np.ndarray), ("blob", bytes)])
    codec = registry.codec("arrow", message)
    data = bytearray(codec.encode(message(np.arange(4.0), np.arange(5, dtype=np.int16), b"blob")))
    found = codec.decode(data, copy=False)
    for part in (found.fixed, found.free, found.blob, codec.view(data).fixed):
        assert address(data) <= address(part) < address(data) + len(data)
    data[data.index(np.float64(3.0).tobytes()) + 7] ^= 0x80  # the sign
    assert found.fixed[3] == codec.view(data).fixed[3] == -3.0
    assert found.fixed.ctypes.data % 8 == 0


def test_a_message_at_an_odd_address_is_read_and_copied():
    codec = registry.codec("arrow", list[Row])
    data = codec.encode(ROWS)
    moved = memoryview(bytearray(b"?" + data))[1:]
    found = codec.decode(moved, copy=False)
    np.testing.assert_array_equal(found[1].image, ROWS[1].image)
    assert not address(moved) <= address(found[1].image) < address(moved) + len(moved)


def test_recursive_and_deep_schemas_are_refused_with_the_place():
    with pytest.raises(SchemaError, match="recursive") as caught:
        registry.codec("arrow", Node)
    assert caught.value.path == "Node/children/*"
    chain = [Record(f"R{n}", (Field("x", Ref(f"R{n + 1}") if n < 69 else Int(), 1),)) for n in range(70)]
    with pytest.raises(SchemaError, match="64 levels"):
        registry.codec("arrow", Schema(Ref("R0"), tuple(chain)))
    codec = registry.codec("arrow", Schema(Ref("R10"), tuple(chain[10:])))
    value: Any = 7
    for _ in range(60):
        value = {"x": value}
    assert codec.decode(codec.encode(value)) == value


def test_the_emitted_text_holds_the_schema_for_people_and_for_pyarrow():
    schema = Schema(
        Ref("R"), (Record("R", (Field("a", Optional(Int(16, signed=False)), 1), Field("b", Tensor("int8", (2,)), 2))),)
    )
    document = json.loads(emit_arrow(schema))
    # By hand, from "JSON test data format" of Arrow's integration tests.
    number = {"name": "a", "nullable": True, "type": {"name": "int", "bitWidth": 16, "isSigned": False}, "children": []}
    item = {"name": "item", "nullable": True, "type": {"name": "int", "bitWidth": 8, "isSigned": True}, "children": []}
    first, second = document["schema"]["fields"]
    assert first == number
    assert (second["type"], second["children"]) == ({"name": "fixedsizelist", "listSize": 2}, [item])
    assert second["metadata"][0] == {"key": "ARROW:extension:name", "value": "arrow.fixed_shape_tensor"}
    for case in ("scalars", "lists", "maps", "unions", "tensors", "sized", "json_like"):
        text = json.loads(emit_arrow(CASES[case]))
        read = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(text["ipc"])))
        assert [field["name"] for field in text["schema"]["fields"]] == read.names
        codec = registry.codec("arrow", CASES[case])
        assert read == codec._arrow


def test_Float32_stands_as_a_float_of_32_bits():
    assert registry.codec("arrow", list[Float32])._arrow.field(0).type.value_type == pa.float32()
