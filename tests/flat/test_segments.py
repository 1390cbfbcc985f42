"""Messages in segments, by both engines: what is read aliases them, and what is cut otherwise than they may be is refused.

Expected values are those that were encoded, places are counted by hand, and the bytes of a message in one buffer are what
its segments are together.
"""

from __future__ import annotations

import dataclasses
import gc
import random
import struct
import threading
import weakref
from typing import Any

import numpy as np
import pytest

from tests.conformance.laws import assert_same
from tests.conformance.strategies import plain
from tests.flat.segments import NAMES, assert_read_alike, changed, engine_of, writable
from tests.fuzz.readers import built, engines, outcome
from zcser.core.buffers import address
from zcser.core.errors import DecodeError, ReleasedViewError, TruncatedError, VerifyError
from zcser.core.fidelity import difference
from zcser.core.options import Limits, Options
from zcser.core.view import release, retained_bytes, to_value
from zcser.flat.plan import layout_of
from zcser.flat.program import program_of
from zcser.schema.from_python import schema_of


@dataclasses.dataclass
class Request:
    name: str
    image: np.ndarray
    blob: bytes
    mask: np.ndarray
    more: list[np.ndarray]


REQUEST = Request(
    "é", np.arange(4096, dtype="f4"), bytes(range(256)) * 20, np.arange(100), [np.arange(3000), np.arange(4)]
)


# What is read, and where it lies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_what_is_read_without_copies_is_the_senders_own_memory(name: str) -> None:
    engine = engine_of(name, Request)
    segments = engine.encode_segments(REQUEST)
    # By hand: data of 4096 bytes and more are the second, the fourth, the sixth; what lies between stands before them.
    assert [len(segment) for segment in segments[1::2]] == [16384, 5120, 24000]
    assert b"".join(segments) == engine.encode(REQUEST)
    view = engine.view_segments(segments)
    for found in (engine.decode_segments(segments, copy=False), view):
        assert address(found.image) == address(REQUEST.image)
        assert address(found.blob) == address(REQUEST.blob)
        assert address(found.more[0]) == address(REQUEST.more[0])
        assert difference(plain(to_value(found)), plain(REQUEST)) is None
    assert retained_bytes(view) == len(engine.encode(REQUEST))
    assert_same(engine.decode_segments(segments), REQUEST)


@pytest.mark.parametrize("name", NAMES)
def test_what_aliases_sees_its_segment_change_and_what_was_copied_does_not(name: str) -> None:
    engine = engine_of(name, Request)
    segments = writable(engine.encode_segments(REQUEST))
    alias, copied = engine.decode_segments(segments, copy=False), engine.decode_segments(segments)
    view = engine.view_segments(segments)
    segments[1][:4] = struct.pack("<f", 77)
    segments[3][0] = 9
    assert alias.image[0] == view.image[0] == 77
    assert alias.blob[0] == view.blob[0] == 9
    assert not alias.image.flags.writeable
    assert alias.blob.readonly
    assert view.blob.readonly
    assert_same(copied, REQUEST)
    assert copied.image.flags.writeable


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shift", [0, 1, 2, 4, 60])
def test_a_tensor_is_aligned_wherever_its_segment_lies(name: str, shift: int) -> None:
    engine = engine_of(name, Request)
    segments = list(engine.encode_segments(REQUEST))
    block = np.zeros(len(segments[1]) + 128, np.uint8)
    start = -block.ctypes.data % 64 + shift
    block[start : start + len(segments[1])] = segments[1]
    segments[1] = block[start : start + len(segments[1])].data
    for found in (engine.decode_segments(segments, copy=False), engine.view_segments(segments)):
        assert found.image.flags.aligned
        assert (address(found.image) == address(segments[1])) == (shift % 4 == 0)
        assert (address(found.image) % 64 == 0) or shift
        assert (found.image == REQUEST.image).all()


