"""The engine in Python: generated unpacking, and views whose properties call ``struct``.

All views of one record share a box, a list of its one buffer; `release` empties the box.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, ClassVar

from zcser.core.buffers import Buffer
from zcser.core.view import record_view_class, released
from zcser.header.records.model import Field, Scalar, Struct
from zcser.header.records.place import place_of, unreadable
from zcser.header.records.read import Unpack, unpack_of
from zcser.header.records.view import Setter, WritableView, read_of, write_of

__all__ = ["PureEngine"]

_Box = list[memoryview | None]


class PureEngine:
    """See `zcser.header.records.engine.Engine`."""

    def __init__(self, record: Struct) -> None:
        self._record = record
        self._unpack = unpack_of(record)
        self._view = _view_class(record, self._unpack)

    def unpack_from(self, buffer: Buffer, offset: int = 0) -> Any:
        """See `RecordLayout.unpack_from`."""
        # Of other buffers, struct would read pointers to objects too.
        if (buffer.__class__ is bytes or buffer.__class__ is bytearray) and offset.__class__ is int and offset >= 0:
            try:
                return self._unpack(buffer, offset)
            except Exception:  # noqa: BLE001, S110 - what is wrong is found and said below
                pass
        memory, at = place_of(self._record, buffer, offset)
        try:
            return self._unpack(memory, at)
        except Exception as error:
            raise unreadable(self._record.name, error, at) from error

    def view(self, buffer: Buffer, offset: int = 0) -> WritableView:
        """See `RecordLayout.view`."""
        memory, at = place_of(self._record, buffer, offset)
        return self._view([memory], at)


class _PureView(WritableView):
    __slots__ = ("_zc_base", "_zc_box")
    _zc_unpack: ClassVar[Unpack]

    def __init__(self, box: _Box, base: int) -> None:
        # Past __setattr__, which is for fields.
        self._zc_box = box
        self._zc_base = base

    def _zc_value(self) -> Any:
        memory = _memory(self)
        try:
            return type(self)._zc_unpack(memory, self._zc_base)
        except Exception as error:
            raise unreadable(self._zc_record, error, None) from error

    def _zc_release(self) -> None:
        self._zc_box[0] = None

    def _zc_retained(self) -> int:
        memory = self._zc_box[0]
        return 0 if memory is None else memory.nbytes


def _memory(view: Any) -> memoryview:
    memory: memoryview | None = view._zc_box[0]
    if memory is None:
        raise released()
    return memory


def _view_class(record: Struct, unpack: Unpack) -> Callable[[_Box, int], WritableView]:
    namespace = {"__slots__": (), "_zc_unpack": staticmethod(unpack)}
    getters = {field.name: _getter(field) for field in record.fields}
    setters = {field.name: _setter(record, field) for field in record.fields}
    made = record_view_class(type("RecordPart", (_PureView,), namespace), record.name, getters)
    made._zc_setters = setters  # type: ignore[attr-defined]  # of WritableView
    for name, getter in getters.items():
        if isinstance(vars(made).get(name), property):
            setattr(made, name, property(getter, setters[name]))
    return made  # type: ignore[return-value]  # a class is what it makes


def _getter(field: Field) -> Callable[[Any], Any]:
    offset = field.offset
    match field.part:
        case Scalar() as part:
            unpack_from = struct.Struct(part.format).unpack_from

            def scalar(view: Any) -> Any:
                memory = view._zc_box[0]
                if memory is None:
                    raise released()
                return unpack_from(memory, view._zc_base + offset)[0]

            return scalar
        case Struct() as inner:
            cls = _view_class(inner, unpack_of(inner))

            def part_of(view: Any) -> WritableView:
                _memory(view)
                return cls(view._zc_box, view._zc_base + offset)

            return part_of
        case part:
            read = read_of(part)
            return lambda view: read(_memory(view), view._zc_base + offset)


def _setter(record: Struct, field: Field) -> Setter:
    write, offset = write_of(record, field), field.offset
    part = field.part
    if not isinstance(part, Scalar) or part.code in {"?", "c"}:
        return lambda view, value: write(_memory(view), view._zc_base + offset, value)
    # Packed apart, as pack_into would write zeros before it finds that a value does not fit.
    pack, size, own = struct.Struct(part.format).pack, part.size, float if part.code in {"e", "f", "d"} else int

    def scalar(view: Any, value: Any) -> None:
        memory = _memory(view)
        at = view._zc_base + offset
        if value.__class__ is own and not memory.readonly:
            try:
                data = pack(value)
            except (struct.error, OverflowError):
                pass  # said below
            else:
                memory[at : at + size] = data
                return
        write(memory, at, value)

    return scalar
