"""The normal form, rule by rule of its module, with values worked out by hand."""

from __future__ import annotations

import collections
import dataclasses
import enum
import struct
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

import ml_dtypes
import msgspec
import numpy as np
import pytest

from zcser.core.errors import EncodeError
from zcser.core.fidelity import difference, equal
from zcser.core.options import Limits
from zcser.schema.annotations import Float32, Int8, Length, UInt8, UInt64
from zcser.schema.model import (
    Bool,
    Bytes,
    Field,
    Float,
    Int,
    List,
    Map,
    Null,
    Optional,
    Record,
    Ref,
    Schema,
    Str,
    Tensor,
    Type,
)
from zcser.schema.normal import normal

NAN = float("nan")
INF = float("inf")


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "a liar"


class Same(str):
    """Text that Python takes for two keys, and a message for one."""

    __slots__ = ()
    __hash__ = object.__hash__
    __eq__ = object.__eq__


class Number(int):
    pass


class Real(float):
    pass


class Blob(bytes):
    pass


class Pair(NamedTuple):
    a: int
    b: int


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


class Size(enum.StrEnum):
    S = "small"


class Weight(enum.IntEnum):
    LIGHT = 1


@dataclasses.dataclass
class Point:
    x: float
    y: float = 0.0


@dataclasses.dataclass(frozen=True)
class Line:
    a: Point
    points: list[Point] = dataclasses.field(default_factory=list)


class Box(msgspec.Struct, frozen=True):
    size: Int8
    point: Point | None = None


class Loose(TypedDict):
    a: int
    b: NotRequired[float | None]


class Node(TypedDict):
    children: list[Node]


def of(type_: Type) -> Schema:
    return Schema(type_)


def of_record(*fields: Field) -> Schema:
    return Schema(
        Ref("Row"), (Record("Row", fields), Record("Other", (Field("f", Str(), 1, required=False, default="x"),)))
    )


SETTINGS = of_record(
    Field("a", Int(), 1),
    Field("b", Float(), 2, required=False, default=2),
    Field("c", Optional(Int()), 3, required=False, default=None),
    Field("d", List(Int()), 4, required=False, default_factory=list),
    Field("e", Ref("Other"), 5, required=False, default_factory=dict),
)

BIG = np.arange(6, dtype=">i4").reshape(2, 3)

