"""The codec's engine in C and its twin in Python: the same bytes, values, views and errors, side by side in one process."""

from __future__ import annotations

import dataclasses
import enum
import gc
import struct
import sys
from typing import Annotated, Any, Literal
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.header.engines import BUILT, ENGINES, HAS_NATIVE
from zcser.codecs.header import HeaderCodec
from zcser.core.buffers import address
from zcser.core.errors import DecodeError, EncodeError, ReleasedViewError
from zcser.core.fidelity import equal
from zcser.core.options import Options
from zcser.core.view import release, to_value
from zcser.schema.annotations import Float32, Int16, Length, UInt8, UInt64
from zcser.schema.from_python import schema_of
from zcser.schema.model import Bytes, Str, Tensor

needs_native = pytest.mark.skipif(not HAS_NATIVE, reason="the C extension is not built")


class Phase(enum.IntEnum):
    PREFILL = 1
    DECODE = 200


@dataclasses.dataclass
class Point:
    x: Int16
    y: Float32


@dataclasses.dataclass
class Message:
    number: UInt64
    tag: Annotated[str, Str(6)]
    phase: Phase
    mode: Literal["on", "off"]
    point: Point
    digest: Annotated[bytes, Bytes(3)]
    small: Annotated[np.ndarray, Tensor("int16", (2, 2))]
    image: Annotated[np.ndarray, Tensor("float32", (9, 8))]
    end: bool


@dataclasses.dataclass
class Rows:
    points: Annotated[list[Point], Length(2)]
    pair: tuple[UInt8, UInt8]
    blob: Annotated[bytes, Bytes(300)]


IMAGE = np.arange(72, dtype=np.float32).reshape(9, 8)


def message(**changes: Any) -> Message:
    value = Message(
        number=2**64 - 1,
        tag="né",
        phase=Phase.DECODE,
        mode="off",
        point=Point(-2, 1.5),
        digest=b"\0xy",
        small=np.array([[1, -1], [256, 2]], np.int16),
        image=IMAGE.copy(),
        end=True,
    )
    return dataclasses.replace(value, **changes)


# By hand: 8 number, 6 tag, 1 phase, 1 mode, 8 point (gap after x), 3 digest, 1 gap, 8 small, 288 image, 1 end, 3 to 328.
EXPECTED = struct.pack(
    "<Q6sBBhxxf3sx4h288sB3x", 2**64 - 1, b"n\xc3\xa9", 200, 1, -2, 1.5, b"\0xy", 1, -1, 256, 2, IMAGE.tobytes(), 1
)


def made(engine: str, source: Any = Message, **options: Any) -> HeaderCodec[Any]:
    with mock.patch("zcser.header.engine.backend", engine):
        return HeaderCodec(schema_of(source), Options(**options))


def aligned(size: int) -> memoryview:
    room = np.full(size + 64, 0xAA, np.uint8)
    start = -address(room) % 64
    return room[start : start + size].data


def outcome(function: Any, *args: Any) -> Any:
    try:
        return function(*args)
    except (EncodeError, DecodeError) as error:
        return type(error), error.reason, error.path, getattr(error, "offset", None)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("guard", ["on", "off"])
def test_the_bytes_are_those_worked_out_by_hand(engine, guard):
    codec = made(engine, guard=guard)
    assert codec.encode(message()) == EXPECTED
    out = aligned(400)
    assert codec.encode_into(message(), out, 8) == len(EXPECTED)
    assert bytes(out) == b"\xaa" * 8 + EXPECTED + b"\xaa" * (392 - len(EXPECTED))
    assert equal(codec.decode(EXPECTED), message())
    assert equal(to_value(codec.view(EXPECTED)), message())


@needs_native
def test_c_takes_what_fits_as_it_is():
    codec = made("native")
    assert codec._packer.pack(message()) == EXPECTED
    for image in (IMAGE.astype("<f4"), IMAGE.copy()):
        assert codec._packer.pack(message(image=image)) == EXPECTED
    rows = Rows([Point(1, 0.5), Point(2, -0.5)], (3, 255), bytes(300))
    expected = struct.pack("<hxxfhxxfBB300s2x", 1, 0.5, 2, -0.5, 3, 255, bytes(300))
    assert made("native", Rows)._packer.pack(rows) == expected


