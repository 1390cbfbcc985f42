"""The codec against peers that know nothing of zcser: code that protoc generates from the emitted text, and the wire's
specification worked out by hand.
"""

from __future__ import annotations

import enum
import importlib
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import ml_dtypes
import numpy as np
import pytest

from tests.protowire.protoc import compile_protos
from zcser.codecs.protobuf import ProtobufCodec
from zcser.core.fidelity import difference
from zcser.core.options import Options
from zcser.core.view import to_value
from zcser.schema.annotations import Float32, Id, Int8, Int32, UInt16, UInt32, UInt64
from zcser.schema.from_python import schema_of

PACKAGE = "zcser_test_peer"


class Colour(enum.Enum):
    RED = "r"
    GREEN = "g"


class Level(enum.IntEnum):
    LOW = -5
    HIGH = 1_000_000


@dataclass
class Point:
    x: float
    y: Float32


class Extra(TypedDict):
    a: NotRequired[int]
    b: NotRequired[int | None]
    c: NotRequired[list[str]]


@dataclass
class Everything:
    flag: bool
    i8: Int8
    i32: Int32
    i64: int
    u16: UInt16
    u32: UInt32
    u64: UInt64
    f32: Float32
    f64: float
    text: str
    blob: bytes
    colour: Colour
    level: Level
    mode: Literal["auto", "none"]
    maybe_int: int | None
    maybe_text: str | None
    maybe_point: Point | None
    maybe_list: list[int] | None
    nothing: None
    ints: list[int]
    floats: list[Float32]
    texts: list[str]
    points: list[Point]
    colours: list[Colour]
    grid: list[list[float]]
    gaps: list[int | None]
    counts: dict[str, int]
    by_number: dict[int, Point]
    by_flag: dict[bool, list[str]]
    either: int | str | Point | list[int]
    maybe_either: float | str | None
    tensor: np.ndarray
    extra: Extra
    from_: str = ""
    number_40: Annotated[int, Id(40)] = 0
    preset: int = 7


def value(**changed: Any) -> Everything:
    known: dict[str, Any] = {
        "flag": True,
        "i8": -128,
        "i32": -(2**31),
        "i64": -(2**63),
        "u16": 65535,
        "u32": 2**32 - 1,
        "u64": 2**64 - 1,
        "f32": 0.5,
        "f64": -0.0,
        "text": "gr\u00fc\u00df dich \U0001f600\0",
        "blob": b"\0\xff",
        "colour": Colour.GREEN,
        "level": Level.LOW,
        "mode": "none",
        "maybe_int": 0,
        "maybe_text": "",
        "maybe_point": Point(0.0, 0.0),
        "maybe_list": [],
        "nothing": None,
        "ints": [0, -1, 2**62],
        "floats": [1.5, -0.0],
        "texts": ["", "b"],
        "points": [Point(0.0, 0.0), Point(1.0, 2.0)],
        "colours": [Colour.RED, Colour.GREEN],
        "grid": [[1.0, 2.0], [], [3.0]],
        "gaps": [0, None, 3],
        "counts": {"": 0, "b": -1},
        "by_number": {-1: Point(0.0, 1.0)},
        "by_flag": {True: ["t"], False: []},
        "either": Point(3.0, 4.0),
        "maybe_either": "",
        "tensor": np.array([[1, 2, 3], [4, 5, 6]], "<i2"),
        "extra": {"b": None, "c": []},
        "from_": "here",
        "number_40": 1,
        "preset": 0,
    }
    return Everything(**{**known, **changed})


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The module that protoc generates from the emitted text."""
    folder = tmp_path_factory.mktemp("peer")
    compile_protos(folder, {PACKAGE: Everything}, f"--python_out={folder}")
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module(f"{PACKAGE}_pb2")
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop(f"{PACKAGE}_pb2", None)


def by_hand(peer: Any) -> Any:
    """`value()` in the peer's own words."""
    return peer.Everything(
        flag=True, i8=-128, i32=-(2**31), i64=-(2**63), u16=65535, u32=2**32 - 1, u64=2**64 - 1, f32=0.5, f64=-0.0,
        text="gr\u00fc\u00df dich \U0001f600\0", blob=b"\0\xff", colour="COLOUR_GREEN", level="LEVEL_LOW", mode="MODE_NONE",
        maybe_int=0, maybe_text="", maybe_point=peer.Point(), maybe_list=peer.Int64List(), ints=[0, -1, 2**62],
        floats=[1.5, -0.0], texts=["", "b"], points=[peer.Point(), peer.Point(x=1, y=2)],
        colours=["COLOUR_RED", "COLOUR_GREEN"],
        grid=[peer.Float64List(value=[1, 2]), peer.Float64List(), peer.Float64List(value=[3])],
        gaps=[peer.OptionalInt64(value=0), peer.OptionalInt64(), peer.OptionalInt64(value=3)],
        counts={"": 0, "b": -1}, by_number={-1: peer.Point(y=1)},
        by_flag={True: peer.StrList(value=["t"]), False: peer.StrList()},
        either=peer.EverythingEither(point=peer.Point(x=3, y=4)), maybe_either=peer.EverythingMaybeEither(str=""),
        tensor=peer.Tensor(dtype="DTYPE_INT16", shape=[2, 3], data=struct.pack("<6h", 1, 2, 3, 4, 5, 6)),
        extra=peer.Extra(b=peer.OptionalInt64(), c=peer.StrList()), from_="here", number_40=1, preset=0,
    )  # fmt: skip


