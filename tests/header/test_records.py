"""Records by either engine: values, bytes and errors, as struct, ctypes and numpy have them."""

from __future__ import annotations

import array
import ctypes
import dataclasses
import math
import mmap
import struct
from typing import Annotated, Any

import numpy as np
import pytest

import zcser
from tests.header.engines import ENGINES, HAS_NATIVE, with_engine
from zcser.core.errors import BufferTooSmallError, DecodeError, EncodeError, TruncatedError
from zcser.header import RecordLayout
from zcser.header.records.model import Array, Bytes, Scalar, Struct
from zcser.schema.annotations import Length, UInt8, UInt16
from zcser.schema.model import Bytes as BytesType

pytestmark = pytest.mark.parametrize("engine", ENGINES)

FORMAT = "<IHBBQ4h3sx"
NAMES = "magic version dtype ndim trace shape tag"
VALUES = (0x5A435231, 1, 2, 255, 2**64 - 1, (-1, 2, -32768, 32767), b"a\0\0")


def packed(values: Any = VALUES) -> bytes:
    return struct.pack(FORMAT, *values[:5], *values[5], values[6])


@pytest.fixture
def layout(engine: str) -> RecordLayout:
    return with_engine(engine, lambda: RecordLayout.from_struct(FORMAT, NAMES, name="Header"))


def buffers(data: bytes) -> list[Any]:
    mapped = mmap.mmap(-1, len(data))
    mapped.write(data)
    return [
        data, bytearray(data), memoryview(data), memoryview(bytearray(b"x" + data))[1:], array.array("B", data), mapped,
        np.frombuffer(data, np.uint8), np.frombuffer(data, np.uint8).reshape(-1, 2), memoryview(data).cast("H"),
        np.frombuffer(data, "V4"),
    ]  # fmt: skip


@pytest.mark.parametrize("offset", [0, 2, 6])
def test_a_whole_record_is_what_struct_unpacks_at_any_offset_of_any_buffer(layout, offset):
    data = bytes(range(offset)) + packed()
    data += bytes(-len(data) % 4)
    for buffer in buffers(data):
        found = layout.unpack_from(buffer, offset)
        assert found == VALUES
        assert found._fields == tuple(NAMES.split())
        assert found == layout.unpack_from(buffer=buffer, offset=offset)
        assert zcser.to_value(layout.view(buffer, offset)) == VALUES


def test_an_array_without_a_letter_in_the_buffer_protocol_is_bytes_too(layout):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for dtype in (ml_dtypes.bfloat16, "M8[ns]", "m8[s]"):
        array = np.frombuffer(bytearray(packed() + bytes(4)), "u1").view(dtype)
        assert layout.unpack_from(array) == VALUES
        view = layout.view(array, 0)
        view.version = 9
        view.shape[0] = 8
        assert (layout.unpack_from(array).version, layout.unpack_from(array).shape[0]) == (9, 8)


def test_fields_are_read_by_attribute_and_by_name(layout):
    view = layout.view(b"??" + packed(), 2)
    assert (view.magic, view.version, view["dtype"], view.ndim, view["trace"]) == VALUES[:5]
    assert view.shape.dtype == "<i2"
    assert view.shape.tolist() == list(VALUES[5])
    assert (type(view.tag), view.tag) == (memoryview, b"a\0\0")
    assert list(view) == NAMES.split()
    assert "tag" in view
    assert zcser.at(view, "/shape/3") == 32767
    with pytest.raises(KeyError, match="magic, version"):
        view["size"]
    with pytest.raises(AttributeError):
        view.size  # noqa: B018 - the access is the test
    assert repr(view).startswith("<view of Header: magic=1514361393, version=1,")


def test_fields_are_written_in_place(layout):
    data = bytearray(b"\xaa" * 3 + packed() + b"\xbb")
    view = layout.view(data, 3)
    view.magic, view.version, view["ndim"], view.trace = 7, 65535, 0, 1
    view.shape = [4, 3, 2, 1]
    view.shape[0] = -9
    view.tag = bytearray(b"xyz")
    want = struct.pack(FORMAT, 7, 65535, 2, 0, 1, -9, 3, 2, 1, b"xyz")
    assert bytes(data) == b"\xaa" * 3 + want + b"\xbb"


