"""The codec cbor2: the vectors of RFC 8949, typed arrays of RFC 8746, and what hostile tags come to."""

from __future__ import annotations

import dataclasses
import math
from typing import Annotated, Any

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("cbor2")

from tests.conformance.schemas import Node
from zcser import registry
from zcser.core.errors import DecodeError, EncodeError, SchemaError
from zcser.core.fidelity import equal
from zcser.core.options import Limits
from zcser.schema.annotations import UInt64
from zcser.schema.model import Int, List, Map, Schema, Str, Tensor

ANY_INT = Schema(Int(None))
MIXED = list[int | str | list[int]]

# Appendix A of RFC 8949, by hand: the encoded form, a schema, the value.
PREFERRED = [
    ("00", int, 0), ("01", int, 1), ("0a", int, 10), ("17", int, 23), ("1818", int, 24), ("1819", int, 25), ("1864", int, 100),
    ("1903e8", int, 1000), ("1a000f4240", int, 1000000), ("1b000000e8d4a51000", int, 1000000000000),
    ("1bffffffffffffffff", UInt64, 18446744073709551615), ("c249010000000000000000", ANY_INT, 18446744073709551616),
    ("3bffffffffffffffff", ANY_INT, -18446744073709551616), ("c349010000000000000000", ANY_INT, -18446744073709551617),
    ("20", int, -1), ("29", int, -10), ("3863", int, -100), ("3903e7", int, -1000),
    ("f90000", float, 0.0), ("f98000", float, -0.0), ("f93c00", float, 1.0), ("fb3ff199999999999a", float, 1.1),
    ("f93e00", float, 1.5), ("f97bff", float, 65504.0), ("fa47c35000", float, 100000.0),
    ("fa7f7fffff", float, 3.4028234663852886e38), ("fb7e37e43c8800759c", float, 1.0e300),
    ("f90001", float, 5.960464477539063e-8), ("f90400", float, 0.00006103515625), ("f9c400", float, -4.0),
    ("fbc010666666666666", float, -4.1), ("f97c00", float, math.inf), ("f97e00", float, math.nan), ("f9fc00", float, -math.inf),
    ("f4", bool, False), ("f5", bool, True), ("f6", type(None), None),
    ("40", bytes, b""), ("4401020304", bytes, b"\x01\x02\x03\x04"),
    ("60", str, ""), ("6161", str, "a"), ("6449455446", str, "IETF"), ("62225c", str, '"\\'), ("62c3bc", str, "\u00fc"),
    ("63e6b0b4", str, "\u6c34"), ("64f0908591", str, "\U00010151"),
    ("80", list[int], []), ("83010203", list[int], [1, 2, 3]), ("8301820203820405", list[int | list[int]], [1, [2, 3], [4, 5]]),
    ("98190102030405060708090a0b0c0d0e0f101112131415161718181819", list[int], list(range(1, 26))),
    ("a0", dict[str, int], {}), ("a201020304", dict[int, int], {1: 2, 3: 4}),
    ("a26161016162820203", dict[str, int | list[int]], {"a": 1, "b": [2, 3]}),
    ("826161a161626163", list[str | dict[str, str]], ["a", {"b": "c"}]),
    ("a56161614161626142616361436164614461656145", dict[str, str], {"a": "A", "b": "B", "c": "C", "d": "D", "e": "E"}),
]  # fmt: skip
READ_ONLY = [
    ("fa7f800000", float, math.inf), ("fa7fc00000", float, math.nan), ("faff800000", float, -math.inf),
    ("fb7ff0000000000000", float, math.inf), ("fb7ff8000000000000", float, math.nan), ("fbfff0000000000000", float, -math.inf),
    ("5f42010243030405ff", bytes, b"\x01\x02\x03\x04\x05"), ("7f657374726561646d696e67ff", str, "streaming"),
    ("9fff", list[int], []), ("9f018202039f0405ffff", list[int | list[int]], [1, [2, 3], [4, 5]]),
    ("9f01820203820405ff", list[int | list[int]], [1, [2, 3], [4, 5]]),
    ("83018202039f0405ff", list[int | list[int]], [1, [2, 3], [4, 5]]),
    ("83019f0203ff820405", list[int | list[int]], [1, [2, 3], [4, 5]]),
    ("9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff", list[int], list(range(1, 26))),
    ("bf61610161629f0203ffff", dict[str, int | list[int]], {"a": 1, "b": [2, 3]}),
    ("826161bf61626163ff", list[str | dict[str, str]], ["a", {"b": "c"}]),
    ("bf6346756ef563416d7421ff", dict[str, bool | int], {"Fun": True, "Amt": -2}),
]  # fmt: skip
# The rest of the appendix: what no schema has a kind for, refused wherever it stands.
REFUSED = [
    "f7", "f0", "f8ff", "c074323031332d30332d32315432303a30343a30305a", "c11a514b67b0", "c1fb41d452d9e20000000",
    "d74401020304", "d818456449455446", "d82076687474703a2f2f7777772e6578616d706c652e636f6d",
]  # fmt: skip


