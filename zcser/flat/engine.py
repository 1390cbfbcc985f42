"""The engine of a program: the one in C where it was built, else the one in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

    def decode_segments(self, segments: Sequence[Buffer], *, copy: bool = True) -> Any:
        """See `Codec.decode_segments`; verifies, whatever the guard.

        Every vector, string, tensor and nested message has its length in one segment, and its data in that one or the
        next, whole; all else is in the first. A segment that nothing leads to is refused, unless the message has a field
        that the schema does not have.
        """

    def view(self, data: Buffer, *, verify: bool = True) -> Any:
        """See `Codec.view`."""

    def view_segments(self, segments: Sequence[Buffer], *, verify: bool = True) -> Any:
        """See `Codec.view_segments`, and `decode_segments` for what is taken."""

    def verify(self, data: Buffer, /) -> None:
        """Raise `DecodeError` where bytes are not a message."""

    def patch(self, buffer: Buffer, steps: Sequence[str | int], value: Any, /) -> None:
        """Change a scalar of a message in place.

        Parameters
        ----------
        buffer
            Writable bytes that are one message, from its first byte to its last.
        steps
            The way to a bool, a number or a member of an enum, of a record or a list: names of fields, indices (ints, or
            their digits), keys of maps, and for unions whose values are dicts with one key that key. Other unions, and
            nested messages, take no step.
        value
            What `encode` would take there.

        Raises
        ------
        EncodeError
            The value does not fit; the steps lead to something else, or nowhere; the message lacks the field, and has no
            room for it; the buffer is not writable. The error has the path, and the buffer is unchanged.
        DecodeError
            What stands on the way is not as a message has it. The rest of the message is not looked at.

        Notes
        -----
        Copies: none. Lists that are sorted by a key stay as they are, even where a key is changed.
        """

    def patcher(self, paths: Sequence[Sequence[str | int]], /) -> Callable[..., None]:
        """Compile the ways to scalars that are changed again and again.

        Parameters
        ----------
        paths
            The steps of each, as `patch` takes them.

        Returns
        -------
        callable
            Takes a buffer and a value for each path, by position, and changes all of them or, where one is refused, none.
            It raises what `patch` does, of the first path that is refused.
        """

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