def test_a_write_of_a_field_leaves_padding_and_a_write_of_the_record_zeros_it(layout):
    data = bytearray(b"\xff" * layout.size)
    layout.view(data).tag = b"abc"
    assert data[-1] == 255
    layout.pack_into(data, 0, VALUES)
    assert data == packed()


REFUSED = [
    ("version", 65536, "an int from 0 to 65535 is needed, not 65536", "/version"),
    ("version", -1, "an int from 0 to 65535", "/version"),
    ("magic", 1.0, "an int from 0 to 4294967295 is needed, not 1.0", "/magic"),
    ("trace", 2**64, "an int from 0 to 18446744073709551615", "/trace"),
    ("trace", "1", "an int from", "/trace"),
    ("trace", None, "an int from", "/trace"),
    ("shape", [1, 2, 3], "a sequence of 4 items is needed.*of length 3", "/shape"),
    ("shape", [1, 2, 3, 32768], "an int from -32768 to 32767", "/shape/3"),
    ("shape", np.zeros((2, 2), "i2"), r"an array of shape \(4,\) is needed, not \(2, 2\)", "/shape"),
    ("shape", np.array([1, 2, 3, 40000]), "an int from -32768", "/shape/3"),
    ("shape", "1234", "a sequence of 4 items", "/shape"),
    ("tag", b"ab", "bytes of length 3 are needed, not b'ab'", "/tag"),
    ("tag", b"abcd", "bytes of length 3", "/tag"),
    ("tag", "abc", "bytes of length 3", "/tag"),
]


@pytest.mark.parametrize(("name", "value", "words", "path"), REFUSED)
def test_a_value_that_does_not_fit_is_refused_by_name_and_changes_nothing(layout, name, value, words, path):
    data = bytearray(packed())
    view = layout.view(data)
    for write in (setattr, type(view).__setitem__):
        with pytest.raises(EncodeError, match=rf"Header\.{name}: {words}") as caught:
            write(view, name, value)
        assert caught.value.path == path
    with pytest.raises(EncodeError, match=words) as caught:
        layout.pack_into(data, 0, layout.unpack_from(data)._replace(**{name: value}))
    assert caught.value.path == path
    assert data == packed()


def test_numbers_of_numpy_and_of_other_classes_are_taken(layout):
    class Number:
        def __index__(self) -> int:
            return 9

    data = bytearray(packed())
    view = layout.view(data)
    view.version, view.dtype, view.ndim = np.int64(5), Number(), True
    view.shape = np.array([1, 2, 3, 4], "i1")
    assert (view.version, view.dtype, view.ndim, view.shape.tolist()) == (5, 9, 1, [1, 2, 3, 4])
    with pytest.raises(EncodeError, match=r"Header\.version"):
        view.version = np.int64(70000)


@pytest.mark.parametrize("order", "<>")
def test_floats_bools_and_chars(engine, order):
    layout = with_engine(engine, lambda: RecordLayout.from_struct(f"{order}efd?c", "half single double flag char"))
    data = bytearray(struct.pack(f"{order}efd?c", 1.5, 1e30, math.inf, True, b"\0"))
    view = layout.view(data)
    assert zcser.to_value(view) == struct.unpack(f"{order}efd?c", data)
    assert (view.char, type(view.flag)) == (b"\0", bool)
    view.half, view.single, view.double, view.flag, view.char = 0.1, 0.1, 0.1, False, b"z"
    assert data == struct.pack(f"{order}efd?c", 0.1, 0.1, 0.1, False, b"z")
    view.half, view.single, view.double, view.flag = 3, np.float64(2.5), 2**60, np.bool_(True)
    assert data == struct.pack(f"{order}efd?c", 3, 2.5, 2**60, True, b"z")
    view.half, view.single, view.double = math.nan, -math.inf, -0.0
    assert math.isnan(view.half)
    assert (view.single, math.copysign(1, view.double)) == (-math.inf, -1)
    data[14] = 2  # any byte but 0, as in C
    assert view.flag is True
    assert layout.unpack_from(data).flag is True
    for name, value, words in [
        ("half", 65520.0, "fits float16"), ("single", 1e39, "fits float32"), ("single", "1", "fits float32"),
        ("double", 10**400, "fits float64"), ("flag", 1, "True or False"), ("char", b"ab", "length 1"), ("char", "a", "length 1"),
    ]:  # fmt: skip
        before = bytes(data)
        with pytest.raises(EncodeError, match=f"Record.{name}: .*{words}"):
            setattr(view, name, value)
        assert data == before


