"""The content of a value as bytes, and the key that a hash of them gives.

1. Layout, version 1. A key is the digest of ``b"zcser-content-1"``, the salt and the value, one behind the other; the salt stands as bytes
   do. Every part is a tag of one byte and what follows it; numbers are little-endian, ``u64`` is a length:

   ========  ===============  =====================================================================================
   tag       value            what follows
   ========  ===============  =====================================================================================
   ``N``     None             nothing
   ``F T``   False, True      nothing
   ``q``     int              int64; ``Q``, where that is too small: u64, and so many bytes of two's complement, of
                              which ``bit_length() // 8 + 1`` are taken
   ``d``     float            IEEE 754 double; any NaN is ``0x7ff8000000000000``
   ``s``     str              u64, UTF-8
   ``b``     bytes            u64, the bytes
   ``a``     array            u64, dtype's name; u64, dimensions; a u64 each; elements in C order, their bits as they are
   ``[``     list, tuple      u64, the items; ``(`` where there is an item and all are int64, ``{`` where all are
                              floats: u64, and eight bytes for each
   ``m``     dict, record     u64; keys and their values, in the order of the keys' bytes
   ``k``     `ContentKey`     u64, name of its algorithm; u64, its digest
   ========  ===============  =====================================================================================

2. No content is the beginning of another one, and two values have the same content only where this table says so. What
   a wire carries is in it; which class of Python holds that is not: a dataclass, a Struct and a dict of the same fields,
   a list and a tuple, an enum's member and its value, bytes and a memoryview have one content, since a cache stands
   between services that have other classes. 1, 1.0 and True have three, 0.0 and -0.0 two; a field that is absent, None,
   or empty three.
3. This layout never changes. Another one would have another number in its first bytes, and never meet a key of this one.
4. Big bytes and tensors are hashed where they lie; one that is strided or big-endian goes through a buffer of 512 KiB.
"""

from __future__ import annotations

import enum
import math
import struct
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from zcser.core.content_key import ContentKey, Hasher, new_hasher
from zcser.core.dlpack import ForeignTensorError, array_of, is_foreign_tensor
from zcser.core.dtypes import dtype_name, refusal, tensor_bytes
from zcser.core.errors import EncodeError
from zcser.core.fidelity import field_names
from zcser.core.paths import pointer
from zcser.core.view import View, to_value
from zcser.core.words import brief

__all__ = ["digest_of"]

_MAGIC = b"zcser-content-1"
_BIG = 4096
"""Bytes from which on a part is hashed where it lies, and pieces that are gathered before they are."""
_CHUNK_BYTES = 1 << 19

_ITERATED: Any = [["readonly", "contig"]]
"""Flags of `numpy.nditer`, whose stub does not know the second."""

_UNSET = object()

_U64 = struct.Struct("<Q").pack
_INT = struct.Struct("<cq").pack
_DOUBLE = struct.Struct("<cd").pack
_HEAD = struct.Struct("<cQ").pack
_NAN = b"d" + (0x7FF8 << 48).to_bytes(8, "little")


def digest_of(value: Any, algorithm: str, salt: bytes, depth: int, path: tuple[str, ...] = ()) -> bytes:
    """The digest of a value's content.

    Raises
    ------
    EncodeError
        A part has no content, or lies deeper than `depth` levels; with its path, which begins with `path`.
    ValueError, CodecUnavailableError
        There is no such algorithm, or its library is not installed.
    """
    hasher = new_hasher(algorithm)
    content = _Content(hasher, algorithm)
    content.pieces += (_MAGIC, _HEAD(b"b", len(salt)), salt)
    try:
        content.add(value, depth)
    except _RefusedError as fault:
        raise EncodeError(fault.reason, path=pointer((*path, *reversed(fault.steps)))) from None
    content.flush()
    return hasher.digest()


