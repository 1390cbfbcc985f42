"""Fixed layouts: a record as C would lay it out, over the standard library's ``struct``.

1. The layout is `zcser.header.layout`'s. A message has one size, and no bytes that say what it is: both sides hold the
   schema. ``struct`` packs and unpacks all fields in one call; bytes and tensors of 256 bytes and more are moved apart.
   Where zcser's engine in C was built, it does the same for values that fit as they are, and for records without lists.
2. A message is its bytes exactly: shorter is `TruncatedError`, longer `DecodeError`. Gaps are written as zeros and not
   read. Any byte but 0 is True, as in C.
3. Not carried: whatever has no fixed size; at encode, text that ends in NUL, which is the padding.
4. A view reads each field where it stands. Tensors alias the buffer at whatever address it has; they are aligned where
   the message is. `encode_into` refuses a place that would misalign a tensor.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NoReturn, TypeVar

from zcser.core.buffers import Buffer, byte_view, writable_address, writable_view
from zcser.core.codec import Codec, Reads
from zcser.core.errors import BufferTooSmallError, DecodeError, EncodeError, TruncatedError
from zcser.core.options import Options
from zcser.core.paths import pointer
from zcser.core.view import View
from zcser.header.check import Fault, check_of
from zcser.header.engine import make_packer, make_reading
from zcser.header.layout import Array, layout_of, walk
from zcser.header.plan import Plan, big
from zcser.header.read import Reader
from zcser.header.view import reads
from zcser.header.write import nul_terminated, writer
from zcser.schema.model import Schema
from zcser.schema.normal import Normaliser

__all__ = ["HeaderCodec"]

T = TypeVar("T")


class HeaderCodec(Codec[T]):
    """See the rules at the head of this module."""

    name: ClassVar[str] = "header"
    format: ClassVar[str] = "fixed layout, little-endian, naturally aligned"
    wire: ClassVar[str] = "header"
    library: ClassVar[str] = "struct"
    keyless: ClassVar[bool] = True
    reads: ClassVar[dict[str, Reads]] = {"str": "alias", "bytes": "alias", "tensor": "alias", "list": "alias"}
    joinable: ClassVar[bool] = True
    self_delimiting: ClassVar[bool] = True

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        self._layout = root = layout_of(schema, options.limits, codec=self.name)
        self._size = root.size
        self._too_large = root.size > options.limits.bytes
        self._alignment = max((node.align for node in walk(root) if isinstance(node, Array)), default=1)
        self._normal = Normaliser(schema, strict=options.strict, finite=False, limits=options.limits, codec=self.name)
        guard = options.guard == "on"
        self._native = self._writer(guard=guard, ranges=False)
        self._native_in_range = self._writer(guard=guard, ranges=True)
        # Whatever the guard, encode_into must know that all fits before it writes.
        self._native_certain = self._writer(guard=True, ranges=True)
        # Strictness is the Normaliser's to judge, of every value.
        is_plain = not (options.strict or self._too_large)
        self._packer = make_packer(root, self._alignment) if is_plain else None
        self._plan = Plan(root, big)
        self._pack = self._plan.pack
        # One call of struct refuses any other length by itself; what else it may refuse is put in words afterwards.
        whole = self._plan.whole
        self._unpack: Callable[[Any], tuple[Any, ...]] = self.load if whole is None or self._too_large else whole.unpack
        self._pack_at: Callable[..., None] | None = None if whole is None or self._alignment > 1 else whole.pack_into
        self._copying: Reader[T] = Reader(root, copy=True)
        self._aliasing: Reader[T] = Reader(root, copy=False)
        self._check = check_of(root)
        self._read = reads(root, self._copying, self.name)
        self._reading = None if self._too_large else make_reading(root, self._copying, self.name, self._decoded)
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Version of Python, whose C extension ``_struct`` does what zcser's own engine leaves."""
        return platform.python_version(), "C extension"

    def encode(self, value: T) -> bytes:
        """See `Codec.encode`. Copies: everything, once."""
        if self._packer is not None:
            data = self._packer.pack(value)
            if data is not None:
                return data
        try:
            return self._pack(*self._native(value))
        except Exception as error:  # noqa: BLE001 - the Normaliser finds the words
            return self._pack(*self._refitted(value, error))

    def encode_into(self, value: T, out: Buffer, offset: int = 0) -> int:
        """See `Codec.encode_into`. The place must have the alignment of the layout's tensors."""
        if self._packer is not None:
            size = self._packer.pack_into(value, out, offset)
            if size is not None:
                return size
        try:
            native = self._native_certain(value)
        except Exception as error:  # noqa: BLE001 - the Normaliser finds the words
            native = self._refitted(value, error)
        if self._pack_at is not None and offset.__class__ is int and offset >= 0:
            try:
                self._pack_at(out, offset, *native)
            except Exception:  # noqa: BLE001, S110 - before the first write, for what is found and said below
                pass
            else:
                return self._size
        if out.__class__ is bytearray and offset.__class__ is int and 0 <= offset <= len(out):
            room = memoryview(out)[offset:]
        else:
            room = writable_view(out, offset, codec=self.name)
        if room.nbytes < self._size:
            raise BufferTooSmallError(self._size, room.nbytes, codec=self.name)
        if self._alignment > 1 and self._size and writable_address(room) % self._alignment:
            raise EncodeError(
                f"offset {offset} of this buffer is no multiple of {self._alignment} in memory, where a tensor would be "
                "misaligned; choose another offset",
                codec=self.name,
            )
        self._plan.pack_into(room, native)
        return self._size

    def encode_segments(self, value: T) -> list[memoryview]:
        """See `Codec.encode_segments`. Bytes and tensors of 256 bytes and more are segments that alias the value's."""
        try:
            return self._plan.segments(self._native(value))
        except Exception as error:  # noqa: BLE001 - the Normaliser finds the words
            return self._plan.segments(self._refitted(value, error))

    def encoded_size(self, value: T) -> int:
        """See `Codec.encoded_size`: the same for all values that fit."""
        self._converted(value, self._native_in_range)
        return self._size

    def convert(self, value: T) -> tuple[Any, ...]:
        """The wire fields of a value, in their order; bytes and tensors of 256 bytes and more alias the value's."""
        return self._converted(value, self._native_in_range)

    def dump(self, native: Any) -> bytes:
        """Bytes of what `convert` gives."""
        try:
            data = self._pack(*native)
        except Exception as error:
            raise EncodeError(f"these are no wire fields of this layout: {error}", codec=self.name) from error
        if len(data) != self._size:
            raise EncodeError(f"these wire fields take {len(data)} bytes, the layout {self._size}", codec=self.name)
        return data

    def decode(self, data: Buffer, *, copy: bool = True) -> T:
        """See `Codec.decode`. The bytes are one message, no more and no less."""
        if copy and self._reading is not None and data.__class__ is bytes and len(data) == self._size:
            value: T = self._reading.unpack_from(data)
            return value
        return self._decoded(data, copy=copy)

    def _decoded(self, data: Buffer, _offset: None = None, *, copy: bool = True) -> T:
        if copy:
            try:
                return self._copying.value(self._unpack(data))
            except Exception:  # noqa: BLE001, S110 - what is wrong, if anything is, is found and said below
                pass
        reader = self._copying if copy else self._aliasing
        buffer = self._message(data)
        try:
            return reader.value(reader.plan.unpack_from(buffer if copy else buffer.toreadonly()))
        except Exception as error:
            raise self._fault(buffer, error) from error

    def decode_segments(self, segments: Sequence[Buffer], *, copy: bool = True) -> T:
        """See `Codec.decode_segments`. The segments must be cut as `encode_segments` cuts them."""
        buffers = self._cut(segments)
        try:
            if copy:
                return self._copying.value(self._plan.gather(buffers))
            native = self._aliasing.plan.gather_from(self._plan, [buffer.toreadonly() for buffer in buffers])
            return self._aliasing.value(native)
        except Exception as error:
            raise self._fault(memoryview(b"".join(buffers)), error) from error

    def load(self, data: Buffer) -> tuple[Any, ...]:
        """The wire fields of a message, in their order; bytes and tensors of 256 bytes and more alias `data`."""
        return self._plan.unpack_from(self._message(data))

    def restore(self, native: Any) -> T:
        """The value of what `load` gives. Copies: everything."""
        try:
            return self._copying.value(native)
        except Exception as error:
            try:
                message = memoryview(self._pack(*native))
            except Exception:  # noqa: BLE001 - then these were no wire fields
                raise DecodeError(f"these are no wire fields of this layout: {error}", codec=self.name) from error
            raise self._fault(message, error) from error

    def view(self, data: Buffer, *, verify: bool = True) -> View:
        """See `Codec.view`. Verifying reads enums and text once; the rest is right in any bytes of this length."""
        is_bytes = data.__class__ is bytes and len(data) == self._size and not self._too_large
        buffer: Any = data if is_bytes else self._message(data).toreadonly()
        if verify and self._check is not None:
            try:
                self._check(memoryview(buffer), 0)
            except Fault as fault:
                raise self._fault(memoryview(buffer), fault) from None
        view: View = self._read([buffer], 0) if self._reading is None else self._reading.view(buffer)
        return view

    def _writer(self, *, guard: bool, ranges: bool) -> Callable[[Any], tuple[Any, ...]]:
        if self._too_large:
            return self._refuse_size
        loose = Normaliser(self.schema, strict=False, finite=False, limits=self.options.limits, codec=self.name)
        native = writer(self._layout, loose, guard=guard, ranges=ranges)
        if not self.options.strict:
            return native
        strictly = self._normal
        return lambda value: native(strictly(value))

    def _refuse_size(self, _value: Any) -> NoReturn:
        raise EncodeError(
            f"{self._size} bytes are more than limits.bytes = {self.options.limits.bytes}", codec=self.name
        )

    def _converted(self, value: T, native: Callable[[Any], tuple[Any, ...]]) -> tuple[Any, ...]:
        try:
            return native(value)
        except Exception as error:  # noqa: BLE001 - the Normaliser finds the words
            return self._refitted(value, error)

    def _refitted(self, value: T, error: Exception) -> tuple[Any, ...]:
        """The wire fields of a value that did not fit as it was: those of its normal form, or the error with its path."""
        if isinstance(error, EncodeError) and self._too_large:
            raise error
        normal = self._normal(value)
        try:
            return self._native_certain(normal)
        except Exception:  # noqa: BLE001 - said in words below
            path = next(nul_terminated(self._layout, normal), None)
            if path is None:
                raise EncodeError(f"the value does not fit the layout: {error}", codec=self.name) from error
            reason = "text that ends in NUL is the same as its padding; strip it, or use bytes"
            raise EncodeError(reason, path=pointer(path), codec=self.name) from None

    def _message(self, data: Buffer) -> memoryview:
        """A buffer as bytes, of the layout's length."""
        buffer = memoryview(data) if data.__class__ is bytes else byte_view(data, codec=self.name)
        if buffer.nbytes != self._size or self._too_large:
            self._wrong_size(buffer.nbytes)
        return buffer

    def _wrong_size(self, size: int) -> NoReturn:
        if size < self._size:
            raise TruncatedError(f"{size} bytes are too few: a message has {self._size}", codec=self.name, offset=size)
        limit = self.options.limits.bytes
        many = f"more than limits.bytes = {limit}" if size > limit else f"too many: a message has {self._size}"
        raise DecodeError(f"{size} bytes are {many}", codec=self.name, offset=self._size)

    def _cut(self, segments: Sequence[Buffer]) -> list[memoryview]:
        """Segments as bytes, cut as the layout is."""
        if not isinstance(segments, list | tuple):
            raise DecodeError(f"a list of segments is needed, not {type(segments).__name__}", codec=self.name)
        buffers = [byte_view(segment, codec=self.name) for segment in segments]
        found, wanted = [buffer.nbytes for buffer in buffers], [part.size for part in self._plan.parts]
        if sum(found) != self._size or self._too_large:
            self._wrong_size(sum(found))
        if found != wanted:
            raise DecodeError(f"segments of {found} bytes are not cut as this layout is: {wanted}", codec=self.name)
        return buffers

    def _fault(self, buffer: memoryview, error: Exception) -> DecodeError:
        """What is wrong with a message that could not be read."""
        try:
            if self._check is not None:
                self._check(buffer, 0)
        except Fault as fault:
            return DecodeError(fault.reason, codec=self.name, path=pointer(reversed(fault.steps)), offset=fault.offset)
        # The bytes are right: the value's own class refused its fields.
        return DecodeError(f"no value can be made of this message: {error}", codec=self.name)
