"""Memory figures of operations whose memory is known from the sizes of their objects."""

from __future__ import annotations

import dataclasses
import gc
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import zcser.measure
from zcser.measure import allocations
from zcser.measure.allocations import EXACT, EXACT_PYTHON, FALLBACK, METHODS, allocations_of, best_method, blind_spot
from zcser.measure.figures import Allocations
from zcser.native import zcount

VALUES = range(1000, 1256)
BUILT = zcount.load() is not None
needs_helper = pytest.mark.skipif(not BUILT, reason="the C helper was not built: no compiler at install time")


@pytest.fixture
def fallback(monkeypatch):
    """As where the C helper was not built."""
    monkeypatch.setattr(zcount, "load", lambda: None)


def counted(call, **changes):
    given = {"distinct": 256, "op_ns": 1000, "budget_ns": 1_000_000_000, "library": "json"}
    return allocations_of(call, lambda count: list(VALUES[:count]), **{**given, **changes})


def exactly(expression: str, *, preload: bool = True) -> Allocations:
    """What ``count_allocations(expression)`` says in a fresh process."""
    script = (
        "import dataclasses, json, numpy as np; from zcser.measure import count_allocations as count; "
        f"print(json.dumps(dataclasses.asdict(count({expression}))))"
    )
    environment = zcount.preload_environment(os.environ) if preload else dict(os.environ)
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    return Allocations(**json.loads(done.stdout))


@needs_helper
@pytest.mark.parametrize(
    ("expression", "python", "native"),
    [
        # The object's header and the NUL after the data: sys.getsizeof(b"") is 33.
        ("bytes, 1000", (1, 1000 + 33), (0, 0)),
        # The object, the collector's header before it, and four places of eight bytes: list_resize rounds 3 up.
        ("list, (1, 2, 3)", (2, sys.getsizeof([1, 2, 3])), (0, 0)),
        # A list display's own object comes from the free list; its one place does not.
        ("lambda n: [n], 3", (1, 8), (0, 0)),
        # No argument, and several.
        ("bytes", (0, 0), (0, 0)),
        ("bytes, 'abc', 'ascii'", (1, 3 + 33), (0, 0)),
        # Freed before the call returns; the length is an int object of 28 bytes.
        ("lambda n: len(bytes(n)), 5000", (2, 5033 + 28), (0, 0)),
    ],
)
def test_counts_are_those_of_known_objects(expression, python, native):
    found = exactly(expression)
    assert found.method == EXACT
    assert (found.python_allocations, found.python_bytes) == python
    assert (found.native_allocations, found.native_bytes) == native
    assert (found.frees, found.calls, found.peak_bytes) == (python[0], 64, None)


@needs_helper
def test_an_array_is_an_object_of_pythons_and_data_of_mallocs_or_pythons():
    # numpy takes its data from malloc up to 2.4, and from Python's raw domain from 2.5 on.
    found = exactly("lambda n: np.empty(n, 'u1'), 65536")
    assert found.python_allocations + found.native_allocations == 2
    assert found.python_bytes + found.native_bytes == 65536 + np.ndarray.__basicsize__
    if np.lib.NumpyVersion(np.__version__) < "2.5.0":
        assert (found.native_allocations, found.native_bytes) == (1, 65536)
    assert 65536 <= found.native_peak_bytes < 65536 + 4096


@needs_helper
def test_without_the_preload_native_figures_are_null_and_never_zero():
    found = exactly("bytes, 1000", preload=False)
    assert (found.method, found.python_allocations) == (EXACT_PYTHON, 1)
    assert found.native_allocations is found.native_bytes is found.native_peak_bytes is None


@needs_helper
def test_counts_do_not_depend_on_the_collector():
    # A full collection empties the free lists, and the next list then counts one more.
    enabled, threshold = gc.isenabled(), gc.get_threshold()
    gc.set_threshold(1, 1, 1)
    try:
        found = zcser.measure.count_allocations(lambda n: [n], 3)
    finally:
        gc.set_threshold(*threshold)
    assert (found.python_allocations, found.python_bytes) == (1, 8)
    assert gc.isenabled() == enabled


@needs_helper
def test_means_are_over_the_values_that_were_counted():
    # 33 bytes and one for each of 1000 to 1063: 1031.5 on the mean.
    found = counted(bytes)
    assert (found.calls, found.values) == (64, 64)
    assert found.python_bytes == 33 + 1031.5
    assert counted(bytes, distinct=3).values == 3


@needs_helper
@pytest.mark.parametrize(
    ("op_ns", "calls"), [(1_000, 64), (15_625_000, 64), (15_625_001, 16), (100_000_000, 4), (10**12, 1)]
)
def test_slow_calls_are_counted_in_few_steps(op_ns, calls):
    assert counted(bytes, op_ns=op_ns).calls == calls


def test_a_call_that_raises_is_the_callers():
    with pytest.raises(ZeroDivisionError):
        zcser.measure.count_allocations(lambda: 1 / 0)
    with pytest.raises(ValueError, match="calls is 0"):
        zcser.measure.count_allocations(bytes, calls=0)


def test_methods_are_named_and_explained():
    assert best_method() in METHODS
    assert list(METHODS) == [EXACT, EXACT_PYTHON, FALLBACK]


@pytest.mark.parametrize(
    ("library", "method", "blind"),
    [
        ("protobuf", EXACT, False),
        ("protobuf", EXACT_PYTHON, True),
        ("pysimdjson", FALLBACK, True),
        ("orjson", FALLBACK, False),
        ("pyarrow", EXACT, True),
    ],
)
def test_what_a_library_does_out_of_sight_is_said_by_method(library, method, blind):
    assert (blind_spot(library, method) is not None) == blind


@pytest.mark.usefixtures("fallback")
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


@pytest.mark.usefixtures("fallback")
def test_numpy_memory_is_seen_by_the_fallback():
    found = counted(lambda _: np.empty(65536, np.uint8))
    assert 65536 <= found.peak_bytes < 65536 + 1000


@pytest.mark.usefixtures("fallback")
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


@pytest.mark.usefixtures("fallback")
def test_the_fallback_has_no_counts_and_says_so():
    found = counted(bytes, library="protobuf")
    taken = {name for name, value in dataclasses.asdict(found).items() if value is not None}
    assert taken == {"method", "calls", "values", "peak_bytes", "result_blocks", "blind"}
    assert found.method == FALLBACK


@pytest.mark.parametrize("exact", [pytest.param(True, marks=needs_helper), False])
@pytest.mark.parametrize(
    ("op_ns", "most"),
    [
        (2_000_000_000_000, 1),  # slower than the budget: no warm-up, and one call in each pass
        (500_000_000_000, 2),
    ],
)
def test_calls_are_as_many_as_the_time_allows_and_use_no_argument_twice(monkeypatch, exact, op_ns, most):
    if not exact:
        monkeypatch.setattr(zcount, "load", lambda: None)
    seen: list[int] = []

    def call(argument: list[int]) -> None:
        seen.append(argument.pop())

    allocations_of(
        call,
        lambda count: [[number] for number in range(count)],
        distinct=9,
        op_ns=op_ns,
        budget_ns=1_000_000_000_000,
        library="json",
    )
    warm = [] if most == 1 else [0, 1]
    # Counted in steps of 1, 4, 16 and 64 calls: 1 is what 2 allow.
    assert seen == warm + ([0] if exact else list(range(most)) * 2)
    assert allocations.COUNTED_CALLS == (64, 16, 4, 1)
