"""Patchers, of both engines: what they change is what encoding the changed value gives, and what they refuse changes nothing."""

from __future__ import annotations

import dataclasses
import enum
import random
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import zcser
from zcser.core.errors import DecodeError, EncodeError
from zcser.core.options import Options
from zcser.flat.engine import Engine
from zcser.flat.plan import layout_of
from zcser.flat.program import program_of
from zcser.flat.pure.engine import make_engine as make_pure
from zcser.schema.annotations import Float32, Int8, UInt16, UInt32
from zcser.schema.from_python import schema_of
from zcser.schema.normal import Normaliser


class Mode(enum.Enum):
    SLOW = "slow"
    FAST = "fast"


@dataclasses.dataclass
class Step:
    at: UInt16
    weight: Float32


@dataclasses.dataclass
class Job:
    name: str
    number: UInt32
    level: Int8
    ratio: float
    single: Float32
    is_done: bool
    mode: Mode
    rest: int | None
    steps: list[Step]


JOB = Job("n", 1, -1, 0.5, 0.25, False, Mode.SLOW, None, [Step(1, 0.5), Step(2, 1.5)])
VALUES = {"/number": 2**32 - 1, "/level": -128, "/ratio": 1e300, "/single": 3, "/is_done": True, "/mode": Mode.FAST}
PLAIN = [*VALUES]
DEEP = ["/steps/1/at", "/number", "/steps/0/weight"]


def _native(*args: Any, **options: Any) -> Engine:
    pytest.importorskip("zcser.native._flat", reason="the C extension is not built")
    from zcser.flat.native.engine import make_engine

    return make_engine(*args, **options)


@pytest.fixture(params=[_native, make_pure], ids=["native", "pure"])
def make(request: pytest.FixtureRequest) -> Callable[..., Engine]:
    def engine(**options: Any) -> Engine:
        schema, chosen = schema_of(Job), Options(**options)
        normal = Normaliser(schema, strict=chosen.strict, finite=False, limits=chosen.limits, codec="flatbuffers")
        made: Engine = request.param(program_of(layout_of(schema)), chosen, codec="flatbuffers", normal=normal)
        return made

    return engine


def outcome(call: Callable[[], Any]) -> Any:
    """What is wrong; None: nothing."""
    try:
        call()
    except (DecodeError, EncodeError) as error:
        return type(error), str(error)
    return None


def ways(*pointers: str) -> list[tuple[str, ...]]:
    return [tuple(pointer[1:].split("/")) for pointer in pointers]


def test_a_patched_message_is_the_message_of_the_changed_value(make: Callable[..., Engine]) -> None:
    engine = make()
    message, change = bytearray(engine.encode(JOB)), engine.patcher(ways(*PLAIN))
    changed = dataclasses.replace(JOB, **{pointer[1:]: value for pointer, value in VALUES.items()})
    change(message, *VALUES.values())
    assert message == engine.encode(changed)
    change(memoryview(message), 1, -1, 0.5, 0.25, False, Mode.SLOW)
    assert message == engine.encode(JOB)


def test_paths_may_lead_anywhere_that_patch_goes(make: Callable[..., Engine]) -> None:
    engine = make()
    message = np.frombuffer(engine.encode(JOB), np.uint8).copy()
    engine.patcher(ways(*DEEP))(message, 9, 8, 7)
    changed = dataclasses.replace(JOB, number=8, steps=[Step(1, 7.0), Step(9, 1.5)])
    assert message.tobytes() == engine.encode(changed)


def test_a_value_is_brought_into_normal_form_as_encode_does(make: Callable[..., Engine]) -> None:
    message = bytearray(make().encode(JOB))
    make().patcher(ways("/ratio", "/number"))(message, np.float64(2.5), np.int64(77))
    assert make().decode(message) == dataclasses.replace(JOB, ratio=2.5, number=77)
    with pytest.raises(EncodeError, match="strict") as caught:
        make(strict=True).patcher(ways("/number", "/ratio"))(message, 5, 3)
    assert caught.value.path == "/ratio"
    assert make().decode(message) == dataclasses.replace(JOB, ratio=2.5, number=77)


