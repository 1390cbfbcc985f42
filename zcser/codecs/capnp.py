"""Cap'n Proto by pycapnp, through its dynamic API: no generated files, no compiler.

1. `zcser.capnp.layout` says what the structs look like, and `zcser.capnp.emit` writes them as .capnp text; the library
   parses that, out of a folder that is gone again before the codec is made, once for each codec.
2. A message is built in the library's own segments, then copied out by ``to_bytes``. ``to_segments`` copies too, and a
   builder copies whatever it is given, so that there is no `encode_segments`.
3. Fields are read and set by the library's field objects (``_get_by_field``), in half the time that names take, and a
   message is opened by ``from_segments``, which ``from_bytes`` would take twice as long for, being a context manager.
   The table of segments is read here: a message that is cut, or has bytes behind it, is refused.
4. What `decode` may read of a message is as many words as it has: no legal message needs more, and one whose pointers lead
   to the same place again and again is refused (for views see `zcser.capnp.view`). Nesting is bounded by what the schema
   makes of ``limits.depth``.
5. The library can tell neither fields that the schema does not know, nor the sizes of structs:
   ``unknown_fields="refuse"`` walks the message once more (`zcser.capnp.unknown`).
6. The packed form is another wire, for which there is no codec.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import capnp
import numpy as np

from zcser.capnp.emit import capnp_text
from zcser.capnp.layout import Struct
from zcser.capnp.plan import layout_of
from zcser.capnp.read import Reader, Reading
from zcser.capnp.segments import WORD, cut
from zcser.capnp.tensors import Memory
from zcser.capnp.view import OFTEN, ONCE, Message, Opener, compile_reader
from zcser.capnp.write import Writer, compile_writer
from zcser.core.buffers import Buffer, byte_view
from zcser.core.codec import Codec, Reads
from zcser.core.errors import DecodeError, EncodeError, SchemaError
from zcser.core.options import Options
from zcser.core.view import View
from zcser.schema.depth import refuse_deep
from zcser.schema.model import Schema
from zcser.schema.normal import Normaliser

__all__ = ["CapnpCodec"]

T = TypeVar("T")

_SLACK_WORDS = 1024
"""What may be read beyond a message's own words: lists of structs that other writers cut to nothing, as all are zero."""

_UNLIMITED_WORDS = (1 << 64) - 1

_NESTING = 4
"""Pointers in each other for one level of ``limits.depth``, at most: a list, its item's struct, and two around a value."""

_BITS = 8
"""Of a byte; an item of a list takes one at least."""


