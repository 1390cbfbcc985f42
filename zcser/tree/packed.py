"""What the codecs of MessagePack share: the form, and big tensors and bytes that are not copied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from zcser.core.buffers import Buffer, byte_views, writable_view, write_pieces
from zcser.core.errors import BufferTooSmallError, DecodeError
from zcser.core.options import Options
from zcser.schema.model import Kind, Map, Schema
from zcser.tree.codec import TreeWriter
from zcser.tree.form import Form, parts_of
from zcser.tree.read import tree_reader
from zcser.tree.spans import big_spans
from zcser.tree.splice import BIG, Blob, lift, splice, unsplice
from zcser.tree.write import tree_splicer

__all__ = ["PackedCodec"]

T = TypeVar("T")


class PackedCodec(TreeWriter[T]):
    """MessagePack by a library.

    Notes
    -----
    Copies: `encode` and `encode_into` copy a tensor, or bytes, of 4 KiB or more once, into the message;
    `encode_segments` not at all, and its segments joined are the message that `encode` gives. `decode` copies what is that big once; with
    ``copy=False`` it aliases the message, but for a tensor whose address does not fit its dtype, which is copied. What is
    smaller goes through the library. A tensor's data begins at a multiple of 8 bytes from the start of the message.

    Lifetime: what aliases keeps the buffer alive.
    """

    format = "MessagePack"
    wire = "msgpack"
    form = Form(native_bytes=True, finite=False, text_keys=False, big_ints=False)
    ends_itself = True
    self_delimiting = True
    joinable = True
    splices = True

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        parts = parts_of(schema)
        self._has_other_keys = any(isinstance(part, Map) and part.key.kind is not Kind.STR for part in parts)
        if self._is_spliced:
            self._splice = tree_splicer(schema, self.form, options, self._normalise)
            self._read_lifted = {
                copy: tree_reader(schema, self.form, options, copy=copy, lifts=True) for copy in (True, False)
            }

    def encode(self, value: T) -> bytes:
        """See `Codec.encode`."""
        return b"".join(self._parts(value)) if self._is_spliced else super().encode(value)

    def encode_segments(self, value: T) -> list[memoryview]:
        """See `Codec.encode_segments`."""
        return [memoryview(part) for part in self._parts(value)]

    def encode_into(self, value: T, out: Buffer, offset: int = 0) -> int:
        """See `Codec.encode_into`. What the library wrote is copied, and so is once what it was not given."""
        parts = self._parts(value)
        size = sum(map(len, parts))
        room = writable_view(out, offset, codec=self.name)
        if size > len(room):
            raise BufferTooSmallError(size, len(room), codec=self.name)
        write_pieces(parts, room, size)
        return size

    def _parts(self, value: T) -> list[Any]:
        """The message in parts that alias what is big."""
        if not self._is_spliced:
            return [super().encode(value)]
        if self.options.strict:
            self._normalise(value)
        blobs: list[Blob] = []
        try:
            message = self._dumps(self._splice(value, blobs))
        except Exception as error:  # noqa: BLE001 - see TreeWriter.convert
            blobs.clear()
            message = self.dump(self._write_normal(value, error, lambda normal: self._splice(normal, blobs)))
        self._bound(value, message)
        if not blobs:
            return [message]
        parts = splice(message, blobs)
        self._bound_bytes(sum(map(len, parts)))
        return parts

    def decode(self, data: Buffer, *, copy: bool = True) -> T:
        """See `Codec.decode`."""
        if self._is_spliced:
            data = self._flat(data)
            if len(data) >= BIG:
                spans = big_spans(data, BIG)
                if spans:
                    return self._decode_lifted(data, *lift(data, spans), copy=copy)
        return super().decode(data, copy=copy)

    def decode_segments(self, segments: Sequence[Buffer], *, copy: bool = True) -> T:
        """See `Codec.decode_segments`. One segment is a whole message; more are as `encode_segments` gave them."""
        parts = byte_views(segments, codec=self.name)
        if len(parts) == 1:
            return self.decode(parts[0], copy=copy)
        if sum(map(len, parts)) > self.options.limits.bytes:
            raise DecodeError("the segments together are more than limits.bytes", codec=self.name)
        found = unsplice(parts) if self._is_spliced else None
        if found is None:
            raise DecodeError(f"these {len(parts)} segments are not those of one message", codec=self.name)
        return self._decode_lifted(None, *found, copy=copy, parts=parts)

    def _decode_lifted(
        self, data: Any, message: bytes, blobs: list[memoryview], *, copy: bool, parts: Sequence[memoryview] = ()
    ) -> T:
        if len(message) <= self.options.limits.elements:
            try:
                value: T = self._read_lifted[copy](self._loads(message), blobs)
            except Exception:  # noqa: BLE001, S110 - the message as it came has the words for it
                pass
            else:
                return value
        return super().decode(b"".join(parts) if data is None else data, copy=copy)
