"""The codec `avro`: bytes of the specification's own examples, fastavro with the emitted schema, and the library's traps.

Bytes by hand are from the Avro 1.11 specification, "Binary Encoding".
"""

from __future__ import annotations

import dataclasses
import enum
import io
import json
import threading

import numpy as np
import pytest

pytest.importorskip("fastavro", reason="fastavro is not installed: pip install 'zcser[avro]'")

import fastavro

from tests.avro.test_emit import ODD
from tests.conformance.laws import assert_same, encodable, make, normal_of, read
from tests.conformance.schemas import CASES, Point
from tests.conformance.strategies import samples
from zcser import registry
from zcser.avro.emit import emit_avro
from zcser.core.errors import DecodeError, SchemaError
from zcser.core.options import Limits
from zcser.schema.annotations import Int32, UInt64
from zcser.schema.model import Enum, Field, Int, List, Map, Null, Record, Ref, Schema, Str, Tensor, Union


@dataclasses.dataclass
class Pair:
    """The record of the specification."""

    a: int
    b: str


@dataclasses.dataclass
class LongList:
    """And its recursive one."""

    value: int
    next: LongList | None


class Foo(enum.Enum):
    A = 7
    B = 8
    C = 9
    D = -1


@pytest.mark.parametrize(
    ("source", "value", "data"),
    [
        *((int, value, data) for value, data in ((0, "00"), (-1, "01"), (1, "02"), (-2, "03"), (2, "04"))),
        (int, -64, "7f"),
        (int, 64, "80 01"),
        (Int32, -(2**31), "ff ff ff ff 0f"),
        (int, 2**63 - 1, "fe ff ff ff ff ff ff ff ff 01"),
        (bool, True, "01"),
        (float, 1.0, "00 00 00 00 00 00 f0 3f"),
        (UInt64, 2**64 - 2, "fe ff ff ff ff ff ff ff"),
        (str, "foo", "06 66 6f 6f"),
        (bytes, b"\0\xff", "04 00 ff"),
        (Pair, Pair(27, "foo"), "36 06 66 6f 6f"),
        (Foo, Foo.D, "06"),
        (list[int], [3, 27], "04 06 36 00"),
        (dict[str, int], {"a": 1}, "02 02 61 02 00"),
        (dict[int, str], {1: "a"}, "02 02 02 61 00"),
        (str | None, None, "00"),
        (str | None, "a", "02 02 61"),
        (LongList, LongList(1, LongList(2, None)), "02 02 04 00"),
        (list[None], [None, None], "04 00 00 00"),
    ],
)
def test_bytes_are_those_of_the_specification(source, value, data):
    codec = registry.codec("avro", source)
    assert codec.encode(value).hex(" ") == data
    assert_same(codec.decode(bytes.fromhex(data)), value)


def test_a_tensor_is_a_record_of_dtype_shape_and_data():
    data = registry.codec("avro", np.ndarray).encode(np.array([[1, 2, 3]], np.uint8))
    assert data == b"\x0auint8" + b"\x04\x02\x06\0" + b"\x06\x01\x02\x03"


def test_blocks_of_an_array_may_say_their_size_and_be_many():
    codec = registry.codec("avro", list[int])
    assert codec.decode(bytes.fromhex("03 04 06 36 00")) == [3, 27]
    assert codec.decode(bytes.fromhex("02 06 01 02 36 00")) == [3, 27]


@pytest.mark.parametrize("case", [*(case for case in CASES if case != "unbounded"), "odd"])
def test_fastavro_reads_and_writes_the_same_by_the_emitted_schema(case):
    codec = make("avro", case) if case != "odd" else registry.codec("avro", ODD)
    schema = json.loads(emit_avro(codec.schema))
    for _, data in encodable(codec, samples(codec.schema, 8)):
        file = io.BytesIO(data)
        # Tuples of name and value wherever a named type stands in a union, which it takes back.
        datum = fastavro.schemaless_reader(file, schema, None, return_named_type=True)
        assert file.tell() == len(data)
        again = io.BytesIO()
        fastavro.schemaless_writer(again, schema, datum)
        assert again.getvalue() == data


def test_another_reader_sees_plain_values():
    schema = json.loads(emit_avro(CASES["scalars"]))
    codec = make("avro", "scalars")
    for value, data in encodable(codec, samples(codec.schema, 10)):
        found = fastavro.schemaless_reader(io.BytesIO(data), schema, None)
        expected = dataclasses.asdict(normal_of(codec, value))
        expected["u64"] = expected["u64"].to_bytes(8, "little")
        assert_same(found, expected)