@dataclasses.dataclass
class Inner:
    a: UInt8
    b: UInt16


@dataclasses.dataclass
class Outer:
    first: Inner
    rows: Annotated[tuple[Annotated[tuple[Inner, ...], Length(2)], ...], Length(3)]
    name: Annotated[bytes, BytesType(2)]


@pytest.fixture
def outer(engine: str) -> RecordLayout:
    return with_engine(engine, lambda: RecordLayout.from_class(Outer, byteorder="big"))


def outer_value() -> tuple[Outer, bytes]:
    rows = tuple((Inner(n, 300 + n), Inner(n + 10, 400 + n)) for n in range(3))
    flat = [part for row in rows for inner in row for part in (inner.a, inner.b)]
    return Outer(Inner(1, 2), rows, b"ok"), struct.pack(">" + "BxH" * 7 + "2s", 1, 2, *flat, b"ok")


def test_records_inside_are_values_views_and_structured_arrays(outer):
    value, data = outer_value()
    assert outer.pack(value) == data
    assert outer.unpack_from(data) == value
    buffer = bytearray(data)
    view = outer.view(buffer)
    assert zcser.to_value(view.first) == Inner(1, 2)
    view.first.b = 0x0102
    assert buffer[2:4] == b"\1\2"
    view.first = Inner(7, 8)
    assert buffer[:4] == b"\7\0\0\10"
    assert view.rows.shape == (3, 2)
    assert view.rows["b"].tolist() == [[300, 400], [301, 401], [302, 402]]
    view.rows[2, 1]["b"] = 0x0304
    assert buffer[26:28] == b"\3\4"
    view.rows = value.rows
    assert outer.unpack_from(buffer).rows == value.rows


def test_a_record_that_comes_first_inside_another_has_its_own_fields_alone(engine):
    dtype = np.dtype([("first", [("a", "u1"), ("b", "<u2")]), ("last", "u1")])
    record = with_engine(engine, lambda: RecordLayout.from_dtype(dtype)).unpack_from(b"\1\2\0\3")
    assert record == ((1, 2), 3)
    assert (record.first.a, record.first.b, record.last) == (1, 2, 3)


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"first": Inner(256, 0)}, "/first/a"),
        ({"first": (1, 2)}, "/first"),
        ({"rows": ((Inner(1, 2), Inner(1, 65536)),) * 3}, "/rows/0/1/b"),
        ({"rows": ((Inner(1, 2),),) * 3}, "/rows/0"),
    ],
)
def test_the_path_of_an_error_leads_into_records_and_arrays(outer, change, path):
    value, data = outer_value()
    buffer = bytearray(data)
    (name, wrong), = change.items()  # fmt: skip
    with pytest.raises(EncodeError) as caught:
        setattr(outer.view(buffer), name, wrong)
    assert caught.value.path == path
    with pytest.raises(EncodeError) as caught:
        outer.pack(dataclasses.replace(value, **change))
    assert caught.value.path == path
    assert buffer == data


def test_an_array_of_records_is_a_structured_array_without_a_copy(layout):
    data = bytearray(b"??" + packed() * 3)
    rows = layout.array(data, 2)
    assert (rows.shape, rows.dtype) == ((3,), layout.dtype)
    assert rows["trace"].tolist() == [2**64 - 1] * 3
    rows["version"][1] = 77
    assert layout.unpack_from(data, 2 + layout.size).version == 77
    assert layout.array(data, 2, 2).shape == (2,)
    assert layout.array(data, 2, 0).shape == (0,)
    assert not layout.array(bytes(data), 2).flags.writeable
    with pytest.raises(TruncatedError, match=r"at byte 86 .* Header.magic, bytes 86 to 90, is cut") as caught:
        layout.array(data, 2, 4)
    assert caught.value.path == "/3/magic"
    with pytest.raises(TruncatedError):
        layout.array(data, 3)
    with pytest.raises(DecodeError, match=r"negative|cannot"):
        layout.array(data, 2, -1)
    with pytest.raises(DecodeError):
        layout.array(data, -26)


