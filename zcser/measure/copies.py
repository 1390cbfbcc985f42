"""Whether an operation copies the payload's bytes or hands out the memory in which they lie, proved on one value.

1. Reading: the message is given as a bytearray. An array or memoryview of the result aliases it where its address lies
   inside and its content changes when the message is overwritten. Writing: a segment aliases the value where its address
   lies in an array or bytes object of the value.
2. An operation aliases where every such part does; one copied part makes it "copy".
3. Where the payload or the result has neither arrays nor bytes there is nothing to tell, which is None.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from zcser.core.buffers import address
from zcser.core.fidelity import field_names
from zcser.core.view import retained_bytes
from zcser.measure import partial
from zcser.measure.bench import Bench
from zcser.measure.figures import Allocations, Copies
from zcser.measure.prepare import Prepared

__all__ = ["READS", "WRITES", "copies_of", "read_aliases", "written_aliases"]

_PARTS = frozenset({"view-field", "view-field-unverified", "read-field", "tensor", *partial.READS})

READS = frozenset({"decode", "decode-nocopy", "decode-unguarded"}) | _PARTS
"""Operations from a message to values; by a view, where there are views, are those that take parts."""

WRITES = frozenset({"encode", "encode-into", "encode-segments", "encode-unguarded"})
"""Operations from a value to a message."""

Word = Literal["alias", "copy"]


def copies_of(bench: Bench, operation: str, prepared: Prepared, allocations: Allocations | None) -> Copies | None:
    """The copies of an operation; None where it is neither reading nor writing."""
    if operation not in READS and operation not in WRITES:
        return None
    number, _ = prepared.inputs.first()
    message, retained = bench.wires[number], None
    if operation in READS:
        word = read_aliases(prepared.call, message)
        if operation in _PARTS and "view" in bench.codec.operations():
            retained = retained_bytes(bench.codec.view(message))
        elif word == "alias":
            retained = len(message)
    else:
        value = bench.values[number]
        word = written_aliases(prepared.call(value), value)
    return Copies(word, _per_wire_byte(bench, allocations), retained)


def _per_wire_byte(bench: Bench, allocations: Allocations | None) -> float | None:
    if allocations is None or allocations.python_bytes is None or allocations.native_bytes is None:
        return None
    wires = bench.wires.leading(allocations.values or 1)
    return (allocations.python_bytes + allocations.native_bytes) * len(wires) / max(1, sum(map(len, wires)))


def read_aliases(call: Any, message: bytes) -> Word | None:
    """Whether what `call` reads out of a message lies in the message."""
    data = bytearray(message)
    start = address(data)
    result = call(data)
    parts = list(_parts(result))
    before = [_content(part) for part in parts]
    data[:] = bytes(byte ^ 0xFF for byte in message)
    aliased = [
        start <= _start(part) < start + len(data) and _content(part) != content
        for part, content in zip(parts, before, strict=True)
    ]
    if not parts:
        return None
    return "alias" if all(aliased) else "copy"


def written_aliases(result: Any, value: Any) -> Word | None:
    """Whether every array and bytes object of a value stands in a list of segments as itself."""
    parts = list(_parts(value))
    if not parts:
        return None
    segments = result if isinstance(result, list) else []
    spans = [(start, start + segment.nbytes) for segment in segments for start in (_start(segment),)]
    inside = [any(low <= _start(part) < high for low, high in spans) for part in parts]
    return "alias" if all(inside) else "copy"


def _parts(value: Any) -> Iterator[Any]:
    """Arrays, memoryviews and bytes inside a value, without the empty ones."""
    if isinstance(value, np.ndarray | memoryview):
        if value.nbytes:
            yield value
    elif isinstance(value, bytes | bytearray):
        if value:
            yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _parts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _parts(item)
    else:
        for name in field_names(value) or ():
            yield from _parts(getattr(value, name))


def _start(part: Any) -> int:
    return int(part.ctypes.data) if isinstance(part, np.ndarray) else address(part)


def _content(part: Any) -> bytes:
    return part.tobytes() if isinstance(part, np.ndarray | memoryview) else bytes(part)
