"""protobuf, by the official runtime, with message classes made at run time from the schema.

1. Every call makes a fresh message. One that is parsed into again never gives its memory back while it lives, cleared
   or not, and is slower besides.
2. The mapping of kinds is in `zcser.protowire.plan`; `zcser.protowire.emit` writes it as ``.proto`` text for peers.
3. upb writes and parses everything but payloads: bytes and the data of tensors. These are spliced into what it writes,
   and cut out of what it parses (`zcser.protowire.engine`); the bytes are the same as if it had written them.
4. protobuf cannot tell a message that was cut between two fields, or one of another schema, from a shorter one of this
   schema; ``unknown_fields="refuse"`` refuses those that leave fields over.
5. Maps are written in the order of their keys, whatever ``deterministic`` says; other fields always stand in the order
   of their numbers. Unknown fields are never written.
6. Depth, elements and size of a message are checked both ways, so that what is encoded decodes.
7. The path of a `DecodeError` is in the schema (``Request/tensors/*``): records and fields, without indices. It has an
   offset where the fault lies in the wire form, and none where the message lacks something.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NoReturn, TypeVar

import google.protobuf
from google.protobuf.internal import api_implementation
from google.protobuf.message import Message

from zcser.core.buffers import Buffer, byte_view, writable_view
from zcser.core.codec import Codec, Reads
from zcser.core.errors import BufferTooSmallError, DecodeError, EncodeError
from zcser.core.options import Options
from zcser.core.view import View
from zcser.native import backend
from zcser.protowire.check import Asks, compile_check
from zcser.protowire.count import compile_count
from zcser.protowire.descriptors import file_descriptor, message_classes
from zcser.protowire.engine import make_walker
from zcser.protowire.explain import explain
from zcser.protowire.given import ProtoSchema, given_classes
from zcser.protowire.nesting import MAX_NESTING, NestingError, nesting_path
from zcser.protowire.planner import plan_of
from zcser.protowire.proof import make_prover
from zcser.protowire.read import Read, compile_held_reader, compile_reader, read_value
from zcser.protowire.routes import routes_of
from zcser.protowire.segments import Spliced, gather
from zcser.protowire.stand_in import MOST_BYTES, Parts, part_of
from zcser.protowire.views import Parsed, Show, compile_views
from zcser.protowire.write import compile_writer
from zcser.schema.model import Ref, Schema
from zcser.schema.normal import Normaliser

__all__ = ["ProtobufCodec"]

T = TypeVar("T")

Check = Callable[[Message], None]
WriteHeld = Callable[[Any, list[memoryview]], Message]

SEGMENT_FROM = 1024
"""Bytes of a payload that becomes a segment of its own."""

HELD_FROM = 65_536
"""Bytes of a payload from which on it is faster to copy it once by splicing or cutting than twice by upb; of a message
too, in which `decode` looks for such payloads.
"""


class ProtobufCodec(Codec[T]):
    """See the head of this module.

    Notes
    -----
    Copies: `encode_segments` copies no payload of 1 KB and more, `encode` and `encode_into` copy each once, into the
    message; a tensor that is not C-contiguous and a bytearray or memoryview in a field of bytes once before. `decode`
    copies what it gives; with ``copy=False``, and in views, bytes and tensors alias the message. `decode_segments` and
    `view_segments` alias the segments that `encode_segments` gave; where others cut through a payload, all are joined
    first. Lifetime: what aliases keeps the buffer alive, which must not change.

    Alignment: a tensor lies wherever the fields before it end, so that its address may not fit its dtype, as its
    ``flags.aligned`` says; numpy reads it right, but slower. With ``aligned=True`` the data of every tensor begins at a
    multiple of 64 bytes from the start of the message, behind a field of padding that other readers step over
    (`zcser.protowire.padding`), and reading copies what is not aligned none the less.
    """

    name: ClassVar[str] = "protobuf"
    format: ClassVar[str] = "Protocol Buffers (proto3)"
    wire: ClassVar[str] = "protobuf"
    library: ClassVar[str] = "protobuf"
    keyless: ClassVar[bool] = True
    reads: ClassVar[dict[str, Reads]] = {"str": "parse", "bytes": "alias", "tensor": "alias", "list": "parse"}
    joinable: ClassVar[bool] = True

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        limits = options.limits
        if isinstance(schema, ProtoSchema):
            self._plan = plan_of(schema, schema.declared)
            self._classes = given_classes(schema, self._plan)
        else:
            self._plan = plan_of(schema)
            self._classes = message_classes(file_descriptor(self._plan))
        self._normal = Normaliser(schema, strict=options.strict, finite=False, limits=limits, codec=self.name)
        # A group is not walked through; where there is one, upb takes payloads as they are.
        has_groups = isinstance(schema, ProtoSchema) and schema.has_groups
        routes = None if has_groups else routes_of(self._plan)
        self._walker = None if routes is None else make_walker(routes)
        self._refuses_unknown: Check | None = None
        if options.unknown_fields == "refuse":
            self._refuses_unknown = compile_check(self._plan, self._classes, options, Asks(unknown=True))
        root = self._classes[self._plan.messages[self._plan.root].name]
        # Taken from the class: upb looks a message's attribute up among its fields first.
        self._parse: Callable[[Any], Message] = root.FromString
        self._serialize: Callable[[Message], bytes] = root.SerializeToString
        if self._plan.has_maps:
            self._serialize = functools.partial(root.SerializeToString, deterministic=True)
        # An item takes a byte at least: a message of no more bytes than this breaks neither limit.
        self._few_bytes = min(limits.bytes, limits.elements, MOST_BYTES)
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Version and implementation of the library below, and which walk finds payloads."""
        kind = api_implementation.Type()
        upb = {"upb": "upb (C)", "python": "pure Python"}.get(kind, kind)
        return google.protobuf.__version__, f"{upb}, payloads by {'C' if backend == 'native' else 'Python'}"

    # Compiled when first asked for: most codecs need few of them.

    @functools.cached_property
    def _write(self) -> Callable[[Any], Message]:
        return self._after_normal(compile_writer(self._plan, self._classes, self._normal, self.options))

    @functools.cached_property
    def _write_held(self) -> WriteHeld:
        return self._writer_of_held(HELD_FROM)

    @functools.cached_property
    def _write_segments(self) -> WriteHeld:
        return self._writer_of_held(SEGMENT_FROM)

    def _writer_of_held(self, held_from: int) -> WriteHeld:
        if self.options.aligned:
            held_from = 1
        write = compile_writer(self._plan, self._classes, self._normal, self.options, held_from=held_from)
        return self._after_normal(write)

    @functools.cached_property
    def _reads(self) -> dict[int, Read]:
        return compile_reader(self._plan, self._classes, self.options)

    @functools.cached_property
    def _read(self) -> Read:
        return self._restoring(self._reads[self._plan.root])

    @functools.cached_property
    def _held_reads(self) -> dict[int, Read]:
        return compile_held_reader(self._plan, self._classes, self.options, copy=True)

    @functools.cached_property
    def _read_held(self) -> Read:
        return self._restoring(self._held_reads[self._plan.root])

    @functools.cached_property
    def _borrow(self) -> Read:
        reads = compile_held_reader(self._plan, self._classes, self.options, copy=False)
        return self._restoring(reads[self._plan.root])

    @functools.cached_property
    def _verify(self) -> Check | None:
        asks = Asks(values=self.options.guard == "on", unknown=self.options.unknown_fields == "refuse")
        return compile_check(self._plan, self._classes, self.options, asks)

    @functools.cached_property
    def _proves(self) -> Callable[[bytes], bool] | None:
        return make_prover(self._plan, self._classes, self.options)

    @functools.cached_property
    def _open(self) -> Show:
        return compile_views(self._plan, self._classes, self._held_reads, aligned=self.options.aligned)

    @functools.cached_property
    def _show(self) -> Callable[[Message, Parts, int], View]:
        open_view = self._open

        def show(message: Message, parts: Parts, size: int) -> View:
            view: View = open_view(message, Parsed(message, parts, size, False))
            return view

        return show

    @functools.cached_property
    def _show_verified(self) -> Callable[..., View]:
        # A view opens in so short a time that to ask the codec for each of these would be a tenth of it.
        open_view, proves, check = self._open, self._proves, self._verify
        is_checked = self.options.guard == "on"
        explains_unknown = self._refuses_unknown is not None

        def show(
            message: Message, parts: Parts, size: int, head: bytes | memoryview, data: bytes | memoryview | None
        ) -> View:
            # A proof reads `head` again, which another thread may have changed since it was parsed, if it is no bytes.
            if check is not None and not (proves is not None and head.__class__ is bytes and proves(head)):
                if explains_unknown:
                    self._value(data, check, message)
                else:
                    read_value(check, message)
            view: View = open_view(message, Parsed(message, parts, size, is_checked))
            return view

        return show

    @functools.cached_property
    def _count(self) -> Callable[[Message], int]:
        return compile_count(self._plan, self._classes)

    def _after_normal(self, write: Callable[..., Message]) -> Callable[..., Message]:
        """The writer of normal values, for values that are checked to be so first where that is asked for."""
        if not self.options.strict:
            return write
        normal = self._normal

        def convert(value: Any, *payloads: list[memoryview]) -> Message:
            return write(normal(value), *payloads)

        return convert

    def _restoring(self, read: Read) -> Read:
        check = self._refuses_unknown
        if check is None:
            return read

        def restore(message: Message, *parts: Parts) -> Any:
            check(message)
            return read(message, *parts)

        return restore

    # --- encoding -----------------------------------------------------------------------------------------------------

    def encode(self, value: T) -> bytes:
        """See `Codec.encode`."""
        if self._walker is None:
            return self.dump(self.convert(value))
        spliced = self._splice(value, self._write_held)
        return b"".join(spliced.segments()) if spliced.payloads else spliced.text

    def encode_into(self, value: T, out: Buffer, offset: int = 0) -> int:
        """See `Codec.encode_into`."""
        spliced = self._splice(value, self._write_held)
        target = writable_view(out, offset, codec=self.name)
        if spliced.size > len(target):
            raise BufferTooSmallError(spliced.size, len(target), codec=self.name)
        spliced.write(target)
        return spliced.size

    def encode_segments(self, value: T) -> list[memoryview]:
        """See `Codec.encode_segments`."""
        return self._splice(value, self._write_segments).segments()

    def encoded_size(self, value: T) -> int:
        """See `Codec.encoded_size`. All but the payloads is written."""
        return self._splice(value, self._write_held).size

    def convert(self, value: T) -> Message:
        """See `Codec.convert`; the message is fresh, and holds copies of its payloads."""
        try:
            return self._write(value)
        except Exception as error:  # noqa: BLE001 - whatever it is, the second try finds out or says so
            return self._convert_normal(value, error, self._write)

    def _splice(self, value: T, write: WriteHeld) -> Spliced:
        if self._walker is None:
            text = self.dump(self.convert(value))
            return Spliced(text, (), (), len(text))
        payloads: list[memoryview] = []
        try:
            message = write(value, payloads)
        except Exception as error:  # noqa: BLE001 - as above
            payloads = []
            message = self._convert_normal(value, error, write, payloads)
        head = self.dump(message)
        if not payloads:
            return Spliced(head, (), (), len(head))
        spliced = self._walker.splice(head, self.options.aligned)
        if spliced is None:
            raise EncodeError("the message changed while it was written", codec=self.name)
        text, cuts = spliced
        size = len(text) + sum(map(len, payloads))
        if size > self._few_bytes:
            self._check_size(size, None, EncodeError)
        return Spliced(text, cuts, payloads, size)

    def _convert_normal(
        self, value: T, error: Exception, write: Callable[..., Message], *payloads: list[memoryview]
    ) -> Message:
        """Convert what did not fit as it stood; raise the `EncodeError` if it does not fit at all.

        A message of a generated class is taken as it is, as `dump` takes it.
        """
        if isinstance(value, Message) and Ref(value.DESCRIPTOR.full_name) == self.schema.root:
            return value
        try:
            normal = self._normal(value)
            return write(normal, *payloads)
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
        """See `Codec.decode`."""
        whole = data if data.__class__ is bytes else byte_view(data, codec=self.name)
        value: T
        if self._walker is None or (copy and len(whole) < HELD_FROM):
            value = self._value(whole, self._read, self.load(whole))
        else:
            message, parts, _ = self._cut(whole, HELD_FROM if copy else 1)
            value = self._value(whole, self._read_held if copy else self._borrow, message, parts)
        return value

    def decode_segments(self, segments: Sequence[Buffer], *, copy: bool = True) -> T:
        """See `Codec.decode_segments`."""
        found = self._cut_segments(segments, HELD_FROM if copy else 1)
        if isinstance(found, bytes):
            return self.decode(found, copy=copy)
        message, parts, _ = found
        value: T = self._value(None, self._read_held if copy else self._borrow, message, parts)
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
        except Exception as error:  # noqa: BLE001 - upb has several for bytes that are corrupt
            self._refuse(data, error)
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
        Copies: upb parses the message, but for payloads, into memory of its own.
        """
        whole = data if data.__class__ is bytes else byte_view(data, codec=self.name)
        message, parts, head = (self.load(whole), (), whole) if self._walker is None else self._cut(whole, 1)
        if verify:
            return self._show_verified(message, parts, len(whole), head, whole)
        return self._show(message, parts, len(whole))

    def view_segments(self, segments: Sequence[Buffer], *, verify: bool = True) -> View:
        """See `Codec.view_segments`."""
        found = self._cut_segments(segments, 1)
        if isinstance(found, bytes):
            return self.view(found, verify=verify)
        message, parts, head = found
        size = sum(map(len, parts))
        if verify:
            return self._show_verified(message, parts, size, head, None)
        return self._show(message, parts, size)

    def _cut(self, data: Any, least: int) -> tuple[Message, Parts, bytes]:
        """Parse a message whose payloads of `least` bytes and more are held back; also what was parsed."""
        size = len(data)
        if size > self._few_bytes:
            self._check_size(size, None, DecodeError)
        head = self._walker.cut(data, least)  # type: ignore[union-attr]  # asked for where there is one
        if head is None:
            self._refuse(data)
        try:
            message = self._parse(head)
        except Exception as error:  # noqa: BLE001 - upb has several for bytes that are corrupt
            self._refuse(data, error)
        if size > self._few_bytes:
            self._check_size(size, message, DecodeError)
        return message, (data if data.__class__ is bytes else part_of(data),), head

    def _cut_segments(self, segments: Sequence[Buffer], least: int) -> bytes | tuple[Message, Parts, bytes]:
        """The same of segments; all of them joined where they are not one payload each, or one is at fault."""
        gathered = gather(segments, self.name)
        if gathered.size > self._few_bytes:
            self._check_size(gathered.size, None, DecodeError)
        if self._walker is None or len(gathered.pieces) < 2:
            return gathered.joined()
        parts, gaps = gathered.parts()
        head = self._walker.cut(parts[0], least, gaps)
        if head is None:
            return gathered.joined()
        try:
            message = self._parse(head)
        except Exception:  # noqa: BLE001 - told of the joined message
            return gathered.joined()
        if gathered.size > self._few_bytes:
            self._check_size(gathered.size, message, DecodeError)
        return message, parts, head

    def _value(self, data: bytes | memoryview | None, read: Read, *message: Any) -> Any:
        """What `read` gives; for an unknown field, an error with its place in the bytes, where these are given."""
        try:
            return read_value(read, *message)
        except DecodeError as error:
            if data is None or self._refuses_unknown is None:
                raise
            raise explain(self._plan, data, unknown=True) or error from None

    def _refuse(self, data: bytes | memoryview, error: Exception | None = None) -> NoReturn:
        """Raise the error of bytes that upb or the walk refused."""
        found = explain(self._plan, data)
        if found is None:
            raise DecodeError(f"not a protobuf message of this schema: {error}", codec=self.name) from error
        raise type(found)(
            f"not a protobuf message of this schema: {found.reason}",
            codec=self.name,
            path=found.path,
            offset=found.offset,
        ) from error

    def _check_size(self, size: int, message: Message | None, kind: type[EncodeError | DecodeError]) -> None:
        """Hold a message that may be too large to the limits on bytes and, where it is given, on elements."""
        limits = self.options.limits
        if size > limits.bytes:
            raise kind(f"{size} bytes are more than limits.bytes = {limits.bytes}", codec=self.name)
        if size > MOST_BYTES:
            raise kind(f"{size} bytes are more than the {MOST_BYTES} that protobuf parsers accept", codec=self.name)
        if message is None or self.options.guard == "off":
            return
        try:
            count = self._count(message)
        except RecursionError as error:
            raise kind("no stack is left to count the message's items", codec=self.name) from error
        if count > limits.elements:
            raise kind(f"{count} items are more than limits.elements = {limits.elements}", codec=self.name)
