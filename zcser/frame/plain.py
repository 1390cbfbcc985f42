"""The check of a plain frame, of one segment and without a checksum: what small messages are sent in.

It comes in C (`zcser.native._frame`) and in Python. Both say where the frame ends, or 0 for whatever is no plain frame or
is wrong: `zcser.frame.read` looks closer then.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

from zcser.frame.layout import CRC_RESIDUE, HEAD, HEAD_SIZE, KINDS
from zcser.native import backend

__all__ = ["plain_end", "plain_end_in_python"]

_MASKS = {
    first: kind.alignment - 1 for first, kind in KINDS.items() if not kind.algorithm and kind.alignment <= HEAD_SIZE
}
"""One less than the alignment, by the first 8 bytes; one beyond the head's would leave a gap behind it."""

_unpack_from = HEAD.unpack_from
_crc32 = zlib.crc32


def plain_end_in_python(buffer: bytes | memoryview, offset: int, max_bytes: int, /) -> int:
    """Where a frame without a checksum and of one segment ends; 0: it is no such frame, or something is wrong."""
    try:
        first, payload, _, _, _, count, _ = _unpack_from(buffer, offset)
        start = offset + HEAD_SIZE
        end: int = start + payload + (-payload & _MASKS[first])
    except (struct.error, KeyError, OverflowError):
        return 0
    if (
        count == 1
        and offset >= 0  # to struct, a negative one counts from the end
        and end <= len(buffer)
        and end - offset <= max_bytes
        # The residue saves comparing the head's last four bytes with the CRC of the others.
        and _crc32(buffer[offset:start]) == CRC_RESIDUE
    ):
        return end
    return 0


plain_end: Callable[[bytes | memoryview, int, int], int] = plain_end_in_python
if backend == "native":
    from zcser.native import _frame

    plain_end = _frame.plain_end
