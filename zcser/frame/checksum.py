"""The checksums that a frame may carry.

``crc32`` (`zlib`) is always there, and finds every error of up to 32 bits in a row. ``xxh3`` (the 64-bit XXH3 of
`xxhash`, the extra ``frame``) is several times faster on large payloads.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Final, Literal

from zcser.core.errors import CodecUnavailableError

__all__ = ["ALGORITHMS", "Checksum", "digest", "number_of_checksum"]

Checksum = Literal["crc32", "xxh3"]

ALGORITHMS: Final[tuple[Checksum | None, ...]] = (None, "crc32", "xxh3")
"""By the number in the head."""


def number_of_checksum(checksum: Checksum | None) -> int:
    """The number of an algorithm."""
    if checksum not in ALGORITHMS:
        raise ValueError(f"checksum must be 'crc32', 'xxh3' or None, not {checksum!r}")
    return ALGORITHMS.index(checksum)


def digest(algorithm: int, pieces: Iterable[bytes | memoryview]) -> int:
    """The checksum of some pieces, joined; 0 where there is no algorithm.

    Raises
    ------
    CodecUnavailableError
        The algorithm's library is not installed.
    """
    checksum = ALGORITHMS[algorithm]
    if checksum is None:
        return 0
    if checksum == "crc32":
        value = 0
        for piece in pieces:
            value = zlib.crc32(piece, value)
        return value
    try:
        import xxhash
    except ImportError:
        raise CodecUnavailableError("checksum 'xxh3' needs xxhash: pip install 'zcser[frame]'") from None
    state = xxhash.xxh3_64()
    for piece in pieces:
        state.update(piece)
    return state.intdigest()
