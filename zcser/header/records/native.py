"""What the engine in C is given: the nodes of a layout, the classes of its views, and Python for what it leaves to it.

The layout of the tuples is that of ``zcser/native/header/program.c``; a node stands after those inside it.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

from zcser.core.buffers import Buffer, byte_view
from zcser.core.errors import ReleasedViewError
from zcser.core.view import record_view_class, released
from zcser.header.records.model import Array, Bytes, Field, Part, Scalar, Struct, tuple_class
from zcser.header.records.place import place_of, unreadable
from zcser.header.records.pure import PureEngine
from zcser.header.records.read import owned_array
from zcser.header.records.view import WritableView, read_of, write_of
from zcser.native import _header

__all__ = ["make_engine"]

_BOOL, _CHAR, _INT, _UINT, _FLOAT, _BYTES, _ARRAY, _ASIDE, _RECORD = range(9)
_OPS = {"?": _BOOL, "c": _CHAR, "e": _FLOAT, "f": _FLOAT, "d": _FLOAT}


def make_engine(record: Struct) -> _header.Layout:
    """The engine of a record."""
    program = _Program()
    program.add(record)
    pure = functools.cache(lambda: PureEngine(record))  # made when there is something to say

    def unpack_from(buffer: Buffer, offset: int = 0) -> Any:
        return pure().unpack_from(buffer, offset)

    def place(buffer: Buffer, offset: int = 0) -> tuple[memoryview, int]:
        return place_of(record, buffer, offset)

    layout = _header.Layout(tuple(program.nodes), unpack_from, place, byte_view, released)
    for index, inner in program.records:
        layout.set_view(index, _view_class(layout, index, inner))
    return layout


class _Program:
    def __init__(self) -> None:
        self.nodes: list[tuple[Any, ...]] = []
        self.records: list[tuple[int, Struct]] = []

    def add(self, part: Part) -> int:
        """Add a part and what is in it; its number."""
        match part:
            case Scalar():
                op = _OPS.get(part.code, _INT if part.code.islower() else _UINT)
                return self._node(op, part.size, is_swapped=part.byteorder != sys.byteorder)
            case Bytes():
                return self._node(_BYTES, part.size)
            case Array(container="ndarray"):
                return self._node(_ASIDE, part.size, read=_aside(part))
            case Array():
                return self._array(part, part.shape)
            case Struct():
                places = tuple(self._place(part, field) for field in part.fields)
                is_own = part.cls.__module__ == tuple_class.__module__
                index = self._node(_RECORD, part.size, places=places, cls=_maker(part.cls), is_own=is_own)
                self.records.append((index, part))
                return index

    def _node(
        self,
        op: int,
        size: int,
        *,
        is_swapped: bool = False,
        is_list: bool = False,
        count: int = 0,
        item: int = -1,
        places: tuple[Any, ...] = (),
        cls: Any = None,
        is_own: bool = False,
        read: Any = None,
    ) -> int:
        self.nodes.append((op, is_swapped, is_list, size, count, item, places, cls, is_own, read))
        return len(self.nodes) - 1

    def _array(self, part: Array, shape: tuple[int, ...]) -> int:
        extent, inner = shape[0], shape[1:]
        item = self._array(part, inner) if inner else self.add(part.item)
        size = extent * self.nodes[item][3]
        return self._node(_ARRAY, size, is_list=part.container == "list", count=extent, item=item)

    def _place(self, record: Struct, field: Field) -> tuple[Any, ...]:
        read = read_of(field.part) if isinstance(field.part, Bytes | Array) else None
        return field.name, self.add(field.part), field.offset, read, write_of(record, field)


def _aside(part: Array) -> Any:
    array, size = owned_array(part), part.size
    return lambda memory, at: array(memory[at : at + size])


def _maker(cls: type) -> Any:
    """What C makes values with: the class itself, of which it makes a plain subclass of tuple without a call."""
    if issubclass(cls, tuple) and (cls.__dictoffset__ or cls.__basicsize__ != tuple.__basicsize__):
        return lambda *fields: tuple.__new__(cls, fields)
    return cls


class _NativeView(_header.View, WritableView):
    """A record."""

    __slots__ = ()

    def _zc_value(self) -> Any:
        try:
            return super()._zc_value()
        except ReleasedViewError:
            raise
        except Exception as error:
            raise unreadable(self._zc_record, error, None) from error


def _view_class(layout: _header.Layout, index: int, record: Struct) -> type:
    fields = {field.name: _header.Field(layout, index, place) for place, field in enumerate(record.fields)}
    made = record_view_class(_NativeView, record.name, {name: field.__get__ for name, field in fields.items()})
    made._zc_setters = {name: field.__set__ for name, field in fields.items()}  # type: ignore[attr-defined]  # of WritableView
    for name, field in fields.items():
        if isinstance(vars(made).get(name), property):
            setattr(made, name, field)  # a descriptor itself: no call of Python's lies between
    return made