@pytest.mark.parametrize(
    ("offset", "kind", "path"),
    [
        (1, TruncatedError, ""), (2, TruncatedError, "/tag"), (24, TruncatedError, "/version"), (28, TruncatedError, "/magic"),
        (29, TruncatedError, "/magic"), (2**63 - 1, TruncatedError, "/magic"), (2**63, TruncatedError, "/magic"),
        (10**30, TruncatedError, "/magic"), (-1, DecodeError, None), (-28, DecodeError, None), (-(2**70), DecodeError, None),
    ],
)  # fmt: skip
def test_a_record_outside_of_the_buffer_is_refused_with_the_field_that_is(layout, offset, kind, path):
    data = packed()
    for buffer in buffers(data):
        for read in (layout.unpack_from, layout.view):
            with pytest.raises(kind) as caught:
                read(buffer, offset)
            assert caught.value.path == path
            assert caught.value.offset is not None
    with pytest.raises(EncodeError):
        layout.pack_into(bytearray(data), offset, VALUES)


def test_every_cut_of_a_record_is_refused(layout):
    data = packed()
    for size in range(len(data)):
        for cut in (data[:size], bytearray(data[:size]), memoryview(data)[:size]):
            for read in (layout.unpack_from, layout.view):
                with pytest.raises(TruncatedError, match=f"the buffer ends at {size}"):
                    read(cut)
    with pytest.raises(BufferTooSmallError):
        layout.pack_into(bytearray(layout.size - 1), 0, VALUES)


def closed(data: bytes) -> mmap.mmap:
    mapped = mmap.mmap(-1, len(data))
    mapped.close()
    return mapped


def released(data: bytes) -> memoryview:
    view = memoryview(data)
    view.release()
    return view


UNREADABLE = [
    (lambda data: memoryview(data * 2)[::2], "not C-contiguous"),
    (lambda data: np.frombuffer(data * 2, "u1").reshape(-1, 2).T, "not C-contiguous"),
    (lambda data: np.asfortranarray(np.zeros((8, 8), "u4")), "not C-contiguous"),
    (lambda data: np.array([data, data, data, data], object), "pointers"),
    (lambda data: memoryview(np.array([data] * 4, object)), "pointers"),
    (lambda data: np.zeros(4, [("a", "O"), ("b", "u4")]), "pointers"),
    (lambda data: data.decode("latin-1"), "bytes-like"),
    (lambda data: None, "bytes-like"),
    (lambda data: [*data], "bytes-like"),
    (closed, "closed or released"),
    (released, "closed or released"),
]


@pytest.mark.parametrize(("make", "words"), UNREADABLE)
def test_what_is_no_plain_buffer_is_refused(layout, make, words):
    buffer = make(packed())
    for read in (layout.unpack_from, layout.view, layout.array):
        with pytest.raises(DecodeError, match=words):
            read(buffer)
    with pytest.raises(EncodeError, match=words):
        layout.pack_into(buffer, 0, VALUES)


@pytest.mark.parametrize("arguments", [(), (b"", 0, 0), (b"", "0"), (b"", 0.0), (b"", None)])
def test_wrong_arguments_are_type_errors(layout, arguments):
    for read in (layout.unpack_from, layout.view):
        with pytest.raises(TypeError):
            read(*arguments)
        with pytest.raises(TypeError):
            read(b"", size=1)


@pytest.mark.parametrize(
    "make", [bytes, lambda data: memoryview(bytearray(data)).toreadonly(), lambda data: np.frombuffer(data, "u1")]
)
def test_a_read_only_buffer_is_not_written_to(layout, make):
    buffer = make(packed())
    view = layout.view(buffer)
    for name, value in zip(NAMES.split(), VALUES, strict=True):
        with pytest.raises(EncodeError, match=rf"Header\.{name} cannot be written: the buffer is read-only"):
            setattr(view, name, value)
    with pytest.raises(ValueError, match="read-only"):
        view.shape[0] = 1
    with pytest.raises(EncodeError, match="read-only"):
        layout.pack_into(buffer, 0, VALUES)
    assert bytes(buffer) == packed()


