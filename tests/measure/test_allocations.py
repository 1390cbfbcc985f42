"""Memory figures of operations whose memory is known from the sizes of their objects."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from zcser.measure.allocations import METHOD, allocations_of

VALUES = list(range(1000, 1064))
SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("call", "peak_bytes"),
    [
        (lambda _: None, 0),
        (lambda _: bytes(1000), sys.getsizeof(bytes(1000))),
        (lambda _: bytes(100_000), sys.getsizeof(bytes(100_000))),
        # Freed again before the call returns: only the peak knows of it.
        (lambda _: bool(bytes(5000)), sys.getsizeof(bytes(5000))),
    ],
)
def test_peak_is_the_size_of_what_lives_at_once(call, peak_bytes):
    assert allocations_of(call, VALUES, blind=False, budget_ns=SECOND).peak_bytes == peak_bytes


def test_numpy_memory_is_seen():
    found = allocations_of(lambda _: np.empty(65536, np.uint8), VALUES, blind=False, budget_ns=SECOND)
    assert 65536 <= found.peak_bytes < 65536 + 1000


@pytest.mark.parametrize(
    ("call", "blocks"),
    [
        (lambda _: None, 0),
        (lambda value: value, 0),
        (lambda _: bytes(100), 1),
        (lambda value: [value], 2),  # the list and its items
        (lambda _: {}, 1),
        (lambda _: [bytes(10), bytes(20)], 4),
    ],
)
def test_result_blocks_are_those_that_a_kept_result_holds(call, blocks):
    assert allocations_of(call, VALUES, blind=False, budget_ns=SECOND).result_blocks == blocks


def test_what_this_method_cannot_see_is_null_and_labelled():
    found = allocations_of(lambda _: None, VALUES, blind=True, budget_ns=SECOND)
    assert found.native is None
    assert found.blind
    assert found.method == METHOD
    assert "fallback" in METHOD


def test_warm_calls_and_one_call_per_pass_are_made_whatever_the_budget():
    calls: list[int] = []
    allocations_of(calls.append, [7], blind=False, budget_ns=0, warm_calls=3)
    # One call under tracemalloc, one for the kept result.
    assert calls == [7] * 5