CHANGED = {
    "numpy int": (int, np.int8(-3), -3),
    "numpy unsigned": (UInt64, np.uint64(2**64 - 1), 2**64 - 1),
    "numpy bool": (bool, np.bool_(1), True),
    "numpy float": (float, np.float32(0.5), 0.5),
    "numpy float16": (float, np.float16(1.5), 1.5),
    "numpy str": (str, np.str_("abc"), "abc"),
    "numpy bytes": (bytes, np.bytes_(b"abc"), b"abc"),
    "subclass of int": (int, Number(5), 5),
    "member of another enum as int": (int, Weight.LIGHT, 1),
    "subclass of float": (float, Real(5), 5.0),
    "numpy float64": (float, np.float64(NAN), NAN),
    "subclass of str": (str, Text("the truth"), "the truth"),
    "subclass of bytes": (bytes, Blob(b"x"), b"x"),
    "bytearray": (bytes, bytearray(b"abc"), b"abc"),
    "memoryview": (bytes, memoryview(b"abc"), b"abc"),
    "strided memoryview": (bytes, memoryview(b"a-b-c")[::2], b"abc"),
    "typed memoryview": (bytes, memoryview(b"abcd").cast("i"), b"abcd"),
    "int in a float field": (float, 2**53, 9007199254740992.0),
    "large int that is exact": (float, 2**100, 1.2676506002282294e30),
    "numpy int in a float field": (float, np.int64(7), 7.0),
    "float32 rounds to nearest": (Float32, 0.1, 0.10000000149011612),
    "float32 rounds ties to even": (Float32, 1 + 2.0**-24, 1.0),
    "float32 rounds to its largest": (Float32, 3.4028235e38, 3.4028234663852886e38),
    "float32 underflows to a signed zero": (Float32, -1e-60, -0.0),
    "tuple for list": (list[int], (1, 2), [1, 2]),
    "list for tuple": (tuple[int, ...], [1, 2], (1, 2)),
    "named tuple": (tuple[int, ...], Pair(1, 2), (1, 2)),
    "named tuple for list": (list[int], Pair(1, 2), [1, 2]),
    "subclass of dict": (dict[str, int], collections.OrderedDict(a=1), {"a": 1}),
    "subclass of dict as a record": (Loose, collections.defaultdict(int, a=1), {"a": 1}),
    "keys": (dict[int, str], {np.int64(3): "x"}, {3: "x"}),
    "defaults of what a dict lacks": (SETTINGS, {"a": 1}, {"a": 1, "b": 2.0, "c": None, "d": [], "e": {"f": "x"}}),
    "one default, inside": (
        SETTINGS,
        {"a": 1, "b": 0.5, "c": 1, "d": [1], "e": {}},
        {"a": 1, "b": 0.5, "c": 1, "d": [1], "e": {"f": "x"}},
    ),
    "member by value": (Colour, 2, Colour.GREEN),
    "str member by value": (Size, "small", Size.S),
    "inside a dataclass": (Point, Point(1, 2), Point(1.0, 2.0)),
    "inside a frozen dataclass": (Line, Line(Point(1.0), [Point(2)]), Line(Point(1.0), [Point(2.0)])),
    "inside a frozen Struct": (Box, Box(np.int8(1), Point(3)), Box(1, Point(3.0))),
    "inside an optional": (float | None, 3, 3.0),
    "in a union, where only one option takes it": (float | str, 3, 3.0),
    "numpy scalar in a union": (int | str | float, np.float32(0.5), 0.5),
    "tuple in a union": (list[int] | str, (1,), [1]),
    "big-endian array": (np.ndarray, BIG, np.array([[0, 1, 2], [3, 4, 5]], "<i4")),
    "F-order array": (np.ndarray, np.asfortranarray(BIG.astype("<i4")), np.array([[0, 1, 2], [3, 4, 5]], "<i4")),
    "transposed array": (np.ndarray, np.arange(6).reshape(3, 2).T, np.array([[0, 2, 4], [1, 3, 5]])),
    "reversed array": (np.ndarray, np.arange(3)[::-1], np.array([2, 1, 0])),
    "broadcast array": (np.ndarray, np.broadcast_to(np.float32(2), (2, 2)), np.full((2, 2), 2, np.float32)),
    "strided bfloat16": (
        np.ndarray,
        np.arange(6).astype(ml_dtypes.bfloat16)[::2],
        np.array([0, 2, 4], ml_dtypes.bfloat16),
    ),
    "big-endian 0-d array": (np.ndarray, np.array(5, ">i2"), np.array(5, "<i2")),
}

