"""The exact counter against operations whose answer is known, and against valgrind's DHAT."""

from __future__ import annotations

import functools
import gc
import itertools
import json
import os
import shutil
import subprocess
import sys
import time
import weakref
from array import array
from pathlib import Path

import numpy as np
import pytest

from zcser.native import zcount

LIBRARY = zcount.load()
pytestmark = pytest.mark.skipif(LIBRARY is None, reason="the C helper was not built: no compiler at install time")

NEVER = 2**63


def counted(expression: str, *, preload: bool = True, calls: int = 1000) -> zcount.Counts:
    """Counts of ``f(x)`` in a fresh process, where `expression` gives ``f, x``."""
    script = f"""
import dataclasses, json
from zcser.native import zcount
import numpy as np
f, x = {expression}
print(json.dumps(dataclasses.asdict(zcount.load().count(f, [[x] * {calls}] * 3, warm=[x] * 128))))
"""
    environment = zcount.preload_environment(os.environ) if preload else dict(os.environ)
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    return zcount.Counts(**json.loads(done.stdout))


def test_bytes_of_a_size_are_one_block_of_that_size_and_the_header():
    # sys.getsizeof(b"") is 33: the object's header and the NUL after the data.
    counts = counted("bytes, 1000")
    assert (counts.python_allocations, counts.python_bytes) == (1000, 1000 * (1000 + 33))
    assert (counts.native_allocations, counts.native_bytes, counts.frees) == (0, 0, 1000)


def test_an_array_is_an_object_of_pythons_and_data_of_mallocs():
    # Where numpy draws its data from depends on its version: malloc to 2.4, Python's raw domain from 2.5 on.
    counts = counted("(lambda n: np.empty(n, 'u1')), 65536")
    assert counts.python_bytes + counts.native_bytes == 1000 * (65536 + np.ndarray.__basicsize__)
    assert counts.python_allocations + counts.native_allocations == 2000


def test_what_allocates_nothing_counts_nothing():
    counts = counted("abs, 3")
    assert (counts.python_allocations, counts.python_bytes, counts.native_allocations, counts.frees) == (0, 0, 0, 0)


def test_a_list_that_grows_counts_its_reallocations():
    # CPython's list grows to 4 slots, then to 8 (list_resize): the fifth append moves the block once. Two lists grow
    # here, the inner one and the comprehension's own.
    grow = "(lambda x: [l.append(i) for l in [[]] for i in x]), (1, 2, 3, 4, 5)"
    fewer = grow.replace(", 5)", ")")
    assert counted(grow).reallocations - counted(fewer).reallocations == 2 * 1000


def test_native_figures_are_none_without_the_preload():
    counts = counted("bytes, 1000", preload=False)
    assert counts.native_allocations is counts.native_bytes is counts.native_peak_bytes is None
    assert counts.python_allocations == 1000


def test_the_peak_is_of_what_lives_at_once():
    # Each array is dropped before the next: the peak holds one, not a thousand.
    counts = counted("(lambda n: np.empty(n, 'u1')), 1 << 20")
    assert 1 << 20 <= counts.native_peak_bytes < 2 << 20


def test_counts_are_the_same_in_every_process():
    expression = '__import__(\'json\').loads, \'[{"a": 1.5, "b": [true, null]}, "text"]\''
    assert len({counted(expression, calls=100) for _ in range(5)}) == 1


def test_children_of_a_preloaded_process_run():
    # calloc inside dlsym, fork and exec: a program that is no Python starts under the library as well.
    environment = zcount.preload_environment(os.environ)
    assert subprocess.run(["/bin/ls", "/"], env=environment, capture_output=True, check=True).stdout


def test_a_call_that_raises_ends_the_loop_with_its_exception():
    def failing(value):
        if value == 3:
            raise ZeroDivisionError
        return value

    for run, values in (
        (LIBRARY.count, [[1, 2, 3, 4]]),
        (functools.partial(LIBRARY.count, warm=[3]), [[1]]),
        (LIBRARY.time_batch, [1, 2, 3, 4]),
    ):
        with pytest.raises(ZeroDivisionError):
            run(failing, values)
    assert LIBRARY.count(bytes, [[1000]]).python_allocations == 1


def test_what_was_there_before_is_not_counted_as_the_operations():
    # As where the operation's name drives another one out of the interpreter's cache, which was its last owner.
    empty: list[list[bytes]] = [[] for _ in range(8)]

    def drops(*more):
        # Warm, so that the cache has the operation's names already.
        return LIBRARY.count(list.clear, [[[bytes(1000)], *empty[1:]], *more], warm=empty * 12).frees

    # The bytes and the list's places, once; a list that is empty gives nothing back.
    assert drops() == 2
    assert drops(empty, empty) == 0


