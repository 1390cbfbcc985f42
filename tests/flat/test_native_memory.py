"""The C engine keeps nothing: the memory of the process does not grow with what was encoded and read."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("zcser.native._flat")

from tests.flat.rich import Rich, rich_value
from tests.flat.test_native_encode import engine
from zcser.core.errors import DecodeError, EncodeError
from zcser.core.view import release, to_value

STATM = Path("/proc/self/statm")

ENGINE = engine(Rich)
VALUE = rich_value()
MESSAGE = ENGINE.encode(VALUE)
OUT = bytearray(len(MESSAGE) + 64)
CUT = MESSAGE[: len(MESSAGE) // 2]
BYTES = engine(bytes)
SEGMENTS = [bytearray(part) for part in BYTES.encode_segments(bytes(5000))]


def resident_bytes() -> int:
    return int(STATM.read_text().split()[1]) * mmap.PAGESIZE


def view_fields() -> None:
    view = ENGINE.view(MESSAGE)
    _ = view.text, view.tensor, view.blob, view.points[0].x, view.by_name["z"], view["either"].y, view.mixed[1]
    release(view)


def refused(call: Callable[[Any], Any], argument: Any) -> None:
    try:
        call(argument)
    except (DecodeError, EncodeError):
        return
    raise AssertionError


CALLS: dict[str, tuple[int, Callable[[], Any]]] = {
    "encode": (1_000_000, lambda: ENGINE.encode(VALUE)),
    "encode_into": (200_000, lambda: ENGINE.encode_into(VALUE, OUT, 0)),
    "encode_segments": (200_000, lambda: ENGINE.encode_segments(VALUE)),
    "view": (1_000_000, view_fields),
    "decode": (200_000, lambda: ENGINE.decode(MESSAGE)),
    "decode without copies": (200_000, lambda: ENGINE.decode(MESSAGE, copy=False)),
    "value of a view": (100_000, lambda: to_value(ENGINE.view(MESSAGE))),
    "decode segments": (200_000, lambda: BYTES.decode_segments(SEGMENTS, copy=False)),
    "view segments": (200_000, lambda: BYTES.view_segments(SEGMENTS)),
    "segments that are refused": (100_000, lambda: refused(BYTES.decode_segments, [*SEGMENTS, b"more"])),
    "a message that is refused": (100_000, lambda: refused(ENGINE.decode, CUT)),
    "a value that is refused": (20_000, lambda: refused(ENGINE.encode, None)),
}


@pytest.mark.slow
@pytest.mark.skipif(not STATM.exists(), reason="needs Linux' statm")
@pytest.mark.parametrize("name", CALLS)
def test_memory_does_not_grow(name: str) -> None:
    count, call = CALLS[name]
    for _ in range(count // 20):
        call()
    before = resident_bytes()
    for _ in range(count):
        call()
    # One byte for each call that is kept would be more than half of that, and no allocator gives less than 16.
    assert resident_bytes() - before < 16 * count / 10
