"""Lazy views of a fixed layout: every field is read at its own offset, when it is asked for.

1. All views of one message share a box, a list of its one buffer; `release` empties the box.
2. The buffer is bytes or a read-only memoryview of bytes: arrays and memoryviews that alias it are read-only too.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, ClassVar

from zcser.core.errors import DecodeError
from zcser.core.view import Getter, RecordView, SequenceView, record_view_class, released
from zcser.header.check import Fault, check_of
from zcser.header.layout import Array, Items, Node, Nothing, Scalar, Struct, Text
from zcser.header.read import Reader, aliasing_array, members_by_number
from zcser.schema.model import Enum

__all__ = ["Box", "Message", "Read", "meaningless", "reads"]

Message = bytes | memoryview
Box = list[Message | None]
Read = Callable[[Box, int], Any]
"""Reads the part that starts at a byte offset of the message in the box."""


def reads(root: Node, reader: Reader[Any], codec: str) -> Read:
    """How views of a layout read it.

    Parameters
    ----------
    root
        The layout.
    reader
        Of the same layout, with copies: for `zcser.to_value`.
    codec
        Name that an error carries.
    """
    return _Views(reader, codec).read(root)


def meaningless(error: Exception, offset: int | None, codec: str) -> DecodeError:
    """The error of a view that was not verified, at an enum's unknown number or text that is no UTF-8."""
    return DecodeError(f"bytes that mean nothing: {error}", codec=codec, offset=offset)


class _RecordPart(RecordView):
    __slots__ = ("_zc_base", "_zc_box")
    _zc_whole: ClassVar[Read]

    def __init__(self, box: Box, base: int) -> None:
        self._zc_box = box
        self._zc_base = base

    def _zc_present(self, name: str) -> bool:
        return name in self._zc_getters

    def _zc_value(self) -> Any:
        return type(self)._zc_whole(self._zc_box, self._zc_base)

    def _zc_release(self) -> None:
        self._zc_box[0] = None

    def _zc_retained(self) -> int:
        return _retained(self._zc_box)


class _ListPart(SequenceView):
    __slots__ = ("_zc_base", "_zc_box")
    _zc_whole: ClassVar[Read]
    _zc_read: ClassVar[Read]
    _zc_length: ClassVar[int]
    _zc_stride: ClassVar[int]

    def __init__(self, box: Box, base: int) -> None:
        self._zc_box = box
        self._zc_base = base

    def __len__(self) -> int:
        if self._zc_box[0] is None:
            raise released()
        return self._zc_length

    def _zc_item(self, index: int) -> Any:
        return type(self)._zc_read(self._zc_box, self._zc_base + index * self._zc_stride)

    def _zc_value(self) -> Any:
        return type(self)._zc_whole(self._zc_box, self._zc_base)

    def _zc_release(self) -> None:
        self._zc_box[0] = None

    def _zc_retained(self) -> int:
        return _retained(self._zc_box)


class _Views:
    def __init__(self, reader: Reader[Any], codec: str) -> None:
        self.reader = reader
        self.codec = codec
        self.known: dict[int, Read] = {}

    def read(self, node: Node) -> Read:
        if id(node) not in self.known:
            match node:
                case Struct():
                    self.known[id(node)] = self._record(node)
                case Items():
                    self.known[id(node)] = self._list(node)
                case Nothing():
                    self.known[id(node)] = _nothing
                case _:
                    self.known[id(node)] = self._leaf(node)
        return self.known[id(node)]

    def _whole(self, node: Struct | Items) -> Read:
        def whole(box: Box, base: int) -> Any:
            buffer = memoryview(_buffer(box))
            try:
                return self.reader.part(node, buffer, base)
            except (KeyError, UnicodeDecodeError) as error:
                raise meaningless(error, _fault_offset(node, buffer, base), self.codec) from error

        return whole

    def _record(self, node: Struct) -> Read:
        getters = {member.name: self._getter(member.node, member.offset) for member in node.members}
        base = type("RecordPart", (_RecordPart,), {"__slots__": (), "_zc_whole": staticmethod(self._whole(node))})
        cls: Read = record_view_class(base, node.record.name, getters)
        return cls

    def _list(self, node: Items) -> Read:
        namespace = {
            "__slots__": (),
            "_zc_whole": staticmethod(self._whole(node)),
            "_zc_read": staticmethod(self.read(node.item)),
            "_zc_length": node.length,
            "_zc_stride": node.item.size,
        }
        return type("ListView", (_ListPart,), namespace)

    def _getter(self, node: Node, offset: int) -> Getter:
        if isinstance(node, Scalar) and not isinstance(node.type, Enum):
            unpack_from = struct.Struct(f"<{node.code}").unpack_from

            def scalar(view: Any) -> Any:
                buffer = view._zc_box[0]
                if buffer is None:
                    raise released()
                return unpack_from(buffer, view._zc_base + offset)[0]

            return scalar
        if isinstance(node, Array):
            array = aliasing_array(node)

            def tensor(view: Any) -> Any:
                buffer = view._zc_box[0]
                if buffer is None:
                    raise released()
                return array(buffer, view._zc_base + offset)

            return tensor
        read = self.read(node)
        return lambda view: read(view._zc_box, view._zc_base + offset)

    def _leaf(self, node: Node) -> Read:
        size = node.size
        match node:
            case Scalar(type=Enum() as type_):
                return self._enum(node, type_)
            case Scalar():
                unpack_from = struct.Struct(f"<{node.code}").unpack_from
                return lambda box, base: unpack_from(_buffer(box), base)[0]
            case Text():
                return self._text(size)
            case Array():
                array = aliasing_array(node)
                return lambda box, base: array(_buffer(box), base)
        return lambda box, base: memoryview(_buffer(box))[base : base + size]

    def _enum(self, node: Scalar, type_: Enum) -> Read:
        unpack_from, members = struct.Struct(f"<{node.code}").unpack_from, members_by_number(type_)

        def enum(box: Box, base: int) -> Any:
            try:
                return members[unpack_from(_buffer(box), base)[0]]
            except KeyError as error:
                raise meaningless(error, base, self.codec) from error

        return enum

    def _text(self, size: int) -> Read:
        def text(box: Box, base: int) -> str:
            try:
                return bytes(_buffer(box)[base : base + size]).rstrip(b"\0").decode()
            except UnicodeDecodeError as error:
                raise meaningless(error, base + error.start, self.codec) from error

        return text


def _buffer(box: Box) -> Message:
    buffer = box[0]
    if buffer is None:
        raise released()
    return buffer


def _fault_offset(node: Node, buffer: memoryview, base: int) -> int | None:
    check = check_of(node)
    try:
        if check is not None:
            check(buffer, base)
    except Fault as fault:
        return fault.offset
    return None  # the value's own class refused its fields


def _retained(box: Box) -> int:
    buffer = box[0]
    return 0 if buffer is None else len(buffer)


def _nothing(box: Box, _base: int) -> None:
    _buffer(box)