@pytest.mark.parametrize(("changes", "made"), [(0, 2), (10, 3), (40, 4)])
def test_passes_are_made_until_two_agree(changes, made):
    # Ten calls a pass; each of the first `changes` of those counted drops one block more than the call before it. Before
    # them come as many as the interpreter may need to settle.
    warm = 100
    left = [[bytes(1000) for _ in range(blocks)] for blocks in range(changes)]
    turns = itertools.chain(itertools.repeat(None, warm), map(list.clear, left), itertools.repeat(None))
    calls = itertools.count()

    def call(_):
        next(calls)
        next(turns)

    LIBRARY.count(call, [[None] * 10] * 4, warm=[None] * warm)
    assert next(calls) == warm + 10 * made


def test_times_are_those_of_pythons_own_clock():
    begin, took = array("Q", bytes(8 * 3)), array("Q", bytes(8 * 3))
    before = time.perf_counter_ns()
    done, kept = LIBRARY.time_each(time.sleep, [0.002] * 3, begin, took, NEVER)
    after = time.perf_counter_ns()
    assert (done, kept) == (3, [])
    assert before <= begin[0] <= begin[1] <= begin[2] <= after
    assert all(window >= 2_000_000 for window in took)
    assert sum(took) <= after - before


def test_no_call_is_begun_after_the_deadline():
    begin, took = array("Q", bytes(8 * 9)), array("Q", bytes(8 * 9))
    calls = []
    done, _ = LIBRARY.time_each(calls.append, [1] * 9, begin, took, time.perf_counter_ns() - 1)
    assert done == len(calls) == 1


def test_kept_results_are_owned_once():
    class Made:
        pass

    alive = []

    def make(_):
        made = Made()
        alive.append(weakref.ref(made))
        return made

    begin, took = array("Q", bytes(8 * 20)), array("Q", bytes(8 * 20))
    _, kept = LIBRARY.time_each(make, [0] * 20, begin, took, NEVER, keep=True)
    assert [type(one) for one in kept] == [Made] * 20
    del kept
    gc.collect()
    assert not [ref for ref in alive if ref() is not None]


def test_the_collector_runs_inside_the_loop():
    # 700 live containers a generation: 20,000 dropped ones cause no collection, 20,000 kept ones do, on every version.
    seen = []

    def on_collection(phase, _info):
        seen.append(phase)

    begin, took = array("Q", bytes(8 * 20_000)), array("Q", bytes(8 * 20_000))
    gc.enable()
    gc.callbacks.append(on_collection)
    try:
        LIBRARY.time_each(list, [((),)] * 20_000, begin, took, NEVER, keep=True)
    finally:
        gc.callbacks.remove(on_collection)
    assert seen.count("start") >= 1


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
@pytest.mark.parametrize(
    "expression",
    [
        "bytes, 1000",
        "(lambda n: np.empty(n, 'u1')), 65536",
        "__import__('json').loads, '[1.5, 2.5, {\"a\": \"b\"}]'",
        "__import__('orjson').loads, b'[1.5, 2.5, {\"a\": \"b\"}]'",
        "__import__('msgpack').unpackb, __import__('msgpack').packb([1, 'x', {'a': b'y'}])",
        "(lambda x: __import__('orjson').dumps(x)), [1.5, 'text', {'a': None}]",
    ],
)
def test_the_counts_are_dhats(expression, tmp_path):
    ours = counted(expression, calls=1000)
    # A range would make an int for each turn, which is a block too.
    script = (
        "import numpy as np\nimport sys\nf, x = " + expression + "\nfor y in [x] * (128 + int(sys.argv[1])): f(y)\n"
    )
    blocks, size = [], []
    for calls in (0, 1000):
        report = tmp_path / f"{calls}.json"
        # With PYTHONMALLOC=malloc every Python block is one of malloc's, which DHAT sees.
        command = ["valgrind", "--tool=dhat", f"--dhat-out-file={report}", sys.executable, "-c", script, str(calls)]
        environment = {**os.environ, "PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0"}
        subprocess.run(command, env=environment, capture_output=True, check=True)
        points = json.loads(Path(report).read_text())["pps"]
        blocks.append(sum(point["tbk"] for point in points))
        size.append(sum(point["tb"] for point in points))
    theirs = (blocks[1] - blocks[0]) / 1000
    mine = (ours.python_allocations + ours.native_allocations + ours.reallocations) / 1000
    assert round(theirs) == round(mine), (theirs, mine)
