"""Where fields stand, by each source of a layout: as struct, ctypes and numpy have it, or by hand."""

from __future__ import annotations

import ctypes
import dataclasses
import pickle
import struct
from collections import namedtuple
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

from zcser.core.errors import SchemaError
from zcser.header import RecordLayout
from zcser.header.records.model import Array, Field, Scalar, Struct, tuple_class
from zcser.schema.annotations import Float32, Int64, Length, UInt8, UInt16, UInt32, UInt64
from zcser.schema.model import Bytes, Str, Tensor

KINDS = ["little", "big"]


def offsets(layout: RecordLayout) -> dict[str, int]:
    return {name: field.offset for name, field in layout.fields.items()}


@dataclasses.dataclass
class Point:
    x: Float32
    y: np.float16


@dataclasses.dataclass
class Everything:
    flag: bool
    count: UInt16
    id: Annotated[bytes, Bytes(3)]
    point: Point
    total: UInt64
    points: Annotated[list[Point], Length(2)]
    shape: Annotated[tuple[Int64, ...], Length(2)]
    half: Annotated[float, np.float16]
    foreign: Annotated[int, np.dtype(">u4")]
    matrix: Annotated[np.ndarray, Tensor("int16", (2, 2))]
    pair: tuple[UInt8, UInt8]
    ratio: float
    number: int


class Row(NamedTuple):
    kind: UInt8
    size: UInt32


def twin_of_everything(byteorder: str) -> type[ctypes.Structure]:
    base = ctypes.LittleEndianStructure if byteorder == "little" else ctypes.BigEndianStructure
    # ctypes has no float16: another type of two bytes has the same place.
    point = type("Point", (base,), {"_fields_": [("x", ctypes.c_float), ("y", ctypes.c_uint16)]})
    fields: list[tuple[str, Any]] = [
        ("flag", ctypes.c_uint8), ("count", ctypes.c_uint16), ("id", ctypes.c_char * 3), ("point", point),
        ("total", ctypes.c_uint64), ("points", point * 2), ("shape", ctypes.c_int64 * 2), ("half", ctypes.c_uint16),
        ("foreign", ctypes.c_uint32), ("matrix", ctypes.c_int16 * 4), ("pair", ctypes.c_uint8 * 2),
        ("ratio", ctypes.c_double), ("number", ctypes.c_int64),
    ]  # fmt: skip
    return type("Everything", (base,), {"_fields_": fields})


@pytest.mark.parametrize("byteorder", KINDS)
def test_a_class_is_laid_out_as_c_lays_it_out(byteorder):
    layout = RecordLayout.from_class(Everything, byteorder=byteorder)
    twin = twin_of_everything(byteorder)
    assert offsets(layout) == {name: getattr(twin, name).offset for name, _ in twin._fields_}
    assert (layout.size, layout.alignment) == (ctypes.sizeof(twin), ctypes.alignment(twin))


def test_a_packed_class_has_no_gaps():
    layout = RecordLayout.from_class(Everything, packed=True)
    sizes = [1, 2, 3, 6, 8, 12, 16, 2, 4, 8, 2, 8, 8]
    assert list(offsets(layout).values()) == [sum(sizes[:number]) for number in range(len(sizes))]
    assert (layout.size, layout.alignment) == (sum(sizes), 1)


@pytest.mark.parametrize("byteorder", KINDS)
def test_the_bytes_of_a_class_are_those_that_struct_packs(byteorder):
    layout = RecordLayout.from_class(Everything, byteorder=byteorder, packed=True)
    value = Everything(
        True, 515, b"a\0b", Point(1.5, -2.0), 2**64 - 1, [Point(3.0, 4.0), Point(5.0, 6.0)], (-1, 2), 0.5, 7,
        np.array([[1, -2], [3, -4]], "i2"), (8, 9), 2.5, -(2**63),
    )  # fmt: skip
    order = "<" if byteorder == "little" else ">"
    want = struct.pack(
        order + "?H3sfeQfefeqqe", True, 515, b"a\0b", 1.5, -2, 2**64 - 1, 3, 4, 5, 6, -1, 2, 0.5
    ) + struct.pack(">I", 7) + struct.pack(order + "4hBBdq", 1, -2, 3, -4, 8, 9, 2.5, -(2**63))  # fmt: skip
    assert layout.pack(value) == want
    found = layout.unpack_from(want)
    assert type(found.points) is list
    assert type(found.shape) is tuple
    np.testing.assert_array_equal(found.matrix, value.matrix, strict=False)
    assert found.matrix.flags.writeable
    assert dataclasses.replace(found, matrix=0) == dataclasses.replace(value, matrix=0)


