"""CBOR by cbor2: JSON's shape with binary numbers, bytes, integers of any size, and tags.

1. A tensor stands as RFC 8746 has it: a typed array, little-endian, under tag 40 where it has not one dimension. What the
   RFC has no form for (other dtypes, no dimension, an extent of 0 beside others) stands as the map of `zcser.tree.form`.
   Typed arrays of either byte order are read.
2. Numbers, text and maps are written as ``cbor2.dumps`` writes them by default, every float in 9 bytes. With
   ``deterministic=True`` it is the library's canonical form: the shortest floats, and keys sorted by length, then bytes
   (RFC 8949, section 4.2.3).
3. No other tag is read: the library would compile the regular expressions of a stranger, raise 2 to his powers, and build
   values that hold themselves, or a part of theirs a million times. It stands as what no field takes, so that it is
   dropped with an unknown field, and refused in any other. Integers in the form of tags 2 and 3 are read as integers, and
   tag 55799, which says that this is CBOR, is passed over.
4. The library passes over bytes behind a message. So a message is read as the first item of an array whose second one is
   a mark (as in the codec ``ormsgpack``): where bytes are left over, the mark is not what follows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import cbor2
import numpy as np
import numpy.typing as npt

from zcser.core.dtypes import dtype_name
from zcser.core.errors import DecodeError, SchemaError
from zcser.core.options import Options
from zcser.schema.model import Int, Kind, Map, Schema
from zcser.tree.codec import TreeWriter
from zcser.tree.form import Form, parts_of
from zcser.tree.splice import NONCE

__all__ = ["Cbor2Codec"]

T = TypeVar("T")

_TAGS = {
    "uint8": 64, "uint16": 69, "uint32": 70, "uint64": 71, "int8": 72, "int16": 77, "int32": 78, "int64": 79,
    "float16": 84, "float32": 85, "float64": 86,
}  # fmt: skip
"""Of typed arrays, little-endian: table 1 of RFC 8746."""
_DTYPES = {
    **{tag: np.dtype(name).newbyteorder("<") for name, tag in _TAGS.items()},
    **{tag - 4: np.dtype(name).newbyteorder(">") for name, tag in _TAGS.items() if np.dtype(name).itemsize > 1},
    68: np.dtype(np.uint8),  # clamped, which is about arithmetic
}
_SHAPED = 40
_SELF_DESCRIBED = 55799
_BIGNUMS = {2: False, 3: True}
_READ_BY_THE_LIBRARY = (0, 1, 4, 5, 25, 28, 29, 30, 35, 36, 37, 52, 54, 100, 256, 258, 260, 261, 1004, 43000)
_MOST_LEVELS = 1000
"""cbor2 has no bound of its own on writing but the C stack's end."""

_ARRAY_OF_TWO = b"\x82"
# Nobody else knows the nonce, so that no message ends in what follows it here.
_MARK = bytes([0x40 | len(NONCE)]) + NONCE


class _Unread:
    """Stands for what a tag holds; of a class that no field takes."""

    def __init__(self, tag: int) -> None:
        self.tag = tag

    def __repr__(self) -> str:
        return f"tag {self.tag}"


def _typed_array(array: npt.NDArray[Any]) -> Any:
    """A normal array as rule 1 has it."""
    name, data = dtype_name(array.dtype) or "", array.tobytes()
    tag, shape = _TAGS.get(name), array.shape
    if tag is None or (len(shape) != 1 and (not shape or 0 in shape)):
        return {"dtype": name, "shape": list(shape), "data": data}
    typed = cbor2.CBORTag(tag, data)
    return typed if len(shape) == 1 else cbor2.CBORTag(_SHAPED, [list(shape), typed])


def _unread(tag: int) -> Callable[[Any, bool], Any]:
    return lambda _value, _is_key: _Unread(tag)


def _unread_tag(tag: Any, _is_key: bool) -> Any:
    return _Unread(tag.tag)


