"""The engine of a program: the one in C where it was built, else the one in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from zcser.core.buffers import Buffer
from zcser.core.options import Options
from zcser.flat.program import Program
from zcser.native import backend

__all__ = ["Engine", "make_engine"]


class Engine(Protocol):
    """What both engines do; the operations are those of `zcser.core.codec.Codec`."""

    def encode(self, value: Any, /) -> bytes:
        """See `Codec.encode`."""

    def encode_into(self, value: Any, out: Buffer, offset: int = 0) -> int:
        """See `Codec.encode_into`."""

    def encode_segments(self, value: Any, /) -> list[memoryview]:
        """See `Codec.encode_segments`."""

    def encoded_size(self, value: Any, /) -> int:
        """See `Codec.encoded_size`."""

    def decode(self, data: Buffer, *, copy: bool = True) -> Any:
        """See `Codec.decode`; verifies, whatever the guard."""

    def view(self, data: Buffer, *, verify: bool = True) -> Any:
        """See `Codec.view`."""

    def verify(self, data: Buffer, /) -> None:
        """Raise `DecodeError` where bytes are not a message."""

    def reserve(self, size: int, /) -> None:
        """Have scratch memory of `size` bytes at least."""

    @property
    def scratch_size(self) -> int:
        """Bytes of scratch memory."""

    @property
    def growths(self) -> int:
        """How often it had to grow."""


def make_engine(program: Program, options: Options, *, codec: str, normal: Callable[[Any], Any]) -> Engine:
    """The engine of a program.

    Parameters
    ----------
    program
        What it runs.
    options
        Of the codec.
    codec
        Name that errors carry.
    normal
        The normal form of a value that the engine does not take as it is, or an `EncodeError`.
    """
    if backend == "native":
        from zcser.flat.native.engine import make_engine as make_native

        return make_native(program, options, codec=codec, normal=normal)
    from zcser.flat.pure.engine import make_engine as make_pure

    return make_pure(program, options, codec=codec, normal=normal)
