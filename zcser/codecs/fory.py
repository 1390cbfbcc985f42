"""Apache Fory by pyfory, in its cross-language form.

1. What is written is the tree of a value (`zcser.tree.form`): builtins alone. ``strict`` is on, and no class of the user's
   is registered, so that the bytes name none. The form of Python alone (``xlang=False``) is not used: it is the slower of the two for
   such trees, and its reader has types that call what the bytes ask for.
2. A `pyfory.Fory` is no thing to share between threads, and takes milliseconds to make: idle ones are kept, as its own
   ``ThreadSafeFory`` does.
3. The library alone passes over what stands behind a message. So it is given a `pyfory.Buffer`, which says how far it read.
4. The library writes an int as 64 bits, signed; its unsigned type is for annotated fields alone. So an int of 2**63 or more
   is one of an own class, the only one that is registered, by the number 1; what is read is an int again. A tree that
   holds none pays nothing for this, one that does is written twice.
5. What a message may ask for is bounded by its bytes, which the library checks; its own bound on memory, 128 MiB by
   default, would refuse large messages that are well, and is raised to what ``limits.bytes`` can hold.
6. There are no segments: out of band the library hands over bytes, and would copy every tensor first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pyfory

from zcser.core.errors import DecodeError
from zcser.core.options import Options
from zcser.schema.model import Schema
from zcser.tree.codec import TreeWriter
from zcser.tree.form import Form

__all__ = ["ForyCodec"]

T = TypeVar("T")

_LEVELS = 8
"""Of the library's depth for one of ``limits.depth``: it counts two for each list or map, and a union may add a map."""

_LARGEST = (1 << 63) - 1

_MEMORY = 128
"""Bytes that the library reckons for one of the message, at most: an empty map takes one."""


class ForyCodec(TreeWriter[T]):
    """See the head of this module.

    Notes
    -----
    Copies: `encode` copies a tensor twice, `decode` once, and with ``copy=True`` once more. Nothing aliases the message.
    """

    name = "fory"
    format = "Apache Fory (xlang)"
    wire = "fory"
    library = "pyfory"
    # A memoryview the library would write as a list of numbers.
    form = Form(native_bytes=True, finite=False, text_keys=False, big_ints=False, surrogates=True, out_of_band=bytes)
    ends_itself = True
    self_delimiting = True

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        self._loads, self._dumps = _loading(options), _dumping(options)  # type: ignore[method-assign]
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Version of pyfory, and whether its C++ part runs."""
        native = pyfory.Fory.__module__ == "pyfory.serialization"
        return pyfory.__version__, "Cython and C++" if native else "pure Python"


class _Unsigned(int):
    """An int of 2**63 or more, on its way to the library."""


class _UnsignedSerializer(pyfory.Serializer):  # type: ignore[misc]
    """Writes a varint, which it reads as a plain int. The names and parameters are the library's."""

    def write(self, write_context: Any, value: int) -> None:
        write_context.write_var_uint64(value)

    def read(self, read_context: Any) -> int:
        return int(read_context.read_var_uint64())


def _with_unsigned(tree: Any) -> Any:
    """A tree in which every int of 2**63 or more says so by its class."""
    if tree.__class__ is int:
        return _Unsigned(tree) if tree > _LARGEST else tree
    if tree.__class__ is dict:
        return {_with_unsigned(key): _with_unsigned(value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [_with_unsigned(item) for item in tree]
    return tree


def _pool(options: Options) -> tuple[Callable[[], Any], Callable[[Any], None]]:
    """What takes an idle Fory, or makes one, and what gives it back."""
    # list.pop and append are atomic, so that threads never share one.
    idle: list[Any] = []
    limits = options.limits

    def take() -> Any:
        try:
            return idle.pop()
        except IndexError:
            fory = pyfory.Fory(
                xlang=True,
                ref=False,
                strict=True,
                max_depth=_LEVELS * (limits.depth + 1),
                max_graph_memory_bytes=min(_MEMORY * limits.bytes, _LARGEST),
            )
            fory.register(_Unsigned, type_id=1, serializer=_UnsignedSerializer(fory.type_resolver, _Unsigned))
            return fory

    return take, idle.append


def _dumping(options: Options) -> Callable[[Any], bytes]:
    take, give_back = _pool(options)

    def dump(tree: Any) -> bytes:
        fory = take()
        try:
            data: bytes = fory.serialize(tree)
        except OverflowError:
            data = fory.serialize(_with_unsigned(tree))
        # On any other exception it is dropped: it may hold half a message.
        give_back(fory)
        return data

    return dump


def _loading(options: Options) -> Callable[[Any], Any]:
    take, give_back = _pool(options)

    def load(data: Any) -> Any:
        fory, buffer = take(), pyfory.Buffer(data)
        try:
            tree = fory.deserialize(buffer)
        finally:
            give_back(fory)
        if buffer.get_reader_index() != len(data):
            raise DecodeError(
                "the message ends before its bytes do", codec=ForyCodec.name, offset=buffer.get_reader_index()
            )
        return tree

    return load
