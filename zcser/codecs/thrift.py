"""Thrift by Apache's own library: its compact protocol, and its binary one, with structs that are made at run time.

1. Apache's library (``thrift``) and not thriftpy2, which was looked at too: it takes classes made at run time as well, its
   C++ extension is the faster one in both directions and has the compact protocol, and it checks what it reads. thriftpy2's
   reader of buffers hands out memory that is not the message's where a length leads over its end, gives an empty list for
   one of another type, and can be kept busy by a list of a type that does not exist.
2. ``fastbinary`` is called as the code is that the Thrift compiler writes. Where it was not built there is no codec.
3. It bounds nested structs to 64, of both directions; what nests deeper is an `EncodeError`.
4. A list is made of the length that it claims, before its items are there: no length may be more than the message's bytes,
   as each item takes one at least.
5. It puts U+FFFD for what is not UTF-8. A message that holds the bytes of U+FFFD itself, or is large, is read with its text
   as bytes, and any other may have no U+FFFD in its text.
6. It passes over fields that it does not know. Where they are to be refused, what was read is written again, and must be as
   long as the message.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn, TypeVar

# fastbinary loads TBase in the first call that decodes, where it would be that call's time.
from thrift.protocol import TBase, fastbinary  # noqa: F401

from zcser.core.errors import DecodeError
from zcser.core.options import Options
from zcser.schema.model import Schema
from zcser.thrift.explain import explain_struct
from zcser.thrift.plan import Plan
from zcser.thrift.read import thrift_reader
from zcser.thrift.structs import Structs
from zcser.thrift.write import FORM, thrift_writer
from zcser.tree.codec import TreeWriter

__all__ = ["ThriftBinaryCodec", "ThriftCodec"]

T = TypeVar("T")

_REPLACEMENT = "\ufffd".encode()
_LARGE = 1 << 20
"""Bytes of a message that is not searched for U+FFFD."""


class _Transport:
    """What the library reads from: the attributes of its ``CReadableTransport``."""

    __slots__ = ("cstringio_buf",)

    def __init__(self, data: Any) -> None:
        self.cstringio_buf = io.BytesIO(data)

    def cstringio_refill(self, _partial: bytes, size: int) -> NoReturn:
        raise EOFError(f"the message ends too early: {size} bytes are not there")


class _Protocol:
    """And the attributes of its protocols that it asks for."""

    __slots__ = ("container_length_limit", "string_length_limit", "trans")

    def __init__(self, data: Any) -> None:
        self.trans = _Transport(data)
        self.string_length_limit = self.container_length_limit = len(data)


class _ThriftCodec(TreeWriter[T]):
    """What both protocols share.

    Notes
    -----
    Copies: `encode` copies tensors three times and bytes twice, `decode` tensors twice and bytes once; with ``copy=False``
    both once. Lifetime: what `decode` gives never aliases `data`.
    """

    library = "thrift"
    keyless = True
    form = FORM
    guards_in_c = False
    ends_itself = True
    self_delimiting = True

    _encode: ClassVar[Callable[[Any, Any], bytes]]
    _decode: ClassVar[Callable[[Any, Any, Any], Any]]

    def __init__(self, schema: Schema, options: Options) -> None:
        self._structs = Structs(Plan(schema, self.name))
        super().__init__(schema, options)
        self._refuses = options.unknown_fields == "refuse"
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Version of thrift; its C++ extension is what is used."""
        from importlib.metadata import version  # which takes 20 ms to import

        return version("thrift"), "C++ extension"

    def _writer(self) -> Callable[[Any], Any]:
        return thrift_writer(self._structs, self.options, self._normalise)

    def _reader(self, *, copy: bool) -> Callable[[Any], Any]:
        return thrift_reader(self._structs, self.options, copy=copy)

    def _explain(self, tree: Any) -> DecodeError | None:
        return explain_struct(self._structs, self.options, tree, self.name)

    def _dumps(self, tree: Any, /) -> bytes:
        return type(self)._encode(tree, self._structs.arguments["UTF8"])

    def _loads(self, data: Any, /) -> Any:
        data = bytes(data)
        as_bytes = len(data) > _LARGE or _REPLACEMENT in data
        arguments = self._structs.arguments["BINARY" if as_bytes else "UTF8"]
        protocol = _Protocol(data)
        buffer = protocol.trans.cstringio_buf
        try:
            tree = type(self)._decode(arguments[0](), protocol, arguments)
        except Exception as error:
            raise DecodeError(str(error) or type(error).__name__, codec=self.name, offset=buffer.tell()) from error
        if buffer.tell() != len(data):
            raise DecodeError("the message ends before its bytes do", codec=self.name, offset=buffer.tell())
        if self._refuses and len(type(self)._encode(tree, arguments)) != len(data):
            raise DecodeError("a field is unknown, of another type, or there twice", codec=self.name)
        return tree


class ThriftCodec(_ThriftCodec[T]):
    """Thrift's compact protocol; see the head of this module."""

    name = "thrift"
    format = "Thrift compact protocol"
    wire = "thrift"
    _encode = fastbinary.encode_compact
    _decode = fastbinary.decode_compact


class ThriftBinaryCodec(_ThriftCodec[T]):
    """Thrift's binary protocol, without a message's envelope; see the head of this module."""

    name = "thrift-binary"
    format = "Thrift binary protocol"
    wire = "thrift-binary"
    _encode = fastbinary.encode_binary
    _decode = fastbinary.decode_binary
