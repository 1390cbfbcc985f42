"""A view holds its buffer: nothing is resized, closed or unmapped under it, and nothing of it is held when it is gone."""

from __future__ import annotations

import contextlib
import gc
import mmap
import os
import struct
import subprocess
import sys
import threading
import weakref
from multiprocessing.shared_memory import SharedMemory

import numpy as np
import pytest

import zcser
from tests.header.engines import ENGINES, with_engine
from zcser.core.errors import DecodeError, EncodeError, ReleasedViewError
from zcser.header import RecordLayout

DATA = struct.pack("<IQ4h3s", 1, 2, 3, 4, 5, 6, b"abc")
NESTED = np.dtype([("a", "<u4"), ("inner", [("b", "<u8"), ("c", "<i2", (4,))]), ("tag", "V3")])


@pytest.fixture(params=ENGINES)
def engine(request) -> str:
    return request.param


@pytest.fixture
def layout(engine: str) -> RecordLayout:
    return with_engine(engine, lambda: RecordLayout.from_dtype(NESTED))


HOLDERS = [
    lambda layout, data: layout.view(data),
    lambda layout, data: layout.view(data).inner,
    lambda layout, data: layout.view(data).inner.c,
    lambda layout, data: layout.view(data).tag,
    lambda layout, data: layout.array(data),
    lambda layout, data: layout.array(data)["inner"]["c"][0],
]


@pytest.mark.parametrize("hold", HOLDERS)
def test_a_bytearray_is_not_resized_while_anything_reads_it(layout, hold):
    data = bytearray(DATA)
    held = hold(layout, data)
    with pytest.raises(BufferError):
        data.extend(b"more")
    with pytest.raises(BufferError):
        data.clear()
    del held
    data.extend(b"more")


@pytest.mark.parametrize("hold", HOLDERS)
def test_a_mapping_is_not_closed_while_anything_reads_it(layout, hold):
    mapped = mmap.mmap(-1, len(DATA))
    held = hold(layout, mapped)
    with pytest.raises(BufferError):
        mapped.close()
    del held
    mapped.close()


@pytest.mark.parametrize("hold", HOLDERS)
def test_a_memoryview_that_the_caller_releases_takes_nothing_away(layout, hold):
    data = bytearray(DATA)
    given = memoryview(data)
    held = hold(layout, given)
    with contextlib.suppress(BufferError):  # held: just as well
        given.release()
    with pytest.raises(BufferError):
        data.clear()
    assert held is not None


def test_a_released_view_lets_go_and_what_was_read_from_it_stays(layout):
    data = bytearray(DATA)
    view = layout.view(data)
    inner, numbers = view.inner, view.inner.c
    assert zcser.retained_bytes(view) == len(DATA)
    zcser.release(inner)
    zcser.release(view)
    for read in (lambda: view.a, lambda: view.inner, lambda: view.tag, lambda: inner.b, lambda: inner.c):
        with pytest.raises(ReleasedViewError):
            read()
    with pytest.raises(ReleasedViewError):
        zcser.to_value(view)
    for name, value in [("a", 1), ("tag", b"xyz"), ("a", 2**99), ("inner", (1, (1, 2, 3, 4)))]:
        with pytest.raises(ReleasedViewError):
            setattr(view, name, value)
    assert zcser.retained_bytes(view) == 0
    assert "released" in repr(view)
    with pytest.raises(BufferError):
        data.clear()
    numbers[0] = 99
    assert data[12:14] == b"c\0"
    del numbers
    data.clear()


def test_a_view_released_while_a_value_is_converted_is_not_written_to(layout):
    data = bytearray(DATA)
    view = layout.view(data)

    class Releasing:
        def __index__(self) -> int:
            zcser.release(view)
            return 9

    try:
        view.a = Releasing()
    except (EncodeError, ReleasedViewError):
        assert data == DATA
    else:
        assert data[:4] == b"\t\0\0\0"  # the write was at work and held the buffer
    data.clear()
    with pytest.raises(ReleasedViewError):
        view.a  # noqa: B018 - the access is the test


