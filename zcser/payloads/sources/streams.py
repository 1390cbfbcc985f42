"""Files of many messages, each behind its length: how protobuf's delimited streams and prefixed FlatBuffers are framed.

The file is read message by message, so that it may be larger than memory. A length is believed only where the file has
that many bytes left, and one message may have `MAX_BYTES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

from zcser.payloads.files import MAX_BYTES
from zcser.payloads.sources.base import Frame, checked, refuse

__all__ = ["SUFFIXES", "prefixed", "varint_delimited"]

SUFFIXES = (".delimited", ".pbs", ".pbstream")
"""Files that are streams without being said to be."""

_LONGEST_VARINT = 5
"""Bytes of a length below 2**35: protobuf's messages end at 2**31."""

_PREFIX = 4


def varint_delimited(file: str) -> Iterator[Frame]:
    """Messages behind a base-128 varint, as protobuf's ``writeDelimitedTo`` and ``serialize_length_prefixed`` write them.

    Raises
    ------
    PayloadError
        A length is no varint, or more than the file has left; with the number of the message and its byte.
    """
    return _framed(file, _varint, keep=False)


def prefixed(file: str) -> Iterator[Frame]:
    """FlatBuffers behind a little-endian uint32, the prefix left in place: alignment counts from it.

    Raises
    ------
    PayloadError
        As for `varint_delimited`.
    """
    return _framed(file, _uint32, keep=True)


def _framed(file: str, read_length: Callable[[BinaryIO], tuple[bytes, int | None]], *, keep: bool) -> Iterator[Frame]:
    path = checked(file, most_bytes=None)
    try:
        with path.open("rb") as stream:
            left, offset, number = path.stat().st_size, 0, 0
            while left:
                number += 1
                place = f"message {number} at byte {offset}"
                prefix, length = read_length(stream)
                left -= len(prefix)
                if length is None:
                    refuse(file, "no length stands here; is this a stream of messages behind their lengths?", place)
                if length > left:
                    refuse(file, f"its length is {length:,} bytes, and the file has {left:,} left", place)
                if length > MAX_BYTES:
                    refuse(file, f"{length:,} bytes are more than {MAX_BYTES:,}; take a smaller message", place)
                body = stream.read(length)
                if len(body) != length:
                    refuse(file, "the file was cut while it was read", place)
                yield Frame(place, prefix + body if keep else body)
                left -= length
                offset += len(prefix) + length
    except OSError as error:
        refuse(file, f"cannot be read: {error.strerror or error}")


def _varint(stream: BinaryIO) -> tuple[bytes, int | None]:
    prefix = b""
    while len(prefix) < _LONGEST_VARINT:
        byte = stream.read(1)
        if not byte:
            return prefix, None
        prefix += byte
        if byte[0] < 0x80:
            return prefix, sum((part & 0x7F) << (7 * place) for place, part in enumerate(prefix))
    return prefix, None


def _uint32(stream: BinaryIO) -> tuple[bytes, int | None]:
    prefix = stream.read(_PREFIX)
    return prefix, int.from_bytes(prefix, "little") if len(prefix) == _PREFIX else None
