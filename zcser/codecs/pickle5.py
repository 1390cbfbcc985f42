"""Pickle, protocol 5, by the standard library: for bytes of one's own, between processes that trust each other.

1. What is pickled is the tree of a value (`zcser.tree.form`), never the value: builtins, and tensors as out-of-band
   buffers. So the bytes name no class, and the reader, which finds none, calls nothing.
2. That is no promise of safety. Pickle was not made for bytes of others: a few of them can ask for all of the memory, or
   for more time than there is. Decoding is refused until ``allow_untrusted_code=True`` says that they are trusted.
3. Objects that stand in a value twice are pickled once: what is decoded may share a list where the value did.
"""

from __future__ import annotations

import io
import pickle
import platform
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn, TypeVar

from zcser.core.buffers import Buffer, byte_views
from zcser.core.errors import DecodeError
from zcser.core.options import Options
from zcser.schema.model import Schema
from zcser.tree.codec import TreeWriter
from zcser.tree.form import Form
from zcser.tree.read import tree_reader
from zcser.tree.splice import BIG

__all__ = ["Pickle5Codec"]

T = TypeVar("T")

_PROTOCOL = 5


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"it asks for {module}.{name}; a message of this codec names no class")


def _out_of_band(data: bytes | memoryview) -> pickle.PickleBuffer:
    # Read-only, so that in band it is read back as bytes, not as a bytearray.
    return pickle.PickleBuffer(memoryview(data).toreadonly())


class Pickle5Codec(TreeWriter[T]):
    """See the head of this module.

    Notes
    -----
    Copies: `encode` copies each tensor once, `decode` as well, and with ``copy=True`` once more. `encode_segments` aliases
    tensors and bytes of 4 KiB or more, and so does ``decode_segments(copy=False)``, but for a tensor whose address does
    not fit its dtype, which is copied. Lifetime: what aliases keeps its segment alive.
    """

    name = "pickle5"
    format = "Python pickle, protocol 5"
    wire = "pickle"
    library = "pickle"
    form = Form(
        native_bytes=True,
        finite=False,
        text_keys=False,
        big_ints=True,
        shares=True,
        keeps_tuples=True,
        surrogates=True,
        out_of_band=_out_of_band,
    )
    ends_itself = True
    self_delimiting = True
    trusted_only = True

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        self._read_buffers = {
            copy: tree_reader(schema, self.form, options, copy=copy, lifts=True) for copy in (True, False)
        }
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Python's own version; its C implementation where the interpreter has it."""
        accelerated = pickle.Pickler.__module__ == "_pickle"
        return platform.python_version(), "C accelerator" if accelerated else "pure Python"

    def _dumps(self, tree: Any, /) -> bytes:
        return pickle.dumps(tree, _PROTOCOL)

    def _loads(self, data: Any, /) -> Any:
        return self._unpickle(data, None)

    def _unpickle(self, data: Any, buffers: Iterable[memoryview] | None) -> Any:
        if not self.options.allow_untrusted_code:
            raise DecodeError(
                "bytes of others can do harm as a pickle; make the codec with allow_untrusted_code=True where they are "
                "your own",
                codec=self.name,
            )
        file = io.BytesIO(data)
        tree = _Unpickler(file, buffers=buffers).load()
        if file.tell() != len(data):
            raise DecodeError("the pickle ends before its bytes do", codec=self.name, offset=file.tell())
        return tree

    def encode_segments(self, value: T) -> list[memoryview]:
        """See `Codec.encode_segments`: the pickle, then its out-of-band buffers."""
        buffers: list[memoryview] = []

        def keep_in_band(buffer: pickle.PickleBuffer) -> bool:
            raw = buffer.raw()
            if len(raw) < BIG:
                return True
            buffers.append(raw)
            return False

        tree = self.convert(value)
        try:
            data = pickle.dumps(tree, _PROTOCOL, buffer_callback=keep_in_band)
        except Exception as error:  # noqa: BLE001 - see TreeWriter.convert
            buffers.clear()
            data = pickle.dumps(self._write_normal(value, error, self._write), _PROTOCOL, buffer_callback=keep_in_band)
        self._bound(value, data)
        self._bound_bytes(len(data) + sum(map(len, buffers)))
        return [memoryview(data), *buffers]

    def decode_segments(self, segments: Sequence[Buffer], *, copy: bool = True) -> T:
        """See `Codec.decode_segments`."""
        parts = [part.toreadonly() for part in byte_views(segments, codec=self.name)]
        if not parts:
            raise DecodeError("a message has one segment at least", codec=self.name)
        if sum(map(len, parts)) > self.options.limits.bytes:
            raise DecodeError("the segments together are more than limits.bytes", codec=self.name)
        tree = self._of_segments(parts)
        if len(parts[0]) > self.options.limits.elements:
            self._bound_elements(tree)
        try:
            value: T = self._read_buffers[copy](tree, ())
        except Exception as error:
            raise self._not_restored(self._of_segments(parts), error) from error
        return value

    def _of_segments(self, parts: Sequence[memoryview]) -> Any:
        rest = iter(parts[1:])
        try:
            tree = self._unpickle(parts[0], rest)
        except DecodeError:
            raise
        except Exception as error:
            raise self._not_loaded(error) from error
        if next(rest, None) is not None:
            raise DecodeError(f"{len(parts)} segments are more than the pickle has buffers for", codec=self.name)
        return tree
