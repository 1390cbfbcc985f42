"""How much memory a decoded value takes: its deep size.

1. It is what keeping one more decoded message costs: the sum of `sys.getsizeof` over the objects that are reachable from it,
   each once, and that a second decoding of the same bytes does not share. Not counted are therefore small ints, interned
   strings, keys that a library caches, members of enums and classes.
2. Reachable are items of containers, attributes in slots and dicts, the memory below an array and what a memoryview shows.
3. What malloc adds to each block is not in it, nor what a library keeps for itself.
"""

from __future__ import annotations

import functools
import gc
import sys
import types
from typing import Any

import numpy as np

from zcser.measure.bench import Bench
from zcser.measure.figures import DeepSize

__all__ = ["deep_size_of", "own_bytes"]

_ENOUGH_OBJECTS = 20_000

_FOREIGN = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)
"""Part of the program, and a way from any object to all of it."""

_INLINE_ATTRIBUTES = sys.version_info >= (3, 13)
"""Whether `sys.getsizeof` of an object holds its attributes; else they are counted by its dict."""


def deep_size_of(bench: Bench) -> DeepSize:
    """The deep size of decoded values: of as many as have 20,000 objects together."""
    decode = bench.codec.decode
    sizes: list[int] = []
    objects = 0
    for wire in bench.wires.leading(bench.wires.distinct):
        found = _reachable(decode(wire))
        twin = _reachable(decode(wire))
        sizes.append(_bytes_besides(found, twin))
        objects += len(found)
        if objects >= _ENOUGH_OBJECTS:
            break
    sizes.sort()
    return DeepSize(sizes[(len(sizes) - 1) // 2], sizes[0], sizes[-1], len(sizes))


def own_bytes(value: Any, twin: Any) -> int:
    """The deep size of a value.

    Parameters
    ----------
    value
        Any object.
    twin
        An equal one, made a second time: what both reach is not counted.
    """
    return _bytes_besides(_reachable(value), _reachable(twin))


def _bytes_besides(found: dict[int, Any], twin: dict[int, Any]) -> int:
    return sum(sys.getsizeof(item) for place, item in found.items() if place not in twin)


def _reachable(value: Any) -> dict[int, Any]:
    """Objects by address, which keeps them alive and so their addresses their own."""
    found: dict[int, Any] = {}
    left = [value]
    while left:
        item = left.pop()
        if id(item) in found or isinstance(item, _FOREIGN):
            continue
        found[id(item)] = item
        if isinstance(item, np.ndarray):
            left.append(item.base)
        if not _INLINE_ATTRIBUTES and _has_dict(type(item)):  # type: ignore[arg-type]  # a class is hashable
            # Makes the dict, where the attributes were kept without one.
            left.append(vars(item))
        if isinstance(item, dict):
            # Of a dict whose keys are text, the collector sees the values alone.
            left += item
        left += gc.get_referents(item)
    return found


@functools.cache
def _has_dict(cls: type) -> bool:
    return bool(cls.__dictoffset__)
