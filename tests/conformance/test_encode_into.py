"""`encode_into` writes what `encode` gives, or nothing at all."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conformance.laws import assert_same, cells, codecs, encodable, encoded, make, normal_of
from tests.conformance.schemas import CASES
from tests.conformance.strategies import samples
from zcser import registry
from zcser.core.errors import BufferTooSmallError, EncodeError
from zcser.schema.model import List, Schema, Tensor

FILL = 0xAA


def filled(size: int) -> bytearray:
    return bytearray([FILL]) * size


@pytest.mark.parametrize(("name", "case"), cells("encode_into"))
def test_it_writes_what_encode_gives_and_touches_nothing_else(name, case):
    codec = make(name, case)
    for value, data in encodable(codec, samples(CASES[case], 10)):
        out = filled(len(data) + 40)
        assert codec.encode_into(value, out) == len(data)
        assert_same(codec.decode(out[: len(data)]), normal_of(codec, value))
        # Gaps hold no old bytes: the message is the same whatever the buffer held.
        assert out[: len(data)] == data
        assert out[len(data) :] == filled(40)


@pytest.mark.parametrize(("name", "case"), cells("encode_into"))
def test_it_writes_at_an_offset(name, case):
    codec = make(name, case)
    for value, data in encodable(codec, samples(CASES[case], 4)):
        for offset in (8, 64):
            out = filled(len(data) + offset + 8)
            assert codec.encode_into(value, out, offset) == len(data)
            assert out[:offset] == filled(offset)
            assert out[offset : offset + len(data)] == data
            assert out[offset + len(data) :] == filled(8)
        for offset in (1, 3, 7):
            out = filled(len(data) + offset + 8)
            try:
                written = codec.encode_into(value, out, offset)
            except EncodeError as error:
                refusal = str(error)
                written = 0
            if written:
                assert out[offset : offset + written] == data
            elif data:
                assert "align" in refusal
                assert out == filled(len(out))


@pytest.mark.parametrize(("name", "case"), cells("encode_into"))
def test_one_byte_too_few_says_how_many_are_needed_and_changes_nothing(name, case):
    codec = make(name, case)
    for value, data in encodable(codec, samples(CASES[case], 6)):
        if not data:
            continue
        for size, offset in ((len(data) - 1, 0), (len(data) + 7, 8), (0, 0)):
            out = filled(size)
            with pytest.raises(BufferTooSmallError) as caught:
                codec.encode_into(value, out, offset)
            assert (caught.value.needed, caught.value.available) == (len(data), size - offset)
            assert caught.value.codec == name
            assert out == filled(size)
        out = filled(len(data))
        assert codec.encode_into(value, out) == len(data)


@pytest.mark.parametrize(("name", "case"), cells("encode_into"))
def test_a_value_that_does_not_fit_changes_nothing(name, case):
    codec = make(name, case)
    out = filled(4096)
    refused = 0
    for value in samples(CASES[case], junk=True):
        refusal = encoded(codec, value)
        if isinstance(refusal, EncodeError):
            with pytest.raises(EncodeError) as caught:
                codec.encode_into(value, out)
            assert caught.value.path == refusal.path
            assert out == filled(4096)
            refused += 1
    assert refused or case.startswith("root")


@pytest.mark.parametrize("name", codecs("encode_into"))
def test_a_target_that_cannot_take_it_is_refused(name):
    codec = make(name, "sized")
    value, data = encodable(codec, samples(CASES["sized"], 10))[0]
    size = len(data)
    base = np.full((2, size * 2), FILL, np.uint8)
    targets = {
        "bytes": bytes(size),
        "read-only memoryview": memoryview(filled(size)).toreadonly(),
        "strided": memoryview(filled(2 * size))[::2],
        "F-order": np.asfortranarray(np.full((size, 2), FILL, np.uint8)),
        "columns": base[:, :size],
        "str": "x" * size,
        "None": None,
        "list": [0] * size,
    }
    for target in targets.values():
        with pytest.raises(EncodeError) as caught:
            codec.encode_into(value, target)
        assert not isinstance(caught.value, BufferTooSmallError)
    assert (base == FILL).all()
    out = filled(size)
    for offset in (-1, size + 1, 2**40, -(2**70)):
        with pytest.raises(EncodeError):
            codec.encode_into(value, out, offset)
        assert out == filled(size)


@pytest.mark.parametrize("name", codecs("encode_into"))
def test_any_writable_contiguous_buffer_is_a_target(name):
    codec = make(name, "sized")
    value, data = encodable(codec, samples(CASES["sized"], 10))[0]
    for target in (
        filled(len(data) + 16),
        memoryview(filled(len(data) + 16)),
        np.full(len(data) + 16, FILL, np.uint8),
        np.full(len(data) + 16, 0, np.int64),
        memoryview(bytearray(8 * (len(data) + 16))).cast("d"),
    ):
        assert codec.encode_into(value, target) == len(data)
        assert bytes(memoryview(target).cast("B")[: len(data)]) == data


@pytest.mark.parametrize("size", [16, 5000, 100_000])
@pytest.mark.parametrize("name", codecs("encode_into"))
def test_tensors_that_lie_in_the_target_are_written_as_they_were(name, size):
    codec = registry.codec(name, Schema(List(Tensor("uint8", (size,)), length=2)))
    for place in (0, 8, 64, 200, size // 2 // 8 * 8, size, size + 16):
        out = filled(4 * size + 2000)
        inside = np.frombuffer(out, np.uint8, size, place)
        inside[:] = np.resize(np.arange(251, dtype=np.uint8), size)
        value = [inside, np.resize(np.arange(7, dtype=np.uint8), size)]
        for order in (value, value[::-1]):
            before = bytes(out)
            expected = codec.encode(order)
            assert codec.encode_into(order, out) == len(expected)
            assert out[: len(expected)] == expected
            out[:] = before
