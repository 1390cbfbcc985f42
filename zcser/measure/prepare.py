"""Binding operations to a codec and a payload: the call that is timed, its arguments, and the check of its result.

One function per operation of `zcser.measure.operations`, where the boundary of each is put in words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zcser.core.fidelity import difference
from zcser.core.view import at, to_value
from zcser.measure.access import aliases, flat_leaves, reader, touch
from zcser.measure.bench import Bench, MismatchError
from zcser.measure.deep import deep_size_of
from zcser.measure.figures import DeepSize, Size
from zcser.measure.inputs import Inputs, Rotating

__all__ = [
    "Prepared",
    "SameAsDecodeError",
    "convert",
    "decode",
    "decode_nocopy",
    "decode_unguarded",
    "dump",
    "encode",
    "encode_into",
    "encode_segments",
    "encode_unguarded",
    "load",
    "read_field",
    "read_paths",
    "require",
    "restore",
    "tensor",
    "touch_all",
    "view_field",
    "view_field_unverified",
]


class SameAsDecodeError(Exception):
    """``copy=False`` makes no difference for this codec and payload."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """An operation bound to a bench.

    Attributes
    ----------
    call
        What is timed, of one argument.
    inputs
        Its arguments.
    check
        Of a value's number and the result for it: what is wrong with the result, or None.
    size, deep_size
        What is counted of its results, beside what is timed; None where nothing is.
    """

    call: Callable[[Any], Any]
    inputs: Inputs
    check: Callable[[int, Any], str | None]
    size: Callable[[], Size] | None = None
    deep_size: Callable[[], DeepSize] | None = None


def require(prepared: Prepared) -> None:
    """Make one call and check its result.

    Raises
    ------
    MismatchError
        The result is wrong.
    """
    number, argument = prepared.inputs.first()
    wrong = prepared.check(number, prepared.call(argument))
    if wrong:
        raise MismatchError(f"wrong result for value {number}: {wrong}")


def _round_trip(bench: Bench) -> Callable[[int, Any], str | None]:
    def check(number: int, message: Any) -> str | None:
        # Equal bytes decode to equal values.
        if number in bench.verified and message == bench.wires[number]:
            return None
        return bench.wrong(number, bench.codec.decode(message))

    return check


def encode(bench: Bench) -> Prepared:
    """``codec.encode``."""

    def size() -> Size:
        # Of as many values as a cell rotates; those that were not encoded yet are needed for decoding anyway.
        sizes = sorted(map(len, bench.wires.arguments(bench.values.distinct)[: bench.wires.distinct]))
        return Size(sizes[(len(sizes) - 1) // 2], sizes[0], sizes[-1])

    return Prepared(bench.codec.encode, bench.values, _round_trip(bench), size=size)


def encode_unguarded(bench: Bench) -> Prepared:
    """``codec.encode`` without the guard."""
    return Prepared(bench.unguarded.encode, bench.values, _round_trip(bench))


def encode_into(bench: Bench) -> Prepared:
    """``codec.encode_into`` into one buffer of aligned memory."""
    # Room for every value that is not far larger than the first; memory that is not written costs nothing.
    room = _aligned(4 * len(bench.wires.first()[1]) + (1 << 20))
    encode_into = bench.codec.encode_into
    values = bench.derived(bench.values.__getitem__, usable=lambda number: len(bench.wires[number]) <= len(room) // 2)

    def call(value: Any) -> int:
        return encode_into(value, room)

    check = _round_trip(bench)
    return Prepared(call, values, lambda number, written: check(number, room[:written]))


def _aligned(size_bytes: int) -> memoryview:
    spare = np.zeros(size_bytes + 64, np.uint8)
    start = -spare.ctypes.data % 64
    return spare[start : start + size_bytes].data


def encode_segments(bench: Bench) -> Prepared:
    """``codec.encode_segments``."""
    codec = bench.codec
    check_joined = _round_trip(bench)

    def check(number: int, segments: list[memoryview]) -> str | None:
        if codec.info.joinable:
            return check_joined(number, b"".join(segments))
        return bench.wrong(number, codec.decode_segments(segments))

    return Prepared(codec.encode_segments, bench.values, check)


def decode(bench: Bench) -> Prepared:
    """``codec.decode``."""

    def check(number: int, value: Any) -> str | None:
        return None if number in bench.verified else bench.wrong(number, value)

    return Prepared(bench.codec.decode, bench.wires, check, deep_size=lambda: deep_size_of(bench))


def decode_unguarded(bench: Bench) -> Prepared:
    """``codec.decode`` without the guard."""
    return Prepared(bench.unguarded.decode, bench.wires, bench.wrong)


def decode_nocopy(bench: Bench) -> Prepared:
    """``codec.decode`` with ``copy=False``; `SameAsDecodeError` where that changes nothing."""
    decode = bench.codec.decode
    _, wire = bench.wires.first()
    if not aliases(decode(wire, copy=False), wire):
        raise SameAsDecodeError("copy=False aliases nothing of these messages, so that decode is the same")

    def call(data: Any) -> Any:
        return decode(data, copy=False)

    def check(number: int, result: Any) -> str | None:
        return difference(list(flat_leaves(result)), list(flat_leaves(bench.expected(number))))

    return Prepared(call, bench.wires, check)


def view_field(bench: Bench) -> Prepared:
    """``codec.view`` and the fields."""
    return read_paths(bench, bench.codec.view, "open(data)", bench.fields, bench.field_wires)


def view_field_unverified(bench: Bench) -> Prepared:
    """``codec.view`` without verification, and the fields."""
    return read_paths(bench, bench.codec.view, "open(data, verify=False)", bench.fields, bench.field_wires)


def read_field(bench: Bench) -> Prepared:
    """``codec.decode`` and the fields."""
    return read_paths(bench, bench.codec.decode, "open(data, copy=False)", bench.fields, bench.field_wires)


def read_paths(
    bench: Bench, opener: Callable[..., Any], source: str, paths: Sequence[str], wires: Rotating
) -> Prepared:
    """Opening a message and reading some places of it.

    Parameters
    ----------
    opener, source
        What opens a message, and the call of it as source: see `zcser.measure.access.reader`.
    paths
        The places.
    wires
        Messages that have them.
    """
    _, wire = wires.first()
    call = reader(opener, source, opener(wire), paths)

    def check(number: int, result: Any) -> str | None:
        return bench.wrong_leaves(number, paths, result if len(paths) > 1 else (result,))

    return Prepared(call, wires, check)


def touch_all(bench: Bench) -> Prepared:
    """``codec.view`` and every leaf."""
    view = bench.codec.view

    def call(data: Any) -> None:
        touch(view(data))

    def check(number: int, _: None) -> str | None:
        return bench.wrong(number, to_value(view(bench.wires[number])))

    return Prepared(call, bench.wires, check)


def tensor(bench: Bench) -> Prepared:
    """The first tensor, by a view where there are views."""
    path = bench.payload.tensor or ""
    has_view = "view" in bench.codec.operations()
    opener = bench.codec.view if has_view else bench.codec.decode
    _, wire = bench.tensor_wires.first()
    call = reader(opener, "open(data)" if has_view else "open(data, copy=False)", opener(wire), (path,))

    def check(number: int, result: Any) -> str | None:
        if not isinstance(result, np.ndarray):
            return f"{path} is no numpy array but {type(result).__name__}"
        return difference(result, at(bench.expected(number), path))

    return Prepared(call, bench.tensor_wires, check)


def convert(bench: Bench) -> Prepared:
    """``codec.convert``."""
    dump, check = bench.codec.dump, _round_trip(bench)
    return Prepared(bench.codec.convert, bench.values, lambda number, native: check(number, dump(native)))


def dump(bench: Bench) -> Prepared:
    """``codec.dump``."""
    return Prepared(bench.codec.dump, bench.natives, _round_trip(bench))


def load(bench: Bench) -> Prepared:
    """``codec.load``."""
    codec = bench.codec
    return Prepared(codec.load, bench.wires, lambda number, tree: bench.wrong(number, codec.restore(tree)))


def restore(bench: Bench) -> Prepared:
    """``codec.restore``, each call of a fresh object."""
    return Prepared(bench.codec.restore, bench.trees, bench.wrong)
