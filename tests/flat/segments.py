"""Segments for the tests of their readers: by each engine, changed, and read by all of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from tests.fuzz.readers import built, engines, outcome
from zcser.core.errors import DecodeError
from zcser.core.fidelity import difference
from zcser.core.options import Options
from zcser.core.view import to_value
from zcser.flat.bfbs import FlatSchema, program_for
from zcser.flat.plan import layout_of
from zcser.flat.program import program_of
from zcser.schema.from_python import schema_of

__all__ = ["NAMES", "assert_read_alike", "changed", "engine_of", "writable"]

NAMES = ("native", "pure")


def engine_of(name: str, source: Any, **options: Any) -> Any:
    program = program_for(source) if isinstance(source, FlatSchema) else program_of(layout_of(schema_of(source)))
    found = engines(program, Options(**options), built()).get(name)
    if found is None:
        pytest.skip("the C extension is not built")
    return found


def writable(segments: Sequence[Any]) -> list[bytearray]:
    return [bytearray(segment) for segment in segments]


def changed(rng: random.Random, parts: Sequence[bytes]) -> list[bytes]:
    """Segments with words replaced, mostly those of the head; cut, left out, swapped or doubled."""
    segments = [bytearray(part) for part in parts]
    for _ in range(rng.randint(1, 2)):
        segment = segments[0] if rng.random() < 0.7 else rng.choice(segments)
        size = rng.choice((1, 2, 4))
        place = rng.randrange(max(1, len(segment) // size)) * size
        match rng.randrange(7):
            case 0 | 1 | 2:
                number = rng.choice((0, 1, 4, 5, 64, 4096, len(segment), 2**31, 2**32 - 4, rng.randrange(1 << 16)))
                segment[place : place + size] = (number % (1 << 8 * size)).to_bytes(size, "little")
            case 3:
                segment[place : place + 1] = bytes([rng.randrange(256)])
            case 4:
                del segment[rng.randrange(len(segment) + 1) :]
            case 5 if len(segments) > 1:
                del segments[rng.randrange(1, len(segments))]
            case _:
                segments.insert(rng.randrange(len(segments) + 1), rng.choice(segments))
    return [bytes(segment) for segment in segments]


def assert_read_alike(found: dict[str, Any], segments: Sequence[bytes]) -> bool:
    """The engines agree on segments, and read no value that the message in one buffer does not have."""
    values = []
    for name, engine in found.items():
        value = outcome(f"{name} decode_segments", lambda engine=engine: engine.decode_segments(segments))
        view = outcome(f"{name} view_segments", lambda engine=engine: to_value(engine.view_segments(segments)))
        values += [value, view]
    for value in values[1:]:
        if isinstance(value, DecodeError):
            assert isinstance(values[0], DecodeError), value
            assert (type(value), str(value), value.offset) == (type(values[0]), str(values[0]), values[0].offset)
        else:
            assert difference(values[0], value) is None
    if isinstance(values[0], DecodeError):
        return False
    for engine in found.values():
        assert difference(engine.decode(b"".join(segments)), values[0]) is None
    return True
