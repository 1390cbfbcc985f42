"""A verifier of FlatBuffers, generated from a program: whether bytes are a message of a schema.

1. Every table that can be reached from the root is checked: its vtable, the place and alignment of each field, the
   length and alignment of each vector, the terminator and UTF-8 of each string, the number of each enum and union, the
   order of each map's keys, dtype and shape of each tensor, and that nothing required is missing. Bytes that nothing
   points to are not looked at.
2. What passes can be read in any way without leaving the buffer, and every reader finds the same value in it.
3. Offsets lead forward only, so that there are no cycles. What is reached twice counts twice, towards
   ``limits.elements`` and towards `AMPLIFICATION`: a few bytes cannot stand for a large message.
4. The first fault is an error with the path of the field and the offset of the bytes.

The rules are those of the FlatBuffers internals document and of the C++ ``Verifier``, and stricter in this: tables lie
inside the buffer as a whole, vectors are aligned to their elements, map keys ascend, enums and unions are closed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from zcser.core.errors import TruncatedError, VerifyError
from zcser.core.options import Limits
from zcser.core.paths import pointer
from zcser.flat.checks import SMALLEST, Fault
from zcser.flat.program import Program
from zcser.flat.segments import Segments
from zcser.flat.verify_code import VerifyCode

__all__ = ["AMPLIFICATION", "SegmentVerifier", "Verifier"]

AMPLIFICATION = (1 << 20, 16)
"""The bytes of a message, each counted as often as it is reached, may be the first and the second times its size."""


class Verifier:
    """Checks messages of one program; to be called with the buffer.

    Parameters
    ----------
    program
        What the messages are made of.
    limits
        Bounds on depth, elements and bytes.
    refuse_unknown
        Refuse a table with a field in a slot that the program does not have.
    codec
        Name that an error carries.
    """

    in_segments = False

    def __init__(
        self, program: Program, limits: Limits, *, refuse_unknown: bool = False, codec: str | None = None
    ) -> None:
        self.program = program
        self.limits = limits
        self.codec = codec
        self._root = self._compile(refuse_unknown=refuse_unknown)

    def _compile(self, *, refuse_unknown: bool) -> Callable[..., None]:
        return VerifyCode(
            self.program, self.limits, refuse_unknown=refuse_unknown, in_segments=self.in_segments
        ).compile()

    def __call__(self, buffer: bytes | memoryview) -> None:
        """Check a whole message.

        Parameters
        ----------
        buffer
            bytes, or a memoryview of format B and one dimension, that begins with the message.

        Raises
        ------
        VerifyError, TruncatedError
            The bytes contradict the schema or themselves, or lead past the end.
        """
        self._check(buffer, len(buffer))

    def _check(self, buffer: bytes | memoryview, size: int, *further: Any) -> None:
        """Check a message of `size` bytes, the first of which are in a buffer."""
        end = len(buffer)
        if size > self.limits.bytes:
            raise VerifyError(f"{size} bytes are more than limits.bytes = {self.limits.bytes}", codec=self.codec)
        if end < SMALLEST:
            raise TruncatedError(f"{end} bytes are fewer than any message has", codec=self.codec, offset=end)
        try:
            self._root(buffer, end, [self.limits.elements, AMPLIFICATION[0] + AMPLIFICATION[1] * size, *further])
        except Fault as fault:
            kind = TruncatedError if fault.cut else VerifyError
            raise kind(
                fault.reason, codec=self.codec, path=pointer(reversed(fault.steps)), offset=fault.offset
            ) from None
        except RecursionError as error:
            raise VerifyError("nested deeper than Python's stack", codec=self.codec) from error


class SegmentVerifier(Verifier):
    """Checks messages in segments; to be called with a `Segments`. The parameters are those of a `Verifier`."""

    in_segments = True

    def __call__(self, segments: Segments) -> None:  # type: ignore[override]
        """Check a whole message.

        Raises
        ------
        VerifyError, TruncatedError
            As for whole messages; and where one is cut otherwise than `zcser.flat.segments` says.
        """
        self._check(segments.buffers[0], segments.total, segments)
        unreached = segments.unreached()
        if unreached is not None and not self._has_unknown(segments):
            number, start, size = unreached
            raise VerifyError(
                f"nothing in the message leads to segment {number}, of {size} bytes", codec=self.codec, offset=start
            )

    def _has_unknown(self, segments: Segments) -> bool:
        """Whether a message that is sound has a field that is not in the schema."""
        try:
            self._knowing(segments.buffers[0], len(segments.buffers[0]), [self.limits.elements, 1 << 62, segments])
        except Fault:
            return True
        return False

    @functools.cached_property
    def _knowing(self) -> Callable[..., None]:
        return self._compile(refuse_unknown=True)
