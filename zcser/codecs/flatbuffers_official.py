"""FlatBuffers by the official ``flatbuffers`` package, at its best.

1. No generated files: the calls that flatc's Python code makes are generated from the schema, without its detours.
   ``zcser.flat.layout`` says what the tables look like; ``zcser.flat.emit`` writes them as .fbs.
2. Builders are reused, as the package advises: each is cleared before it goes back to the pool, one that saw an
   exception never goes back, and what is returned never aliases one.
3. The package verifies nothing. With the guard on, ``zcser.flat.verify`` does it before anything is read.
4. Whatever of strings, vectors and tables is past a cut is refused, but the zeros that pad the end of a message may be
   cut off unnoticed: the wire has no length. So the codec is not self-delimiting.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

import flatbuffers
from flatbuffers import encode, number_types, packer
from flatbuffers.table import Table

from zcser.core.buffers import Buffer, byte_view
from zcser.core.codec import Codec, Reads
from zcser.core.errors import DecodeError, EncodeError, SchemaError
from zcser.core.options import Options
from zcser.core.view import View
from zcser.flat.official.calls import Runtime
from zcser.flat.official.view import compile_reader
from zcser.flat.official.write import compile_writer
from zcser.flat.plan import layout_of
from zcser.flat.program import program_of
from zcser.flat.verify import Verifier
from zcser.schema.depth import refuse_deep
from zcser.schema.model import Schema
from zcser.schema.normal import Normaliser

__all__ = ["FlatbuffersOfficialCodec"]

T = TypeVar("T")

_SMALLEST_BUILDER = 1024

_LARGEST_POOLED = 64 << 20
"""Bytes of a builder's buffer above which it is let go rather than kept for the next message."""


class FlatbuffersOfficialCodec(Codec[T]):
    """The official FlatBuffers runtime, driven from the schema.

    Notes
    -----
    Copies: `encode` copies each tensor into the builder (twice) and the message out of it; `decode` copies what it gives;
    with ``copy=False``, and in views, bytes and tensors alias the buffer, but for a tensor whose address does not fit its
    dtype, which is copied. Lifetime: what aliases keeps the buffer alive.
    """

    name = "flatbuffers-official"
    format = "FlatBuffers"
    wire = "flatbuffers"
    library = "flatbuffers"
    keyless = True
    reads: ClassVar[dict[str, Reads]] = {"str": "parse", "bytes": "alias", "tensor": "alias", "list": "parse"}
    fused = True
    validates = False

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        try:
            layout = layout_of(schema)
        except SchemaError as error:
            raise SchemaError(error.reason, path=error.path, codec=self.name) from None
        limits = options.limits
        refuse_deep(schema, limits, self.name)
        guarded = options.guard == "on"
        self._normal = Normaliser(schema, strict=options.strict, finite=False, limits=limits, codec=self.name)
        self._write = compile_writer(layout, normalise=self._normal.part if guarded else None, depth=limits.depth)
        self._read, self._open = compile_reader(layout, Runtime(Table, number_types), codec=self.name)
        self._verify = Verifier(
            program_of(layout), limits, refuse_unknown=options.unknown_fields == "refuse", codec=self.name
        ) if guarded else None  # fmt: skip
        self._builders: list[Any] = []
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Version of flatbuffers; it has one implementation."""
        from importlib.metadata import version  # which takes 20 ms to import

        return version("flatbuffers"), "pure Python"

    def encode(self, value: T) -> bytes:
        """See `Codec.encode`."""
        try:
            message = self._build(self._normal(value) if self.options.strict else value)
        except Exception as error:  # noqa: BLE001 - of many kinds, by what the value holds
            message = self._encode_normal(value, error)
        self._bound(message)
        return message

    def _build(self, value: Any) -> bytes:
        try:
            builder = self._builders.pop()
        except IndexError:
            builder = flatbuffers.Builder(_SMALLEST_BUILDER)
        builder.Finish(self._write(builder, value, 0))
        message = bytes(memoryview(builder.Bytes)[builder.Head() :])
        if len(builder.Bytes) <= _LARGEST_POOLED:
            builder.Clear()
            self._builders.append(builder)
        return message

    def _encode_normal(self, value: Any, error: Exception) -> bytes:
        """Encode what the writer did not take as it was, or say why not."""
        if self.options.guard == "off":
            raise EncodeError(f"the value does not fit the schema: {error}", codec=self.name) from error
        try:
            return self._build(self._normal(value))
        except EncodeError:
            raise
        except RecursionError as again:
            raise EncodeError("nested deeper than Python's stack", codec=self.name) from again
        except Exception as again:
            raise EncodeError(f"the message cannot be built: {again}", codec=self.name) from again

    def _bound(self, message: bytes) -> None:
        limits = self.options.limits
        if len(message) > limits.bytes:
            raise EncodeError(
                f"{len(message)} bytes are more than limits.bytes = {limits.bytes}", codec=self.name, path=""
            )
        # Every element takes a byte or more, so that only a large message can have too many.
        if len(message) > limits.elements and self._verify is not None:
            try:
                self._verify(message)
            except DecodeError as error:
                raise EncodeError(error.reason, codec=self.name, path=error.path) from None

    def decode(self, data: Buffer, *, copy: bool = True) -> T:
        """See `Codec.decode`."""
        try:
            buffer = data if copy and data.__class__ is bytes else byte_view(data, codec=self.name).toreadonly()
            if self._verify is not None:
                self._verify(buffer)
            value: T = self._read(Table(buffer, encode.Get(packer.uoffset, buffer, 0)), copy)
        except DecodeError:
            raise
        except Exception as error:
            raise DecodeError(f"the message cannot be read: {error}", codec=self.name) from error
        return value

    def view(self, data: Buffer, *, verify: bool = True) -> View:
        """See `Codec.view`. With the guard off nothing is verified, whatever `verify` says."""
        try:
            buffer = byte_view(data, codec=self.name).toreadonly()
            if verify and self._verify is not None:
                # Of bytes a slice is cheaper than of a memoryview.
                self._verify(data if data.__class__ is bytes else buffer)
            view: View = self._open(Table(buffer, encode.Get(packer.uoffset, buffer, 0)))
        except DecodeError:
            raise
        except Exception as error:
            raise DecodeError(f"the message cannot be read: {error}", codec=self.name) from error
        return view