def test_a_schema_that_has_grown_reads_old_messages_by_resolution():
    @dataclasses.dataclass
    class Old:
        a: int

    @dataclasses.dataclass
    class New:
        a: int
        b: str = "new"
        c: Foo = Foo.B
        d: int | None = None

    old, new = (json.loads(emit_avro(cls)) for cls in (Old, New))
    data = registry.codec("avro", Old).encode(Old(5))
    found = fastavro.schemaless_reader(io.BytesIO(data), old, {**new, "name": "Old"})
    assert found == {"a": 5, "b": "new", "c": "B", "d": None}


class Text(enum.Enum):
    A = "a"


TUPLE = List(Int(), container="tuple")
R = Record("R", (Field("x", Int(), 1),))
AMBIGUOUS = {
    "two arrays": (Union((List(Int()), TUPLE)), ([1, 2], (1, 2), [], ())),
    "an array and a map of entries": (Union((List(Int()), Map(Int(), Int()))), ([1], {1: 2})),
    "a record and a map": (
        Union((Ref("P"), Map(Str(), Int()))),
        (Point(1.0, 2.0), {"x": 1}),
    ),
    "a tensor and a map": (Union((Tensor(), Map(Str(), Int()))), (np.arange(3), {"dtype": 1})),
    "an enum and text": (Union((Enum("Text", (("A", "a"),), Text), Str())), (Text.A, "A", "a")),
    "records of the same fields": (Union((Ref("P"), Ref("R"), Str())), (Point(1.0, 2.0), {"x": 1}, "x")),
}


@pytest.mark.parametrize("case", AMBIGUOUS)
def test_options_of_one_kind_to_avro_or_python_are_told_apart(case):
    union, values = AMBIGUOUS[case]
    point = dataclasses.replace(registry.codec("avro", Point).schema.records[0], name="P")
    record = Record(
        "Row", (Field("one", union, 1), Field("many", List(union), 2), Field("maybe", union, 3, required=False))
    )
    codec = registry.codec("avro", Schema(Ref("Row"), (record, R, point)))
    fastavro.parse_schema(json.loads(emit_avro(codec.schema)))
    for one in values:
        for value in ({"one": one, "many": list(values)}, {"one": one, "many": [one], "maybe": one}):
            assert_same(codec.decode(codec.encode(value)), value)


def test_a_record_of_nulls_takes_no_bytes_but_a_byte_in_a_list():
    nothing = Record("N", (Field("x", Null(), 1),))
    schema = Schema(Ref("L"), (Record("L", (Field("one", Ref("N"), 1), Field("many", List(Ref("N")), 2))), nothing))
    codec = registry.codec("avro", schema)
    value = {"one": {"x": None}, "many": [{"x": None}] * 3}
    assert codec.encode(value) == b"\x06\0\0\0\0"
    assert_same(codec.decode(codec.encode(value)), value)


def test_records_are_read_as_deep_as_the_limit_and_no_deeper():
    def chain(levels: int) -> LongList:
        found = LongList(0, None)
        for _ in range(levels - 1):
            found = LongList(0, found)
        return found

    codec = registry.codec("avro", LongList, limits=Limits(depth=500))
    deepest = b"\0\x02" * 499 + b"\0\0"
    failures: list[BaseException] = []

    def work() -> None:  # on the smaller stack of a thread
        try:
            found = codec.decode(deepest)
            for _ in range(499):
                found = found.next
            assert found == LongList(0, None)
        except BaseException as error:  # noqa: BLE001 - carried to the main thread
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not failures
    with pytest.raises(DecodeError, match="deeper"):
        codec.decode(b"\0\x02" + deepest)
    assert registry.codec("avro", LongList).encode(chain(100)) == b"\0\x02" * 99 + b"\0\0"
    with pytest.raises(SchemaError, match="500"):
        registry.codec("avro", LongList, limits=Limits(depth=501))


@pytest.mark.parametrize(
    ("source", "data", "words"),
    [
        (list[Int32], "02 80 80 80 80 10 00", "/0"),  # 2**31
        (Int32, "ff ff ff ff 1f", "int32"),
        (dict[Int32, int], "02 80 80 80 80 10 00 00", "outside int32"),
        (str, "04 c3 28", "utf-8"),
        (Foo, "08", "outside its schema"),
        (str, "06 66 6f", "Expected 3 bytes"),
        (int, "02 00", "at byte 1"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(source, data, words):
    found = read(registry.codec("avro", source), bytes.fromhex(data))
    assert isinstance(found, DecodeError)
    assert words in str(found)