@pytest.mark.parametrize("kind", ["view", "view.inner.c", "view.tag", "array"])
def test_a_view_outlives_the_object_that_mapped_it(engine, kind):
    # numpy/numpy#18294: an ndarray over SharedMemory.buf does not keep the mapping alive, and crashes.
    program = f"""
import gc, sys
import numpy as np
from multiprocessing.shared_memory import SharedMemory
from zcser.header import RecordLayout
sys.unraisablehook = lambda unraisable: None  # SharedMemory.__del__ says that it could not close
layout = RecordLayout.from_dtype(np.dtype({NESTED.descr!r}))
owner = SharedMemory(create=True, size=64)
owner.buf[:{len(DATA)}] = {DATA!r}
def attach():
    shared = SharedMemory(name=owner.name)
    view = layout.view(shared.buf)
    array = layout.array(shared.buf, 0, 1)
    return {kind}
held = attach()
gc.collect()
owner.unlink()
if hasattr(held, "inner"):
    held.inner.b = 77
    print(held.a, held.inner.b, held.inner.c.tolist(), bytes(held.tag))
else:
    print(held)
    if isinstance(held, np.ndarray):
        held[0] = held[0]
print("alive", flush=True)
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=False,
        env={**os.environ, "ZCSER_BACKEND": engine},
    )  # fmt: skip
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["alive"]), done.stderr
    if kind == "view":
        assert done.stdout.startswith("1 77 [3, 4, 5, 6] b'abc'")


def test_shared_memory_closes_once_its_views_are_released(layout):
    # python/cpython#115635: close() with live views is refused; release ends them all, so that it is not.
    shared = SharedMemory(create=True, size=64)
    try:
        view = layout.view(shared.buf)
        inner = view.inner
        with pytest.raises(BufferError):
            shared.close()
        zcser.release(view)
        shared.close()
        with pytest.raises(ReleasedViewError):
            inner.b  # noqa: B018 - the access is the test
    finally:
        shared.unlink()


def test_a_view_in_the_way_of_an_error_does_not_hide_it(layout):
    def work() -> None:
        shared = SharedMemory(create=True, size=64)
        view = layout.view(shared.buf)
        try:
            raise ValueError(f"the real error, at {view.a}")
        finally:
            zcser.release(view)
            shared.close()
            shared.unlink()

    with pytest.raises(ValueError, match="the real error") as caught:
        work()
    assert caught.value.__context__ is None


def test_views_and_layouts_are_collected(layout):
    class Owner(bytearray):
        pass

    data = Owner(DATA)
    owner = weakref.ref(data)
    view = layout.view(data)
    seen = weakref.ref(view.inner)
    assert seen() is None
    data.view = view  # a cycle through the buffer
    del data, view
    gc.collect()
    assert owner() is None

    made = weakref.ref(RecordLayout.from_dtype(NESTED))
    gc.collect()
    assert made() is None


def test_values_and_errors_leave_no_references_behind(layout):
    data, small = bytearray(DATA), bytes(3)
    marks = [data, small, layout._record.cls, None, True, 257]

    def use() -> None:
        view = layout.view(data)
        for read in (layout.unpack_from, layout.view):
            for wrong in ((small,), (data, -1), (data, 2**80), ([],)):
                with contextlib.suppress(DecodeError):
                    read(*wrong)
        for name, value in [("a", 257), ("a", None), ("a", True), ("tag", small), ("inner", None)]:
            with contextlib.suppress(EncodeError):
                setattr(view, name, value)
        assert layout.unpack_from(data) == zcser.to_value(view)
        view.inner.c, view.tag, view.inner.b  # noqa: B018

    use()
    before = [sys.getrefcount(mark) for mark in marks]
    for _ in range(200):
        use()
    after = [sys.getrefcount(mark) for mark in marks]
    assert all(abs(new - old) < 50 for new, old in zip(after, before, strict=True)), (before, after)


def test_threads_read_write_and_release(layout):
    data = bytearray(DATA)
    stop = threading.Event()
    wrong: list[object] = []

    def work() -> None:
        while not stop.is_set():
            view = layout.view(data)
            threading.Thread(target=zcser.release, args=(view,)).start()
            try:
                for _ in range(50):
                    view.inner.b = 2
                    if layout.unpack_from(data).inner.b != 2 or view.inner.c.tolist() != [3, 4, 5, 6]:
                        wrong.append(bytes(data))
            except ReleasedViewError:
                pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    stop.wait(0.3)
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
