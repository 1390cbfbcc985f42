"""Records of any dtype or format by either engine, as struct and numpy have them."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import zcser
from tests.header.engines import ENGINES, with_each, with_engine
from zcser.core.errors import DecodeError, EncodeError
from zcser.header import RecordLayout

pytestmark = pytest.mark.parametrize("engine", ENGINES)

SCALARS = st.sampled_from("cbB?hHiIqQefd")


@st.composite
def parts(draw: Any, order: st.SearchStrategy[str], depth: int = 2) -> Any:
    kind = draw(st.integers(0, 3 if depth else 1))
    if kind == 0:
        return np.dtype(f"V{draw(st.integers(1, 5))}")
    if kind == 1 or depth == 0:
        letter = draw(st.sampled_from(["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]))
        return np.dtype(draw(order) + letter)
    if kind == 2:
        return np.dtype(
            (draw(parts(order, depth - 1)), tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=2))))
        )
    return draw(dtypes(order, depth - 1))


@st.composite
def dtypes(draw: Any, order: st.SearchStrategy[str], depth: int = 2) -> np.dtype[Any]:
    """Structured, with gaps, and in any order."""
    formats = draw(st.lists(parts(order, depth), min_size=1, max_size=5))
    gaps = draw(st.lists(st.integers(0, 3), min_size=len(formats) + 1, max_size=len(formats) + 1))
    offsets, end = [], 0
    for part, gap in zip(formats, gaps, strict=False):
        offsets.append(end + gap)
        end += gap + part.itemsize
    places = draw(st.permutations(range(len(formats))))
    return np.dtype(
        {
            "names": [f"f{place}" for place in places],
            "formats": [formats[place] for place in places],
            "offsets": [offsets[place] for place in places],
            "itemsize": end + gaps[-1],
        }
    )


def plain(value: Any) -> Any:
    """Of numpy or of a record: tuples and numbers, NaN in words."""
    if isinstance(value, np.ndarray | np.void | np.generic):
        if isinstance(value, np.void) and value.dtype.names is None:
            return bytes(value)
        if isinstance(value, np.void):
            return tuple(plain(value[name]) for name in value.dtype.names)
        if isinstance(value, np.ndarray) and value.shape:
            return tuple(plain(item) for item in value)
        return plain(value.item())
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)
    return "nan" if isinstance(value, float) and math.isnan(value) else value


@given(
    dtypes(st.sampled_from("<>")) | dtypes(st.just("<")) | dtypes(st.just(">")),
    st.integers(0, 9), st.integers(0, 9), st.randoms(use_true_random=False),
)  # fmt: skip
def test_any_dtype_at_any_offset_is_read_and_written_as_numpy_does(engine, dtype, before, after, random):
    layout = with_engine(engine, lambda: RecordLayout.from_dtype(dtype))
    data = random.randbytes(before + dtype.itemsize + after)
    want = np.frombuffer(data, dtype, 1, before)[0]
    found = layout.unpack_from(data, before)
    assert plain(found) == plain(want)
    view = layout.view(data, before)
    for name in dtype.names:
        assert plain(zcser.to_value(view[name])) == plain(want[name])
    if "nan" in repr(plain(found)):
        return
    # In place: one field after the other, then the whole; gaps of numpy's copy are left alone too.
    out = bytearray(len(data))
    copy = layout.view(out, before)
    for name in dtype.names:
        copy[name] = getattr(found, name)
    made = np.frombuffer(layout.pack(found), dtype)[0]
    assert plain(np.frombuffer(out, dtype, 1, before)[0]) == plain(want) == plain(made)
    assert (out[:before], out[len(data) - after :]) == (bytes(before), bytes(after))


@given(
    st.sampled_from("<>@="), st.lists(st.tuples(st.integers(1, 3), SCALARS | st.just("s")), min_size=1, max_size=8),
    st.integers(0, 9), st.randoms(use_true_random=False),
)  # fmt: skip
def test_any_format_at_any_offset_is_read_as_struct_does(engine, order, entries, offset, random):
    format_ = order + "".join(f"{count}{code}" for count, code in entries)
    names = [f"f{number}" for number in range(len(entries))]
    layout = with_engine(engine, lambda: RecordLayout.from_struct(format_, names))
    data = random.randbytes(offset + struct.calcsize(format_))
    found = layout.unpack_from(bytearray(data), offset)
    flat = tuple(item for field in found for item in (field if isinstance(field, tuple) else (field,)))
    assert repr(flat) == repr(struct.unpack_from(format_, data, offset))


@given(
    st.sampled_from("<>"),
    SCALARS.filter(lambda code: code != "c"),
    st.integers(-(2**65), 2**65) | st.floats() | st.booleans(),
)
def test_a_number_is_written_as_struct_writes_it_or_refused(engine, order, code, value):
    layout = with_engine(engine, lambda: RecordLayout.from_struct(order + code, "f"))
    out = bytearray(layout.size)
    try:
        want = struct.pack(order + code, value)
        # struct takes the truth of anything.
        fits = code != "?" or isinstance(value, bool)
    except (struct.error, OverflowError):
        fits = False
    if fits:
        layout.view(out).f = value
        assert bytes(out) == want == layout.pack((value,))
        return
    for write in (lambda: setattr(layout.view(out), "f", value), lambda: layout.pack((value,))):
        with pytest.raises(EncodeError) as caught:
            write()
        assert caught.value.path == "/f"
    assert not any(out)


@given(dtypes(st.sampled_from("<>")), st.integers(-5, 80) | st.integers(), st.integers(0, 80))
def test_both_engines_refuse_the_same_in_the_same_words(engine, dtype, offset, size):
    said = []
    for layout in with_each(lambda: RecordLayout.from_dtype(dtype)):
        for read in (layout.unpack_from, layout.view):
            try:
                read(bytes(size), offset)
                said.append("")
            except DecodeError as error:
                said.append(f"{type(error).__name__} {error} {error.path} {error.offset}")
    assert len(set(said)) == 1
    assert bool(said[0]) is not (0 <= offset <= size - dtype.itemsize)
