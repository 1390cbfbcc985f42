"""protobuf, by the official runtime, with message classes made at run time from the schema.

1. Every call makes a fresh message. One that is parsed into again never gives its memory back while it lives, cleared
   or not, and is slower besides.
2. The mapping of kinds is in `zcser.protowire.plan`; `zcser.protowire.emit` writes it as ``.proto`` text for peers.
3. protobuf cannot tell a message that was cut between two fields, or one of another schema, from a shorter one of this
   schema; ``unknown_fields="refuse"`` refuses those that leave fields over.
4. With ``deterministic=True`` maps are written in the order of their keys; other fields always stand in the order of
   their numbers.
5. Depth, elements and size of a message are checked both ways, so that what is encoded decodes.
6. The path of a `DecodeError` is in the schema (``Request/tensors/*``): records and fields, without indices.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import google.protobuf
from google.protobuf.internal import api_implementation
from google.protobuf.message import Message

from zcser.core.buffers import Buffer, byte_view
from zcser.core.codec import Codec, Reads
from zcser.core.errors import DecodeError, EncodeError
from zcser.core.options import Options
from zcser.core.view import View
from zcser.protowire.check import Asks, compile_check
from zcser.protowire.count import compile_count
from zcser.protowire.descriptors import file_descriptor, message_classes
from zcser.protowire.nesting import MAX_NESTING, NestingError, nesting_path
from zcser.protowire.planner import plan_of
from zcser.protowire.read import Read, compile_reader, read_value
from zcser.protowire.views import compile_views
from zcser.protowire.write import compile_writer
from zcser.schema.model import Schema
from zcser.schema.normal import Normaliser

__all__ = ["ProtobufCodec"]

T = TypeVar("T")

Check = Callable[[Message], None]


class ProtobufCodec(Codec[T]):
    """See the head of this module."""

    name: ClassVar[str] = "protobuf"
    format: ClassVar[str] = "Protocol Buffers (proto3)"
    wire: ClassVar[str] = "protobuf"
    library: ClassVar[str] = "protobuf"
    reads: ClassVar[dict[str, Reads]] = {"str": "parse", "bytes": "copy", "tensor": "copy", "list": "parse"}

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        limits = options.limits
        self._plan = plan_of(schema)
        self._classes = message_classes(file_descriptor(self._plan))
        self._normal = Normaliser(schema, strict=options.strict, finite=False, limits=limits, codec=self.name)
        self._write = compile_writer(self._plan, self._classes, self._normal, options)
        self._convert = _after(self._normal, self._write) if options.strict else self._write
        self._reads = compile_reader(self._plan, self._classes, options, copy=True)
        self._read = self._restoring(self._reads)
        root = self._classes[self._plan.messages[self._plan.root].name]
        # Taken from the class: upb looks a message's attribute up among its fields first.
        self._parse: Callable[[Any], Message] = root.FromString
        self._serialize: Callable[[Message], bytes] = root.SerializeToString
        if options.deterministic:
            self._serialize = functools.partial(root.SerializeToString, deterministic=True)
        # An item takes a byte at least: a message of no more bytes than this breaks neither limit.
        self._few_bytes = min(limits.bytes, limits.elements)
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Version and implementation of the library below."""
        kind = api_implementation.Type()
        return google.protobuf.__version__, {"upb": "upb (C)", "python": "pure Python"}.get(kind, kind)

    # Compiled when first asked for: most codecs never need them.

    @functools.cached_property
    def _borrow(self) -> Read:
        return self._restoring(compile_reader(self._plan, self._classes, self.options, copy=False))

    @functools.cached_property
    def _open(self) -> Callable[[Message, int], Any]:
        return compile_views(self._plan, self._classes, self._reads)

    @functools.cached_property
    def _verify(self) -> Check | None:
        asks = Asks(values=self.options.guard == "on", unknown=self.options.unknown_fields == "refuse")
        return compile_check(self._plan, self._classes, self.options, asks)

    @functools.cached_property
    def _count(self) -> Callable[[Message], int]:
        return compile_count(self._plan, self._classes)

    def _restoring(self, reads: dict[int, Read]) -> Read:
        read = reads[self._plan.root]
        if self.options.unknown_fields == "drop":
            return read
        check = compile_check(self._plan, self._classes, self.options, Asks(unknown=True))
        return read if check is None else _checked(check, read)

    # --- encoding -----------------------------------------------------------------------------------------------------

    def encode(self, value: T) -> bytes:
        """See `Codec.encode`."""
        return self.dump(self.convert(value))

    def convert(self, value: T) -> Message:
        """See `Codec.convert`; the message is fresh."""
        try:
            return self._convert(value)
        except Exception as error:  # noqa: BLE001 - whatever it is, the second try finds out or says so
            return self._convert_normal(value, error)

    def _convert_normal(self, value: T, error: Exception) -> Message:
        """Convert what did not fit as it stood; raise the `EncodeError` if it does not fit at all."""
        try:
            normal = self._normal(value)
            return self._write(normal)
        except EncodeError:
            raise
        except NestingError:
            raise EncodeError(
                f"needs messages nested deeper than the {MAX_NESTING} levels that protobuf parsers accept",
                path=nesting_path(self._plan, normal),
                codec=self.name,
            ) from None
        except Exception:  # noqa: BLE001 - as above
            raise EncodeError(f"the value does not fit the schema: {error!r}", codec=self.name) from error

    def dump(self, native: Message) -> bytes:
        """See `Codec.dump`."""
        try:
            data = self._serialize(native)
        except Exception as error:
            raise EncodeError(f"the message cannot be serialised: {error}", codec=self.name) from error
        if len(data) > self._few_bytes:
            self._check_size(len(data), native, EncodeError)
        return data

    # --- decoding -----------------------------------------------------------------------------------------------------

    def decode(self, data: Buffer, *, copy: bool = True) -> T:
        """See `Codec.decode`.

        Notes
        -----
        Copies: with `copy` false too, bytes and tensors are copied out of upb once; they do not alias `data`.
        """
        value: T = read_value(self._read if copy else self._borrow, self.load(data))
        return value

    def load(self, data: Buffer) -> Message:
        """See `Codec.load`; the message is fresh."""
        if data.__class__ is not bytes:
            data = byte_view(data, codec=self.name)
        large = len(data) > self._few_bytes
        if large:
            self._check_size(len(data), None, DecodeError)
        try:
            message = self._parse(data)
        except Exception as error:
            raise DecodeError(f"not a protobuf message of this schema: {error}", codec=self.name) from error
        if large:
            self._check_size(len(data), message, DecodeError)
        return message

    def restore(self, native: Message) -> T:
        """See `Codec.restore`."""
        value: T = read_value(self._read, native)
        return value

    def view(self, data: Buffer, *, verify: bool = True) -> View:
        """See `Codec.view`.

        Notes
        -----
        Copies: upb parses the message into memory of its own; `data` may change afterwards.
        """
        if data.__class__ is not bytes:
            data = byte_view(data, codec=self.name)
        message = self.load(data)
        if verify and self._verify is not None:
            read_value(self._verify, message)
        view: View = self._open(message, len(data))
        return view

    def _check_size(self, size: int, message: Message | None, kind: type[EncodeError | DecodeError]) -> None:
        """Hold a message that may be too large to the limits on bytes and, where it is given, on elements."""
        limits = self.options.limits
        if size > limits.bytes:
            raise kind(f"{size} bytes are more than limits.bytes = {limits.bytes}", codec=self.name)
        if message is None or self.options.guard == "off":
            return
        try:
            count = self._count(message)
        except RecursionError as error:
            raise kind("no stack is left to count the message's items", codec=self.name) from error
        if count > limits.elements:
            raise kind(f"{count} items are more than limits.elements = {limits.elements}", codec=self.name)


def _after(normal: Callable[[Any], Any], write: Callable[[Any], Message]) -> Callable[[Any], Message]:
    """The writer of normal values, for values that are checked to be so first."""

    def convert(value: Any) -> Message:
        return write(normal(value))

    return convert


def _checked(check: Check, read: Read) -> Read:
    def restore(message: Message) -> Any:
        check(message)
        return read(message)

    return restore
