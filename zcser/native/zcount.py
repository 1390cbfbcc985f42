"""Python's side of ``zcount.c``: exact allocation counts, and timing loops that run in C.

1. The library is optional. `load` gives None where it was not built, and callers say so in what they report.
2. Counts of native memory exist only in a process that was started with `preload_environment`; None elsewhere, never 0.
3. A call that raises ends the loop, and its exception is the caller's.
4. Counting and timing see the calling thread alone.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

__all__ = ["Counts", "Library", "load", "preload_environment"]

_LAYERS = ("raw", "mem", "obj", "native")


@dataclass(frozen=True, slots=True)
class Counts:
    """What some calls allocated, in all; divide by `calls` for one call.

    Attributes
    ----------
    calls
        Calls counted.
    python_allocations, python_bytes
        Outermost allocations through Python's three domains, and the bytes asked for.
    native_allocations, native_bytes
        Outermost calls of malloc and its family besides those; None where the library was not preloaded.
    reallocations
        Blocks that grew or shrank in place of a new one, Python's and (where counted) native.
    frees
        Blocks given back, Python's and (where counted) native.
    native_peak_bytes
        Most bytes of malloc (usable sizes, Python's own included) that lived at once above the start; None as above.
    """

    calls: int
    python_allocations: int
    python_bytes: int
    native_allocations: int | None
    native_bytes: int | None
    reallocations: int
    frees: int
    native_peak_bytes: int | None


class _Counts(ctypes.Structure):
    _fields_: ClassVar = [
        ("calls", ctypes.c_uint64 * 4),
        ("bytes", ctypes.c_uint64 * 4),
        ("frees", ctypes.c_uint64 * 4),
        ("reallocs", ctypes.c_uint64 * 4),
        ("live", ctypes.c_int64),
        ("peak", ctypes.c_int64),
    ]


def _address(function: Any) -> ctypes.c_void_p:
    return ctypes.cast(function, ctypes.c_void_p)


class Library:
    """The loaded library."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # PyDLL: the GIL stays held, and an exception that a call left behind is raised here.
        self._c = ctypes.PyDLL(os.fspath(path))
        self._c.zc_batch.restype = ctypes.c_int64
        self._c.zc_time.restype = ctypes.c_long
        api = ctypes.pythonapi
        self._call, self._decref = _address(api.PyObject_CallOneArg), _address(api.Py_DecRef)
        self._get, self._set = _address(api.PyMem_GetAllocator), _address(api.PyMem_SetAllocator)
        # From 3.12 on the collector runs where the interpreter looks for signals, which a loop in C never passes.
        self._check = _address(api.PyErr_CheckSignals) if sys.version_info >= (3, 12) else None
        self.preloaded = bool(self._c.zc_preloaded())

    def count(self, call: Callable[[Any], Any], passes: Sequence[Sequence[Any]], *, warm: Sequence[Any] = ()) -> Counts:
        """Count what one call per value allocates, the result dropped before the next.

        Parameters
        ----------
        call
            The operation.
        passes
            The values of each pass, as many in each. Passes are made until two in a row agree (in all but the peak), or
            none is left; the counts are those of the last that was made.
        warm
            Values of calls that are made first and not counted. Some 64 are wise: free lists and caches fill in the first
            calls.

        Notes
        -----
        Nothing runs between the passes but the operation. The hooks are in place for the time of this call only.
        """
        out, addresses = _Counts(), _addresses([*warm, *chain.from_iterable(passes)])
        calls = len(passes[0])
        self._c.zc_install(self._get, self._set)
        try:
            self._c.zc_count(
                self._call,
                self._decref,
                ctypes.py_object(call),
                _pointer(addresses),
                ctypes.c_long(len(warm)),
                ctypes.c_long(calls),
                ctypes.c_long(len(passes)),
                ctypes.byref(out),
            )
        finally:
            self._c.zc_uninstall(self._set)
        python = slice(0, 3)
        counted = range(4 if self.preloaded else 3)
        return Counts(
            calls=calls,
            python_allocations=sum(out.calls[python]),
            python_bytes=sum(out.bytes[python]),
            native_allocations=out.calls[3] if self.preloaded else None,
            native_bytes=out.bytes[3] if self.preloaded else None,
            reallocations=sum(out.reallocs[layer] for layer in counted),
            frees=sum(out.frees[layer] for layer in counted),
            native_peak_bytes=out.peak if self.preloaded else None,
        )

    def time_batch(self, call: Callable[[Any], Any], values: Sequence[Any]) -> int:
        """Nanoseconds (CLOCK_MONOTONIC) of one call per value, the dropping of results included."""
        addresses = _addresses(values)
        taken: int = self._c.zc_batch(
            self._call,
            self._decref,
            self._check,
            ctypes.py_object(call),
            _pointer(addresses),
            ctypes.c_long(len(values)),
        )
        return taken

    def time_each(
        self,
        call: Callable[[Any], Any],
        values: Sequence[Any],
        begin_ns: array[int],
        took_ns: array[int],
        deadline_ns: int,
        *,
        keep: bool = False,
    ) -> tuple[int, list[Any]]:
        """Time each of one call per value by itself.

        Parameters
        ----------
        call, values
            The operation and its arguments.
        begin_ns, took_ns
            Arrays of type "Q" with room for all: when each call began (CLOCK_MONOTONIC, as `time.perf_counter_ns` on
            Linux), and how long it took.
        deadline_ns
            No further call is begun after it.
        keep
            Keep the results instead of dropping them inside the window.

        Returns
        -------
        (int, list)
            Calls made, and the results where kept.
        """
        addresses = _addresses(values)
        kept = (ctypes.c_void_p * len(values))() if keep else None
        done: int = self._c.zc_time(
            self._call, self._decref, self._check, ctypes.py_object(call), _pointer(addresses),
            ctypes.c_long(len(values)), _pointer(begin_ns),
            _pointer(took_ns), kept, ctypes.c_uint64(deadline_ns),
        )  # fmt: skip
        return done, _owned(kept, done) if kept is not None else []

    def time_empty(self, begin_ns: array[int], took_ns: array[int]) -> None:
        """Fill the arrays with windows that hold no call: what the clock and the recording cost."""
        self._c.zc_time_empty(
            ctypes.c_long(len(took_ns)),
            _pointer(begin_ns),
            _pointer(took_ns),
        )


def _addresses(values: Sequence[Any]) -> array[int]:
    """The addresses of the objects, which are what ``id`` gives; a ctypes array of them takes five times as long."""
    return array("Q", map(id, values))


def _pointer(items: array[int]) -> ctypes.c_void_p:
    return ctypes.c_void_p(items.buffer_info()[0])


def _owned(kept: Any, count: int) -> list[Any]:
    """The kept results as a list, which takes over the references that the loop left in the array."""
    results = list(ctypes.cast(kept, ctypes.POINTER(ctypes.py_object))[:count])
    for result in results:
        ctypes.pythonapi.Py_DecRef(ctypes.py_object(result))
    return results


@functools.cache
def load() -> Library | None:
    """The library, or None where it was not built (no compiler at install time)."""
    path = _path()
    return Library(path) if path is not None else None


def _path() -> Path | None:
    return next(iter(sorted(Path(__file__).parent.glob("_zcount*.so"))), None)


def preload_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment whose process counts native memory too; unchanged where that cannot be.

    Notes
    -----
    The process should take the library out of its own LD_PRELOAD, so that its children are not counted.
    """
    path = _path()
    if path is None or not sys.platform.startswith("linux"):
        return dict(environment)
    already = environment.get("LD_PRELOAD", "")
    return {**environment, "LD_PRELOAD": f"{path} {already}".strip()}