MISFITS: dict[str, Any] = {
    "number": [-1, 2**64, 1.0, True, None],
    "tag": ["sevenly", "a\0", "\ud800", b"x", None],
    "phase": [200, 7, "DECODE"],
    "mode": ["neither", 1, True, None],
    "point": [Point(2**15, 0.0), Point(0, 1e39), Point(0, 1), {"x": 1, "y": 1.0}, None],
    "digest": [b"xy", b"wxyz", bytearray(b"xyz"), "xyz"],
    "small": [np.zeros((2, 2), np.int8), np.zeros((4,), np.int16), [[1, 2], [3, 4]], np.int16(1)],
    "image": [IMAGE.T, np.asfortranarray(IMAGE), IMAGE.astype(">f4"), IMAGE.astype("f8"), IMAGE[:, :4], IMAGE[::-1], None],
    "end": [1, np.True_, None],
}  # fmt: skip


@needs_native
@pytest.mark.parametrize(("name", "wrong"), [(name, wrong) for name, many in MISFITS.items() for wrong in many])
def test_what_does_not_fit_as_it_is_ends_as_in_python(name, wrong):
    native, pure = made("native"), made("pure")
    value = message(**{name: wrong})
    out = aligned(400)
    assert native._packer.pack(value) is None
    assert native._packer.pack_into(value, out, 0) is None
    assert bytes(out) == b"\xaa" * 400
    assert outcome(native.encode, value) == outcome(pure.encode, value)
    other = aligned(400)
    assert outcome(native.encode_into, value, out, 0) == outcome(pure.encode_into, value, other, 0)
    assert bytes(out) == bytes(other)


VALUES = st.builds(
    message,
    number=st.integers(0, 2**64 - 1) | st.integers(-1, 2**64),
    tag=st.text(max_size=7),
    phase=st.sampled_from(Phase),
    mode=st.sampled_from(["on", "off", "no"]),
    point=st.builds(Point, st.integers(-(2**15) - 1, 2**15), st.floats(width=32) | st.floats()),
    digest=st.binary(min_size=3, max_size=3) | st.binary(max_size=4),
    end=st.booleans(),
)


@needs_native
@given(VALUES, st.booleans())
def test_values_end_the_same(value, strict):
    native, pure = made("native", strict=strict), made("pure", strict=strict)
    found = outcome(native.encode, value)
    assert found == outcome(pure.encode, value)
    if isinstance(found, bytes):
        assert equal(native.decode(found), pure.decode(found))


def read_all(codec: HeaderCodec[Any], data: bytes) -> list[Any]:
    def fields(view: Any) -> list[Any]:
        return [outcome(lambda name: to_value(view[name]), name) for name in ("tag", "phase", "mode", "point", "image")]

    trusting = codec.view(data, verify=False)
    return [
        outcome(codec.decode, data),
        outcome(lambda: to_value(codec.view(data))),
        outcome(to_value, trusting),
        fields(trusting),
    ]


@needs_native
@given(st.lists(st.tuples(st.integers(0, len(EXPECTED) - 1), st.integers(0, 255)), max_size=4))
@example([(9, 0)])  # a byte inside the tag that begins no character
def test_mutated_messages_end_the_same(changes):
    data = bytearray(EXPECTED)
    for place, byte in changes:
        data[place] = byte
    for one, other in zip(read_all(made("native"), bytes(data)), read_all(made("pure"), bytes(data)), strict=True):
        assert equal(one, other)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_view_aliases_holds_and_releases(engine):
    codec, room = made(engine), aligned(len(EXPECTED))
    room[:] = EXPECTED
    view: Any = codec.view(room)
    assert (view.number, view.tag, view.phase, view.mode, view.end) == (2**64 - 1, "né", Phase.DECODE, "off", True)
    assert (view.point.x, view["point"]["y"]) == (-2, 1.5)
    assert address(view.image) == address(room) + 36
    assert not view.image.flags.writeable
    assert view.digest.readonly
    with pytest.raises(AttributeError):
        view.number = 1
    with pytest.raises(AttributeError):
        view.image = IMAGE
    kept, point = view.image, view.point
    release(view)
    for read in (lambda: view.number, lambda: view.image, lambda: point.x, lambda: to_value(view)):
        with pytest.raises(ReleasedViewError):
            read()
    assert np.array_equal(kept, IMAGE)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("shift", [-8, 0, 8])