KEPT = {
    "None": (of(Null()), None),
    "bool": (bool, True),
    "int": (int, -(2**63)),
    "unbounded int": (of(Int(None)), 10**5000),
    "smallest byte": (Int8, -128),
    "largest byte": (UInt8, 255),
    "negative zero": (float, -0.0),
    "subnormal": (float, 5e-324),
    "NaN": (float, NAN),
    "infinity in 32 bits": (Float32, -INF),
    "float32 value": (Float32, 0.10000000149011612),
    "text with NUL": (str, "a\0"),
    "text beyond the BMP": (str, "\U0001f600"),
    "sized text, counted in bytes": (of(Str(4)), "\U0001f600"),
    "sized bytes": (of(Bytes(2)), b"ab"),
    "empty list": (list[int], []),
    "fixed list": (Annotated[list[int], Length(2)], [1, 2]),
    "fixed tuple": (tuple[int, int], (1, 2)),
    "map with bool keys": (dict[bool, int], {True: 1, False: 0}),
    "absent field": (Loose, {"a": 1}),
    "no default for what may be absent": (of_record(Field("a", Int(), 1, required=False)), {}),
    "nothing lacks that has a default": (SETTINGS, {"a": 1, "b": 0.0, "c": None, "d": [], "e": {"f": ""}}),
    "None field": (Loose, {"a": 1, "b": None}),
    "enum": (Colour, Colour.RED),
    "literal": (Literal["a", "b"], "b"),
    "0-d array": (np.ndarray, np.array(5.0)),
    "array without elements": (np.ndarray, np.zeros((3, 0))),
    "bfloat16": (np.ndarray, np.zeros(3, ml_dtypes.bfloat16)),
    "read-only array": (np.ndarray, np.frombuffer(b"abcd", np.uint8)),
    "dataclass": (Line, Line(Point(1.0, 2.0), [Point(NAN)])),
    "Struct": (Box, Box(1)),
    "recursion": (Node, {"children": [{"children": []}]}),
}

REFUSED = {
    "bool in an int field": (int, True, ""),
    "int in a bool field": (bool, 1, ""),
    "float in an int field": (int, 1.0, ""),
    "numpy bool in an int field": (int, np.bool_(1), ""),
    "bool in a float field": (float, True, ""),
    "str in a bytes field": (bytes, "abc", ""),
    "bytes in a str field": (str, b"abc", ""),
    "None in a plain field": (int, None, ""),
    "0 in a null field": (of(Null()), 0, ""),
    "too large": (int, 2**63, ""),
    "too small": (UInt8, -1, ""),
    "numpy int too large": (Int8, np.int16(128), ""),
    "integer of many digits": (int, 10**5000, ""),
    "integer of many digits where text is due": (str, 10**5000, ""),
    "integer of many digits where a member is due": (Literal[1, 2], 10**5000, ""),
    "inexact int in a float field": (float, 2**53 + 1, ""),
    "int beyond all floats": (float, 10**400, ""),
    "float32 overflow": (Float32, 3.5e38, ""),
    "long double": (float, np.longdouble(1) + np.finfo(np.longdouble).eps, ""),
    "lone surrogate": (str, "a\udc00", ""),
    "lone surrogate key": (dict[str, int], {"\ud800": 1}, "/\ud800"),
    "text over its size": (of(Str(3)), "\U0001f600", ""),
    "bytes under their size": (of(Bytes(2)), b"a", ""),
    "bytes over their size": (of(Bytes(2)), b"abc", ""),
    "str as a list": (list[str], "ab", ""),
    "set as a list": (list[int], {1}, ""),
    "array as a list": (list[int], np.zeros(2, int), ""),
    "list as an array": (np.ndarray, [1], ""),
    "item": (list[int], [1, "2"], "/1"),
    "item of a map": (dict[str, list[int]], {"a/b": [1, None]}, "/a~1b/1"),
    "key of another type": (dict[str, int], {1: 1}, "/1"),
    "int key for bool": (dict[bool, int], {1: 1}, "/1"),
    "bool key for int": (dict[int, int], {True: 1}, "/True"),
    "two keys become one": (dict[str, int], {Same("b"): 1, Same("b"): 2}, ""),
    "length": (Annotated[list[int], Length(2)], [1], ""),
    "length of a tuple": (tuple[int, int], (1, 2, 3), ""),
    "unknown field": (Loose, {"a": 1, "c": 2}, ""),
    "unknown field that is no str": (Loose, {"a": 1, 5: 2}, ""),
    "missing field": (Loose, {"b": 1.0}, ""),
    "value of another class": (Point, {"x": 1.0}, ""),
    "dataclass where a dict is due": (Loose, Point(1.0), ""),
    "missing field, beside defaults": (SETTINGS, {"b": 1.0}, ""),
    "default that does not fit": (of_record(Field("a", Int(8), 1, required=False, default=128)), {}, "/a"),
    "field of a record": (Line, Line(Point(1.0), [Point(1.0), Point("2")]), "/points/1/x"),
    "field in an optional": (Box, Box(1, Point(None)), "/point/x"),
    "no member": (Colour, 3, ""),
    "name of a member": (Colour, "RED", ""),
    "bool for a member": (Literal[0, 1], True, ""),
    "member of another enum": (Colour, Weight.LIGHT, ""),
    "no option": (int | str, 1.5, ""),
    "bool is no int option": (int | str, True, ""),
    "option out of range": (Int8 | str, 200, ""),
    "inside an option": (list[int] | str, [1, "x"], "/1"),
    "array of objects": (np.ndarray, np.array([1, "x"], object), ""),
    "array of text": (np.ndarray, np.array(["x"]), ""),
    "array of dates without a unit": (np.ndarray, np.zeros(1, "datetime64"), ""),
    "structured array": (np.ndarray, np.zeros(2, "i4,f4"), ""),
    "long double array": (np.ndarray, np.zeros(2, np.longdouble), ""),
    "masked array": (np.ndarray, np.ma.masked_array([1, 2], [True, False]), ""),
    "dtype": (of(Tensor("float32")), np.zeros(2), ""),
    "rank": (of(Tensor("float64", (2, None))), np.zeros(2), ""),
    "extent": (of(Tensor("float64", (2, None))), np.zeros((3, 1)), ""),
}


