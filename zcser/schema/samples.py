"""Seeded values of a schema: the same on every machine, with the edges of every kind among them."""

from __future__ import annotations

import random
import sys
from typing import Any, Literal

import numpy as np

from zcser.core.dtypes import dtype_named
from zcser.schema.model import (
    Bool,
    Bytes,
    Enum,
    Float,
    Int,
    List,
    Logical,
    Map,
    Null,
    Optional,
    Ref,
    Schema,
    Set,
    Str,
    Tensor,
    Type,
    Union,
    walk,
)
from zcser.schema.values import wire_form

__all__ = ["Manner", "samples"]

Manner = Literal["plain", "edges", "loose", "junk"]
"""Plain values every format has; edges are NaN, bounds, odd text, emptiness; loose are what `normal` changes; junk is what
does not belong, in one place or a few."""

_DEPTH = 3
_REALS = (
    0.0,
    -0.0,
    0.1,
    5e-324,
    -2.2250738585072014e-308,
    sys.float_info.max,
    1e16,
    float("nan"),
    float("inf"),
    -float("inf"),
)
_SINGLES = (0.0, -0.0, 0.1, 1e-45, 3.4028234663852886e38, 16777217.0, float("nan"), float("inf"))
_TEXTS = (
    "", "\0", "a\0b\0", "\u00e9\u4e2d\U0001f600", "\ufeff\uffff\U0010ffff", '"\\/\b\f\n\r\t\x1f\x7f', "x" * 300, "\u2028</script>", "null",
)  # fmt: skip
_BLOBS = (b"", b"\0", bytes(range(256)), b"\xff" * 33, b"\x80\0\x80")
_SHAPES: tuple[tuple[int, ...], ...] = ((), (0,), (1,), (3,), (2, 3), (0, 2), (2, 0), (4, 1))
_DTYPES = ("bool", "uint8", "int16", "uint32", "int64", "float16", "float32", "float64", "complex64", "datetime64[ns]")
_MICROSECONDS = (0, 1, -1, 1_709_209_815_123_456)
_WIRE_VALUES: dict[str, tuple[Any, ...]] = {
    "datetime": ("1970-01-01T00:00:00", "2024-02-29T12:30:15.123456+05:30", "9999-12-31T23:59:59.999999"),
    "datetime_utc": _MICROSECONDS,
    "datetime_naive": _MICROSECONDS,
    "date": (0, 1, -719162, 2932896),  # the last two are 0001-01-01 and 9999-12-31
    "time": (0, 1, 86_399_999_999),
    "timedelta": _MICROSECONDS,
    "decimal": ("0", "-0.00", "1.10", "1E+100"),
    "uuid": (bytes(16), bytes(range(16))),
    "path": ("a", "/a/b.c"),
    "ipv4": ("127.0.0.1", "255.255.255.255"),
    "ipv6": ("::1", "2001:db8::ff"),
    "ipv4_network": ("10.0.0.0/8", "0.0.0.0/0"),
    "ipv6_network": ("2001:db8::/32", "::/0"),
}
"""Wire forms in binary formats, by the names of `zcser.schema.values`."""
_JUNK: tuple[Any, ...] = (
    None, True, 7, -1, 2**64, -(10**30), 1.5, "text", "\ud800", b"bytes", [], {}, [None], {"nobody": 1}, (1, 2), object(), set(), 1j,
    np.zeros(2, object), 10**5000,
)  # fmt: skip


def samples(schema: Schema, manner: Manner, count: int, seed: int = 0) -> list[Any]:
    """Values of a schema, each a fresh object."""
    return [
        _Maker(schema, manner, random.Random(f"{seed} {manner} {number}")).of(schema.root, _DEPTH)  # noqa: S311
        for number in range(count)
    ]