class CapnpCodec(Codec[T]):
    """See the head of this module.

    Notes
    -----
    Copies: `encode` copies a tensor into the message, and the message out of the library, which takes it twice. `decode`
    copies what it gives once; with ``copy=False``, and in views, bytes and tensors alias the message, but for the items
    of a list of bytes, which the library only copies, for a tensor whose address does not fit its dtype, and for a
    message that does not begin at a multiple of 8 bytes, which is copied whole. Lifetime: what aliases keeps the
    buffer alive, which must not change.
    """

    name = "capnp"
    format = "Cap'n Proto"
    wire = "capnp"
    library = "pycapnp"
    keyless = True
    reads: ClassVar[dict[str, Reads]] = {"str": "parse", "bytes": "alias", "tensor": "alias", "list": "parse"}
    self_delimiting = True

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        try:
            self._layout = layout_of(schema)
        except SchemaError as error:
            raise SchemaError(error.reason, path=error.path, codec=self.name) from None
        limits = options.limits
        refuse_deep(schema, limits, self.name)
        self._module = _loaded(capnp_text(self._layout))
        self._root = getattr(self._module, self._layout.root.name)
        self._normal = Normaliser(schema, strict=options.strict, finite=False, limits=limits, codec=self.name)
        self._nesting = _NESTING * (limits.depth + 1)
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Version of pycapnp, and of the C++ library in it."""
        return capnp.__version__, f"C++ {capnp.lib.capnp._CAPNP_VERSION}"

    def _field(self, struct: Struct, name: str) -> Any:
        return getattr(self._module, struct.name).schema.fields[name]

    @cached_property
    def _write(self) -> Writer:
        options = self.options
        return compile_writer(
            self._layout,
            self._field,
            normalise=self._normal.part if options.guard == "on" else None,
            depth=options.limits.depth,
            ordered=options.deterministic,
        )

    @cached_property
    def _readers(self) -> tuple[Reader, Opener]:
        return compile_reader(self._layout, self._field, self.options.limits)

    @cached_property
    def _read(self) -> Reader:
        return self._readers[0]

    @cached_property
    def _refuse_unknown(self) -> Callable[[Sequence[Any]], None] | None:
        if self.options.unknown_fields == "drop":
            return None
        from zcser.capnp.unknown import Walk

        return Walk(self._layout, lambda struct: getattr(self._module, struct.name).schema.node)

    # --- encoding -----------------------------------------------------------------------------------------------------

    def encode(self, value: T) -> bytes:
        """See `Codec.encode`."""
        data = self._dumped(self.convert(value))
        if len(data) * _BITS > self.options.limits.elements and self.options.guard == "on":
            # Only a large message can have too many items.
            self._normal(value)
        return data

    def convert(self, value: T) -> Any:
        """The library's builder of a value."""
        if self.options.strict:
            self._normal(value)
        try:
            return self._built(value)
        except Exception as error:  # noqa: BLE001 - of many kinds, by what the value holds
            return self._convert_normal(value, error)

    def _built(self, value: Any) -> Any:
        builder = capnp._MallocMessageBuilder().init_root(self._root.schema)
        self._write(builder, value, 0)
        return builder

    def _convert_normal(self, value: Any, error: Exception) -> Any:
        """Build what the writer did not take as it was, or say why not."""
        if self.options.guard == "off":
            raise EncodeError(f"the value does not fit the schema: {_words(error)}", codec=self.name) from error
        try:
            return self._built(self._normal(value))
        except EncodeError:
            raise
        except Exception as again:
            raise EncodeError(f"the message cannot be built: {_words(again)}", codec=self.name) from again

    def dump(self, native: Any) -> bytes:
        """Bytes of a builder."""
        native.clear_write_flag()
        return self._dumped(native)

    def _dumped(self, builder: Any) -> bytes:
        try:
            data: bytes = builder.to_bytes()
        except Exception as error:
            raise EncodeError(f"the message cannot be written: {_words(error)}", codec=self.name) from error
        if len(data) > self.options.limits.bytes:
            raise EncodeError(
                f"{len(data)} bytes are more than limits.bytes = {self.options.limits.bytes}", codec=self.name, path=""
            )
        return data

    # --- decoding -----------------------------------------------------------------------------------------------------

    def decode(self, data: Buffer, *, copy: bool = True) -> T:
        """See `Codec.decode`."""
        flat = self._flat(data)
        memory = None if copy else Memory(flat)
        try:
            value: T = self._read(self._open(flat, ONCE), Reading(memory, self.options.limits.elements), 0)
        except Exception as error:
            raise self._refusal(error) from error
        return value

    def load(self, data: Buffer) -> Any:
        """The library's reader of a message. It can be read once: what may be read is as much as the message has."""
        flat = self._flat(data)
        try:
            return self._open(flat, ONCE)
        except Exception as error:
            raise self._refusal(error) from error

    def restore(self, native: Any) -> T:
        """The value of a reader."""
        try:
            value: T = self._read(native, Reading(None, self.options.limits.elements), 0)
        except Exception as error:
            raise self._refusal(error) from error
        return value

    def view(self, data: Buffer, *, verify: bool = True) -> View:  # noqa: ARG002 - there is nothing to leave out
        """See `Codec.view`. What a message holds is verified as it is read, whatever `verify` says."""
        try:
            message = Message(self._flat(data), self._open_view, self._read, self.options.limits, self._refusal)
            view: View = self._readers[1](message, OFTEN)
        except Exception as error:
            raise self._refusal(error) from error
        return view

    def _flat(self, data: Buffer) -> memoryview:
        flat = byte_view(data, codec=self.name).toreadonly()
        if len(flat) > self.options.limits.bytes:
            raise DecodeError(f"{len(flat)} bytes are more than limits.bytes", codec=self.name)
        return flat

    def _open(self, flat: Any, times: int | None) -> Any:
        """The library's reader of the root."""
        segments = cut(flat)
        if self._refuse_unknown is not None:
            self._refuse_unknown(segments)
        words = _UNLIMITED_WORDS if times is None else times * len(flat) // WORD + _SLACK_WORDS
        return self._root.from_segments(segments, words, self._nesting)

    def _open_view(self, flat: memoryview, times: int | None) -> Any:
        # The reader holds the segments for as long as it lives. Unlike a memoryview, an array is nothing to the collector.
        return self._open(np.frombuffer(flat, np.uint8), times)

    def _refusal(self, error: Exception) -> DecodeError:
        if isinstance(error, DecodeError):
            # Never the same one: as its own cause it would keep the message alive until the collector comes.
            return type(error)(error.reason, codec=self.name, path=error.path, offset=error.offset)
        return DecodeError(f"the message cannot be read: {_words(error)}", codec=self.name)


def _loaded(text: str) -> Any:
    """The library's module of a .capnp text. Its schemas live as long as it does."""
    with tempfile.TemporaryDirectory(prefix="zcser-") as folder:
        path = Path(folder) / "schema.capnp"
        path.write_text(text)
        # A parser of its own: the library's shared one refuses a second file of the same id.
        return capnp.SchemaParser().load(str(path))


def _words(error: Exception) -> str:
    """An exception in words; the library's own ends in the addresses of a stack."""
    text = str(getattr(error, "description", None) or error)
    return text.partition("\nstack:")[0] or type(error).__name__