@dataclasses.dataclass
class Known:
    a: int


def codec(schema: Any, **options: Any) -> Any:
    return registry.codec("cbor2", schema, **options)


def test_the_vectors_of_the_rfc_are_read():
    for data, schema, value in PREFERRED + READ_ONLY:
        assert equal(codec(schema).decode(bytes.fromhex(data)), value), data
    for data in REFUSED:
        for schema in (int, float, str, bytes, list[int]):
            with pytest.raises(DecodeError):
                codec(schema).decode(bytes.fromhex(data.ljust(len(data) + len(data) % 2, "0")))


def test_the_vectors_of_the_rfc_are_written():
    for data, schema, value in PREFERRED:
        assert codec(schema, deterministic=True).encode(value).hex() == data
        if type(value) is not float:
            assert codec(schema).encode(value).hex() == data
    assert codec(float).encode(1.5).hex() == "fb3ff8000000000000"


def test_canonical_keys_are_sorted_by_length_then_bytes():
    # Section 4.2.3: 10, -1, 100 are 0a, 20, 1864.
    assert (
        codec(dict[int, int], deterministic=True).encode({100: 1, -1: 2, 10: 3}).hex()
        == "a3" + "0a03" + "2002" + "186401"
    )


# The example of figure 2 in RFC 8746: uint16 a[2][3], big-endian.
MATRIX = "d828" + "82" + "820203" + "d8414c" + "000200040008000400100100"
TYPED = [
    (np.array([[2, 4, 8], [4, 16, 256]], np.uint16), "d828" + "82" + "820203" + "d8454c" + "020004000800040010000001"),
    (np.array([1, 2], np.uint8), "d840" + "420102"),
    (np.array([-1], np.int8), "d848" + "41ff"),
    (np.array([1], np.uint32), "d846" + "4401000000"),
    (np.array([1], np.uint64), "d847" + "480100000000000000"),
    (np.array([-2], np.int16), "d84d" + "42feff"),
    (np.array([-2], np.int32), "d84e" + "44feffffff"),
    (np.array([-2], np.int64), "d84f" + "48feffffffffffffff"),
    (np.array([1.5], np.float16), "d854" + "42003e"),
    (np.array([1.5], np.float32), "d855" + "440000c03f"),
    (np.array([1.5], np.float64), "d856" + "48000000000000f83f"),
    (np.array([], np.float64), "d856" + "40"),
]


def test_tensors_are_typed_arrays():
    for array, data in TYPED:
        assert codec(np.ndarray).encode(array).hex() == data
        assert equal(codec(np.ndarray).decode(bytes.fromhex(data)), array)


