"""The reader in pure Python: a program's messages decoded, verified and viewed, without any library but numpy.

1. `decode` verifies while it reads, in one pass, whatever the guard: see `zcser.flat.pure.read_code`. What it refuses, the
   `Verifier` is asked about, which names the fault, its path and its offset.
2. `view` runs the verifier first, where the guard is on; each access is safe in memory even where nothing was verified.
3. What a reader remembers between messages is bounded, and forgets nothing that matters: vtables, and the beginning of
   the last message viewed.
"""

from __future__ import annotations

import struct
from typing import Any

from zcser.core.buffers import Buffer, byte_view
from zcser.core.errors import DecodeError
from zcser.core.options import Options
from zcser.core.view import View
from zcser.flat.checks import SMALLEST, check_identifier, check_prefix
from zcser.flat.program import Op, Program
from zcser.flat.pure.read_code import ReadGenerator
from zcser.flat.pure.read_state import state_of, text_of
from zcser.flat.pure.view import ViewGenerator
from zcser.flat.pure.view_parts import TableView, failure
from zcser.flat.verify import Verifier

__all__ = ["PureReader", "Start"]

_LONGEST_HEAD = 1024
"""Bytes of the longest beginning of a message that is remembered."""

_SMALL = 1 << 14
"""Bytes of the largest message that is read faster when it is made bytes first."""

_U32 = struct.Struct("<I").unpack_from
_I32 = struct.Struct("<i").unpack_from


class PureReader:
    """Reads the messages of one program.

    Parameters
    ----------
    program
        What the messages are made of.
    options
        ``limits``, ``unknown_fields`` and ``guard`` are heeded.
    codec
        Name that errors carry.

    Notes
    -----
    Copies: `decode` copies what it gives; with ``copy=False``, and in views, bytes and tensors alias the buffer, but for a
    tensor whose address does not fit its dtype, which is copied. Lifetime: what aliases keeps the buffer alive.
    """

    def __init__(self, program: Program, options: Options, *, codec: str | None = None) -> None:
        self._codec = codec
        self._limits = options.limits
        self._guarded = options.guard == "on"
        refuse_unknown = options.unknown_fields == "refuse"
        self._start = Start(program) if program.identifier or program.is_prefixed else None
        self._verifier = Verifier(program, options.limits, refuse_unknown=refuse_unknown, codec=codec)
        eager = ReadGenerator(program, options.limits, refuse_unknown=refuse_unknown)
        lazy = ViewGenerator(eager, lambda box: state_of(box[0], options.limits), codec)
        rows, opener = eager.rows(program.root), lazy.opener(program.root)
        namespace = eager.compile()
        lazy.make_classes(namespace)
        self._rows, self._open = namespace[rows], namespace[opener]
        self._view = namespace[f"View{program.root}"] if program.nodes[program.root].op is Op.TABLE else None
        # The beginning of the last message viewed, and class, position and form of the view: most messages begin alike.
        self._head: tuple[bytes, Any, int, tuple[Any, ...]] = (b"", None, 0, ())

    def _bytes(self, data: Buffer) -> Any:
        return data if data.__class__ is bytes else byte_view(data, codec=self._codec).toreadonly()

    def verify(self, data: Buffer) -> None:
        """Check a whole message.

        Raises
        ------
        VerifyError, TruncatedError
            The bytes contradict the schema or themselves, or lead past the end.
        DecodeError
            `data` is no buffer.
        """
        self._verifier(self._bytes(data))

    def decode(self, data: Buffer, *, copy: bool = True) -> Any:
        """Decode a message; see `zcser.core.codec.Codec.decode`.

        Raises
        ------
        VerifyError, TruncatedError
            The bytes contradict the schema or themselves, or lead past the end.
        DecodeError
            `data` is no buffer, or the class of a value does not take what the message holds.
        """
        buffer = data if data.__class__ is bytes else self._bytes(data)
        size = len(buffer)
        if copy and buffer.__class__ is not bytes and size <= _SMALL:
            buffer = bytes(buffer)
        try:
            if SMALLEST <= size <= self._limits.bytes:
                state = state_of(buffer, self._limits)
                (root,) = _U32(buffer, 0) if self._start is None else self._start.root(buffer, size)
                (value,) = self._rows(buffer, (root,) if root else (), state, {}, copy, 0)
                if state[1] >= 0:
                    return value
        except Exception as error:
            self._verifier(buffer)
            raise DecodeError(f"the message cannot be read: {error}", codec=self._codec) from error
        self._verifier(buffer)
        raise DecodeError("the message cannot be read", codec=self._codec)  # pragma: no cover - the verifier has raised

    def view(self, data: Buffer, *, verify: bool = True) -> View:
        """Open a message lazily; see `zcser.core.codec.Codec.view`.

        With the guard off nothing is verified, whatever `verify` says, but for the size and identifier that a message
        may begin with.

        Raises
        ------
        VerifyError, TruncatedError
            The message was verified, and is refused.
        DecodeError
            `data` is no buffer, or the root cannot be read.
        """
        if data.__class__ is bytes:
            buffer, box = data, [data, _decode]
        else:
            buffer = self._bytes(data)
            box = [buffer, text_of]
        if verify and self._guarded:
            self._verifier(buffer)
        if self._start is not None:
            try:
                self._start.root(buffer, len(buffer))
            except Exception as error:
                raise failure(box, error, self._codec) from error
        head, view_class, position, form = self._head
        is_alike = buffer.startswith(head) if buffer.__class__ is bytes else buffer[: len(head)] == head
        if is_alike and view_class is not None:
            view: TableView = _new(view_class)
            view._zc_box = box
            view._zc_pos = position
            view._zc_form = form
            return view
        try:
            (position,) = _U32(buffer, 0) if self._start is None else self._start.root(buffer, len(buffer))
            found: View = self._open(box, position)
        except Exception as error:
            raise failure(box, error, self._codec) from error
        if self._view is not None:
            self._remember(buffer, position, found)
        return found

    def _remember(self, buffer: Any, position: int, view: Any) -> None:
        """Keep the beginning of a message, if that holds all that was looked at to open it."""
        vtable = position - _I32(buffer, position)[0]
        end = position + 4
        if end <= _LONGEST_HEAD and vtable + (buffer[vtable] | buffer[vtable + 1] << 8) <= end:
            self._head = (bytes(buffer[:end]), self._view, position, view._zc_form)


class Start:
    """What stands before the root's offset, and behind it.

    Parameters
    ----------
    program
        Of messages that begin with their size, or have an identifier.
    """

    def __init__(self, program: Program) -> None:
        self.at = 4 if program.is_prefixed else 0
        self.identifier = program.identifier

    def root(self, buffer: Any, size: int) -> tuple[int]:
        """The place of the root of a message of `size` bytes, 0 where its offset is 0; what stands around it is checked."""
        if self.at:
            check_prefix(buffer, size)
        if self.identifier and buffer[self.at + 4 : self.at + 8] != self.identifier:
            check_identifier(buffer, self.at + 4, self.identifier)
        offset = _U32(buffer, self.at)[0]
        return (offset and offset + self.at,)


_new = object.__new__
_decode = bytes.decode
