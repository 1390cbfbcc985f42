"""Values of a schema, derived from the schema.

1. `values` gives values that `normal` accepts, with the edges of every kind among them.
2. ``loose=True`` adds values that `normal` changes: numpy scalars, other containers, enum values for members.
3. ``junk=True`` adds values that do not belong, anywhere inside.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import sys
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from zcser.core.dtypes import NAMES, dtype_named
from zcser.schema.model import (
    Bool,
    Bytes,
    Enum,
    Float,
    Int,
    List,
    Map,
    Null,
    Optional,
    Ref,
    Schema,
    Str,
    Tensor,
    Type,
    Union,
    walk,
)

DEPTH = 4
POOL = 20

_DOUBLES = [0.0, -0.0, 1.0, -1.5, 0.1, 5e-324, -2.2250738585072014e-308, sys.float_info.max, 1e16, 123456789.123456789]
_SINGLES = [0.0, -0.0, 1.5, 0.1, 1e-45, -1.1754943508222875e-38, 3.4028234663852886e38, 16777217.0]
_NON_FINITE = [float("nan"), float("inf"), float("-inf")]
_TEXTS = [
    "", "a", "\0", "a\0b\0", "\u00e9\u4e2d\U0001f600", "e\u0301", "\ufeff\uffff\U0010ffff", '"\\/\b\f\n\r\t\x1f\x7f', "x" * 300,
    "\u2028\u2029", "</script>", "\u00ff" * 40,
]  # fmt: skip
_BLOBS = [b"", b"\0", bytes(range(256)), b"\xff" * 33, b"\x80\0\x80"]
_EXTENTS = [(), (1,), (3,), (0,), (2, 3), (0, 2), (2, 0), (1, 1, 2), (4, 1)]
_JUNK = [
    None, True, 7, -1, 2**64, -(10**30), 1.5, float("nan"), "text", "\ud800", b"bytes", [], {}, [None], {"nobody": 1}, (1, 2),
    object(), set(), 1j, np.zeros(2, object), np.array("x"), 10**5000,
]  # fmt: skip


def values(schema: Schema, *, loose: bool = False, junk: bool = False) -> st.SearchStrategy[Any]:
    """A strategy for values of a schema.

    Parameters
    ----------
    schema
        Any schema; recursion stops after `DEPTH` records.
    loose
        Also values that `normal` changes.
    junk
        Also values that do not fit, at the root or anywhere inside.
    """
    return _Strategies(schema, loose=loose, junk=junk).of(schema.root, DEPTH)


def samples(schema: Schema, count: int = POOL, *, loose: bool = False, junk: bool = False) -> tuple[Any, ...]:
    """The same `count` values or fewer on every run; tests that need no shrinking share them."""
    assert count <= POOL
    return _pool(schema, loose=loose, junk=junk)[:count]


@functools.cache
def _pool(schema: Schema, *, loose: bool, junk: bool) -> tuple[Any, ...]:
    found: list[Any] = []

    @settings(
        max_examples=POOL,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(values(schema, loose=loose, junk=junk))
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return tuple(found)


class _Strategies:
    def __init__(self, schema: Schema, *, loose: bool, junk: bool) -> None:
        self.schema = schema
        self.loose = loose
        self.junk = junk

    def of(self, type_: Type, depth: int) -> st.SearchStrategy[Any]:
        fitting = self.fitting(type_, depth)
        if not self.junk:
            return fitting
        # Rare, so that most of the value fits and the one wrong part lies deep.
        return st.integers(0, 19).flatmap(lambda n: st.sampled_from(_JUNK) if n == 19 else fitting)

    def fitting(self, type_: Type, depth: int) -> st.SearchStrategy[Any]:
        match type_:
            case Null():
                return st.none()
            case Bool():
                return st.booleans() | self.if_loose(st.sampled_from([np.True_, np.False_]))
            case Int():
                return self.ints(type_)
            case Float():
                return self.floats(type_)
            case Str():
                return self.texts(type_)
            case Bytes():
                return self.blobs(type_)
            case Enum():
                return st.sampled_from(type_.values) | self.if_loose(st.sampled_from([v for _, v in type_.members]))
            case Tensor():
                return tensors(type_, loose=self.loose)
            case Optional():
                return st.none() if self.ends(type_.item, depth) else st.none() | self.of(type_.item, depth)
            case List():
                return self.lists(type_, depth)
            case Map():
                return self.maps(type_, depth)
            case Union():
                options = [option for option in type_.options if not self.ends(option, depth)] or type_.options
                return st.one_of([self.of(option, depth) for option in options])
            case Ref():
                return self.records(type_, depth)
        raise AssertionError(f"no strategy for {type_}")

    def if_loose(self, strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return strategy if self.loose else st.nothing()

    def ends(self, type_: Type, depth: int) -> bool:
        """Whether a recursive type is left out at this depth."""
        if depth > 0:
            return False
        return any(isinstance(part, Ref) and part.name in self.schema.recursive for part in walk(type_))

    def ints(self, type_: Int) -> st.SearchStrategy[Any]:
        if type_.bits is None:
            return st.sampled_from([0, -1, 2**63, 2**64, -(2**63) - 1, 10**300, -(10**25)]) | st.integers()
        low, high = type_.low, type_.high
        assert low is not None and high is not None  # noqa: PT018 - bounded, as both are
        edges = {low, low + 1, -1, 0, 1, 127, 128, 255, 2**24 + 1, 2**31 - 1, 2**53 + 1, high - 1, high}
        numpy = np.dtype(f"{'int' if type_.signed else 'uint'}{type_.bits}").type
        plain = st.sampled_from(sorted(edge for edge in edges if low <= edge <= high)) | st.integers(low, high)
        return plain | self.if_loose(plain.map(numpy))

    def floats(self, type_: Float) -> st.SearchStrategy[Any]:
        edges = (_DOUBLES if type_.bits == 64 else _SINGLES) + _NON_FINITE
        plain = st.sampled_from(edges) | st.floats(width=type_.bits)
        return plain | self.if_loose(plain.map(np.float64) | plain.map(_float32) | st.integers(-(2**24), 2**24))

    def texts(self, type_: Str) -> st.SearchStrategy[Any]:
        free = st.sampled_from(_TEXTS) | st.text(max_size=12)
        if type_.size is not None:
            free = free.filter(lambda text: len(text.encode()) <= type_.size)
        return free | self.if_loose(free.map(np.str_).filter(lambda text: not text.endswith("\0")))

    def blobs(self, type_: Bytes) -> st.SearchStrategy[Any]:
        if type_.size is not None:
            free = st.binary(min_size=type_.size, max_size=type_.size) | st.just(bytes(type_.size))
        else:
            free = st.sampled_from(_BLOBS) | st.binary(max_size=20)
        return free | self.if_loose(free.map(bytearray) | free.map(lambda blob: memoryview(blob + b"?")[:-1]))

    def lists(self, type_: List, depth: int) -> st.SearchStrategy[Any]:
        if type_.length is not None:
            lists = st.lists(self.of(type_.item, depth), min_size=type_.length, max_size=type_.length)
        elif self.ends(type_.item, depth):
            lists = st.builds(list)
        else:
            lists = st.lists(self.of(type_.item, depth), max_size=4)
        container = tuple if type_.container == "tuple" else list
        return lists.map(container) | self.if_loose(lists.map(list if container is tuple else tuple))

    def maps(self, type_: Map, depth: int) -> st.SearchStrategy[Any]:
        if self.ends(type_.value, depth):
            return st.builds(dict)
        # Keys stay plain: numpy scalars and their built-ins are one key to Python, and would hide each other.
        keys = _Strategies(self.schema, loose=False, junk=False).of(type_.key, depth)
        maps = st.dictionaries(keys, self.of(type_.value, depth), max_size=4)
        return maps | self.if_loose(maps.map(collections.OrderedDict))

    def records(self, type_: Ref, depth: int) -> st.SearchStrategy[Any]:
        record = self.schema.resolve(type_)
        inner = depth - 1 if record.name in self.schema.recursive else depth
        fields = {item.name: self.of(item.type, inner) for item in record.fields}
        if record.cls is None:
            return st.fixed_dictionaries(
                {item.name: fields[item.name] for item in record.fields if item.required},
                optional={
                    item.name: fields[item.name]
                    for item in record.fields
                    if not item.required and not self.ends(item.type, inner)
                },
            )
        return st.fixed_dictionaries(fields).map(lambda kwargs: record.cls(**kwargs))


def _float32(number: float) -> Any:
    with np.errstate(over="ignore"):
        return np.float32(number)


def tensors(type_: Tensor, *, loose: bool = False) -> st.SearchStrategy[Any]:
    """Arrays of a tensor type: any bits, 0-d, zero-size; with `loose` also F-order, strided, reversed, big-endian."""
    dtypes = st.sampled_from(NAMES) if type_.dtype is None else st.just(type_.dtype)
    if type_.shape is None:
        shapes = st.sampled_from(_EXTENTS)
    else:
        shapes = st.tuples(*(st.integers(0, 3) if extent is None else st.just(extent) for extent in type_.shape))
    layouts = ["C", "read-only", "memmap"] + (["F", "strided", "reversed", "big-endian"] if loose else [])
    return st.builds(tensor, dtypes, shapes, st.integers(0, 2**32 - 1), st.sampled_from(layouts))


def tensor(name: str, shape: tuple[int, ...], seed: int, layout: str = "C") -> Any:
    """An array of random bits that are a value of the dtype, in one of the layouts that users have."""
    dtype = dtype_named(name)
    count = int(np.prod(shape, dtype=np.int64))
    bits = np.random.default_rng(seed).integers(0, 256, count * dtype.itemsize, np.uint8)
    if name == "bool":
        bits &= 1
    elif name in ("int1", "int2", "int4", "uint1", "uint2", "uint4"):
        # One to a byte, sign-extended; other bits are no value of the type.
        width, sign = int(name[-1]), 1 << int(name[-1]) - 1
        bits &= (1 << width) - 1
        if name[0] == "i":
            bits = (bits ^ sign) - np.uint8(sign)
    elif name.startswith(("float4_", "float6_")):
        bits &= (1 << int(name[5])) - 1
    array = bits.view(dtype).reshape(shape)
    match layout:
        case "read-only":
            array.flags.writeable = False
        case "F":
            array = np.asfortranarray(array)
        case "strided":
            wide = np.zeros((*shape, 2), dtype)
            wide[..., 0] = array
            array = wide[..., 0]
        case "reversed":
            array = array[::-1] if array.ndim else array
        case "big-endian" if dtype.isbuiltin == 1:
            array = array.astype(dtype.newbyteorder(">"))
    return array


def plain(value: Any) -> Any:
    """A value with every memoryview read out as bytes, to compare what ``decode(copy=False)`` gives."""
    if isinstance(value, memoryview):
        return bytes(value)
    if isinstance(value, list | tuple):
        return type(value)(map(plain, value))
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if dataclasses.is_dataclass(value):
        return dataclasses.replace(value, **{f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)})
    if hasattr(value, "__struct_fields__"):
        return type(value)(**{name: plain(getattr(value, name)) for name in value.__struct_fields__})
    return value