class _RefusedError(Exception):
    """Gathers the path, from the part to the root, on its way up."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        self.steps: list[str | int] = []


class _Content:
    """Writes to a hasher. Small pieces are gathered, so that it is called seldom."""

    def __init__(self, hasher: Hasher, algorithm: str) -> None:
        self.hasher = hasher
        self.algorithm = algorithm
        self.pieces: list[bytes] = []

    def flush(self) -> None:
        self.hasher.update(b"".join(self.pieces))
        self.pieces.clear()

    def add(self, value: Any, depth: int) -> None:
        """Any value."""
        simple = _SIMPLE.get(type(value))
        if simple is not None:
            self.pieces.append(simple(value))
            return
        write = _WRITE.get(type(value))
        if write is not None:
            write(self, value, depth)
            return
        fields = _fields(value)
        if fields is not None:
            self.record(value, fields, depth)
        elif (plain := _plain(value)) is not value:
            self.add(plain, depth)
        elif isinstance(value, dict):
            self.map(value, depth)
        elif isinstance(value, list | tuple):
            self.sequence(value, depth)
        elif isinstance(value, View):
            self.add(to_value(value), depth)
        elif is_foreign_tensor(value):
            try:
                self.tensor(array_of(value), depth)
            except ForeignTensorError as error:
                raise _RefusedError(str(error)) from None
        else:
            _refuse_class(value)

    def data(self, data: bytes | memoryview) -> None:
        """Bytes, without a length."""
        if len(data) >= _BIG:
            self.flush()
            self.hasher.update(data)
        else:
            self.pieces.append(bytes(data))

    def text(self, value: str, _depth: int) -> None:
        try:
            data = value.encode()
        except UnicodeEncodeError as error:
            raise _RefusedError(
                f"lone surrogate {value[error.start]!a} at character {error.start} has no UTF-8 form"
            ) from None
        if len(data) < _BIG:
            self.pieces.append(_HEAD(b"s", len(data)) + data)
        else:
            self.pieces.append(_HEAD(b"s", len(data)))
            self.data(data)

    def blob(self, value: bytes | bytearray | memoryview, _depth: int) -> None:
        try:
            view = memoryview(value)
            flat = view.cast("B") if view.nbytes and view.c_contiguous else view.tobytes()
        except ValueError:
            raise _RefusedError("the memoryview was released") from None
        except TypeError:
            raise _RefusedError(f"a memoryview of format {view.format!r} has no bytes of its own") from None
        self.pieces.append(_HEAD(b"b", len(flat)))
        self.data(flat)

    def tensor(self, array: npt.NDArray[Any], _depth: int) -> None:
        name = dtype_name(array.dtype)
        if name is None:
            raise _RefusedError(refusal(array.dtype))
        self.pieces += (_HEAD(b"a", len(name)), name.encode(), _U64(array.ndim), *map(_U64, array.shape))
        order = array.dtype.byteorder
        if array.flags.c_contiguous and order != ">" and (order != "=" or sys.byteorder == "little"):
            self.data(tensor_bytes(array))
            return
        for chunk in _chunks(array, array.dtype.newbyteorder("<")):
            self.data(tensor_bytes(chunk))

    def sequence(self, items: Any, depth: int) -> None:
        _bound(depth)
        kinds = set(map(type, items))
        if any(issubclass(kind, _SCALARS) for kind in kinds - _EXACT):
            items = [_plain(item) for item in items]
            kinds = set(map(type, items))
        packed = _packed(items, kinds)
        if packed is not None:
            tag, numbers = packed
            self.pieces.append(_HEAD(tag, len(items)))
            self.data(tensor_bytes(numbers))
            return
        self.pieces.append(_HEAD(b"[", len(items)))
        index = 0
        try:
            for index, item in enumerate(items):  # noqa: B007 - the fault's path has it
                self.add(item, depth - 1)
                if len(self.pieces) >= _BIG:
                    self.flush()
        except _RefusedError as fault:
            fault.steps.append(index)
            raise

    def map(self, value: dict[Any, Any], depth: int) -> None:
        _bound(depth)
        entries = {_key(key): (key, item) for key, item in value.items()}
        if len(entries) != len(value):
            raise _RefusedError("two keys have the same content")
        self.pieces.append(_HEAD(b"m", len(entries)))
        key: Any = None
        try:
            for content in sorted(entries):
                key, item = entries[content]
                self.pieces.append(content)
                self.add(item, depth - 1)
        except _RefusedError as fault:
            fault.steps.append(key if isinstance(key, str) else brief(key))
            raise

    def record(self, value: Any, fields: tuple[tuple[bytes, str], ...], depth: int) -> None:
        _bound(depth)
        pieces = self.pieces
        pieces.append(_HEAD(b"m", len(fields)))
        name = ""
        try:
            for content, name in fields:
                pieces.append(content)
                item = getattr(value, name, _UNSET)
                simple = _SIMPLE.get(type(item))
                if simple is not None:
                    pieces.append(simple(item))
                elif item is not _UNSET:
                    self.add(item, depth - 1)
                else:
                    raise _RefusedError("the field is unset")  # noqa: TRY301 - its path is made below
        except _RefusedError as fault:
            fault.steps.append(name)
            raise

    def key(self, value: ContentKey, _depth: int) -> None:
        if value.algorithm != self.algorithm:
            raise _RefusedError(
                f"a key of {value.algorithm} in a key of {self.algorithm}: make both with one algorithm"
            )
        name = value.algorithm.encode()
        self.pieces += (_HEAD(b"k", len(name)), name, _U64(len(value.digest)), value.digest)


def _int(value: int) -> bytes:
    try:
        return _INT(b"q", value)
    except struct.error:
        size = value.bit_length() // 8 + 1
        return _HEAD(b"Q", size) + value.to_bytes(size, "little", signed=True)


def _float(value: float) -> bytes:
    return _DOUBLE(b"d", value) if value == value else _NAN  # noqa: PLR0124 - NaN alone differs from itself


_SIMPLE: dict[type, Callable[[Any], bytes]] = {
    type(None): lambda _: b"N",
    bool: lambda value: b"T" if value else b"F",
    int: _int,
    float: _float,
}

_WRITE: dict[type, Callable[[_Content, Any, int], None]] = {
    str: _Content.text,
    bytes: _Content.blob,
    bytearray: _Content.blob,
    memoryview: _Content.blob,
    list: _Content.sequence,
    tuple: _Content.sequence,
    dict: _Content.map,
    np.ndarray: _Content.tensor,
    np.memmap: _Content.tensor,
    ContentKey: _Content.key,
}

_EXACT = frozenset((*_SIMPLE, *_WRITE))
_SCALARS = (enum.Enum, np.generic, int, float, str, bytes, bytearray)


def _plain(value: Any) -> Any:
    """A scalar as the built-in that it stands for; anything else as it is."""
    if type(value) in _EXACT:
        return value
    if isinstance(value, enum.Enum):
        return _plain(value.value)
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        number = float(value)
        return number if number == value or math.isnan(number) else value
    if isinstance(value, str):
        return str.__str__(value)
    return bytes(value) if isinstance(value, bytes | bytearray) else value


def _key(key: Any) -> bytes:
    plain = _plain(key)
    if type(plain) is str:
        try:
            data = plain.encode()
        except UnicodeEncodeError:
            raise _RefusedError(f"the key {brief(key)} has a lone surrogate, and no UTF-8 form") from None
        return _HEAD(b"s", len(data)) + data
    if type(plain) is int or type(plain) is bool:
        return _SIMPLE[type(plain)](plain)
    raise _RefusedError(f"the keys of a dict must be str, int or bool, not {type(key).__name__}")


def _packed(items: Any, kinds: set[type]) -> tuple[bytes, npt.NDArray[Any]] | None:
    """A list of numbers of one kind, as an array; None for any other."""
    if kinds == {int}:
        try:
            return b"(", np.array(items, "<i8")
        except OverflowError:
            return None
    if kinds == {float}:
        doubles = np.array(items, "<f8")
        doubles[np.isnan(doubles)] = np.nan
        return b"{", doubles
    return None


def _chunks(array: npt.NDArray[Any], dtype: np.dtype[Any]) -> Iterator[npt.NDArray[Any]]:
    """The elements in C order, in a dtype that differs in byte order at most, a buffer at a time."""
    return iter(
        np.nditer(
            [array],
            flags=["external_loop", "buffered", "zerosize_ok"],
            op_flags=_ITERATED,
            op_dtypes=[dtype],
            order="C",
            casting="equiv",
            buffersize=max(1, _CHUNK_BYTES // dtype.itemsize),
        )
    )


_FIELDS: dict[type, tuple[tuple[bytes, str], ...] | None] = {}
"""Of classes that were met; emptied now and then, for programs that make classes."""


def _fields(value: Any) -> tuple[tuple[bytes, str], ...] | None:
    """The fields of a record with their names' content, in its order; None where a value is no record."""
    cls = type(value)
    try:
        return _FIELDS[cls]
    except KeyError:
        names = field_names(value)
        found = None if names is None else tuple(sorted((_key(name), name) for name in names))
        if len(_FIELDS) > 1000:
            _FIELDS.clear()
        _FIELDS[cls] = found
        return found


def _bound(depth: int) -> None:
    if depth < 1:
        raise _RefusedError("nested deeper than limits.depth, or contains itself")


def _refuse_class(value: Any) -> NoReturn:
    if isinstance(value, np.longdouble):
        raise _RefusedError("a long double does not fit float64 exactly")
    raise _RefusedError(
        f"{type(value).__name__} has no content: only None, bool, int, float, str, bytes, enums, arrays, "
        "lists, tuples, dicts, records and content keys have"
    )
