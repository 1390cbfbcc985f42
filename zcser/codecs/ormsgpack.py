"""MessagePack by ormsgpack: orjson's design for this wire.

ormsgpack alone passes over whatever stands behind a message. So a message is read as the first item of an array whose
second one is a mark: where bytes are left over, the mark is not what follows. The C part finds the end itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import ormsgpack

from zcser.core.errors import DecodeError
from zcser.core.options import Options
from zcser.schema.model import Schema
from zcser.tree.packed import PackedCodec
from zcser.tree.splice import NONCE

__all__ = ["OrmsgpackCodec"]

T = TypeVar("T")

_ARRAY_OF_TWO = b"\x92"
# Nobody else knows the nonce, so that no message ends in what follows it here.
_MARK = b"\xc4" + bytes([len(NONCE)]) + NONCE


class OrmsgpackCodec(PackedCodec[T]):
    """See the head of this module, and `PackedCodec` for copies and lifetimes."""

    name = "ormsgpack"
    library = "ormsgpack"

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        # Without the option it refuses keys that are no text.
        dumps, loads = ormsgpack.packb, ormsgpack.unpackb
        if self._has_other_keys:
            dumps = functools.partial(dumps, option=ormsgpack.OPT_NON_STR_KEYS)
            loads = functools.partial(loads, option=ormsgpack.OPT_NON_STR_KEYS)
        self._dumps = dumps  # type: ignore[method-assign]
        self._loads = loads  # type: ignore[method-assign]
        if options.guard == "on":
            self._loads, self._bare_loads = _whole(loads), loads  # type: ignore[method-assign]
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Version of ormsgpack, which is Rust alone."""
        return ormsgpack.__version__, "Rust extension"


def _whole(loads: Callable[[bytes], Any]) -> Callable[[Any], Any]:
    """The loader of messages that end where their bytes do."""

    def load(data: Any) -> Any:
        value, mark = loads(b"".join((_ARRAY_OF_TWO, data, _MARK)))
        if mark != NONCE:
            raise DecodeError("the message ends before its bytes do", codec=OrmsgpackCodec.name)
        return value

    return load
