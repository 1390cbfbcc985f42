"""Padding around the data of tensors, so that it is aligned in the message.

A tensor's message may hold field `PADDING`, which no schema declares: readers, official ones too, step over it as over any
unknown field, and `unknown_fields="refuse"` lets it pass in tensors. One stands before the data, of just the size that
moves it to a multiple of `ALIGNMENT` bytes from the message's first byte, and one behind it. Both together always have
`PADDING_BYTES`, so that no length around them depends on where the tensor lies.
"""

from __future__ import annotations

__all__ = ["ALIGNMENT", "PADDING", "PADDING_BYTES", "padding", "padding_before"]

ALIGNMENT = 64
"""Bytes."""

PADDING = 15
"""Number of the field; its tag has one byte."""

_LEAST = 2  # a tag and a length
_MOST = _LEAST + ALIGNMENT - 1

PADDING_BYTES = _LEAST + _MOST


def padding_before(place: int) -> int:
    """Bytes of the padding that moves what would stand at a place in the message to a multiple of `ALIGNMENT`."""
    return _LEAST + -(place + _LEAST) % ALIGNMENT


def padding(size: int) -> bytes:
    """A padding field of so many bytes in all."""
    return bytes((PADDING << 3 | 2, size - _LEAST)) + bytes(size - _LEAST)
