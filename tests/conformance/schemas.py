"""The set of schemas that every codec is held to: every kind, plain and inside every container.

`CASES` maps a name to a source of a schema. Which codec must carry which case stands in ``tests/expected/kinds.toml``.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import ml_dtypes
import msgspec
import numpy as np
import numpy.typing as npt

from zcser.schema.annotations import (
    Float32,
    Id,
    Int8,
    Int16,
    Int32,
    Int64,
    Length,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
)
from zcser.schema.from_python import schema_of
from zcser.schema.model import (
    Bool,
    Bytes,
    Enum,
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
    Union,
)


class Colour(enum.Enum):
    RED = "r"
    GREEN = "g"
    ODD = "a b/\u00e9"
    EMPTY = ""


class Weight(enum.IntEnum):
    LIGHT = 7
    HEAVY = -(2**31)
    NONE = 0


@dataclasses.dataclass
class Point:
    x: float
    y: Float32


@dataclasses.dataclass(frozen=True)
class Circle:
    centre: Point
    name: str


@dataclasses.dataclass
class Scalars:
    flag: bool
    i8: Int8
    i16: Int16
    i32: Int32
    i64: Int64
    u8: UInt8
    u16: UInt16
    u32: UInt32
    u64: UInt64
    f32: Float32
    f64: float
    text: str
    blob: bytes


@dataclasses.dataclass
class Optionals:
    flag: bool | None
    i8: Int8 | None
    i64: int | None
    u64: UInt64 | None
    f32: Float32 | None
    f64: float | None
    text: str | None
    blob: bytes | None
    point: Point | None
    colour: Colour | None
    weight: Weight | None
    ints: list[int] | None
    names: dict[str, int] | None
    tensor: np.ndarray | None


@dataclasses.dataclass
class Lists:
    flags: list[bool]
    i8s: list[Int8]
    i64s: list[int]
    u64s: list[UInt64]
    f32s: list[Float32]
    f64s: list[float]
    texts: list[str]
    blobs: list[bytes]
    points: list[Point]
    colours: list[Colour]
    weights: list[Weight]


@dataclasses.dataclass
class NestedLists:
    ints: list[list[int]]
    floats: list[list[list[float]]]
    texts: list[list[str]]
    blobs: list[list[bytes]]
    points: list[list[Point]]
    colours: list[list[Colour]]


@dataclasses.dataclass
class OptionalLists:
    flags: list[bool | None]
    ints: list[int | None]
    floats: list[Float32 | None]
    texts: list[str | None]
    blobs: list[bytes | None]
    points: list[Point | None]
    colours: list[Colour | None]
    weights: list[Weight | None]
    lists: list[list[int | None] | None]
    maps: list[dict[str, int] | None]


@dataclasses.dataclass
class Maps:
    flags: dict[str, bool]
    ints: dict[str, int]
    floats: dict[str, float]
    texts: dict[str, str]
    blobs: dict[str, bytes]
    points: dict[str, Point]
    colours: dict[str, Colour]
    weights: dict[str, Weight]
    by_int: dict[int, str]
    by_byte: dict[Int8, Float32]
    by_unsigned: dict[UInt64, int]
    by_bool: dict[bool, str]


@dataclasses.dataclass
class NestedMaps:
    lists: dict[str, list[int]]
    maps: dict[str, dict[int, str]]
    list_of_maps: list[dict[str, float]]
    list_of_lists_of_maps: list[list[dict[str, int]]]
    optional_values: dict[str, int | None]
    optional_points: dict[str, Point | None]
    optional_lists: dict[str, list[str] | None]


@dataclasses.dataclass
class Unions:
    number_or_text: int | str
    small: Int8 | Float32
    scalar: bool | float | bytes | None
    shape: Point | Circle
    optional_shape: Point | Circle | None
    container: list[int] | dict[str, int]
    many: list[int | str]
    many_optional: list[int | str | Point | None]
    named: dict[str, float | str]
    nested: list[list[int | str]]


@dataclasses.dataclass
class Enums:
    colour: Colour
    weight: Weight
    letter: Literal["a", "b-c", "\u00e9"]
    digit: Literal[-1, 0, 1]
    colour_or_point: Colour | Point
    weight_or_text: Weight | str
    by_name: dict[str, list[Weight]]


class Choice(TypedDict):
    letter: Literal["x", "y"]
    more: NotRequired[Literal["x", "y", "z"] | None]


@dataclasses.dataclass
class Tensors:
    whatever: np.ndarray
    floats: npt.NDArray[np.float32]
    halves: np.ndarray[Any, np.dtype[ml_dtypes.bfloat16]]
    many: list[np.ndarray]
    optional: npt.NDArray[np.int64] | None
    named: dict[str, np.ndarray]
    either: np.ndarray | str


class Absent(TypedDict):
    here: int
    flag: NotRequired[bool]
    number: NotRequired[int]
    real: NotRequired[float]
    text: NotRequired[str]
    blob: NotRequired[bytes]
    numbers: NotRequired[list[int]]
    names: NotRequired[dict[str, int]]
    either: NotRequired[int | str]
    point: NotRequired[Point]
    tensor: NotRequired[np.ndarray]


class AbsentOrNone(TypedDict, total=False):
    flag: bool | None
    number: int | None
    real: float | None
    text: str | None
    blob: bytes | None
    numbers: list[int] | None
    names: dict[str, int | None] | None
    either: int | str | None
    point: Point | None
    colour: Colour | None
    tensor: np.ndarray | None


@dataclasses.dataclass
class Node:
    value: int
    children: list[Node]
    next: Node | None = None


class Branch(TypedDict):
    name: str
    by_key: dict[str, Branch]
    either: NotRequired[Branch | str]


@dataclasses.dataclass
class Empty:
    pass


class EmptyDict(TypedDict):
    pass


@dataclasses.dataclass
class Empties:
    one: Empty
    maybe: Empty | None
    many: list[Empty]
    named: dict[str, EmptyDict]
    either: Empty | str


# Names that collide with Python, with views, with each other once they are made identifiers, or with a format's own.
OddNames = TypedDict(
    "OddNames",
    {
        "": int, "a/b": str, "a~b": int, "a_b": int, "a-b": int, "a.b": int, "A_B": int, "class": str, "self": int, "1": int,
        "größe": float, "日本": int, "\U0001f600": int, "a\0b": int, 'q"\\\n': int, " ": int, "__init__": int, "_zc_value": int,
        "__len__": int, "keys": list[int], "value": int, "type": str, "DESCRIPTOR": int, "SerializeToString": int,
        "name" * 100: int, "Init": int, "bb": int, "buf": int, "{}": NotRequired[int], "%s": NotRequired[str | None],
    },
)  # fmt: skip


class Engine(msgspec.Struct, frozen=True):
    name: str
    power: Float32 = 1.5
    gears: tuple[int, ...] = ()


class Car(msgspec.Struct, kw_only=True):
    id: UInt64
    engine: Engine
    owner: str | None = None
    parts: list[Engine] = []
    extras: dict[str, bytes] = {}


@dataclasses.dataclass
class Tuples:
    any_length: tuple[int, ...]
    three: tuple[float, float, float]
    of_points: tuple[Point, ...]
    fixed: Annotated[list[int], Length(2)]
    optional_fixed: Annotated[list[str] | None, Length(1)]
    nested: list[tuple[int, ...]]


@dataclasses.dataclass
class SparseIds:
    late: Annotated[int, Id(1_899)]
    early: Annotated[str, Id(1)]
    middle: Annotated[list[float], Id(150)]
    after: bool


@dataclasses.dataclass
class Defaults:
    a: int
    b: int = 5
    c: float = -0.0
    d: str = "default"
    e: list[int] = dataclasses.field(default_factory=lambda: [1])
    f: Point | None = dataclasses.field(default_factory=lambda: Point(1.0, 2.0))
    g: Colour = Colour.GREEN
    h: bool = True


@dataclasses.dataclass
class Cell:
    row: UInt16
    weight: Float32
    kind: Weight


@dataclasses.dataclass
class Sized:
    flag: bool
    i8: Int8
    u64: UInt64
    i16: Int16
    f64: float
    f32: Float32
    tag: Annotated[str, Str(8)]
    digest: Annotated[bytes, Bytes(5)]
    cell: Cell
    cells: Annotated[list[Cell], Length(2)]
    numbers: Annotated[list[Int32], Length(3)]
    matrix: Annotated[np.ndarray, Tensor("float32", (2, 3))]
    halves: Annotated[np.ndarray, Tensor("bfloat16", (3,))]


NULLS = Schema(
    Ref("Nulls"),
    (
        Record(
            "Nulls",
            (
                Field("always", Null(), 1),
                Field("sometimes", Null(), 2, required=False),
                Field("many", List(Null()), 3),
                Field("named", Map(Str(), Null()), 4),
                Field("after", Int(), 5),
            ),
        ),
    ),
)

# What inference makes of heterogeneous JSON: records as dicts, absent fields, mixed items.
JSON_LIKE = Schema(
    Ref("Doc"),
    (
        Record(
            "Doc",
            (
                Field("id", Int(), 1),
                Field("tags", List(Union((Str(), Int(), List(Int()))), container="list"), 2, required=False),
                Field("user", Optional(Ref("User")), 3, required=False),
                Field("odd/keys", Map(Str(), List(Ref("User"))), 4),
                Field("mixed", List(Optional(Union((Ref("User"), Str())))), 5, required=False),
            ),
        ),
        Record("User", (Field("name", Str(), 1), Field("nothing", Null(), 2, required=False))),
    ),
)

# Fields that a dict may lack, and that are never absent: what .fbs schemas are made of.
DEFAULTS_OF_DICTS = Schema(
    Ref("Settings"),
    (
        Record(
            "Settings",
            (
                Field("name", Str(), 1),
                Field("flag", Bool(), 2, required=False, default=True),
                Field("count", Int(16), 3, required=False, default=-7),
                Field("zero", Int(), 4, required=False, default=0),
                Field("ratio", Float(32), 5, required=False, default=0.5),
                Field("text", Str(), 6, required=False, default="some"),
                Field("blob", Bytes(), 7, required=False, default=b""),
                Field("numbers", List(Int()), 8, required=False, default_factory=list),
                Field("pair", List(Int(), 2), 9, required=False, default_factory=functools.partial(list, (1, 2))),
                Field("maybe", Optional(Int()), 10, required=False, default=None),
                Field("either", Optional(Int()), 11, required=False, default=5),
                Field("inner", Optional(Ref("Setting")), 12, required=False, default=None),
                Field("level", Enum("Level", (("LOW", 1), ("HIGH", 9))), 13, required=False, default=9),
                Field("absent", Int(), 14, required=False),
                Field("named", Map(Str(), Ref("Setting")), 15, required=False, default_factory=dict),
            ),
        ),
        Record("Setting", (Field("x", Float(), 1, required=False, default=-0.0),)),
    ),
)

TWO_ENUMS_OF_ONE_NAME = Schema(
    Ref("Two"),
    (
        Record(
            "Two",
            (
                Field("a", Enum("Two", (("None", 1), ("class", 2))), 1),
                Field("b", Enum("Two", (("None", "x"), ("class", "y"))), 2),
            ),
        ),
    ),
)

CASES: dict[str, Schema] = {
    name: schema_of(source)
    for name, source in {
        "scalars": Scalars,
        "optionals": Optionals,
        "lists": Lists,
        "nested_lists": NestedLists,
        "optional_lists": OptionalLists,
        "maps": Maps,
        "nested_maps": NestedMaps,
        "unions": Unions,
        "enums": Enums,
        "literals": Choice,
        "enum_names": TWO_ENUMS_OF_ONE_NAME,
        "tensors": Tensors,
        "absent": Absent,
        "absent_or_none": AbsentOrNone,
        "recursive": Node,
        "recursive_dict": Branch,
        "empties": Empties,
        "odd_names": OddNames,
        "struct": Car,
        "tuples": Tuples,
        "sparse_ids": SparseIds,
        "defaults": Defaults,
        "defaults_of_dicts": DEFAULTS_OF_DICTS,
        "nulls": NULLS,
        "json_like": JSON_LIKE,
        "sized": Sized,
        "unbounded": Schema(Int(None)),
        "root_int": int,
        "root_float": Float32,
        "root_bool": bool,
        "root_str": str,
        "root_bytes": bytes,
        "root_null": None,
        "root_enum": Colour,
        "root_optional": str | None,
        "root_list": list[int],
        "root_list_of_lists": list[list[str]],
        "root_records": list[Point],
        "root_map": dict[str, list[float]],
        "root_union": Point | list[int] | str,
        "root_optional_union": int | str | None,
        "root_tensor": np.ndarray,
        "root_empty": Empty,
    }.items()
}