def test_a_named_tuple_is_read_as_itself():
    layout = RecordLayout.from_class(Row)
    value = layout.unpack_from(struct.pack("<BxxxI", 3, 70000))
    assert type(value) is Row
    assert value == Row(3, 70000)
    assert pickle.loads(pickle.dumps(value)) == value


NATIVE = [*"cbB?hHiIlLqQnNefd"]


@pytest.mark.parametrize("order", ["", "@", "=", "<", ">", "!"])
@pytest.mark.parametrize("code", NATIVE)
def test_a_format_of_struct_keeps_its_offsets_and_its_values(order, code):
    if order not in {"", "@"} and code in "nN":
        pytest.skip("struct has them in native sizes alone")
    # Padding, bytes of odd length, an array, and an end that is aligned.
    format_ = f"{order}B2x 3s {code} b 3{code} b 0{code}"
    layout = RecordLayout.from_struct(format_, "first tag one small three last")
    assert layout.size == struct.calcsize(format_)
    data = bytes(index * 37 % 256 for index in range(layout.size))
    found = layout.unpack_from(data)
    flat = (*found[:4], *found.three, found.last)
    assert repr(flat) == repr(struct.unpack(format_, data))  # NaN is equal to itself in words


def test_an_entry_whose_name_begins_with_an_underscore_is_padding():
    layout = RecordLayout.from_struct("<HIB", ["kind", "_reserved", "size"])
    assert layout.unpack_from(b"\1\0abcd\5") == (1, 5)
    assert layout.pack((1, 5)) == b"\1\0\0\0\0\0\5"


DTYPES: list[Any] = [
    [("a", "u1"), ("b", ">u4"), ("c", "<i8")],
    np.dtype([("a", "u1"), ("b", "<f2"), ("c", "?"), ("d", "S5"), ("e", "V3")], align=True),
    {"names": ["late", "early"], "formats": ["<u4", ">i2"], "offsets": [10, 3], "itemsize": 20},
    [("m", "<f4", (2, 3)), ("n", [("x", ">u2"), ("y", "u1", (4,))], (2, 2))],
    [("none", "<u8", (0,)), ("one", "u1")],
]


@pytest.mark.parametrize("source", DTYPES)
def test_a_dtype_of_numpy_keeps_its_offsets(source):
    dtype = np.dtype(source)
    layout = RecordLayout.from_dtype(source)
    assert offsets(layout) == {name: dtype.fields[name][1] for name in dtype.names}
    assert (layout.size, layout.alignment) == (dtype.itemsize, dtype.alignment)
    kept = [name for name in dtype.names if dtype[name].kind != "S"]  # bytes are V, which keeps NULs
    assert [layout.dtype.fields[name] for name in kept] == [dtype.fields[name] for name in kept]
    assert layout.dtype.itemsize == dtype.itemsize


class Base(ctypes.BigEndianStructure):
    _fields_ = [("magic", ctypes.c_uint32), ("tag", ctypes.c_char * 5)]


class Derived(Base):
    _pack_ = 2
    _layout_ = "ms"
    _fields_ = [("_pad", ctypes.c_uint8), ("grid", ctypes.c_int16 * 2 * 3), ("ratio", ctypes.c_double)]


class Held(ctypes.Structure):
    _fields_ = [("letter", ctypes.c_char), ("flag", ctypes.c_bool), ("inner", Derived), ("rows", Derived * 2)]


def test_a_structure_of_ctypes_keeps_its_offsets_and_its_values():
    layout = RecordLayout.from_ctypes(Held)
    assert offsets(layout) == {name: getattr(Held, name).offset for name, _ in Held._fields_}
    assert layout.size == ctypes.sizeof(Held)
    value = Held(b"x", True, Derived(0xCAFEBABE, b"abcde", 1, ((1, -2), (3, -4), (5, -6)), 0.25))
    value.rows[1].magic = 9
    found = layout.unpack_from(bytes(value))
    assert (found.letter, found.flag) == (b"x", True)
    assert found.inner == (0xCAFEBABE, b"abcde", ((1, -2), (3, -4), (5, -6)), 0.25)
    assert found.inner._fields == ("magic", "tag", "grid", "ratio")
    assert [row.magic for row in found.rows] == [0, 9]


def union() -> type[ctypes.Structure]:
    both = type("Both", (ctypes.Union,), {"_fields_": [("a", ctypes.c_int)]})
    return type("S", (ctypes.Structure,), {"_fields_": [("u", both)]})


def structure(*fields: Any) -> type[ctypes.Structure]:
    return type("S", (ctypes.Structure,), {"_fields_": list(fields)})


def data_class(**annotations: Any) -> type:
    return dataclasses.make_dataclass("D", list(annotations.items()))


@dataclasses.dataclass
class Endless:
    me: Endless


