"""What the engine in C is given of a schema's layout for reading: its parts, and the classes of its views.

1. The engine reads numbers; whatever else there is it has read by the functions of `zcser.header.view`, so that both say
   the same of the same bytes. They are given the message as it came: bytes, or a read-only memoryview.
2. Lists are for Python: their views would have to share the engine's memory.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

import numpy as np

from zcser.core.errors import DecodeError
from zcser.core.view import RecordView, record_view_class, released
from zcser.header.layout import Array, Blob, Items, Member, Node, Scalar, Struct, walk
from zcser.header.read import Reader, aliasing_array
from zcser.header.view import Message, meaningless, reads
from zcser.native import _header
from zcser.schema.classes import positional
from zcser.schema.model import Enum, Record

__all__ = ["make_reading"]

_BOOL, _INT, _UINT, _FLOAT, _BYTES, _ASIDE, _RECORD = 0, 2, 3, 4, 5, 7, 8
_MAX_HEIGHT = 128
_IS_SWAPPED = sys.byteorder != "little"

_ReadAt = Callable[[Message, int], Any]
"""Reads the part that stands at an offset."""


def make_reading(
    root: Struct, reader: Reader[Any], codec: str, fallback: Callable[[Any, Any], Any]
) -> _header.Layout | None:
    """See `zcser.header.engine.make_reading`."""
    if root.height > _MAX_HEIGHT or root.size > sys.maxsize or any(isinstance(node, Items) for node in walk(root)):
        return None
    program = _Program(reader, codec)
    program.add(root)
    layout = _header.Layout(tuple(program.nodes), fallback, _same_place, None, released)
    for index, record in program.records:
        layout.set_view(index, _view_class(layout, index, record, codec))
    return layout


def _same_place(buffer: Any, offset: Any = 0) -> tuple[Any, Any]:
    return buffer, offset


class _Program:
    def __init__(self, reader: Reader[Any], codec: str) -> None:
        self.reader = reader
        self.codec = codec
        self.nodes: list[tuple[Any, ...]] = []
        self.records: list[tuple[int, Struct]] = []
        self.known: dict[int, int] = {}

    def add(self, node: Node) -> int:
        """Add a part and what is in it; its number."""
        if id(node) not in self.known:
            self.known[id(node)] = self._add(node)
        return self.known[id(node)]

    def _add(self, node: Node) -> int:
        if isinstance(node, Scalar) and not isinstance(node.type, Enum):
            op = {"?": _BOOL, "f": _FLOAT, "d": _FLOAT}.get(node.code, _INT if node.code.islower() else _UINT)
            return self._node(op, node.size)
        if isinstance(node, Blob):
            return self._node(_BYTES, node.size)
        if isinstance(node, Struct):
            places = tuple(self._place(node.record, member) for member in node.members)
            index = self._node(_RECORD, node.size, places=places, cls=_maker(node.record))
            self.records.append((index, node))
            return index
        return self._node(_ASIDE, node.size, read=_own_array(node) if isinstance(node, Array) else self._read_at(node))

    def _node(self, op: int, size: int, *, places: tuple[Any, ...] = (), cls: Any = None, read: Any = None) -> int:
        self.nodes.append((op, _IS_SWAPPED, False, size, 0, -1, places, cls, False, read))
        return len(self.nodes) - 1

    def _place(self, record: Record, member: Member) -> tuple[Any, ...]:
        node = member.node
        read = aliasing_array(node) if isinstance(node, Array) else self._read_at(node)
        write = functools.partial(_refuse, f"{record.name}.{member.name}")
        return member.name, self.add(node), member.offset, read, write

    def _read_at(self, node: Node) -> _ReadAt | None:
        if isinstance(node, Struct):
            return None
        read = reads(node, self.reader, self.codec)
        return lambda buffer, offset: read([buffer], offset)


def _refuse(name: str, _buffer: Message, _offset: int, _value: object) -> NoReturn:
    raise AttributeError(f"{name} cannot be set: views of messages are read-only")


def _own_array(node: Array) -> _ReadAt:
    dtype, shape, count = node.dtype, node.shape, math.prod(node.shape)
    if not node.size:
        return lambda _buffer, _offset: np.empty(shape, dtype)
    if len(shape) == 1:
        return lambda buffer, offset: np.frombuffer(buffer, dtype, count, offset).copy()
    return lambda buffer, offset: np.frombuffer(buffer, dtype, count, offset).reshape(shape).copy()


def _maker(record: Record) -> Callable[..., Any]:
    """What C makes values with, from the fields in their order."""
    cls, names = record.cls, [item.name for item in record.fields]
    if cls is None:
        return lambda *fields: dict(zip(names, fields, strict=True))
    if positional(cls, names) < len(names):
        return lambda *fields: cls(**dict(zip(names, fields, strict=True)))
    # Of a subclass of tuple C would make a tuple without a call.
    return functools.partial(cls) if issubclass(cls, tuple) else cls


class _NativeView(_header.View, RecordView):
    """A record."""

    __slots__ = ()
    _zc_codec: ClassVar[str]

    def _zc_present(self, name: str) -> bool:
        return name in self._zc_getters

    def _zc_value(self) -> Any:
        try:
            return super()._zc_value()
        except DecodeError:
            raise
        except (KeyError, UnicodeDecodeError) as error:
            raise meaningless(error, None, self._zc_codec) from error


def _view_class(layout: _header.Layout, index: int, node: Struct, codec: str) -> type:
    fields = {member.name: _header.Field(layout, index, place) for place, member in enumerate(node.members)}
    base = type("RecordPart", (_NativeView,), {"__slots__": (), "_zc_codec": codec})
    made = record_view_class(base, node.record.name, {name: field.__get__ for name, field in fields.items()})
    for name, field in fields.items():
        if isinstance(vars(made).get(name), property):
            setattr(made, name, field)  # a descriptor itself: no call of Python's lies between
    return made
