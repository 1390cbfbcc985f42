"""Hostile bytes against the official FlatBuffers codec: a value of the schema or a DecodeError, and nothing else."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings

from tests.conformance.schemas import CASES
from tests.conformance.strategies import values
from tests.flat.rich import Point, Rich, rich_value
from zcser.codecs.flatbuffers_official import FlatbuffersOfficialCodec
from zcser.core.errors import DecodeError
from zcser.core.fidelity import difference, equal
from zcser.core.options import Options
from zcser.core.view import to_value
from zcser.schema.from_python import schema_of
from zcser.schema.normal import normal


def codec(source: Any, **options: Any) -> FlatbuffersOfficialCodec[Any]:
    return FlatbuffersOfficialCodec(schema_of(source), Options(**options))


RICH = codec(Rich)


@dataclasses.dataclass
class Short:
    name: str


@dataclasses.dataclass
class Holder:
    name: str
    blob: bytes
    data: npt.NDArray[np.float64]
    more: list[np.ndarray]


def holder() -> Holder:
    return Holder("n", b"blob", np.arange(6.0).reshape(2, 3), [np.arange(3, dtype="i2"), np.zeros(0), np.array(1j)])


def outcome(read: Callable[[], Any]) -> Any:
    """What a read gives, or DecodeError; any other exception is a failure of the test."""
    try:
        return read()
    except DecodeError:
        return DecodeError


def check(one: FlatbuffersOfficialCodec[Any], message: bytes) -> None:
    decoded, viewed = outcome(lambda: one.decode(message)), outcome(lambda: to_value(one.view(message)))
    if decoded is DecodeError or viewed is DecodeError:
        assert decoded is viewed
    else:
        assert difference(decoded, viewed) is None
        assert difference(normal(one.schema, decoded), decoded) is None


SMALL = [
    (Short, Short("hi")),
    (Holder, holder()),
    (dict[str, int | None], {"a": None, "b": 1}),
    (Point, Point(1.0, 2.0)),
]


@pytest.mark.parametrize(("source", "value"), SMALL)
def test_case_51_every_flipped_bit_gives_a_value_or_a_decode_error(source: Any, value: Any) -> None:
    one = codec(source)
    message = one.encode(value)
    for bit in range(8 * len(message)):
        changed = bytearray(message)
        changed[bit >> 3] ^= 1 << (bit & 7)
        check(one, bytes(changed))


def test_every_cut_gives_a_decode_error_or_loses_padding_only() -> None:
    value = rich_value()
    message = RICH.encode(value)
    for size in range(len(message)):
        found = outcome(lambda size=size: RICH.decode(message[:size]))
        assert found is DecodeError or (len(message) - size < 64 and equal(found, value)), size


@pytest.mark.parametrize("name", ["unions", "absent_or_none", "nested_maps", "recursive_dict", "tensors"])
def test_changed_bytes_give_a_value_or_a_decode_error(name: str) -> None:
    one, rng = codec(CASES[name]), random.Random(name)

    @settings(max_examples=8)
    @given(values(CASES[name]))
    def run(value: Any) -> None:
        message = one.encode(value)
        for _ in range(40):
            changed = bytearray(message)
            for _ in range(rng.randint(1, 5)):
                changed[rng.randrange(len(changed))] = rng.choice((0, 1, 4, 127, 128, 255, rng.randrange(256)))
            check(one, bytes(changed))

    run()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0",
        bytes(64),
        b"\xff" * 64,
        b'{"this": "is JSON, not a flatbuffer"}',
        b"\x93\x01\x02\x03" * 9,
        bytes(range(256)),
    ],
)
def test_other_formats_bytes_are_refused(data: bytes) -> None:
    check(RICH, data)
    assert outcome(lambda: RICH.decode(data)) is DecodeError


def test_unverified_reads_answer_from_the_buffer_or_refuse() -> None:
    # The buffer stands between two others that would show in the answers if it were left.
    trusting, verifying = codec(Holder, guard="off"), codec(Holder)
    message, rng = trusting.encode(holder()), random.Random(5)
    for _ in range(1500):
        changed = bytearray(message)
        for _ in range(rng.randint(1, 3)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        frame = b"SECRET" * 200 + bytes(changed) + b"SECRET" * 200
        part = memoryview(frame)[1200 : 1200 + len(changed)]
        for read in (
            lambda part=part: trusting.decode(part),
            lambda part=part: to_value(trusting.view(part)),
            lambda part=part: to_value(verifying.view(part, verify=False)),
        ):
            found = outcome(read)
            if found is not DecodeError:
                assert b"SECRET" not in found.blob
                assert "SECRET" not in found.name
                assert b"SECRET" not in found.data.tobytes()