REFUSED: list[tuple[Any, str]] = [
    (lambda: RecordLayout.from_struct("<4p", "a"), "Pascal"),
    (lambda: RecordLayout.from_struct("P", "a"), "pointer"),
    (lambda: RecordLayout.from_struct("<y", "a"), "no format of struct"),
    (lambda: RecordLayout.from_struct("<II", "a"), "2 fields .* 1 names"),
    (lambda: RecordLayout.from_struct("<II", "a a"), "duplicate"),
    (lambda: RecordLayout.from_struct("<I", ["a b"]), "identifier"),
    (lambda: RecordLayout.from_struct("<I", ["class"]), "keyword"),
    (lambda: RecordLayout.from_struct("<4x", ""), "at least one field"),
    (lambda: RecordLayout.from_struct("<0s", "a"), "size of 1 or more"),
    (lambda: RecordLayout.from_dtype("<u4"), "structured dtype"),
    (lambda: RecordLayout.from_dtype([("a", "O")]), r"pointer.*Record/a"),
    (lambda: RecordLayout.from_dtype([("a", "<U4")]), r"encode.*Record/a"),
    (lambda: RecordLayout.from_dtype([("a", "<c8")]), r"two floats.*Record/a"),
    (lambda: RecordLayout.from_dtype([("a", "<M8[ns]")]), r"datetime64.*Record/a"),
    (lambda: RecordLayout.from_dtype([("a", "g")]), r"V16.*Record/a"),
    (lambda: RecordLayout.from_dtype({"names": ["a", "b"], "formats": ["u4", "u4"], "offsets": [0, 3]}), "overlaps a"),
    (lambda: RecordLayout.from_dtype([("a", "u1", (2, 0))]), "at least one byte"),
    (lambda: RecordLayout.from_ctypes(int), "subclass of ctypes.Structure"),
    (lambda: RecordLayout.from_ctypes(union()), "S/u"),
    (lambda: RecordLayout.from_ctypes(structure(("a", ctypes.c_void_p))), "c_void_p.*S/a"),
    (lambda: RecordLayout.from_ctypes(structure(("a", ctypes.c_wchar))), "c_wchar.*S/a"),
    (lambda: RecordLayout.from_ctypes(structure(("a", ctypes.c_uint, 3))), "bit field.*S/a"),
    (lambda: RecordLayout.from_ctypes(structure(("a", ctypes.POINTER(ctypes.c_int)))), "S/a"),
    (lambda: RecordLayout.from_class(int), "dataclass or NamedTuple"),
    (lambda: RecordLayout.from_class(data_class(a=str)), "str has no fixed size.*D/a"),
    (lambda: RecordLayout.from_class(data_class(a=Annotated[str, Str(3)])), "D/a"),
    (lambda: RecordLayout.from_class(data_class(a=bytes)), "D/a"),
    (lambda: RecordLayout.from_class(data_class(a=list[int])), "D/a"),
    (lambda: RecordLayout.from_class(data_class(a=tuple[int, float])), "D/a"),
    (lambda: RecordLayout.from_class(data_class(a=Annotated[int, Length(3)])), "D/a"),
    (lambda: RecordLayout.from_class(data_class(a=Annotated[np.ndarray, Tensor("float32")])), "D/a"),
    (lambda: RecordLayout.from_class(data_class(a=np.complex64)), "D/a"),
    (lambda: RecordLayout.from_class(Endless), "contains itself"),
    (lambda: RecordLayout.from_class(namedtuple("N", "a")), "N/a"),  # noqa: PYI024 - without annotations
    (lambda: RecordLayout.from_class(Row, byteorder="middle"), "byte order"),
]


@pytest.mark.parametrize(("make", "words"), REFUSED)
def test_what_has_no_fixed_place_is_refused_with_its_path(make, words):
    with pytest.raises(SchemaError, match=words):
        make()


def test_a_dataclass_that_is_not_made_by_position_is_refused():
    keyword = dataclasses.make_dataclass("K", [("a", int)], kw_only=True)
    with pytest.raises(SchemaError, match="K/a"):
        RecordLayout.from_class(keyword)


def nested(depth: int) -> Any:
    part: Any = Scalar("B", "little")
    for _ in range(depth):
        part = Struct("S", (Field("a", part, 0),), 1, 1, tuple_class("S", ["a"]))
    return part


def test_nesting_has_an_end():
    assert RecordLayout(nested(64)).unpack_from(b"\7").a.a.a is not None
    with pytest.raises(SchemaError, match="deeper than 64"):
        nested(65)
    with pytest.raises(SchemaError, match="deeper than 64"):
        Array(Scalar("B", "little"), (1,) * 65)


def test_a_layout_is_pickled_where_its_class_is():
    layout = RecordLayout.from_class(Everything, byteorder="big")
    again = pickle.loads(pickle.dumps(layout))
    assert again.fields == layout.fields
    assert again.unpack_from(bytes(layout.size)).total == 0
