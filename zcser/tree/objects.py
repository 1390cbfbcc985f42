"""The calls of a codec whose values are objects and whose trees are plain, and those of a codec without the guard.

1. With the guard on, a tree is built unchecked but for the classes of objects, enums and rebuilt containers, and the C
   part checks the tree, builtin by builtin (`zcser.tree.native`). Reading goes the other way: C checks the tree, and
   objects are made of it unchecked.
2. Whatever goes wrong, the codec's own method does it all again: it mends what may be mended, and has the words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zcser.core.buffers import Buffer

__all__ = ["checked", "composed", "decoding", "unchecked"]

Call = Callable[[Any], Any]


def checked(first: Call, then: Call, slow: Call) -> Call:
    """One call after the other: build and check, check and open, or build and have the library write."""

    def call(given: Any) -> Any:
        try:
            return then(first(given))
        except Exception:  # noqa: BLE001 - rule 2
            return slow(given)

    return call


def composed(first: Call, then: Call) -> Call:
    """One call after the other, for who does it all again where one of them raises."""

    def call(given: Any) -> Any:
        return then(first(given))

    return call


def decoding(decode_tree: Call, open_: Call, alias: Call | None, slow: Callable[..., Any]) -> Callable[..., Any]:
    """`decode`: the C part has the library read a tree, and checks it; `open_`, or without copies `alias`, does the rest."""

    def decode(data: Buffer, *, copy: bool = True) -> Any:
        opens = open_ if copy else alias
        if opens is None:
            return slow(data, copy=False)
        try:
            return opens(decode_tree(data))
        except Exception:  # noqa: BLE001 - rule 2
            return slow(data, copy=copy)

    return decode


def unchecked(call: Call, slow: Call) -> Call:
    """A generated function in the place of a method around it."""

    def unguarded(given: Any) -> Any:
        try:
            return call(given)
        except Exception:  # noqa: BLE001 - rule 2
            return slow(given)

    return unguarded
