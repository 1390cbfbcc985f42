"""The law of set-up: what is done once is done when the codec is made, not inside the first call, which may be timed.

1. Work is counted in calls of functions, Python's and C's, so that a busy machine fails nothing: the first call of a new
   codec against a later one with the same argument.
2. Work inside one call of a library is seen by CPU time alone. It must be great, and so in each of several new codecs.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from zcser.core.codec import Codec
from zcser.testing.subject import Subject

__all__ = ["set_up_is_not_on_the_clock"]

_TIMES = 3
_CPU_NS = 4_000_000
_CPU_NS_PER_CALL = 2_000
"""What a call that may be made may take."""
_CODECS = 4


def set_up_is_not_on_the_clock(subject: Subject) -> Iterator[str]:
    """The first call of a new codec does no work that later ones do not."""
    (value,) = subject.values("plain", 1)
    if subject.has("encode"):
        yield from _held(subject, "encode", value)
    data = subject.writer.encode(value)
    yield from _held(subject, "decode", data)
    if subject.has("view"):
        yield from _held(subject, "view", data)


def _held(subject: Subject, operation: str, argument: Any) -> Iterator[str]:
    call = getattr(subject.made(), operation)
    first = _calls(call, argument)
    later = min(_calls(call, argument) for _ in range(3))
    if first > _TIMES * later + subject.set_up_calls:
        yield f"the first {operation} of a codec makes {first} calls, later ones {later}: do the set-up in __init__"
        return
    bound = _CPU_NS + _CPU_NS_PER_CALL * subject.set_up_calls
    for _ in range(_CODECS):
        excess = _excess_ns(subject.made(), operation, argument)
        if excess < bound:
            return
    yield f"the first {operation} of a codec takes {excess / 1e6:.1f} ms more than later ones: do the set-up in __init__"


def _calls(call: Callable[[Any], Any], argument: Any) -> int:
    """How many functions are called inside a call."""
    count = 0

    def profile(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        call(argument)
    finally:
        sys.setprofile(before)
    return count


def _excess_ns(codec: Codec[Any], operation: str, argument: Any) -> float:
    """CPU time of a codec's first call over that of later ones; 0 where it is no multiple of that."""
    call = getattr(codec, operation)
    collects = gc.isenabled()
    gc.disable()
    try:
        first, *later = (_cpu_ns(call, argument) for _ in range(6))
    finally:
        if collects:
            gc.enable()
    usual = statistics.median(later)
    return first - usual if first > 10 * usual else 0.0


def _cpu_ns(call: Callable[[Any], Any], argument: Any) -> int:
    begin = time.thread_time_ns()
    call(argument)
    return time.thread_time_ns() - begin
