"""Where the parts of a frame stand, in bytes, little-endian.

=======  ====================================================================================================
0        magic: 89 5A 43 46, which begin no text
4        version of this layout: 1
5        algorithm of the checksum: 0 none, 1 crc32, 2 xxh3
6        logarithm to base 2 of the alignment, 0 to 12
7        flags: 1 where the segments are a codec's own cut, for ``decode_segments``; other bits are 0
8        u64: bytes of all segments together, without padding
16       8 bytes: fingerprint of the schema (`zcser.Schema.fingerprint`)
24       u64: checksum of everything behind the head, 0 without an algorithm
32       24 bytes: name of the wire (`CodecInfo.wire`), ASCII, padded with NUL
56       u32: number of segments
60       u32: CRC-32 (IEEE 802.3, as in `zlib`) of bytes 0 to 60
64       where the number of segments is not 1: a u64 for the length of each, then a u32, the CRC-32 of these
...      segments, each after zeros up to the next multiple of the alignment
...      zeros up to the next multiple of the alignment, which is where the next frame begins
=======  ====================================================================================================

Offsets count from the frame's first byte: what is aligned in the frame is aligned in memory where the frame is.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Final, NamedTuple

from zcser.core.options import Limits
from zcser.frame.checksum import ALGORITHMS

__all__ = [
    "APART",
    "CRC_RESIDUE",
    "HEAD",
    "HEAD_SIZE",
    "KINDS",
    "LARGEST_ALIGNMENT",
    "MAGIC",
    "MAX_BYTES",
    "MAX_SEGMENTS",
    "VERSION",
    "WIRE_SIZE",
    "Kind",
    "extent",
    "padding",
    "table_size",
]

MAGIC: Final = b"\x89ZCF"
VERSION: Final = 1
APART: Final = 1
WIRE_SIZE: Final = 24

HEAD: Final = struct.Struct(f"<8sQ8sQ{WIRE_SIZE}sII")
"""Bytes 0 to 8 as one, payload, fingerprint, checksum, wire, number of segments, CRC."""

HEAD_SIZE: Final = HEAD.size

CRC_RESIDUE: Final = 0x2144DF1C
"""The CRC-32 of any bytes that are followed by their own CRC-32, little-endian."""

LARGEST_ALIGNMENT: Final = 4096
"""A page."""

MAX_BYTES: Final = Limits().bytes
"""The default bound on a whole frame, equal to that on a message."""

MAX_SEGMENTS: Final = 1 << 16
"""Bounds the table that a few hostile bytes can ask for: 512 KiB."""


class Kind(NamedTuple):
    """What bytes 0 to 8 say: number of the checksum's algorithm, alignment, whether the segments are a codec's cut."""

    algorithm: int
    alignment: int
    apart: bool


KINDS: Final[dict[bytes, Kind]] = {
    MAGIC + bytes((VERSION, algorithm, power, APART * apart)): Kind(algorithm, 1 << power, bool(apart))
    for algorithm in range(len(ALGORITHMS))
    for power in range(LARGEST_ALIGNMENT.bit_length())
    for apart in (0, 1)
}
"""Every first 8 bytes that a frame may have: one look-up checks them all."""


def table_size(count: int) -> int:
    """Bytes of the table of lengths."""
    return 0 if count == 1 else 8 * count + 4


def padding(position: int, alignment: int) -> int:
    """Zeros from a position to the next multiple of an alignment."""
    return -position & (alignment - 1)


def extent(lengths: Iterable[int], alignment: int, position: int) -> int:
    """Where segments of some lengths end, with the padding around them, if the first may begin at `position`."""
    for length in lengths:
        position += padding(position, alignment) + length
    return position + padding(position, alignment)
