"""What is timed: reads and writes of one record, and rows of them."""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.flat.arms import Arm, Effort, prove, rotating
from benchmarks.header_records.subjects import (
    DTYPE,
    FORMAT,
    NAMES,
    OFFSET,
    PACKED,
    Header,
    HeaderCtypes,
    buffers,
    layouts,
)
from zcser.header import RecordLayout

__all__ = ["arms"]

_COUNT = 64
_ROWS = 1000
_WRITTEN = 0x8F3A6B1C2D4E5F60

_ONE = struct.Struct("<Q")
_AT = OFFSET + DTYPE.fields["trace_id"][1]  # type: ignore[index]  # it is structured


def arms(effort: Effort) -> list[Arm]:
    """All of them, proved equal."""
    found: list[Arm] = []
    data = [bytes(buffer) for buffer in buffers(_COUNT)]
    values = [PACKED.unpack_from(one, OFFSET) for one in data]
    traces = [value[NAMES.index("trace_id")] for value in values]

    def add(operation: str, subject: str, call: Callable[[Any], Any], arguments: list[Any], wanted: list[Any]) -> None:
        prove(f"{operation}, {subject}", [call(argument) for argument in arguments], wanted)
        found.append(rotating(effort, operation, subject, call, arguments))

    unpack, one, at = PACKED.unpack_from, _ONE.unpack_from, _AT
    # struct's own call has no offset to carry here: ours has none either, of a memoryview that begins at the record.
    records = [memoryview(buffer)[OFFSET:] for buffer in buffers(_COUNT)]
    starts = [one_data[OFFSET:] for one_data in data]
    for kind, arguments in {"bytes": starts, "memoryview": records}.items():
        add(f"whole record of {kind}", "struct", unpack, arguments, values)
    add("field", "struct", lambda buffer: one(buffer, at)[0], data, traces)
    add(
        "field",
        "ctypes",
        lambda record: record.trace_id,
        [HeaderCtypes.from_buffer(b, OFFSET) for b in buffers(_COUNT)],
        traces,
    )
    add(
        "field",
        "numpy",
        lambda record: record["trace_id"].item(),
        [np.frombuffer(b, DTYPE, 1, OFFSET)[0] for b in data],
        traces,
    )
    add(
        "open and field",
        "ctypes",
        lambda buffer: HeaderCtypes.from_buffer(buffer, OFFSET).trace_id,
        buffers(_COUNT),
        traces,
    )
    add("pack", "struct", lambda value: PACKED.pack(*value), values, [one_data[: PACKED.size] for one_data in starts])
    rows = [bytes(PACKED.size * _ROWS) for _ in range(4)]
    add("rows as an array", "numpy", lambda buffer: np.frombuffer(buffer, DTYPE).size, rows, [_ROWS] * len(rows))
    found.append(_written(effort, "struct", _pack_trace, lambda buffer: buffer))
    found.append(_written(effort, "ctypes", _set_trace, lambda buffer: HeaderCtypes.from_buffer(buffer, OFFSET)))

    classes = layouts(lambda: RecordLayout.from_class(Header, packed=True))
    for which, layout in layouts(lambda: RecordLayout.from_struct(FORMAT, NAMES, name="Header")).items():
        _add_ours(add, which, layout, classes[which], data, starts, records, values, traces, rows)
        found.append(_written(effort, which, _set_trace, functools.partial(layout.view, offset=OFFSET)))
    return found


def _add_ours(  # noqa: PLR0917 - what arms are made of
    add: Callable[..., None],
    which: str,
    layout: RecordLayout,
    of_class: RecordLayout,
    data: list[bytes],
    starts: list[bytes],
    records: list[memoryview],
    values: list[Any],
    traces: list[int],
    rows: list[bytes],
) -> None:
    named = [layout.unpack_from(one) for one in starts]
    assert named == values
    for kind, arguments in {"bytes": starts, "memoryview": records}.items():
        add(f"whole record of {kind}", which, layout.unpack_from, arguments, named)
    add("whole record as a dataclass", which, of_class.unpack_from, starts, [Header(*value) for value in values])
    add("field", which, lambda view: view.trace_id, [layout.view(one, OFFSET) for one in data], traces)
    add("open and field", which, lambda buffer: layout.view(buffer, OFFSET).trace_id, data, traces)
    add("pack", which, layout.pack, named, [one[: PACKED.size] for one in starts])
    add("rows as an array", which, lambda buffer: layout.array(buffer).size, rows, [_ROWS] * len(rows))


def _written(effort: Effort, subject: str, write: Callable[[Any], None], opened: Callable[[bytearray], Any]) -> Arm:
    held = buffers(_COUNT)
    targets = [opened(buffer) for buffer in held]
    for target in targets:
        write(target)
    prove(f"write a field, {subject}", [_ONE.unpack_from(buffer, _AT)[0] for buffer in held], [_WRITTEN] * _COUNT)
    return rotating(effort, "write a field", subject, write, targets)


def _pack_trace(buffer: bytearray) -> None:
    _ONE.pack_into(buffer, _AT, _WRITTEN)


def _set_trace(record: Any) -> None:
    record.trace_id = _WRITTEN