def test_a_value_that_lies_where_it_is_written_is_written_whole(engine, shift):
    codec, room = made(engine), aligned(400)
    room[32 : 32 + len(EXPECTED)] = EXPECTED
    value = codec.decode(room[32 : 32 + len(EXPECTED)], copy=False)
    value = dataclasses.replace(value, digest=bytes(value.digest))
    assert codec.encode_into(value, room, 32 + shift) == len(EXPECTED)
    assert bytes(room[32 + shift :][: len(EXPECTED)]) == EXPECTED


@dataclasses.dataclass
class Two:
    one: Annotated[np.ndarray, Tensor("int8", (256,))]
    two: Annotated[np.ndarray, Tensor("int8", (256,))]


@pytest.mark.parametrize("engine", ENGINES)
def test_tensors_that_lie_in_each_others_places_are_written_whole(engine):
    room = np.repeat(np.array([1, 2], np.int8), 256)
    assert made(engine, Two).encode_into(Two(one=room[256:], two=room[:256]), room.view(np.uint8)) == 512
    assert room.tolist() == [2] * 256 + [1] * 256


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_is_kept_of_values_and_buffers(engine):
    codec, out = made(engine), bytearray(400)
    value, misfit = message(), message(end=1)
    for one in (value, misfit):
        outcome(codec.encode, one)
        outcome(codec.encode_into, one, out)
    counts = [sys.getrefcount(part) for part in (value.image, value.small, misfit.image)]
    for _ in range(200):
        for one in (value, misfit):
            outcome(codec.encode, one)
            outcome(codec.encode_into, one, out)
            codec.view(EXPECTED).image.sum()
    gc.collect()
    assert [sys.getrefcount(part) for part in (value.image, value.small, misfit.image)] == counts
    out.extend(b"not locked")


class Interrupting:
    @property
    def points(self) -> Any:
        raise KeyboardInterrupt


@needs_native
def test_an_interrupt_in_a_property_gets_out():
    with mock.patch.object(Rows, "points", property(Interrupting.points.fget), create=True):
        codec = made("native", Rows)
        value = object.__new__(Rows)
        for write in (codec.encode, lambda value: codec.encode_into(value, aligned(400))):
            with pytest.raises(KeyboardInterrupt):
                write(value)


@needs_native
@pytest.mark.parametrize(
    "parts",
    [
        (),
        ((99, 1, ()),),
        ((0, 3, (2, False)),),
        ((0, 1, (2, False)), (6, 5, (False, 4, 0))),
        ((6, 4, (False, 4, 0)),),
        ((0, 4, (2, False)), (7, 6, (dict, (("a", 0, 0), ("b", 0, 2))))),
        ((0, 4, (2, False)), (7, 8, (dict, (("a", 0, 4), ("b", 0, 0))))),
        ((0, 4, (2, False)), (7, 4, (dict, (("a", 0, 1),)))),
        ((1, 1, ((3, False), ("a",), (256,), None)),),
        ((5, 4, ((), (-1,), len)),),
    ],
)
def test_a_program_that_would_leave_the_message_is_refused(parts):
    from zcser.native import _header

    with pytest.raises(ValueError, match="is none of a layout"):
        _header.Packer(parts, np.ndarray, 1)


def test_both_engines_are_what_they_are_called():
    assert [made(engine)._packer is not None for engine in BUILT] == [engine == "native" for engine in BUILT]
