"""Memory figures of operations whose memory is known from the sizes of their objects."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from zcser.measure.allocations import METHOD, allocations_of

VALUES = range(1000, 1256)


def counted(call, *, blind=False):
    return allocations_of(
        call, lambda count: list(VALUES[:count]), op_ns=1000, budget_ns=1_000_000_000, warm_calls=64, blind=blind
    )


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
    assert counted(call).peak_bytes == peak_bytes


def test_numpy_memory_is_seen():
    found = counted(lambda _: np.empty(65536, np.uint8))
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
    assert counted(call).result_blocks == blocks


def test_what_this_method_cannot_see_is_null_and_labelled():
    found = counted(lambda _: None, blind=True)
    assert found.native is None
    assert found.blind
    assert found.method == METHOD
    assert "fallback" in METHOD


@pytest.mark.parametrize(
    ("op_ns", "numbers"),
    [
        (2_000_000_000_000, [0, 0]),  # slower than the budget: no warm-up, and one call in each pass
        (500_000_000_000, [0, 1, 0, 1, 0, 1]),
    ],
)
def test_calls_are_as_many_as_the_time_allows_and_use_no_argument_twice(op_ns, numbers):
    seen: list[int] = []

    def call(argument: list[int]) -> None:
        seen.append(argument.pop())

    allocations_of(
        call,
        lambda count: [[number] for number in range(count)],
        op_ns=op_ns,
        budget_ns=1_000_000_000_000,
        warm_calls=64,
        blind=False,
    )
    assert seen == numbers
