"""Composite tasks: what services do with messages, of several steps in one timed window.

1. What is passed on changed is changed in place, in a copy of the bytes, where the codec can; the message was verified by
   then. Else it is decoded without copies, the number is set, and it is encoded anew. The flag "in-place" tells which.
2. Which leaves are read and which number is changed, `zcser.payloads.spread` says, once for all codecs.
3. The results are checked against the values: what was read, and what the bytes decode to.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from zcser.core.fidelity import difference
from zcser.core.paths import parse_path
from zcser.measure.access import reader, setter
from zcser.measure.bench import Bench
from zcser.measure.prepare import Prepared
from zcser.payloads.base import Number
from zcser.payloads.places import change
from zcser.payloads.spread import CHANGES

__all__ = ["CHANGING", "COMPOSITES", "FAN", "IN_PLACE", "fan_in", "fan_out", "forward", "patch"]

COMPOSITES = ("forward", "patch", "fan-in", "fan-out")
"""The composite tasks, and changing a number in place by itself."""

CHANGING = frozenset({"forward", "patch", "fan-out"})
"""Those that change a number."""

IN_PLACE = frozenset({"forward", "fan-out"})
"""Those that do it in place where the codec can."""

FAN = CHANGES
"""Messages that come in, or go out."""


def forward(bench: Bench) -> Prepared:
    """Open a message, read two leaves, change a number, and have bytes to send on."""
    number, paths = _number(bench), bench.places.reads["2"]
    wires = bench.derived(bench.wires.__getitem__, paths=(*paths, number.path))
    _, wire = wires.first()
    new = number.values[0]
    call: Callable[[Any], tuple[Any, Any]]
    if _in_place(bench):
        view, patch = bench.codec.view, bench.codec.patcher(number.path)
        read = reader(None, "data", view(wire), paths)

        def call(data: Any) -> tuple[Any, Any]:
            found = read(view(data))
            message = bytearray(data)
            patch(message, new)
            return found, message

    else:
        decode, encode = bench.codec.decode, bench.codec.encode
        value = decode(wire, copy=False)
        read, put = reader(None, "data", value, paths), setter(value, number.path)

        def call(data: Any) -> tuple[Any, Any]:
            value = decode(data, copy=False)
            found = read(value)
            put(value, new)
            return found, encode(value)

    def check(which: int, result: tuple[Any, Any]) -> str | None:
        found, message = result
        wrong = bench.wrong_leaves(which, paths, found if len(paths) > 1 else (found,))
        return wrong or _wrong_message(bench, which, message, number.path, new)

    return Prepared(call, wires, check)


def patch(bench: Bench) -> Prepared:
    """Change a number in place."""
    number = _number(bench)
    buffers = bench.derived(lambda which: bytearray(bench.wires[which]), paths=(number.path,))
    change_at, new = bench.codec.patcher(number.path), number.values[0]

    def call(buffer: Any) -> None:
        change_at(buffer, new)

    return Prepared(
        call, buffers, lambda which, _: _wrong_message(bench, which, bytes(buffers[which]), number.path, new)
    )


def fan_in(bench: Bench) -> Prepared:
    """Read a leaf of each of several messages, and encode one value."""
    paths = bench.places.reads["1"]
    fitting = bench.derived(lambda which: which, paths=paths)
    has_view = "view" in bench.codec.operations()
    opener = bench.codec.view if has_view else bench.codec.decode
    read = reader(
        opener, "open(data)" if has_view else "open(data, copy=False)", opener(bench.wires[fitting.first()[0]]), paths
    )
    encode = bench.codec.encode
    sources: dict[int, list[int]] = {}

    def make(which: int) -> tuple[list[Any], Any]:
        sources[which] = fitting.arguments(FAN)
        return [bench.wires[source] for source in sources[which]], bench.values[which]

    def call(task: tuple[list[Any], Any]) -> tuple[list[Any], bytes]:
        messages, value = task
        return [read(message) for message in messages], encode(value)

    def check(which: int, result: tuple[list[Any], bytes]) -> str | None:
        found, message = result
        for source, leaf in zip(sources[which], found, strict=True):
            wrong = bench.wrong_leaves(source, paths, (leaf,))
            if wrong:
                return f"of message {source}, {wrong}"
        return bench.wrong(which, bench.codec.decode(message))

    return Prepared(call, bench.derived(make, paths=paths), check)


def fan_out(bench: Bench) -> Prepared:
    """Open a message once, and have bytes of it for several receivers, a number changed for each."""
    number = _number(bench)
    wires = bench.derived(bench.wires.__getitem__, paths=(number.path,))
    _, wire = wires.first()
    news = number.values
    call: Callable[[Any], list[Any]]
    if _in_place(bench):
        view, patch = bench.codec.view, bench.codec.patcher(number.path)

        def call(data: Any) -> list[Any]:
            view(data)
            messages = []
            for new in news:
                message = bytearray(data)
                patch(message, new)
                messages.append(message)
            return messages

    else:
        decode, encode = bench.codec.decode, bench.codec.encode
        put = setter(decode(wire, copy=False), number.path)

        def call(data: Any) -> list[Any]:
            value = decode(data, copy=False)
            messages = []
            for new in news:
                put(value, new)
                messages.append(encode(value))
            return messages

    def check(which: int, messages: list[Any]) -> str | None:
        wrong = (
            _wrong_message(bench, which, message, number.path, new) for message, new in zip(messages, news, strict=True)
        )
        return next(filter(None, wrong), None)

    return Prepared(call, wires, check)


def _number(bench: Bench) -> Number:
    number = bench.places.number
    if number is None:
        raise LookupError(f"no number of payload {bench.payload.name} can be changed")
    return number


def _in_place(bench: Bench) -> bool:
    return "patcher" in bench.codec.operations()


def _wrong_message(bench: Bench, which: int, message: Any, path: str, new: float) -> str | None:
    """How a message differs from that of a value in which one number is another."""
    expected = copy.deepcopy(bench.expected(which))
    change(expected, parse_path(path), new)
    return difference(bench.codec.decode(bytes(message)), expected)
