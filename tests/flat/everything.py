"""A schema of .fbs that has everything, compiled by flatc; its engines, values, and bytes near to its messages."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from tests.flat.flat_values import value_of
from zcser.core.errors import DecodeError, EncodeError
from zcser.core.options import Options
from zcser.flat.bfbs import FlatSchema, normaliser_for, program_for
from zcser.flat.pure.engine import make_engine

EVERYTHING = """
namespace own;
enum Tint : short { Low = -3, Nil = 0, Mid = 5, High = 300 }
struct Small { a: ubyte; b: ubyte; c: ubyte; }
struct Deep (force_align: 32) { a: ubyte; b: [Tint: 3]; }
struct Wide (force_align: 16) { a: long; t: Tint; d: Small; e: [Small: 2]; }
struct Keyed { x: ubyte; id: uint (key); }
union Mixed { Deep, Wide, Small, Leaf, Text: string }
table Leaf { name: string (shared, key); small: Small; deep: Deep; v: [long] (force_align: 32); }
table Counted { count: ushort = 9 (key); }
table Root {
  flag: bool = true; deep: Deep; wide: Wide; deeps: [Deep]; wides: [Wide]; smalls: [Small]; keyed: [Keyed];
  name: string (shared); title: string (shared); need: Small (required); needu: Mixed (required);
  needs: [Mixed] (required); many: [Mixed]; one: Mixed; leaves: [Leaf]; counted: [Counted];
  aligned: [float] (force_align: 16); blob: [ubyte] (force_align: 32); far: [ubyte] (vector64, force_align: 32);
  fard: [double] (offset64); longs: [long] (vector64); fars: string (offset64); kid: Root;
  nested: [ubyte] (nested_flatbuffer: "Root"); leafnested: [ubyte] (vector64, nested_flatbuffer: "Leaf");
  t: Tint = Mid; tm: Tint = null; last: ubyte;
}
root_type Root;
file_identifier "OWNR";
"""

LEAF = {"name": "b", "small": {"a": 1, "b": 2, "c": 3}, "deep": {"a": 4, "b": [5, 0, -3]}}
ROOT = {
    "need": {"a": 1, "b": 2, "c": 3},
    "needu": {"Leaf": LEAF},
    "needs": [{"Text": "t"}, None, {"Deep": {"a": 7, "b": [300, 5, 0]}}],
    "leaves": [{"name": "a"}, LEAF, {"name": "\u00e9"}],
    "counted": [{"count": 2}, {}, {"count": 40}],
    "keyed": [{"x": 9, "id": 3}, {"x": 8, "id": 2**31}],
    "nested": {"need": {"a": 4, "b": 5, "c": 6}, "needu": {"Text": "u"}, "needs": [], "blob": b"inner"},
    "longs": [1, -2],
}
"""A value of its root."""


def flat_engine(schema: FlatSchema, make: Callable[..., Any] = make_engine, options: Options | None = None) -> Any:
    options = options or Options()
    normal = normaliser_for(schema, options, codec="flatbuffers")
    return make(program_for(schema), options, codec="flatbuffers", normal=normal)


def twin(schema: FlatSchema, options: Options | None = None) -> Any:
    pytest.importorskip("zcser.native._flat")
    from zcser.flat.native.engine import make_engine as make_native

    return flat_engine(schema, make_native, options)


def values(schema: FlatSchema, count: int) -> Iterator[Any]:
    rng, program = random.Random(5), program_for(schema)
    return (value_of(rng, program, depth=number % 4) for number in range(count))


def outcome(call: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return call(*arguments)
    except (EncodeError, DecodeError) as error:
        return type(error), str(error), error.path, getattr(error, "offset", None)


def mutants(messages: Sequence[bytes], rng: random.Random, count: int) -> Iterator[bytes]:
    for _ in range(count):
        message = bytearray(rng.choice(messages))
        for _ in range(rng.choice((1, 1, 2))):
            place = rng.randrange(min(len(message), rng.choice((200, len(message)))))
            match rng.randrange(4):
                case 0:
                    message[place] ^= 1 << rng.randrange(8)
                case 1:
                    message[place] = rng.choice((0, 1, 2, 3, 4, 5, 8, 255))
                case 2:
                    word = rng.choice((0, 4, 2**31, 2**32 - 1, len(message), 2**32 - 1 - rng.randrange(64)))
                    message[place & -4 : (place & -4) + 4] = struct.pack("<I", word)
                case _:
                    other = rng.randrange(len(message))
                    message[place : place + 4] = message[other : other + 4]
        yield bytes(message[: rng.randrange(1, len(message))] if rng.random() < 0.05 else message)
