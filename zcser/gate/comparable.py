"""What may be compared with what: figures taken in different ways are refused, with the reason.

1. Whole files: another Python, preset or result of different settings measures something else, whatever the figure.
2. Times of whole files: another timer, machine, C library, allocator setting or numpy.
3. Cells: another payload or other data of it, codec library, version, implementation, timed boundary, or bytes from
   another writer.
4. What differs and is compared all the same (kernel, governor, quota, cores) is a notice, never silence; so are payloads
   of which a file does not tell by a fingerprint what data it measured.
5. A reason is the first difference found, old before new: ``"Python 3.11.7 against 3.12.1"``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from zcser.measure.result import Cell, CodecRecord, PayloadRecord, Result

__all__ = ["Files", "compare_files"]

_PLANNED = ("warm_ms", "batches", "batch_ms", "latency_ms", "cell_cap_ms", "rotation", "live_objects")
_PAYLOAD = ("fingerprint", "fields", "tensor", "rotation")
_CODEC = ("library", "version", "implementation", "wire", "validates")
_FLAGS = ("unvalidated", "hot", "same-as:")

Pairs = Iterable[tuple[str, Any, Any]]
"""What is compared, its old value and its new one."""


@dataclass(frozen=True)
class Files:
    """Two results side by side.

    Attributes
    ----------
    refused
        Why nothing of them can be compared; None: something can.
    times_refused, collections_refused
        Why no time, no number of collections can be.
    notices
        What a reader must know of differences that do not forbid the comparison.
    """

    old: Result
    new: Result
    refused: str | None
    times_refused: str | None
    collections_refused: str | None
    notices: tuple[str, ...]

    def cell_refused(self, old: Cell, new: Cell) -> str | None:
        """Why two cells of the same names cannot be compared; None: they can."""
        pairs = (
            *_record_pairs(f"payload {old.payload}", _PAYLOAD, *(_payload(one, old.payload) for one in self._both)),
            *_record_pairs(old.codec, _CODEC, *(_codec(one, old.codec) for one in self._both)),
            *self._data_pairs(old.payload),
            ("bytes written by", old.encoded_by or old.codec, new.encoded_by or new.codec),
            *self._writer_pairs(old.encoded_by),
            *(("measured", *_flags(flag, old, new)) for flag in _FLAGS),
        )
        timed = [one.method.boundaries.get(old.operation) for one in self._both]
        return _first(pairs) or (f"another timed boundary of {old.operation}" if timed[0] != timed[1] else None)

    @property
    def _both(self) -> tuple[Result, Result]:
        return self.old, self.new

    def _data_pairs(self, payload: str) -> Pairs:
        old, new = (_data(one, payload) for one in self._both)
        what = f"payload {payload}: other data under this name, fingerprint"
        return () if old is None or new is None else [(what, old, new)]

    def _writer_pairs(self, writer: str | None) -> Pairs:
        if writer is None:
            return ()
        return _record_pairs(f"writer {writer}", _CODEC, *(_codec(one, writer) for one in self._both))


def _first(pairs: Pairs) -> str | None:
    return next((_difference(*pair) for pair in pairs if pair[1] != pair[2]), None)


def _difference(what: str, old: Any, new: Any) -> str:
    return f"{what} {_shown(old)} against {_shown(new)}"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}={item}" for key, item in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


def _record_pairs(
    what: str, names: tuple[str, ...], old: CodecRecord | PayloadRecord | None, new: CodecRecord | PayloadRecord | None
) -> Pairs:
    """A record that one file lacks differs in everything; one that both lack (a writer not asked for) in nothing."""
    return [(f"{what}: {name}", getattr(old, name, None), getattr(new, name, None)) for name in names]


def _payload(result: Result, name: str) -> PayloadRecord | None:
    return next((record for record in result.payloads if record.name == name), None)


def _data(result: Result, name: str) -> str | None:
    record = _payload(result, name)
    return None if record is None else record.data_fingerprint


def _codec(result: Result, name: str) -> CodecRecord | None:
    return next((record for record in result.codecs if record.name == name), None)


def _flags(start: str, old: Cell, new: Cell) -> tuple[str, str]:
    """The flags of each cell that begin so, in words."""
    first, second = (
        " ".join(flag for flag in cell.flags if flag.startswith(start)) or f"not {start.removesuffix(':')}"
        for cell in (old, new)
    )
    return first, second


def _python(old: Result, new: Result, names: Iterable[str]) -> Iterator[tuple[str, Any, Any]]:
    for name in names:
        what = "Python" if name == "version" else f"Python {name}"
        yield what, old.environment.python.get(name), new.environment.python.get(name)


def _threading(old: Result, new: Result) -> Pairs:
    """How the interpreters lock; a file that does not tell is of a time when all had the lock."""
    before, after = old.environment.python, new.environment.python
    build = {True: "free-threaded", False: "with the GIL built in"}
    state = {True: "enabled", False: "disabled"}
    return [
        ("Python", build[bool(before.get("free_threaded"))], build[bool(after.get("free_threaded"))]),
        ("Python: GIL", state[bool(before.get("gil", True))], state[bool(after.get("gil", True))]),
    ]


def _attributes(what: str, old: Any, new: Any, names: Iterable[str]) -> Iterator[tuple[str, Any, Any]]:
    # Of settings that only one of the two versions of the schema has, None stands for both.
    for name in names:
        yield f"{what}{name.replace('_', ' ')}", getattr(old, name, None), getattr(new, name, None)


def compare_files(old: Result, new: Result) -> Files:
    """Look for what forbids comparing two results, or parts of them."""
    whole = (
        *_python(old, new, ("implementation", "version")),
        *_threading(old, new),
        ("preset", old.preset, new.preset),
        *_attributes("setting ", old.settings, new.settings, _PLANNED),
    )
    program = (
        *_python(old, new, ("build", "gc_thresholds")),
        ("numpy", old.environment.libraries.get("numpy"), new.environment.libraries.get("numpy")),
        *_attributes("", old.environment, new.environment, ("libc", "malloc")),
    )
    times = (
        *_attributes("method of ", old.method, new.method, ("timer", "cost", "latency", "freeing", "gc")),
        *_attributes("", old.environment, new.environment, ("cpu", "clock")),
        *program,
    )
    collections = (("method of gc", old.method.gc, new.method.gc), *program)
    loose = _attributes("", old.environment, new.environment, ("kernel", "governor", "cores", "quota_cores"))
    notices = [f"compared all the same: {_difference(*pair)}" for pair in loose if pair[1] != pair[2]]
    parts = (("OLD", old), ("NEW", new))
    names = [record.name for record in new.payloads if _payload(old, record.name) is not None]
    for side, one in parts:
        untold = [name for name in names if _data(one, name) is None]
        notices += [f"{side} does not tell what data it measured: {', '.join(untold)}"] if untold else []
    notices += [f"{name} is of an interrupted run: cells may be missing" for name, one in parts if not one.complete]
    return Files(old, new, _first(whole), _first(times), _first(collections), tuple(notices))
