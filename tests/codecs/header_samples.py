"""Records and helpers of the tests of the header codec, with their bytes worked out by hand."""

from __future__ import annotations

import dataclasses
import enum
import math
from typing import Annotated, Any, Literal, TypedDict

import numpy as np

from zcser.codecs.header import HeaderCodec
from zcser.core.buffers import address
from zcser.core.options import Options
from zcser.schema.annotations import Float32, Int8, Int16, Length, UInt8, UInt16, UInt32
from zcser.schema.from_python import schema_of
from zcser.schema.model import Bytes, Str, Tensor


class Phase(enum.IntEnum):
    PREFILL = 1
    DECODE = 7


class Unit(enum.Enum):
    METRE = "m"
    SECOND = "s"


@dataclasses.dataclass
class Point:
    x: Int16
    y: Float32


@dataclasses.dataclass
class Sample:
    flag: bool
    count: UInt32
    tag: Annotated[str, Str(6)]
    digest: Annotated[bytes, Bytes(3)]
    phase: Phase
    unit: Unit
    mode: Literal["on", "off"]
    step: Literal[-1, 1]
    point: Point
    points: Annotated[list[Point], Length(2)]
    numbers: tuple[Int8, Int8, Int8]
    total: float
    tensor: Annotated[np.ndarray, Tensor("int16", (2, 2))]
    nothing: None


SAMPLE = Sample(
    flag=True,
    count=0x01020304,
    tag="né",
    digest=b"\x00xy",
    phase=Phase.DECODE,
    unit=Unit.SECOND,
    mode="off",
    step=-1,
    point=Point(-2, 1.5),
    points=[Point(3, -0.0), Point(4, math.inf)],
    numbers=(-1, 0, 127),
    total=0.1,
    tensor=np.array([[1, -1], [256, 2]], np.int16),
    nothing=None,
)

# By hand, field by field; gaps are zero.
SAMPLE_BYTES = b"".join(
    [
        b"\x01", b"\0\0\0",                          # 0 flag, gap to 4
        b"\x04\x03\x02\x01",                         # 4 count
        b"n\xc3\xa9\0\0\0",                          # 8 tag, UTF-8, padded
        b"\0xy",                                     # 14 digest
        b"\x07", b"\x01", b"\x01", b"\xff",          # 17 phase, unit, mode, step
        b"\0\0\0",                                   # gap to 24
        b"\xfe\xff", b"\0\0", b"\0\0\xc0\x3f",       # 24 point: x, gap, y
        b"\x03\0", b"\0\0", b"\0\0\0\x80",           # 32 points/0
        b"\x04\0", b"\0\0", b"\0\0\x80\x7f",         # 40 points/1
        b"\xff\0\x7f", b"\0\0\0\0\0",                # 48 numbers, gap to 56
        bytes.fromhex("9a9999999999b93f"),           # 56 total: 0.1
        b"\x01\0\xff\xff\0\x01\x02\0",               # 64 tensor; 72 bytes
    ]
)  # fmt: skip


def codec_of(source: Any, **options: Any) -> HeaderCodec[Any]:
    return HeaderCodec(schema_of(source), Options(**options))


def filled(size: int) -> bytearray:
    return bytearray(b"\xaa" * size)


def aligned(size: int, alignment: int = 64) -> memoryview:
    """Writable memory whose address is a multiple of `alignment`, full of 0xAA."""
    room = np.full(size + alignment, 0xAA, np.uint8)
    start = -address(room) % alignment
    return room[start : start + size].data


class Frame(TypedDict):
    number: UInt16
    image: Annotated[np.ndarray, Tensor("float64", (8, 8))]
    blob: Annotated[bytes, Bytes(256)]
    small: Annotated[np.ndarray, Tensor("float32", (3,))]
    end: UInt8


def frame() -> dict[str, Any]:
    return {
        "number": 513,
        "image": np.arange(64, dtype=np.float64).reshape(8, 8),
        "blob": bytes(range(256)),
        "small": np.array([1, 2, 3], np.float32),
        "end": 9,
    }


# By hand: number at 0, image at 8..520, blob at 520..776, small at 776..788, end at 788, 789 rounded up to 792.
FRAME_BYTES = (
    b"\x01\x02" + bytes(6) + np.arange(64, dtype="<f8").tobytes() + bytes(range(256)) + np.array([1, 2, 3], "<f4").tobytes()
    + b"\x09" + bytes(3)
)  # fmt: skip