def test_typed_arrays_of_others_are_read():
    others = [
        (MATRIX, np.array([[2, 4, 8], [4, 16, 256]], np.uint16)),
        ("d8414400010203", np.array([1, 0x203], np.uint16)),
        ("d84a44fffffffe", np.array([-2], np.int32)),
        ("d85144" + "3fc00000", np.array([1.5], np.float32)),
        ("d852483ff8000000000000", np.array([1.5], np.float64)),
        ("d8444201ff", np.array([1, 255], np.uint8)),
        ("d828828101d84041" + "07", np.array([7], np.uint8)),
    ]
    for data, array in others:
        found = codec(np.ndarray).decode(bytes.fromhex(data))
        assert equal(found, array), data
        assert found.flags.writeable


def test_what_typed_arrays_have_no_form_for_is_a_map():
    head = "a3" + "656474797065" + "{name}" + "657368617065" + "{shape}" + "6464617461" + "{data}"
    for array, name, shape, data in (
        (np.array([True]), "64626f6f6c", "8101", "4101"),
        (np.array(1, np.uint8), "6575696e7438", "80", "4101"),
        (np.zeros((0, 3), np.uint8), "6575696e7438", "820003", "40"),
        (np.array([1.5], ml_dtypes.bfloat16), "6862666c6f61743136", "8101", "42c03f"),
    ):
        assert codec(np.ndarray).encode(array).hex() == head.format(name=name, shape=shape, data=data)
        assert equal(codec(np.ndarray).decode(codec(np.ndarray).encode(array)), array)


def test_the_dtype_and_shape_of_a_typed_array_are_held_to_the_schema():
    for schema in (Tensor("float32", None), Tensor("uint16", (3, 2)), Tensor("uint16", (6,))):
        with pytest.raises(DecodeError, match="tensor"):
            codec(Annotated[np.ndarray, schema]).decode(bytes.fromhex(MATRIX))


def test_a_tag_is_refused_with_its_number_and_its_path():
    data = bytes.fromhex("a1" + "6161" + "82" + "01" + "d81d00")
    with pytest.raises(DecodeError, match="tag 29") as caught:
        codec(dict[str, list[int]]).decode(data)
    assert caught.value.path == "/a/1"


def test_a_tag_in_an_unknown_field_is_dropped_with_it():
    made = codec(Known)
    for tagged in (
        "c11a514b67b0",
        "d81c81d81d00",
        "d9ffff80",
        "d8236128",
        "c5821affffffff01",
        "f0",
        "f7",
    ):
        assert made.decode(bytes.fromhex("a2" + "616101" + "6162" + tagged)) == Known(1)
        with pytest.raises(DecodeError):
            codec(dict[str, int]).decode(bytes.fromhex("a2" + "616101" + "6162" + tagged))


def test_integers_in_the_form_of_a_bignum_are_integers():
    # Section 3.4.3: the two forms are one generic data type.
    assert codec(int).decode(bytes.fromhex("c24107")) == 7
    assert codec(int).decode(bytes.fromhex("c34107")) == -8
    assert codec(UInt64).decode(bytes.fromhex("c2480102030405060708")) == 0x0102030405060708
    with pytest.raises(DecodeError, match="outside"):
        codec(int).decode(bytes.fromhex("c249010000000000000000"))
    with pytest.raises(DecodeError):
        codec(dict[int, int]).decode(bytes.fromhex("a1c2410701"))  # as a key


def test_a_self_described_message_is_read():
    assert codec(list[int]).decode(bytes.fromhex("d9d9f7820102")) == [1, 2]


def test_a_limit_that_the_c_stack_does_not_have_is_a_schema_error():
    with pytest.raises(SchemaError, match=r"limits\.depth"):
        codec(Node, limits=Limits(depth=100_000))
    made = codec(Node, limits=Limits(depth=1000))
    node = Node(0, [])
    for _ in range(150):
        node = Node(1, [node])
    assert made.decode(made.encode(node)) == node


def test_text_that_is_none_is_refused_with_its_path():
    schema = Schema(List(Map(Str(), Str())))
    with pytest.raises(EncodeError) as caught:
        codec(schema).encode([{"a": "\ud800"}])
    assert caught.value.path == "/0/a"