def _typed(tag: int, dtype: np.dtype[Any]) -> Callable[[Any, bool], Any]:
    """From the bytes under a typed array's tag to the map of a tensor."""
    name, size = dtype_name(dtype), dtype.itemsize
    swaps = _TAGS.get(name or "") != tag and size > 1

    def read(data: Any, is_key: bool) -> Any:
        if is_key or data.__class__ is not bytes or len(data) % size:
            return _Unread(tag)
        if swaps:
            data = np.frombuffer(data, dtype).astype(dtype.newbyteorder("<")).tobytes()
        return {"dtype": name, "shape": [len(data) // size], "data": data}

    return read


def _shaped(parts: Any, is_key: bool) -> Any:
    """From the dimensions and the typed array under tag 40 to the map of a tensor."""
    if is_key or parts.__class__ is not list or len(parts) != 2:
        return _Unread(_SHAPED)
    shape, array = parts
    if array.__class__ is not dict or array.keys() != {"dtype", "shape", "data"}:
        return _Unread(_SHAPED)
    return {"dtype": array["dtype"], "shape": shape, "data": array["data"]}


def _bignum(tag: int, is_negative: bool) -> Callable[[Any, bool], Any]:
    # Not as a key: Python's hashes of large integers are easily made to collide.
    def read(data: Any, is_key: bool) -> Any:
        if is_key or data.__class__ is not bytes:
            return _Unread(tag)
        number = int.from_bytes(data)
        return ~number if is_negative else number

    return read


_DECODERS: dict[int, Callable[[Any, bool], Any]] = {
    **{tag: _unread(tag) for tag in _READ_BY_THE_LIBRARY},
    **{tag: _typed(tag, dtype) for tag, dtype in _DTYPES.items()},
    **{tag: _bignum(tag, is_negative) for tag, is_negative in _BIGNUMS.items()},
    _SHAPED: _shaped,
    # The library alone gives tuples for the lists under it.
    _SELF_DESCRIBED: lambda value, _is_key: value,
}


class Cbor2Codec(TreeWriter[T]):
    """See the rules at the head of this module.

    Notes
    -----
    Copies: the library copies a tensor, or bytes, on writing and on reading; a tensor is copied once more before it is
    written, and after it is read with ``copy=True``. Lifetime: nothing aliases a message.
    """

    name = "cbor2"
    format = "CBOR (RFC 8949)"
    wire = "cbor"
    library = "cbor2"
    form = Form(native_bytes=True, finite=False, text_keys=False, big_ints=True, tensor=_typed_array)
    ends_itself = True
    self_delimiting = True

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        if schema.recursive and options.limits.depth > _MOST_LEVELS:
            raise SchemaError(
                f"cbor2 bounds no recursion; limits.depth must be at most {_MOST_LEVELS}", codec=self.name
            )
        parts = parts_of(schema)
        decoders = dict(_DECODERS)
        if any(isinstance(part, Int) and part.bits is None for part in parts):
            for tag in _BIGNUMS:
                del decoders[tag]
        loads = functools.partial(
            cbor2.loads,
            semantic_decoders=decoders,
            tag_hook=_unread_tag,
            # A union adds a level to that of the record in it; a tensor, and the array with the mark, are four more.
            max_depth=max(400, 2 * options.limits.depth + 4),
            # Other keys can be made to collide; those of text cannot.
            strict_hashable_types=all(part.key.kind is Kind.STR for part in parts if isinstance(part, Map)),
        )
        dumps = functools.partial(cbor2.dumps, canonical=True) if options.deterministic else cbor2.dumps
        self._dumps = dumps  # type: ignore[method-assign]
        self._loads = loads if options.guard == "off" else _whole(loads)  # type: ignore[method-assign]
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Version of cbor2, which is Rust since version 6."""
        from importlib.metadata import version  # which takes 20 ms to import

        return version("cbor2"), "Rust extension"


def _whole(loads: Callable[[bytes], Any]) -> Callable[[Any], Any]:
    """The loader of messages that end where their bytes do."""

    def load(data: Any) -> Any:
        value, mark = loads(b"".join((_ARRAY_OF_TWO, data, _MARK)))
        if mark != NONCE:
            raise DecodeError("the message ends before its bytes do", codec=Cbor2Codec.name)
        return value

    return load
