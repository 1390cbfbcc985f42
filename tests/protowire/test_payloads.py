"""Payloads are spliced into messages and cut out of them: the bytes are protobuf's own, and no payload is copied."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conformance.laws import assert_same, assert_shows
from tests.conformance.strategies import plain
from tests.protowire.carriers import HOLDERS, Holder, Named
from tests.protowire.outer import codec_of
from zcser.core.buffers import address
from zcser.core.errors import BufferTooSmallError, DecodeError, EncodeError
from zcser.core.options import Limits
from zcser.core.view import release, retained_bytes, to_value
from zcser.schema.normal import normal

CODEC = codec_of(Holder)
PADDED = codec_of(Holder, aligned=True)
BIG = np.arange(1 << 18, dtype=np.float32)


def by_upb(codec: Any, value: Any) -> bytes:
    """What upb writes of the message that holds its payloads."""
    message = codec.convert(value)
    return type(message).SerializeToString(message, deterministic=True)


def holder(**changed: Any) -> Holder:
    known: dict[str, Any] = {
        "id": 1, "blob": b"", "tensor": np.zeros(1), "maybe": None, "blobs": [], "tensors": [], "named": [],
        "by_key": {}, "by_number": {}, "either": 0, "grid": [], "side": {}, "inner": None, "tail": "end",
    }  # fmt: skip
    return Holder(**{**known, **changed})


@given(HOLDERS)
def test_every_way_of_writing_gives_upbs_bytes(value):
    expected = by_upb(CODEC, value)
    assert CODEC.encode(value) == expected
    assert b"".join(CODEC.encode_segments(value)) == expected
    assert CODEC.encoded_size(value) == len(expected)
    out = bytearray(b"\xaa" * (len(expected) + 3))
    assert CODEC.encode_into(value, out, 2) == len(expected)
    assert out == b"\xaa\xaa" + expected + b"\xaa"
    with pytest.raises(BufferTooSmallError) as caught:
        CODEC.encode_into(value, bytearray(len(expected) - 1))
    assert caught.value.needed == len(expected)


@given(HOLDERS)
def test_every_way_of_reading_gives_the_value(value):
    expected = normal(CODEC.schema, value)
    data = by_upb(CODEC, value)
    segments = CODEC.encode_segments(value)
    for copy in (True, False):
        assert_same(plain(CODEC.decode(data, copy=copy)), expected)
        assert_same(plain(CODEC.decode_segments(segments, copy=copy)), expected)
    for view in (CODEC.view(data), CODEC.view_segments(segments)):
        assert_shows(view, expected, CODEC.schema, CODEC.schema.root)
        assert_same(to_value(view), expected)


@given(HOLDERS)
def test_padded_messages_hold_the_same_value_aligned(value):
    data = PADDED.encode(value)
    assert b"".join(PADDED.encode_segments(value)) == data
    out = np.zeros(len(data) + 128, np.uint8)
    start = -out.ctypes.data % 64
    assert PADDED.encode_into(value, out, start) == len(data)
    assert out[start : start + len(data)].tobytes() == data
    # upb, which knows nothing of padding, reads the message of the value.
    assert_same(CODEC.restore(CODEC.load(data)), normal(CODEC.schema, value))
    message = out[start : start + len(data)]
    for part in (CODEC.view(message), CODEC.decode(message, copy=False)):
        for array in (part.tensor, *part.tensors, *part.by_number.values(), *(one.data for one in part.named)):
            assert not array.nbytes or array.ctypes.data % 64 == 0
            assert not array.nbytes or address(message) <= array.ctypes.data < address(message) + len(data)
    assert_same(codec_of(Holder, unknown_fields="refuse").decode(data), normal(CODEC.schema, value))


def test_padding_is_a_field_that_no_schema_has_and_always_takes_67_bytes():
    codec, plain_codec = codec_of(list[np.ndarray], aligned=True), codec_of(list[np.ndarray])
    array = np.array([250, 251, 252, 253], np.uint8)
    data, without = codec.encode([array]), plain_codec.encode([array])
    assert without == bytes.fromhex("0a 0b 08 01 12 01 04 1a 04 fafbfcfd")
    # 7 bytes before and 2 between leave 55 to byte 64, of which tag and length take 2; behind are the other 12 of 67.
    before, behind = bytes.fromhex("7a 35") + bytes(53), bytes.fromhex("7a 0a") + bytes(10)
    assert data == bytes.fromhex("0a 4e 08 01 12 01 04") + before + without[7:] + behind
    assert data.index(array.tobytes()) == 64


# --- copies -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "find"),
    [
        (holder(tensor=BIG), lambda part: part.tensor),
        (holder(tensors=[np.zeros(3), BIG]), lambda part: part.tensors[1]),
        (holder(named=[Named("a", BIG)]), lambda part: part.named[0].data),
        (holder(by_number={7: BIG}), lambda part: part.by_number[7]),
        (holder(either=BIG), lambda part: part.either),
        (holder(either=Named("x", BIG)), lambda part: part.either.data),
        (holder(side={"tensor": BIG}), lambda part: part.side["tensor"]),
        (holder(inner=holder(tensor=BIG)), lambda part: part.inner.tensor),
    ],
    ids=["field", "list", "record in a list", "map", "union", "record in a union", "absent or None", "nested"],
)
def test_a_tensor_aliases_the_callers_memory_going_out_and_the_message_coming_in(value, find):
    segments = CODEC.encode_segments(value)
    (place,) = [place for place, segment in enumerate(segments) if segment.nbytes == BIG.nbytes]
    assert address(segments[place]) == address(BIG)
    data = b"".join(segments)
    out = bytearray(len(data))
    assert CODEC.encode(value) == data == by_upb(CODEC, value)
    assert CODEC.encode_into(value, out) == len(data)
    assert out == data
    start = address(data) + sum(segment.nbytes for segment in segments[:place])
    for part in (CODEC.view(data), CODEC.decode(data, copy=False)):
        assert address(find(part)) == start
        assert not find(part).flags.writeable
        assert_same(find(part), BIG)
    for part in (CODEC.view_segments(segments), CODEC.decode_segments(segments, copy=False)):
        assert address(find(part)) == address(BIG)
        assert not find(part).flags.writeable
    assert address(find(CODEC.decode(data))) != start
    assert find(CODEC.decode(data)).flags.writeable


def test_bytes_alias_too():
    blob = bytes(5000)
    value = holder(blob=blob, blobs=[b"x", blob], by_key={"k": blob})
    segments = CODEC.encode_segments(value)
    assert [address(segment) for segment in segments if len(segment) == 5000] == [address(blob)] * 3
    view = CODEC.view_segments(segments)
    assert {address(part) for part in (view.blob, view.blobs[1], view.by_key["k"])} == {address(blob)}


def test_opening_and_verifying_allocates_nothing_of_the_size_of_a_tensor():
    data = CODEC.encode(holder(tensor=BIG, tensors=[BIG] * 3))
    # What is compiled on first use is compiled before.
    assert CODEC.view(data).tensors[0].size == BIG.size
    CODEC.encode_segments(holder(tensor=BIG))
    tracemalloc.start()
    try:
        view = CODEC.view(data)
        assert view.tensors[2].nbytes == BIG.nbytes
        assert tracemalloc.get_traced_memory()[1] < 100_000
        segments = CODEC.encode_segments(holder(tensor=BIG))
        assert len(segments) == 3
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_what_was_read_outlives_the_view_and_the_name_of_the_message():
    data = bytearray(CODEC.encode(holder(tensor=BIG, blob=b"blob")))
    view = CODEC.view(data)
    assert retained_bytes(view) == len(data)
    tensor, blob = view.tensor, view.blob
    release(view)
    with pytest.raises(BufferError):
        data.clear()
    del view, data
    assert_same(tensor, BIG)
    assert bytes(blob) == b"blob"


# --- segments that others made ----------------------------------------------------------------------------------------


@given(HOLDERS, st.randoms(use_true_random=False))
def test_a_message_may_be_cut_into_segments_anywhere(value, rng):
    data = CODEC.encode(value)
    places = sorted(rng.choices(range(len(data) + 1), k=rng.randrange(6)))
    pieces = [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]
    assert_same(CODEC.decode_segments(pieces), CODEC.decode(data))
    assert_same(plain(CODEC.decode_segments(pieces, copy=False)), CODEC.decode(data))
    assert_same(to_value(CODEC.view_segments(pieces)), CODEC.decode(data))


def test_segments_at_fault_are_told_of_as_the_joined_message():
    segments = [bytes(part) for part in CODEC.encode_segments(holder(tensor=BIG))]
    cases = [[*segments[:-1], b""], [*segments, b"\xff"], segments[:1], [segments[1], segments[0]]]
    for wrong in cases:
        with pytest.raises(DecodeError) as caught:
            CODEC.decode_segments(wrong)
        with pytest.raises(DecodeError) as expected:
            CODEC.decode(b"".join(wrong))
        assert str(caught.value) == str(expected.value)
    for wrong in ([], None, 5, "text", [5], [None]):
        with pytest.raises(DecodeError):
            CODEC.decode_segments(wrong)


# --- sizes ------------------------------------------------------------------------------------------------------------


def test_a_message_of_2_gib_is_refused_before_a_byte_of_it_is_copied():
    codec = codec_of(list[np.ndarray], limits=Limits(bytes=1 << 40))
    # Pages that nobody touches: memory that is not there.
    half, whole = np.empty(1 << 30, np.uint8), np.empty(1 << 31, np.uint8)
    assert codec.encoded_size([half]) > 1 << 30
    for value in ([half, half], [whole]):
        for call in (codec.encode, codec.encode_segments, codec.encoded_size):
            with pytest.raises(EncodeError, match=r"2147483647|more than a protobuf message holds"):
                call(value)


def test_the_limit_on_bytes_counts_payloads():
    codec = codec_of(list[np.ndarray], limits=Limits(bytes=10_000))
    assert codec.encoded_size([np.zeros(9_900, np.uint8)]) <= 10_000
    for call in (codec.encode, codec.encode_segments):
        with pytest.raises(EncodeError, match=r"more than limits\.bytes"):
            call([np.zeros(10_000, np.uint8)])
    data = codec_of(list[np.ndarray]).encode([np.zeros(10_000, np.uint8)])
    segments = codec_of(list[np.ndarray]).encode_segments([np.zeros(10_000, np.uint8)])
    for call in (lambda: codec.decode(data), lambda: codec.view(data), lambda: codec.view_segments(segments)):
        with pytest.raises(DecodeError, match=r"more than limits\.bytes"):
            call()


def test_a_failed_write_leaves_nothing_for_the_next_one():
    with pytest.raises(EncodeError) as caught:
        CODEC.encode(holder(tensor=BIG, either=1.5))
    assert caught.value.path == "/either"
    assert CODEC.encode(holder(tensor=BIG)) == by_upb(CODEC, holder(tensor=BIG))
