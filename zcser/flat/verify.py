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

from zcser.core.errors import TruncatedError, VerifyError
from zcser.core.options import Limits
from zcser.core.paths import pointer
from zcser.flat.checks import SMALLEST, Fault
from zcser.flat.program import Program
from zcser.flat.verify_code import VerifyCode

__all__ = ["AMPLIFICATION", "Verifier"]

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

    def __init__(
        self, program: Program, limits: Limits, *, refuse_unknown: bool = False, codec: str | None = None
    ) -> None:
        self.limits = limits
        self.codec = codec
        self._root = VerifyCode(program, limits, refuse_unknown=refuse_unknown).compile()

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
        end = len(buffer)
        if end > self.limits.bytes:
            raise VerifyError(f"{end} bytes are more than limits.bytes = {self.limits.bytes}", codec=self.codec)
        if end < SMALLEST:
            raise TruncatedError(f"{end} bytes are fewer than any message has", codec=self.codec, offset=end)
        try:
            self._root(buffer, end, [self.limits.elements, AMPLIFICATION[0] + AMPLIFICATION[1] * end])
        except Fault as fault:
            kind = TruncatedError if fault.cut else VerifyError
            raise kind(
                fault.reason, codec=self.codec, path=pointer(reversed(fault.steps)), offset=fault.offset
            ) from None
        except RecursionError as error:
            raise VerifyError("nested deeper than Python's stack", codec=self.codec) from error
