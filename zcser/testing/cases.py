"""The schemas with which a codec is checked: one for each kind, so that a kind that it refuses hides no other.

1. What has no fixed size stands apart from what has, for formats of fixed layout.
2. A codec refuses a schema by a `SchemaError` when it is made, and is not checked with it.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import Any, NotRequired, TypedDict

import numpy as np
import numpy.typing as npt

from zcser.schema.annotations import Float32, Int8, Int16, Int32, UInt8, UInt16, UInt32, UInt64
from zcser.schema.from_python import schema_of
from zcser.schema.model import Bytes, Field, Int, List, Null, Record, Ref, Schema, Str, Tensor

__all__ = ["CASES", "SIZED", "Narrow", "Node", "Wide"]


class Colour(enum.Enum):
    """An enum of text."""

    RED = "r"
    ODD = "a b/\u00e9"


class Weight(enum.IntEnum):
    """An enum of ints."""

    NONE = 0
    LIGHT = 7
    HEAVY = -(2**31)


@dataclasses.dataclass
class Point:
    """A record inside others."""

    x: float
    y: Float32


@dataclasses.dataclass(frozen=True)
class Label:
    """A record of one field, which tells unions of records from guesses."""

    name: str


@dataclasses.dataclass
class Numbers:
    """Every width of number."""

    flag: bool
    i8: Int8
    i16: Int16
    i32: Int32
    i64: int
    u8: UInt8
    u16: UInt16
    u32: UInt32
    u64: UInt64
    f32: Float32
    f64: float


@dataclasses.dataclass
class Texts:
    """Text, and lists of it."""

    text: str
    more: list[str]


@dataclasses.dataclass
class Blobs:
    """Bytes, and lists of them."""

    blob: bytes
    more: list[bytes]


@dataclasses.dataclass
class Enums:
    """Members of enums."""

    colour: Colour
    weight: Weight
    weights: list[Weight]


@dataclasses.dataclass
class Optionals:
    """What may be None."""

    number: int | None
    real: float | None
    text: str | None
    point: Point | None


@dataclasses.dataclass
class Lists:
    """Lists of numbers and records."""

    flags: list[bool]
    small: list[Int8]
    ints: list[int]
    reals: list[float]
    points: list[Point]


@dataclasses.dataclass
class Nested:
    """Lists of lists, and of what may be None."""

    rows: list[list[int]]
    names: list[list[str]]
    gaps: list[int | None]


@dataclasses.dataclass
class Tuples:
    """Sequences that are tuples."""

    any_length: tuple[int, ...]
    three: tuple[float, float, float]


@dataclasses.dataclass
class Maps:
    """Maps by text."""

    counts: dict[str, int]
    points: dict[str, Point]
    lists: dict[str, list[float]]


@dataclasses.dataclass
class OddMaps:
    """Maps by what is no text."""

    by_int: dict[int, str]
    by_bool: dict[bool, str]


@dataclasses.dataclass
class Unions:
    """One of several types."""

    scalar: int | str
    number: float | bool
    shape: Point | Label
    many: list[int | str | Point]


@dataclasses.dataclass
class Tensors:
    """Arrays."""

    whatever: np.ndarray[Any, Any]
    floats: npt.NDArray[np.float32]
    many: list[npt.NDArray[np.int64]]


@dataclasses.dataclass
class Node:
    """A record inside itself."""

    value: int
    children: list[Node]


class Absent(TypedDict):
    """A dict that may lack fields."""

    here: int
    number: NotRequired[int]
    text: NotRequired[str]
    either: NotRequired[str | None]


@dataclasses.dataclass
class Narrow:
    """What an older reader knows of `Wide`."""

    a: int
    points: list[Label]


@dataclasses.dataclass
class Wide:
    """A message with a field more."""

    a: int
    points: list[Label]
    more: int


OddNames = TypedDict(
    "OddNames", {"class": int, "a/b": str, "": int, "gr\u00f6\u00dfe": int, "__init__": int, "keys": int}
)

SIZED = Schema(
    Ref("Sized"),
    (
        Record(
            "Sized",
            (
                Field("tensor", Tensor("uint8", (64,)), 1),
                Field("bytes", Bytes(48), 2),
                Field("str", Str(16), 3),
                Field("list", List(Int(), length=3), 4),
            ),
        ),
    ),
)
"""One field of each kind that `CodecInfo.reads` speaks of, all of fixed size."""

_NULLS = Schema(Ref("Nulls"), (Record("Nulls", (Field("nothing", Null(), 1), Field("number", Int(), 2))),))

CASES: dict[str, Schema] = {
    "sized": SIZED,
    **{
        name: schema_of(source)
        for name, source in {
            "numbers": Numbers,
            "texts": Texts,
            "blobs": Blobs,
            "enums": Enums,
            "optionals": Optionals,
            "lists": Lists,
            "nested": Nested,
            "tuples": Tuples,
            "maps": Maps,
            "odd_maps": OddMaps,
            "unions": Unions,
            "tensors": Tensors,
            "recursive": Node,
            "absent": Absent,
            "odd_names": OddNames,
            "nulls": _NULLS,
            "big_ints": Schema(Int(None)),
            "root_list": list[str],
            "root_map": dict[str, int],
            "root_number": float,
        }.items()
    },
}
