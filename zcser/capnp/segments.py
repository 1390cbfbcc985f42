"""A message cut into its segments, by the table at its beginning.

The table: the number of segments less one, then the words of each, all 32-bit little-endian, padded to a multiple of 8
bytes (Cap'n Proto's encoding spec, "Serialization Over a Stream").
"""

from __future__ import annotations

import struct
from typing import Any

from zcser.core.errors import DecodeError, TruncatedError

__all__ = ["MOST_SEGMENTS", "WORD", "cut"]

MOST_SEGMENTS = 512
"""What the C++ library reads."""

WORD = 8
"""Bytes."""


def cut(data: Any) -> list[Any]:
    """The segments of a message, without a copy: slices of what holds it.

    Parameters
    ----------
    data
        A flat memoryview, or an array of bytes: exactly one message.

    Raises
    ------
    DecodeError
        The table does not fit the bytes; `TruncatedError` where they are too few.
    """
    size = len(data)
    if size < WORD:
        raise TruncatedError(f"{size} bytes are no table of segments", offset=size)
    (last,) = struct.unpack_from("<I", data)
    if last >= MOST_SEGMENTS:
        raise DecodeError(f"{last + 1} segments are more than {MOST_SEGMENTS}", offset=0)
    begin = (last + 3) // 2 * WORD
    if size < begin:
        raise TruncatedError(f"a table of {last + 1} segments is cut", offset=size)
    words = struct.unpack_from(f"<{last + 1}I", data, 4)
    end = begin + WORD * sum(words)
    if size < end:
        raise TruncatedError(f"the segments have {end} bytes, and there are {size}", offset=size)
    if size > end:
        raise DecodeError(f"{size - end} bytes stand behind the message", offset=end)
    segments = []
    for count in words:
        segments.append(data[begin : begin + WORD * count])
        begin += WORD * count
    return segments
