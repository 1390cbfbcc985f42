"""The encoder in Python of a program: what the C engine's encode, encode_into, encode_segments and encoded_size do.

1. The head of a message is written into scratch memory that is used again and again; what the tail holds is collected,
   and copied once, to where it is to be. Each call takes memory of its own from a pool, so that calls may overlap.
2. A value that does not fit as it is goes through `normal`, which has the words for what is wrong with it; then it is
   tried once more.
3. Scratch memory is never cleared: whatever lies in a message was written for it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from zcser.core.buffers import Buffer, address, writable_view
from zcser.core.errors import BufferTooSmallError, EncodeError
from zcser.core.options import Options
from zcser.flat.program import Program
from zcser.flat.pure.write_calls import Full, Misfit
from zcser.flat.pure.write_code import compile_writer
from zcser.flat.pure.write_tail import Item, lay_out

__all__ = ["PureWriter"]

_SMALLEST = 4096

_MOST_KEPT = 64 << 20
"""Bytes of scratch memory above which it is not kept for the next message, unless they were reserved."""

_MOST_ADDRESSED = 2**31 - 1
"""Bytes that offsets can lead over."""

_BIG = 4096
"""Bytes from which a segment aliases the caller's memory."""

_put_offset = struct.Struct("<I").pack_into

Part: TypeAlias = bytes | memoryview


class _Scratch:
    """Memory for the head of one message at a time; a table may begin up to `last`."""

    __slots__ = ("buffer", "last", "memory")

    def __init__(self, last: int, slack: int) -> None:
        self.buffer = bytearray(last + slack)
        self.memory = memoryview(self.buffer)
        self.last = last


Head: TypeAlias = tuple[_Scratch, int, int, list[Item], int]
"""A head in scratch memory, and what is to follow.

The memory, the bytes of the head, the alignment of the message's address, the items of the tail, and the bytes of the
message.
"""