@pytest.mark.parametrize(
    ("last", "value", "words"),
    [
        ("/number", 2**32, "outside uint32"),
        ("/number", True, "uint32 is needed, not bool"),
        ("/number", None, "uint32 is needed"),
        ("/single", 1e39, "float32"),
        ("/is_done", 1, "bool is needed"),
        ("/mode", "idle", "Mode"),
        ("/rest", 5, "the field is not in the message"),
        ("/name", "m", "only a bool, a number"),
        ("/steps/2", 5, "index 2 is outside"),
        ("/steps", 5, "only a bool, a number"),
        ("/other", 5, "no field 'other'"),
    ],
)
def test_where_one_is_refused_none_is_changed(make: Callable[..., Engine], last: str, value: Any, words: str) -> None:
    engine = make()
    message = bytearray(engine.encode(JOB))
    before = bytes(message)
    with pytest.raises(EncodeError, match=words) as caught:
        engine.patcher(ways("/level", "/steps/0/at", last))(message, 5, 6, value)
    assert (caught.value.path, bytes(message)) == (last, before)


def test_a_patcher_takes_a_writable_buffer_and_a_value_for_each_path(make: Callable[..., Engine]) -> None:
    engine = make()
    message, change = bytearray(engine.encode(JOB)), engine.patcher(ways("/number", "/level"))
    for arguments in ((message,), (message, 1), (message, 1, 2, 3)):
        with pytest.raises(TypeError, match="2 paths"):
            change(*arguments)
    with pytest.raises(EncodeError, match="read-only"):
        change(bytes(message), 1, 2)
    with pytest.raises(EncodeError, match="not C-contiguous"):
        change(memoryview(message)[::2], 1, 2)
    assert message == engine.encode(JOB)
    engine.patcher([])(message)
    assert message == engine.encode(JOB)


def test_a_buffer_is_free_again_afterwards(make: Callable[..., Engine]) -> None:
    engine = make()
    message, change = bytearray(engine.encode(JOB)), engine.patcher(ways("/number"))
    change(message, 5)
    message += b"x"
    with pytest.raises(EncodeError):
        change(message, -1)
    message += b"x"
    assert len(message) == len(engine.encode(JOB)) + 2


@pytest.mark.parametrize("paths", [PLAIN, DEEP])
def test_what_leads_to_a_field_is_looked_at_and_nothing_else_is_touched(
    make: Callable[..., Engine], paths: list[str]
) -> None:
    """A mutant is refused as `patch` refuses it, and is left alone; or the places that differ are those of the fields."""
    engine, rng = make(), random.Random(4)
    message, change = engine.encode(JOB), engine.patcher(ways(*paths))
    values = [VALUES.get(path, 9) for path in paths]
    change(bytearray(message), *values)
    refused = 0
    for _ in range(300):
        mutant = bytearray(message)
        place = rng.randrange(64)
        mutant[place] = rng.choice((0, 2, 4, 8, 200, 255))
        if rng.random() < 0.3:
            struct.pack_into("<I", mutant, place & -4, rng.choice((0, 4, 2**31, 2**32 - 4)))
        one, all_at_once = bytearray(mutant), bytearray(mutant)
        wrong = outcome(lambda one=one: [engine.patch(one, *each) for each in zip(ways(*paths), values, strict=True)])
        assert outcome(lambda message=all_at_once: change(message, *values)) == wrong
        assert all_at_once == (mutant if wrong else one)
        refused += bool(wrong)
    assert refused > 20


def test_the_codec_compiles_pointers_and_tuples() -> None:
    codec = zcser.codec("flatbuffers", Job)
    message = bytearray(codec.encode(JOB))
    change = codec.patcher("/number", ("steps", 0, "at"))
    change(message, 12, 13)
    assert codec.decode(message) == dataclasses.replace(JOB, number=12, steps=[Step(13, 0.5), Step(2, 1.5)])
    with pytest.raises(ValueError, match="starts with '/'"):
        codec.patcher("number")