@pytest.mark.parametrize("case", CHANGED)
def test_what_normal_changes(case):
    schema, value, expected = CHANGED[case]
    found = normal(schema, value)
    assert difference(found, expected) is None
    assert difference(normal(schema, found), expected) is None, "normal is idempotent"
    if isinstance(found, np.ndarray):
        assert found.flags.c_contiguous
        assert found.dtype.byteorder != ">"


@pytest.mark.parametrize("case", CHANGED)
def test_strict_refuses_whatever_would_change(case):
    schema, value, _ = CHANGED[case]
    with pytest.raises(EncodeError):
        normal(schema, value, strict=True)


@pytest.mark.parametrize("case", KEPT)
def test_what_is_normal_already_is_kept(case):
    schema, value = KEPT[case]
    for strict in (False, True):
        found = normal(schema, value, strict=strict)
        if not isinstance(value, np.ndarray | float):
            assert found is value
        assert equal(found, value)


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_an_encode_error_with_its_path(case):
    schema, value, path = REFUSED[case]
    for strict in (False, True):
        with pytest.raises(EncodeError) as caught:
            normal(schema, value, strict=strict, codec="json")
        if not strict:
            assert caught.value.path == path
        assert caught.value.codec == "json"
        assert len(str(caught.value)) < 400


def test_the_input_is_never_changed():
    value = [Point(1, 2)]
    normal(list[Point], value)
    assert type(value[0].x) is int
    loose: Any = {"a": np.int64(1)}
    normal(Loose, loose)
    assert type(loose["a"]) is np.int64


def test_parts_that_are_normal_are_the_same_objects():
    line = Line(Point(1.0), [Point(2), Point(3.0)])
    found = normal(Line, line)
    assert found is not line
    assert found.a is line.a
    assert found.points[1] is line.points[1]


def test_float32_agrees_with_numpy():
    patterns = [0, 1, 0x7FFFFF, 0x800000, 0x3DCCCCCD, 0x7F7FFFFF, 0x80000001]
    for bits in patterns:
        (value,) = struct.unpack("<f", struct.pack("<I", bits))
        nearby = float(np.nextafter(value, 0.0))
        assert equal(normal(Float32, nearby), float(np.float32(nearby)))
    # Half a unit in the last place above the largest float32 rounds to infinity, just below it to the largest.
    largest = float(np.finfo(np.float32).max)
    half = largest + 2.0**103
    assert normal(Float32, float(np.nextafter(half, 0))) == largest
    with pytest.raises(EncodeError):
        normal(Float32, half)


