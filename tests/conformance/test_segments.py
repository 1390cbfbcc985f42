"""Segments and their inverse."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conformance.laws import (
    INFO,
    assert_same,
    assert_shows,
    cells,
    codecs,
    encodable,
    encoded,
    has,
    make,
    normal_of,
)
from tests.conformance.schemas import CASES
from tests.conformance.strategies import plain, samples
from zcser import registry
from zcser.core.buffers import address
from zcser.core.errors import DecodeError, EncodeError
from zcser.core.view import to_value
from zcser.schema.model import List, Schema, Tensor


@pytest.mark.parametrize(("name", "case"), cells("encode_segments"))
def test_segments_decode_to_the_normal_form(name, case):
    codec = make(name, case)
    for value in samples(CASES[case], 10):
        data = encoded(codec, value)
        if isinstance(data, EncodeError):
            with pytest.raises(EncodeError):
                codec.encode_segments(value)
            continue
        segments = codec.encode_segments(value)
        assert all(type(segment) is memoryview and segment.format == "B" for segment in segments)
        expected = normal_of(codec, value)
        assert_same(codec.decode_segments(segments), expected)
        assert_same(plain(codec.decode_segments([bytes(segment) for segment in segments], copy=False)), expected)
        if "view_segments" in INFO[name].operations:
            assert_shows(codec.view_segments(segments), expected, codec.schema, codec.schema.root)
        if INFO[name].joinable:
            assert_same(codec.decode(b"".join(segments)), codec.decode(data))


@pytest.mark.parametrize("name", codecs("encode_segments"))
def test_a_large_tensor_is_not_copied_into_segments(name):
    # Of fixed size, so that every codec carries it.
    codec = registry.codec(name, Schema(List(Tensor("float32", (1 << 16,)), length=1)))
    array = np.arange(1 << 16, dtype=np.float32)
    segments = codec.encode_segments([array])
    start, end = address(array), address(array) + array.nbytes
    inside = [segment for segment in segments if segment.nbytes and start <= address(segment) < end]
    assert sum(segment.nbytes for segment in inside) == array.nbytes


@pytest.mark.parametrize("name", codecs("decode_segments"))
def test_wrong_segments_are_a_decode_error(name):
    codec = make(name, "sized")
    segments = [bytes(part) for part in codec.encode_segments(encodable(codec, samples(CASES["sized"], 20))[-1][0])]
    released = memoryview(b"abc")
    released.release()
    for wrong in (
        [],
        segments[:-1],
        [*segments, b"more"],
        [b""] * len(segments),
        ["text"],
        [5],
        [*segments[:-1], released],
        released,
        b"one piece",
        None,
        5,
    ):
        for operation in ("decode_segments", "view_segments"):
            if has(name, operation):
                with pytest.raises(DecodeError):
                    to_value(getattr(codec, operation)(wrong))
