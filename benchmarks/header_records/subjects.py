"""The header, its values, and what reads and writes it: both engines, struct, ctypes and numpy."""

from __future__ import annotations

import ctypes
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal
from unittest import mock

import numpy as np

from zcser.header import RecordLayout
from zcser.native import backend
from zcser.schema.annotations import Float32, Int32, Int64, UInt8, UInt16, UInt32, UInt64

__all__ = [
    "DTYPE",
    "ENGINES",
    "FORMAT",
    "NAMES",
    "OFFSET",
    "PACKED",
    "Header",
    "HeaderCtypes",
    "Which",
    "buffers",
    "layouts",
]

Which = Literal["native", "pure"]

ENGINES: tuple[Which, ...] = ("native", "pure")

FORMAT = "<IHBBQqiIfIqqII"
PACKED = struct.Struct(FORMAT)
OFFSET = 16
"""Of the record in its buffer."""


@dataclass
class Header:
    """The header of a tensor on the wire."""

    magic: UInt32
    version: UInt16
    dtype: UInt8
    ndim: UInt8
    trace_id: UInt64
    created_ns: Int64
    priority: Int32
    flags: UInt32
    temperature: Float32
    tokens: UInt32
    rows: Int64
    columns: Int64
    offset: UInt32
    length: UInt32


NAMES = tuple(Header.__annotations__)


class HeaderCtypes(ctypes.LittleEndianStructure):
    """`Header`."""

    _pack_ = 1
    _layout_ = "ms"
    _fields_ = [
        ("magic", ctypes.c_uint32), ("version", ctypes.c_uint16), ("dtype", ctypes.c_uint8), ("ndim", ctypes.c_uint8),
        ("trace_id", ctypes.c_uint64), ("created_ns", ctypes.c_int64), ("priority", ctypes.c_int32),
        ("flags", ctypes.c_uint32), ("temperature", ctypes.c_float), ("tokens", ctypes.c_uint32),
        ("rows", ctypes.c_int64), ("columns", ctypes.c_int64), ("offset", ctypes.c_uint32), ("length", ctypes.c_uint32),
    ]  # fmt: skip


DTYPE = np.dtype(
    {
        "names": NAMES,
        "formats": [
            f"<{code}" for code in ["u4", "u2", "u1", "u1", "u8", "i8", "i4", "u4", "f4", "u4", "i8", "i8", "u4", "u4"]
        ],
    }
)


def layouts(make: Callable[[], RecordLayout]) -> dict[Which, RecordLayout]:
    """A layout with each engine that is there."""
    found: dict[Which, RecordLayout] = {}
    for which in ENGINES:
        if which == "pure" or backend == "native":
            with mock.patch("zcser.header.records.engine.backend", which):
                found[which] = make()
    return found


def buffers(count: int) -> list[bytearray]:
    """Records that differ, each at `OFFSET` in a buffer of its own."""
    rng = random.Random(1)  # noqa: S311 - values, no secret
    found = []
    for number in range(count):
        values = (
            0x5A435231, 1, rng.randrange(14), 2, rng.getrandbits(64), 1_735_689_600_123_456_789 + number,
            rng.randrange(-9, 9), 0x80000001, 0.5 + number, rng.randrange(4096), rng.randrange(1 << 20), 512, 64, 65536,
        )  # fmt: skip
        found.append(bytearray(OFFSET) + PACKED.pack(*values) + bytes(64))
    return found
