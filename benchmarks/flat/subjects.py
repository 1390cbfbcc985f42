"""What is compared: our two engines in one process, and the codecs of the libraries without their guards.

The engines are made here as `zcser.codecs.flatbuffers` makes the one that it chose. The libraries by hand, which is their
best, stand in `official_by_hand` and `protobuf_by_hand`.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

from flatbuffers import encode, packer
from flatbuffers.table import Table

import zcser
from zcser.core.codec import Codec
from zcser.core.options import Options
from zcser.flat.engine import Engine
from zcser.flat.plan import layout_of
from zcser.flat.program import program_of
from zcser.flat.pure.engine import make_engine as make_pure
from zcser.schema.from_python import schema_of
from zcser.schema.normal import Normaliser

__all__ = ["ENGINES", "Calls", "Which", "engines", "has_native", "official", "official_opener", "protobuf"]

Which = Literal["native", "pure"]
ENGINES: tuple[Which, ...] = get_args(Which)


class Calls(NamedTuple):
    """What a subject does with whole messages."""

    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]


def has_native() -> bool:
    """Whether the C extension was built."""
    return importlib.util.find_spec("zcser.native._flat") is not None


def engines(source: Any) -> dict[Which, Engine]:
    """Both engines of a class, with the guard on; the one in C where it was built."""
    schema, options, codec = schema_of(source), Options(), "flatbuffers"
    program = program_of(layout_of(schema))
    normal = Normaliser(schema, strict=options.strict, finite=False, limits=options.limits, codec=codec)
    found: dict[Which, Engine] = {}
    if has_native():
        from zcser.flat.native.engine import make_engine as make_native

        found["native"] = make_native(program, options, codec=codec, normal=normal)
    found["pure"] = make_pure(program, options, codec=codec, normal=normal)
    return found


def official(source: Any) -> Codec[Any]:
    """The official package: builders reused, nothing checked."""
    return zcser.codec("flatbuffers-official", source, guard="off")


def official_opener(source: Any) -> Callable[[bytes], Any]:
    """What opens a message with the official package, as its generated ``GetRootAs`` does and no step more."""
    open_table, get, offset = official(source)._open, encode.Get, packer.uoffset  # type: ignore[attr-defined]
    return lambda data: open_table(Table(data, get(offset, data, 0)))


def protobuf(source: Any) -> Codec[Any]:
    """Protobuf by upb and the codec's generic glue, without checks; `by_hand` is faster."""
    return zcser.codec("protobuf", source, guard="off")