class PureWriter:
    """Writes the messages of a program.

    Parameters
    ----------
    program
        What is written.
    options
        Of the codec.
    codec
        Name that errors carry.
    normal
        The normal form of a value, or an `EncodeError`.

    Attributes
    ----------
    scratch_size
        Bytes of scratch memory that a call has at first.
    growths
        How often scratch memory has grown.

    Notes
    -----
    Copies: of the head one, out of scratch memory; of what the tail holds one, or none by `encode_segments`. Lifetime:
    nothing that is returned aliases scratch memory. Threads may share a writer.
    """

    def __init__(
        self, program: Program, options: Options, *, codec: str | None = None, normal: Callable[[Any], Any]
    ) -> None:
        self._limits = options.limits
        self._strict = options.strict
        self._codec = codec
        self._normal = normal
        self._write, state, self._slack = compile_writer(program, options.limits.depth)
        state[0] = options.limits.elements
        self._state = state
        self._start = 4 if program.is_prefixed else 0
        self._identifier = program.identifier
        self._pool: list[_Scratch] = []
        self.scratch_size = _SMALLEST
        self.growths = 0

    def reserve(self, size: int) -> None:
        """Have scratch memory for messages whose head takes `size` bytes."""
        if size > self.scratch_size:
            self.scratch_size = size
            self._pool.append(_Scratch(size, self._slack))

    def encode(self, value: Any) -> bytes:
        """See `zcser.core.codec.Codec.encode`."""
        scratch, end, _, items, _ = self._head(value)
        head = scratch.memory[:end]
        message = b"".join(_parts(head, items)) if items else head.tobytes()
        self._give(scratch)
        return message

    def encode_into(self, value: Any, out: Buffer, offset: int = 0) -> int:
        """See `zcser.core.codec.Codec.encode_into`.

        Raises
        ------
        EncodeError
            The address is no multiple of what the message's scalars need: 8 with an item of 8 bytes or a tensor, else 4.
        """
        scratch, end, alignment, items, total = self._head(value)
        target = writable_view(out, offset, codec=self._codec)
        if total > target.nbytes:
            raise BufferTooSmallError(total, target.nbytes, codec=self._codec)
        place = address(target)
        if place % alignment:
            raise EncodeError(
                f"the address {place:#x} is no multiple of {alignment}; pass another offset or an aligned buffer",
                codec=self._codec,
            )
        parts: Iterable[Part] = _parts(scratch.memory[:end], items)
        if items and _overlap(items, target[:total]):
            parts = [b"".join(parts)]
        stop = 0
        for part in parts:
            start, stop = stop, stop + len(part)
            target[start:stop] = part
        self._give(scratch)
        return total

    def encode_segments(self, value: Any) -> list[memoryview]:
        """See `zcser.core.codec.Codec.encode_segments`; data of 4096 bytes and more alias the caller's memory."""
        scratch, end, _, items, _ = self._head(value)
        segments: list[memoryview] = []
        fresh: list[Part] = []
        for part in _parts(scratch.memory[:end], items):
            # The head comes first, and belongs to the scratch memory.
            if len(part) >= _BIG and fresh:
                segments += [memoryview(b"".join(fresh)), memoryview(part).toreadonly()]
                fresh.clear()
            else:
                fresh.append(part)
        if fresh:
            segments.append(memoryview(b"".join(fresh)))
        self._give(scratch)
        return segments

    def encoded_size(self, value: Any) -> int:
        """See `zcser.core.codec.Codec.encoded_size`; the head is written to know."""
        scratch, _, _, _, total = self._head(value)
        self._give(scratch)
        return total

    # --- the head -----------------------------------------------------------------------------------------------------

    def _head(self, value: Any) -> Head:
        """Write the head of a message, whose scratch memory the caller gives back."""
        try:
            return self._try(self._normal(value) if self._strict else value)
        except (EncodeError, MemoryError):
            raise
        except Exception:  # noqa: BLE001 - of many kinds, by what the value holds
            return self._head_of_normal(value)

    def _head_of_normal(self, value: Any) -> Head:
        try:
            return self._try(self._normal(value))
        except (EncodeError, MemoryError):
            raise
        except RecursionError as error:
            raise EncodeError("nested deeper than Python's stack", codec=self._codec) from error
        except Exception as error:
            raise EncodeError(f"the message cannot be built: {error}", codec=self._codec) from error

    def _try(self, value: Any) -> Head:
        try:
            scratch = self._pool.pop()
        except IndexError:
            scratch = _Scratch(self.scratch_size, self._slack)
        while True:
            state = self._state.copy()
            tail: list[tuple[Any, memoryview, Any]] = []
            try:
                root, end = self._write(scratch.buffer, scratch.memory, scratch.last, state, tail, value)
                break
            except Full as full:
                scratch = self._larger(scratch, full.args[0])
            except Exception:
                self._give(scratch)
                raise
        if state[0] < 0:
            raise Misfit("more items in all lists and maps than limits.elements")
        _put_offset(scratch.buffer, self._start, root - self._start)
        if self._identifier:
            scratch.buffer[self._start + 4 : self._start + 8] = self._identifier
        items, total, reach = lay_out(scratch.buffer, end, tail) if tail else ([], end, end)
        if total > self._limits.bytes:
            raise EncodeError(f"{total} bytes are more than limits.bytes = {self._limits.bytes}", codec=self._codec)
        if self._start:
            reach = total
            _put_offset(scratch.buffer, 0, total - 4 & 0xFFFF_FFFF)
        if reach > _MOST_ADDRESSED:
            raise self._too_many(reach)
        return scratch, end, state[1], items, total

    def _too_many(self, size: int) -> EncodeError:
        return EncodeError(f"{size} bytes are more than FlatBuffers can address", codec=self._codec)

    # --- scratch memory -----------------------------------------------------------------------------------------------

    def _give(self, scratch: _Scratch) -> None:
        # What is smaller, or too large to keep, is let go.
        if scratch.last == self.scratch_size:
            self._pool.append(scratch)

    def _larger(self, scratch: _Scratch, needed: int) -> _Scratch:
        """Scratch memory for a message of `needed` bytes at least."""
        if needed > _MOST_ADDRESSED:
            raise self._too_many(needed)
        self.growths += 1
        size = max(2 * scratch.last, needed)
        if size <= _MOST_KEPT:
            self.scratch_size = max(self.scratch_size, size)
        return _Scratch(size, self._slack)


def _overlap(items: Sequence[Item], target: memoryview) -> bool:
    """Whether data lie, if in part, in the memory that a message is written to."""
    own = np.frombuffer(target, np.uint8)
    return any(len(data) and np.may_share_memory(np.frombuffer(data, np.uint8), own) for _, data in items)


def _parts(head: memoryview, items: Sequence[Item]) -> Iterator[Part]:
    """The bytes of a message in order: the head, then what is before the data, and the data, of each item of the tail."""
    yield head
    for item in items:
        yield from item
