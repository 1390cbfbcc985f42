"""Scratch memory from a histogram of sizes."""

from __future__ import annotations

import pytest

import zcser
from zcser.flat.growth import reserved_size


@pytest.mark.parametrize(
    ("histogram", "quantile", "size"),
    [
        ({100: 1}, 1.0, 4096),
        ({4096: 1}, 1.0, 4096),
        ({4097: 1}, 1.0, 8192),
        ({100: 98, 5000: 1, 900_000: 1}, 0.98, 4096),
        ({100: 98, 5000: 1, 900_000: 1}, 0.99, 8192),
        ({900_000: 1, 5000: 1, 100: 98}, 1.0, 901_120),
        ({0: 5}, 0.5, 0),
    ],
)
def test_the_size_is_the_quantile_in_whole_pages(histogram, quantile, size):
    assert reserved_size(histogram, quantile) == size


@pytest.mark.parametrize(
    ("histogram", "quantile"),
    [({}, 0.5), ({1: 0}, 0.5), ({-1: 1}, 0.5), ({1: -1, 2: 3}, 0.5), ({1: 1}, 0.0), ({1: 1}, 1.1)],
)
def test_what_is_no_histogram_or_share_is_refused(histogram, quantile):
    with pytest.raises(ValueError, match=r"histogram|quantile"):
        reserved_size(histogram, quantile)


def test_what_was_reserved_does_not_grow():
    grown, reserved = zcser.codec("flatbuffers", list[str]), zcser.codec("flatbuffers", list[str])
    assert reserved.reserve({61_000: 1}) >= 61_000
    value = ["x" * 50] * 1000  # 56 bytes and an offset of 4 each
    assert grown.encode(value) == reserved.encode(value)
    assert grown.scratch.growths >= 1
    assert reserved.scratch.growths == 0
    assert grown.scratch.size >= 60_000