@pytest.mark.parametrize("name", NAMES)
def test_segments_are_any_buffers_and_are_kept_alive(name: str) -> None:
    engine = engine_of(name, Request)

    class Block(np.ndarray):
        pass

    segments = [np.frombuffer(bytearray(part), np.uint8).view(Block) for part in engine.encode_segments(REQUEST)]
    gone = [weakref.ref(segment) for segment in segments]
    view, image = engine.view_segments(tuple(segments)), engine.decode_segments(segments, copy=False).image
    del segments
    gc.collect()
    assert difference(plain(to_value(view)), plain(REQUEST)) is None
    release(view)
    with pytest.raises(ReleasedViewError):
        _ = view.name
    gc.collect()
    assert [found() is None for found in gone] == [index != 1 for index in range(len(gone))]
    assert (image == REQUEST.image).all()


@pytest.mark.parametrize("name", NAMES)
def test_parts_of_a_view_are_released_with_it(name: str) -> None:
    engine = engine_of(name, Request)
    view = engine.view_segments(writable(engine.encode_segments(REQUEST)))
    more, image, blob = view.more, view.image, view.blob
    release(more)
    for read in (lambda: view.blob, lambda: more[0], lambda: len(more), lambda: to_value(view)):
        with pytest.raises(ReleasedViewError):
            read()
    assert retained_bytes(view) == 0
    assert bytes(blob) == REQUEST.blob
    assert (image == REQUEST.image).all()


@pytest.mark.parametrize("name", NAMES)
def test_threads_share_a_view_of_segments(name: str) -> None:
    engine = engine_of(name, Request)
    view = engine.view_segments(engine.encode_segments(REQUEST))
    found: list[Any] = []

    def work() -> None:
        found.extend(difference(plain(to_value(view)), plain(REQUEST)) for _ in range(100))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [None] * 400


# Segments that are wrong ------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Blobs:
    one: bytes
    two: bytes


# By hand: the root's offset, a vtable of two slots, a table of two offsets; the first vector's length at byte 24, its data
# up to 44; the second one's length there, its data from 48 to 60.
BLOBS = struct.pack("<I HHHH i II", 12, 8, 12, 4, 8, 8, 8, 24) + struct.pack("<I16s I12s", 16, b"o" * 16, 12, b"t" * 12)


def cut(*places: int) -> list[bytes]:
    return [BLOBS[start:stop] for start, stop in zip((0, *places), (*places, len(BLOBS)), strict=True)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "places", [(), (28,), (24,), (44,), (28, 44), (24, 44), (28, 44, 48), (44, 48), (48,), (24, 28, 44, 48)]
)
def test_vectors_may_stand_in_any_segment_whole(name: str, places: tuple[int, ...]) -> None:
    engine = engine_of(name, Blobs)
    assert len(BLOBS) == 60
    for found in (
        engine.decode_segments(cut(*places)),
        plain(engine.decode_segments(cut(*places), copy=False)),
        to_value(engine.view_segments(cut(*places))),
        to_value(engine.view_segments(cut(*places), verify=False)),
    ):
        assert found == Blobs(b"o" * 16, b"t" * 12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("segments", "kind", "path", "offset", "words"),
    [
        (cut(30), VerifyError, "/one", 24, "the vector at byte 24 crosses segments"),
        (cut(28, 40), VerifyError, "/one", 24, "the vector at byte 24 crosses segments"),
        (cut(26), VerifyError, "/one", 24, "the length of the vector at byte 24 crosses segments"),
        (cut(28, 44)[:2], TruncatedError, "/two", 12, "an offset leads past the end"),
        (cut(28, 44)[:1], TruncatedError, "/one", 24, "a vector up to byte 44 leads past the end at 28"),
        # What is left has as many bytes as what is missing had, and is taken for it.
        ([cut(28, 44)[0], cut(28, 44)[2]], TruncatedError, "/two", 12, "an offset leads past the end"),
        (
            [cut(28, 48)[0], cut(28, 48)[2]],
            TruncatedError,
            "/one",
            24,
            "a vector up to byte 44 leads past the end at 40",
        ),
        (
            [cut(28, 48)[0], cut(28, 48)[1], b"t" * 11],
            TruncatedError,
            "/two",
            44,
            "up to byte 60 leads past the end at 59",
        ),
        ([*cut(28, 44), b"x"], VerifyError, None, 60, "nothing in the message leads to segment 3, of 1 bytes"),
        ([*cut(28), b""], VerifyError, None, 60, "nothing in the message leads to segment 2, of 0 bytes"),
        (cut(28, 28), VerifyError, None, 28, "nothing in the message leads to segment 1, of 0 bytes"),
        (cut(8), TruncatedError, None, 8, "8 bytes are fewer than any message has"),
        (cut(20), TruncatedError, "", 12, "a table of 12 bytes leads past the end at 20"),
        ([], DecodeError, None, None, "a message has one segment at least"),
        (BLOBS, DecodeError, None, None, "a list of segments is needed, not bytes"),
        ([BLOBS[:28], 5], DecodeError, None, None, "a bytes-like object is needed, not int"),
        ([BLOBS[:28], np.zeros((64, 2), np.uint8)[:, 0]], DecodeError, None, None, "not C-contiguous"),
    ],
    ids=lambda value: value[:25] if isinstance(value, str) else "-",
)
def test_other_cuts_are_refused_with_path_and_offset(name, segments, kind, path, offset, words):  # noqa: PLR0917
    engine = engine_of(name, Blobs)
    for read in (engine.decode_segments, engine.view_segments, lambda data: engine.decode_segments(data, copy=False)):
        with pytest.raises(kind, match=words) as caught:
            read(segments)
        assert type(caught.value) is kind
        assert (caught.value.path, caught.value.offset) == (path, offset)