def test_finite_refuses_what_some_formats_cannot_write_outside_tensors():
    for value in (NAN, INF, -INF):
        with pytest.raises(EncodeError) as caught:
            normal(list[float], [0.0, value], finite=True)
        assert caught.value.path == "/1"
        assert equal(normal(np.ndarray, np.array([value]), finite=True), np.array([value]))


def nested(levels: int) -> Any:
    value: Any = {"children": []}
    for _ in range((levels - 2) // 2):
        value = {"children": [value]}
    return value


def test_depth_counts_records_lists_and_maps_from_one():
    assert normal(list[list[int]], [[1]], limits=Limits(depth=2)) == [[1]]
    with pytest.raises(EncodeError, match="deeper than 1") as caught:
        normal(list[list[int]], [[1]], limits=Limits(depth=1))
    assert caught.value.path == "/0"
    assert normal(dict[str, Point | None], {"a": None}, limits=Limits(depth=1)) == {"a": None}
    assert normal(list[float | None], [1.0], limits=Limits(depth=1)) == [1.0]
    assert normal(Node, nested(100)) == nested(100)
    with pytest.raises(EncodeError, match="deeper than 100"):
        normal(Node, nested(102))


def test_a_value_that_contains_itself_is_refused():
    node: Any = {"children": []}
    node["children"].append(node)
    with pytest.raises(EncodeError, match="contains itself"):
        normal(Node, node)


def test_elements_are_counted_over_the_whole_message():
    assert normal(list[int], [1, 2, 3], limits=Limits(elements=3)) == [1, 2, 3]
    with pytest.raises(EncodeError, match="elements"):
        normal(list[int], [1, 2, 3], limits=Limits(elements=2))
    with pytest.raises(EncodeError, match="elements"):
        normal(list[list[int]], [[1, 2], [3, 4]], limits=Limits(elements=5))


def deep_list() -> Any:
    value: Any = []
    for _ in range(50_000):
        value = [value]
    return value


class Shy:
    def __repr__(self) -> str:
        raise ZeroDivisionError


@pytest.mark.parametrize("schema", [int, str, bytes, bool, float, Point, Loose, Colour, np.ndarray, dict[str, int]])
@pytest.mark.parametrize("make", [deep_list, Shy, lambda: 10**5000], ids=["deep", "repr raises", "many digits"])
def test_the_error_for_a_strange_value_is_an_encode_error_all_the_same(schema, make):
    with pytest.raises(EncodeError):
        normal(schema, make())


@pytest.mark.parametrize("schema", [dict[str, int], Loose, dict[int, int], of(Map(Int(None), Str()))])
@pytest.mark.parametrize("key", [10**5000, Shy(), (1, 2), None, 1.5], ids=lambda key: type(key).__name__)
def test_the_error_for_a_strange_key_is_an_encode_error_all_the_same(schema, key):
    with pytest.raises(EncodeError):
        normal(schema, {key: []})


def test_a_class_that_refuses_the_normal_values_is_an_encode_error():
    @dataclasses.dataclass
    class Picky:
        x: float

        def __post_init__(self) -> None:
            if type(self.x) is float:
                raise ZeroDivisionError

    with pytest.raises(EncodeError) as caught:
        normal(list[Picky], [Picky(1)])
    assert caught.value.path == "/0"


def test_a_field_that_was_deleted_is_named():
    point = Point(1.0)
    del point.x
    with pytest.raises(EncodeError, match="'x'"):
        normal(Point, point)


def test_kinds_compose():
    schema = Schema(Map(Str(), List(Map(Bool(), Float(32)), container="tuple")))
    assert equal(normal(schema, {"a": [{True: 1}]}), {"a": ({True: 1.0},)})
