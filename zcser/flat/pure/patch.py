"""Changing a scalar of a message in place: its bytes are made as encoding makes them, and nothing else is touched."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from zcser.core.buffers import Buffer, writable_view
from zcser.core.errors import EncodeError, TruncatedError, VerifyError
from zcser.core.options import Options
from zcser.core.paths import pointer
from zcser.flat.checks import SMALLEST, Fault
from zcser.flat.inline import code_of
from zcser.flat.program import Node, Op, Program
from zcser.flat.pure.patch_walk import Tables, Walk
from zcser.flat.pure.write_calls import Misfit, exact_float
from zcser.flat.pure.write_values import class_of
from zcser.schema.normal import Normaliser

__all__ = ["PurePatcher"]


class PurePatcher:
    """Changes scalars in the messages of one program.

    Parameters
    ----------
    program
        What the messages are made of.
    options
        ``limits``, ``unknown_fields`` and ``strict`` are heeded.
    codec
        Name that errors carry.
    """

    def __init__(self, program: Program, options: Options, *, codec: str | None = None) -> None:
        self.program = program
        self.codec = codec
        self._options = options
        self._normal = Normaliser(
            program.schema, strict=options.strict, finite=False, limits=options.limits, codec=codec
        )
        self._vtables: Tables = {}

    def patch(self, buffer: Buffer, steps: Sequence[str | int], value: Any) -> None:
        """Change a scalar in place; see `zcser.flat.engine.Engine.patch`."""
        data, way = writable_view(buffer, codec=self.codec), tuple(steps)
        size, limit = len(data), self._options.limits.bytes
        if size > limit:
            raise VerifyError(f"{size} bytes are more than limits.bytes = {limit}", codec=self.codec)
        if size < SMALLEST:
            raise TruncatedError(f"{size} bytes are fewer than any message has", codec=self.codec, offset=size)
        walk = Walk(self.program, data, way, self._vtables, self._options, self.codec)
        try:
            walk.begin()
            walk.go_all()
        except (Fault, struct.error, IndexError) as error:
            fault = error if isinstance(error, Fault) else Fault("an offset leads past the end", walk.table, cut=True)
            kind = TruncatedError if fault.cut else VerifyError
            raise kind(
                fault.reason,
                codec=self.codec,
                path=pointer(way[: walk.taken]),
                offset=walk.origin + fault.offset,
            ) from None
        found = self._bytes(walk, value)
        walk.buffer[walk.at : walk.at + len(found)] = found

    def _bytes(self, walk: Walk, value: Any) -> bytes:
        """The bytes of a value, or of its normal form, as encoding has them."""
        if not self._options.strict:
            try:
                return _packed(walk.node, value)
            except (Misfit, struct.error, OverflowError):
                pass
        try:
            return _packed(walk.node, self._normal.part(walk.node.neutral, value))
        except EncodeError as error:
            raise EncodeError(error.reason, codec=self.codec, path=pointer(walk.steps)) from None


def _packed(node: Node, value: Any) -> bytes:
    """The bytes of a scalar that is in normal form."""
    if node.op in {Op.FLOAT32, Op.FLOAT64}:
        value = value if value.__class__ is float else exact_float(value)
    elif value.__class__ is not class_of(node):
        raise Misfit(f"no {class_of(node).__name__}")
    elif node.op is Op.ENUM:
        value = next((number for number, member in node.values if member == value), None)
        if value is None:
            raise Misfit("no member of the enum")
    return struct.pack(f"<{code_of(node)}", 0 if node.op is Op.NULL else value)