class _Maker:
    def __init__(self, schema: Schema, manner: Manner, rng: random.Random) -> None:
        self.schema = schema
        self.manner = manner
        self.rng = rng

    def of(self, type_: Type, depth: int) -> Any:
        if self.manner == "junk" and self.rng.randrange(12) == 0:
            return self.rng.choice(_JUNK)
        match type_:
            case Null():
                return None
            case Bool():
                return self._loose(np.bool_, self.rng.random() < 0.5)
            case Int():
                return self._int(type_)
            case Float():
                return self._float(type_)
            case Str():
                return self._str(type_)
            case Bytes():
                return self._bytes(type_)
            case Enum():
                _, value = member = self.rng.choice(type_.members)
                return value if type_.cls is None or self._is_loose() else type_.cls(member[1])
            case Tensor():
                return self._tensor(type_)
            case Optional(item):
                none = self.rng.randrange(3) == 0 and self.manner != "plain"
                return None if none or self._ends(item, depth) else self.of(item, depth)
            case List():
                return self._list(type_, depth)
            case Map():
                size = 0 if self._ends(type_.value, depth) else self._size()
                pairs = [(self._key(type_.key), self.of(type_.value, depth)) for _ in range(size)]
                return dict(pairs)
            case Logical(name):
                return wire_form(type_, text=False).lift(self.rng.choice(_WIRE_VALUES[name]))
            case Set(item):
                items = (self.of(item, depth) for _ in range(self._size()))
                return frozenset(items) if type_.frozen else set(items)
            case Union(options):
                return self.of(self.rng.choice(options), depth)
            case Ref():
                return self._record(type_, depth)
        raise AssertionError(f"no values of {type_}")

    def _is_loose(self) -> bool:
        return self.manner == "loose" and self.rng.random() < 0.5

    def _loose(self, change: Any, value: Any) -> Any:
        return change(value) if self._is_loose() else value

    def _ends(self, type_: Type, depth: int) -> bool:
        """Whether a recursive type is left out at this depth."""
        return depth <= 0 and any(isinstance(part, Ref) and part.name in self.schema.recursive for part in walk(type_))

    def _size(self) -> int:
        return self.rng.randrange(1, 4) if self.manner == "plain" else self.rng.randrange(4)

    def _int(self, type_: Int) -> Any:
        low = -(2**70) if type_.low is None else type_.low
        high = 2**70 if type_.high is None else type_.high
        if self.manner == "plain":
            return self.rng.randrange(1, 100)
        value = self.rng.choice((low, low + 1, 0, 1, 127, high - 1, high, self.rng.randint(low, high)))
        if type_.bits is None:
            return value
        return self._loose(np.dtype(f"{'' if type_.signed else 'u'}int{type_.bits}").type, value)

    def _float(self, type_: Float) -> Any:
        if self.manner == "plain":
            return self.rng.randrange(1, 1000) / 8
        value = self.rng.choice(_REALS if type_.bits == 64 else _SINGLES)
        if self._is_loose():
            return self.rng.choice((np.float64(value), self.rng.randrange(-(2**24), 2**24)))
        return value

    def _str(self, type_: Str) -> Any:
        text = self.rng.choice(_TEXTS) if self.manner != "plain" else "sample " + "abcdefgh"[: self.rng.randrange(9)]
        if type_.size is not None:
            text = text.encode()[: type_.size].decode(errors="ignore")
        return text if text.endswith("\0") else self._loose(np.str_, text)

    def _bytes(self, type_: Bytes) -> Any:
        data = self.rng.choice(_BLOBS) if self.manner != "plain" else self.rng.randbytes(self.rng.randrange(2, 12))
        if type_.size is not None:
            data = self.rng.randbytes(type_.size)
        return self._loose(self.rng.choice((bytearray, memoryview)), data)

    def _key(self, type_: Type) -> Any:
        match type_:
            case Bool():
                return self.rng.random() < 0.5
            case Int():
                return (
                    self.rng.choice((-1, 0, 7, 10, 127, type_.high if self.manner != "plain" else 1))
                    if type_.signed
                    else 9
                )
        if isinstance(type_, Logical):
            return self.of(type_, 0)
        return self.rng.choice(_TEXTS if self.manner != "plain" else ("a", "b", "key"))

    def _list(self, type_: List, depth: int) -> Any:
        size = type_.length
        if size is None:
            size = 0 if self._ends(type_.item, depth) else self._size()
        container = tuple if (type_.container == "tuple") != self._is_loose() else list
        return container(self.of(type_.item, depth) for _ in range(size))

    def _record(self, type_: Ref, depth: int) -> Any:
        record = self.schema.resolve(type_)
        inner = depth - 1 if record.name in self.schema.recursive else depth
        fields = {
            item.name: self.of(item.type, inner)
            for item in record.fields
            if item.required or (self.rng.random() < 0.6 and not self._ends(item.type, inner))
        }
        return fields if record.cls is None else record.cls(**fields)

    def _tensor(self, type_: Tensor) -> Any:
        shape = self.rng.choice(_SHAPES) if self.manner != "plain" else (2, 3)
        if type_.shape is not None:
            shape = tuple(2 if extent is None else extent for extent in type_.shape)
        dtype = dtype_named(type_.dtype or (self.rng.choice(_DTYPES) if self.manner != "plain" else "float64"))
        count = int(np.prod(shape, dtype=np.int64))
        bits = np.frombuffer(self.rng.randbytes(count * dtype.itemsize), np.uint8).copy()
        if self.manner == "plain" and dtype.kind == "f":
            return np.arange(count).astype(dtype).reshape(shape)
        if dtype.kind == "b":
            bits &= 1
        array = bits.view(dtype).reshape(shape)
        if not self._is_loose():
            return array
        match self.rng.randrange(3):
            case 0:
                return np.asfortranarray(array)
            case 1:
                return np.repeat(array[..., None], 2, axis=-1)[..., 0]
        return array.astype(dtype.newbyteorder(">")) if dtype.isbuiltin == 1 else array