def test_a_view_has_its_fields_and_no_others(layout):
    view = layout.view(bytearray(packed()))
    with pytest.raises(AttributeError):
        view.size = 1
    with pytest.raises(KeyError, match="'size' is not a field of Header"):
        view["size"] = 1
    with pytest.raises(AttributeError):
        del view.magic
    with pytest.raises(TypeError):
        type(view)()


@pytest.mark.skipif(not HAS_NATIVE, reason="the C extension is not built")
def test_a_field_in_c_reads_views_of_its_own_record_alone(layout):
    view = with_engine("native", lambda: RecordLayout.from_struct("<4Q", "magic")).view(bytes(32))
    other = with_engine("native", lambda: RecordLayout.from_struct("<B", "magic")).view(bytearray(1))
    for foreign in (other, layout.view(packed()), 5):
        with pytest.raises(TypeError, match="another record"):
            type(view).magic.__get__(foreign)
        with pytest.raises(TypeError, match="another record"):
            type(view).magic.__set__(foreign, [0] * 4)
    other.__class__ = type(view)
    with pytest.raises(TypeError, match="another record"):
        other.magic  # noqa: B018 - the access is the test


@dataclasses.dataclass
class Fussy:
    a: UInt8

    def __post_init__(self) -> None:
        if self.a > 9:
            raise RuntimeError("too big")


def test_a_class_that_refuses_its_fields_is_a_decode_error(engine):
    layout = with_engine(engine, lambda: RecordLayout.from_class(Fussy))
    assert layout.unpack_from(b"\7") == Fussy(7)
    for read in (layout.unpack_from, lambda data: zcser.to_value(layout.view(data))):
        with pytest.raises(DecodeError, match="no Fussy can be made of this record: too big"):
            read(b"\x0a")


def test_the_parts_of_a_layout_are_public(layout):
    assert layout.fields["shape"].part == Array(Scalar("h", "little"), (4,))
    assert layout.fields["tag"].part == Bytes(3)
    assert isinstance(layout._record, Struct)
    assert (layout.fields["trace"].offset, layout.fields["trace"].end, layout.size) == (8, 16, struct.calcsize(FORMAT))


def test_ctypes_reads_what_a_view_writes(engine):
    class Twin(ctypes.BigEndianStructure):
        _fields_ = [("a", ctypes.c_int16), ("b", ctypes.c_double), ("c", ctypes.c_uint8 * 3)]

    layout = with_engine(engine, lambda: RecordLayout.from_ctypes(Twin))
    twin = Twin()
    view = layout.view(twin)
    view.a, view.b, view.c = -5, 2.25, (1, 2, 3)
    assert (twin.a, twin.b, [*twin.c]) == (-5, 2.25, [1, 2, 3])
    twin.a = 77
    assert view.a == 77


@pytest.mark.parametrize(
    ("format_", "values"),
    [
        ("<IH?3sc", (1, 2, True, b"abc", b"x")),
        (">IH?3sc", (1, 2, False, b"a\0\0", b"\0")),
        ("<e", (1.5,)),
        ("@BQ", (1, 2)),
    ],
)
def test_a_flat_record_is_packed_as_struct_packs_it_and_nothing_else_is_taken(engine, format_, values):
    names = [f"f{number}" for number in range(len(values))]
    layout = with_engine(engine, lambda: RecordLayout.from_struct(format_, names))
    assert layout.pack(values) == struct.pack(format_, *values)
    assert layout.pack(layout.unpack_from(layout.pack(values))) == struct.pack(format_, *values)
    wrong = [values[:-1], (*values, 1), list(values), None, dict(zip(names, values, strict=True))]
    for number, value in enumerate(values):
        bad: Any = {bool: 1, bytes: value * 2 if isinstance(value, bytes) else b""}.get(type(value), "1")
        wrong.append((*values[:number], bad, *values[number + 1 :]))
    for value in wrong:
        with pytest.raises(EncodeError):
            layout.pack(value)
