"""A message of every shape that protobuf's mapping has, small enough to flip each of its bits."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

import numpy as np

from zcser.codecs.protobuf import ProtobufCodec
from zcser.core.options import Options
from zcser.schema.annotations import Float32, Int8
from zcser.schema.from_python import schema_of


def codec_of(source: Any, **options: Any) -> ProtobufCodec[Any]:
    return ProtobufCodec(schema_of(source), Options(**options))


class Colour(enum.Enum):
    RED = "r"
    GREEN = "g"


@dataclass
class Inner:
    n: Int8
    tags: list[str]


@dataclass
class Outer:
    id: int
    ratio: Float32
    colour: Colour
    inner: Inner
    inners: list[Inner]
    table: dict[str, Inner]
    either: int | str | Inner
    grid: list[list[Int8]]
    tensor: np.ndarray
    blob: bytes
    maybe: Inner | None


OUTER = Outer(
    id=300,
    ratio=0.5,
    colour=Colour.GREEN,
    inner=Inner(-1, ["x"]),
    inners=[Inner(0, []), Inner(127, ["", "y"])],
    table={"k": Inner(1, [])},
    either=Inner(2, []),
    grid=[[1, -1], []],
    tensor=np.array([[1.5], [-0.0]], np.float32),
    blob=b"\0\x01",
    maybe=None,
)

OUTER_CODEC = codec_of(Outer)
STRICT_CODEC = codec_of(Outer, unknown_fields="refuse")
OUTER_BYTES = OUTER_CODEC.encode(OUTER)