@pytest.mark.parametrize("name", NAMES)
def test_every_cut_gives_the_value_or_a_decode_error_and_every_place_is_tried(name: str) -> None:
    engine = engine_of(name, Blobs)
    taken = []
    for one in range(len(BLOBS) + 1):
        for other in range(one, len(BLOBS) + 1):
            found = outcome("decode_segments", lambda places=(one, other): engine.decode_segments(cut(*places)))
            if not isinstance(found, DecodeError):
                assert found == Blobs(b"o" * 16, b"t" * 12)
                taken.append((one, other))
    # By hand: where a length or data begin, and neither twice nor at an end, which makes an empty segment.
    assert taken == [(24, 28), (24, 44), (24, 48), (28, 44), (28, 48), (44, 48)]


@pytest.mark.parametrize("name", NAMES)
def test_limits_count_all_segments(name: str) -> None:
    segments = cut(28, 44)
    assert engine_of(name, Blobs, limits=Limits(bytes=60)).decode_segments(segments).two == b"t" * 12
    with pytest.raises(VerifyError, match=r"60 bytes are more than limits\.bytes = 59"):
        engine_of(name, Blobs, limits=Limits(bytes=59)).decode_segments(segments)


@pytest.mark.parametrize("name", NAMES)
def test_segments_may_belong_to_a_field_that_the_schema_lacks(name: str) -> None:
    one = dataclasses.make_dataclass("Blobs", [("one", bytes)])
    value = Blobs(b"o" * 5000, b"t" * 5000)
    segments = engine_of(name, Blobs).encode_segments(value)
    assert len(segments) == 4
    older = engine_of(name, one)
    assert older.decode(b"".join(segments)).one == value.one  # The vtable may be remembered from now on.
    assert older.decode_segments(segments).one == value.one
    assert older.view_segments(segments).one == value.one
    with pytest.raises(VerifyError, match="a field is not in the schema"):
        engine_of(name, one, unknown_fields="refuse").decode_segments(segments)
    # Of a schema that has all fields, the same segment too many is one.
    with pytest.raises(VerifyError, match="nothing in the message leads to segment 2"):
        older.decode_segments([*older.encode_segments(one(value.one)), value.two])


# Hostile segments -------------------------------------------------------------------------------------------------------


def test_changed_segments_are_read_alike_or_refused() -> None:
    found, rng = engines(program_of(layout_of(schema_of(Request))), Options(), built()), random.Random(8)
    parts = [bytes(part) for part in found["pure"].encode_segments(REQUEST)]
    taken = [assert_read_alike(found, changed(rng, parts)) for _ in range(400)]
    assert 20 < sum(taken) < 300
