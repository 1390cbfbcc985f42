"""Every error that zcser raises, in one hierarchy.

1. Whatever a wrapped library raises, the caller sees one of these; the original is its ``__cause__``.
2. A message names the place (path, offset or field) and what to do about it.
3. Each class also derives from the built-in that a caller would expect (ValueError, ImportError, AttributeError), so
   code that knows nothing of zcser still catches it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = [
    "AlignmentError",
    "BufferInUseError",
    "BufferTooSmallError",
    "ChecksumError",
    "CodecUnavailableError",
    "DecodeError",
    "EncodeError",
    "FrameChecksumError",
    "FrameError",
    "FrameTruncatedError",
    "ReleasedViewError",
    "SchemaError",
    "TruncatedError",
    "UnknownCodecError",
    "UnsupportedOperation",
    "VerifyError",
    "ZcserError",
]


class ZcserError(Exception):
    """Base of all errors of this package."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Keyword-only arguments would be lost by the default; errors cross process boundaries in the bake-off.
        return _rebuild, (type(self), self.args, self.__dict__)


def _rebuild(cls: type[ZcserError], args: tuple[Any, ...], state: dict[str, Any]) -> ZcserError:
    error = cls.__new__(cls)
    error.args = args
    error.__dict__.update(state)
    return error


def _located(message: str, codec: str | None, path: str | None, offset: int | None, line: int | None = None) -> str:
    where = []
    if line is not None:
        where.append(f"in line {line}")
    if path is not None:
        where.append(f"at {path or 'the root'}")
    if offset is not None:
        where.append(f"at byte {offset}")
    prefix = f"{codec}: " if codec else ""
    return prefix + message + (f" ({', '.join(where)})" if where else "")


class EncodeError(ZcserError, ValueError):
    """The value cannot be encoded without changing it.

    Attributes
    ----------
    path
        JSON Pointer to the part of the value that is at fault; "" is the value itself, None is unknown.
    codec
        Name of the codec, None where the fault lies with the schema alone.
    reason
        The message without codec and place.
    """

    def __init__(self, message: str, *, path: str | None = None, codec: str | None = None) -> None:
        super().__init__(_located(message, codec, path, None))
        self.reason = message
        self.path = path
        self.codec = codec


class BufferTooSmallError(EncodeError):
    """`encode_into` needs more room than the buffer has. The buffer is unchanged.

    Attributes
    ----------
    needed, available
        Bytes from the given offset on.
    """

    def __init__(self, needed: int, available: int, *, codec: str | None = None) -> None:
        super().__init__(f"the buffer is too small: {needed} bytes needed, {available} available", codec=codec)
        self.needed = needed
        self.available = available


class DecodeError(ZcserError, ValueError):
    """The bytes are not a message of this codec and schema.

    Attributes
    ----------
    codec
        Name of the codec.
    path
        JSON Pointer to the part of the message, where it is known.
    offset
        Byte offset in the input, where it is known.
    line
        Number of the line, from 1, in an input of one message a line; None elsewhere.
    reason
        The message without codec and place.
    """

    def __init__(
        self,
        message: str,
        *,
        codec: str | None = None,
        path: str | None = None,
        offset: int | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(_located(message, codec, path, offset, line))
        self.reason = message
        self.codec = codec
        self.path = path
        self.offset = offset
        self.line = line


class TruncatedError(DecodeError):
    """The input ends before the message does."""


class AlignmentError(DecodeError):
    """The input's address does not have the alignment that a view of it needs."""


class VerifyError(DecodeError):
    """An offset, a length or a type of the message leads outside the input or contradicts the schema."""


class ChecksumError(DecodeError):
    """The message's checksum does not match its bytes."""


class FrameError(DecodeError):
    """The bytes are no frame, or not one of this codec and schema; `offset` counts from where the buffer begins."""


class FrameTruncatedError(FrameError, TruncatedError):
    """The input ends inside a frame."""


class FrameChecksumError(FrameError, ChecksumError):
    """A frame was damaged on the way, or written while it was read."""


class SchemaError(ZcserError, ValueError):
    """A schema cannot be made, or a codec cannot carry it.

    Attributes
    ----------
    path
        Where in the schema: record and field names joined by ``/``, with ``*`` for the items of a list or map.
    """

    def __init__(self, message: str, *, path: str | None = None, codec: str | None = None) -> None:
        super().__init__(_located(message, codec, path, None))
        self.reason = message
        self.path = path
        self.codec = codec


class UnsupportedOperation(ZcserError, AttributeError):  # noqa: N818 - the name that io and the design use
    """The codec's library has no such operation, and zcser does not imitate one.

    The message may be a function: naming the codecs that have the operation loads them, and ``hasattr`` need not.
    """

    def __init__(self, message: str | Callable[[], str]) -> None:
        super().__init__(message)

    def __str__(self) -> str:
        (message,) = self.args
        return message() if callable(message) else str(message)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self),)


class CodecUnavailableError(ZcserError, ImportError):
    """The codec's library is not installed; the message holds the pip command that installs it."""


class UnknownCodecError(ZcserError, LookupError):
    """No codec has this name; the message offers the nearest ones."""


class BufferInUseError(ZcserError, BufferError):
    """A buffer cannot be reused or closed because views of it still live."""


class ReleasedViewError(ZcserError, ValueError):
    """The view was released; arrays and values read from it earlier are still valid."""