@pytest.fixture(scope="module")
def codec() -> ProtobufCodec[Everything]:
    return ProtobufCodec(schema_of(Everything), Options(deterministic=True))


def test_what_the_codec_writes_protocs_code_reads(codec, peer):
    assert peer.Everything.FromString(codec.encode(value())) == by_hand(peer)


def test_what_protocs_code_writes_the_codec_reads(codec, peer):
    data = by_hand(peer).SerializeToString()
    assert difference(codec.decode(data), value()) is None
    assert difference(to_value(codec.view(data)), value()) is None


def test_deterministic_bytes_are_those_of_protocs_code(codec, peer):
    assert codec.encode(value()) == by_hand(peer).SerializeToString(deterministic=True)


@pytest.mark.parametrize(
    ("changed", "of_peer"),
    [
        ({"either": 0}, lambda peer: {"either": peer.EverythingEither(int=0)}),
        ({"either": []}, lambda peer: {"either": peer.EverythingEither(list=peer.Int64List())}),
        ({"either": "x"}, lambda peer: {"either": peer.EverythingEither(str="x")}),
        ({"maybe_either": None}, lambda peer: {"maybe_either": None}),
        ({"maybe_list": None}, lambda peer: {"maybe_list": None}),
        ({"maybe_int": None, "maybe_text": None}, lambda peer: {"maybe_int": None, "maybe_text": None}),
        ({"extra": {}}, lambda peer: {"extra": peer.Extra()}),
        ({"extra": {"a": 0, "b": 0}}, lambda peer: {"extra": peer.Extra(a=0, b=peer.OptionalInt64(value=0))}),
        (
            {"tensor": np.array(1.5, ml_dtypes.bfloat16)},
            lambda peer: {"tensor": peer.Tensor(dtype="DTYPE_BFLOAT16", data=b"\xc0\x3f")},
        ),
    ],
    ids=lambda part: str(part)[:40] if isinstance(part, dict) else "peer",
)
def test_none_absent_and_empty_are_three_messages(codec, peer, changed, of_peer):
    message = by_hand(peer)
    for name, part in of_peer(peer).items():
        message.ClearField(name)
        if part is not None and not isinstance(part, int | str):
            getattr(message, name).CopyFrom(part)
    expected = value(**changed)
    assert difference(codec.decode(message.SerializeToString()), expected) is None
    assert peer.Everything.FromString(codec.encode(expected)) == message


def test_a_missing_scalar_gives_its_default(codec, peer):
    message = by_hand(peer)
    message.ClearField("preset")
    assert codec.decode(message.SerializeToString()).preset == 7
    assert codec.view(message.SerializeToString())["preset"] == 7


@dataclass
class Small:
    number: Annotated[int, Id(1)]
    text: Annotated[str, Id(2)]
    packed: Annotated[list[Int32], Id(3)]
    single: Annotated[Float32, Id(4)]
    double: Annotated[float, Id(5)]
    map: Annotated[dict[str, bool], Id(6)]
    far: Annotated[bytes, Id(16)]
    maybe: Annotated[int | None, Id(17)]


def test_bytes_are_those_of_the_encoding_guide():
    """https://protobuf.dev/programming-guides/encoding: its own examples, 150 and "testing" and 3, 270, 86942, first."""
    small = Small(150, "testing", [3, 270, 86942], 1.0, -2.0, {"a": True}, b"\xff", 0)
    expected = bytes.fromhex(
        "08 9601"  # 1: varint 150
        "12 07 74657374696e67"  # 2: "testing"
        "1a 06 03 8e02 9ea705"  # 3: packed
        "25 0000803f"  # 4: float 1.0
        "29 00000000000000c0"  # 5: double -2.0
        "32 05 0a0161 1001"  # 6: entry { 1: "a", 2: true }
        "8201 01 ff"  # 16
        "8801 00"  # 17: there, and zero
    )
    codec = ProtobufCodec(schema_of(Small), Options(deterministic=True))
    assert codec.encode(small) == expected
    assert codec.decode(expected) == small
    assert codec.encode(Small(0, "", [], 0.0, 0.0, {}, b"", None)) == b""
