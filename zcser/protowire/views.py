"""Views over a parsed message.

1. upb parses a message whole when it is opened. A view then makes Python objects of the fields that are asked for, and
   of no others.
2. Bytes and tensor data are held back from upb: what shows them aliases the parts that they lie in, read-only.
3. The views of one message share a `Parsed`, and keep upb's memory and the parts alive; `release` ends access through all
   of them. upb frees its memory when the last of them is gone.
4. Fields are read by functions generated for the schema. A field that is missing and has a default shows the default,
   which is a value and no view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, cast

from google.protobuf.message import Message as ProtobufMessage

from zcser.core.source import Source
from zcser.core.view import MapView, RecordView, SequenceView, record_view_class, released, to_value
from zcser.protowire.descriptors import Classes
from zcser.protowire.plan import UNION_ONEOF, Label, Message, Missing, Plan, Shape, Slot
from zcser.protowire.read import Read, read_value
from zcser.protowire.scalars import members
from zcser.protowire.stand_in import Parts, taken
from zcser.protowire.tensors import aligning, checked_opener, tensor_opener
from zcser.schema.model import Bytes, List, Map, Null, Tensor

__all__ = ["Parsed", "Show", "compile_views"]


class Parsed:
    """What all views of one message share.

    Parameters
    ----------
    buffer, parts
        The root message, and where its payloads lie.
    size_bytes
        Of the message, payloads and all.
    is_checked
        Tensors were found to fit (`zcser.protowire.check`), and need not be checked when they are read.
    """

    __slots__ = ("buffer", "is_checked", "parts", "size_bytes")

    def __init__(self, buffer: ProtobufMessage, parts: Parts, size_bytes: int, is_checked: bool) -> None:
        self.buffer: ProtobufMessage | None = buffer
        self.parts = parts
        self.size_bytes = size_bytes
        self.is_checked = is_checked

    def release(self) -> None:
        """End access."""
        self.buffer = None
        self.parts = ()

    @property
    def retained_bytes(self) -> int:
        """Size of the message; 0 after release."""
        return 0 if self.buffer is None else self.size_bytes


Show = Callable[[Any, Parsed], Any]
"""What a view shows of a part of a message as upb gives it."""


class _ProtobufRecordView(RecordView):
    __slots__ = ("_zc_message", "_zc_parsed")
    _zc_read: ClassVar[Read]
    _zc_absent: ClassVar[Mapping[str, str]]

    def __init__(self, message: ProtobufMessage, parsed: Parsed) -> None:
        self._zc_message: ProtobufMessage | None = message
        self._zc_parsed = parsed

    def _zc_live(self) -> ProtobufMessage:
        if self._zc_parsed.buffer is None or self._zc_message is None:
            raise released()
        return self._zc_message

    def _zc_present(self, name: str) -> bool:
        message = self._zc_live()
        return name not in self._zc_absent or bool(message.HasField(self._zc_absent[name]))

    def _zc_value(self) -> Any:
        return read_value(type(self)._zc_read, self._zc_live(), self._zc_parsed.parts)

    def _zc_release(self) -> None:
        self._zc_parsed.release()
        self._zc_message = None

    def _zc_retained(self) -> int:
        return self._zc_parsed.retained_bytes


class _ProtobufSequenceView(SequenceView):
    __slots__ = ("_zc_container", "_zc_items", "_zc_parsed", "_zc_show")

    def __init__(self, items: Any, parsed: Parsed, show: Show, container: type) -> None:
        self._zc_items = items
        self._zc_parsed = parsed
        self._zc_show = show
        self._zc_container = container

    def __len__(self) -> int:
        if self._zc_parsed.buffer is None:
            raise released()
        return len(self._zc_items)

    def _zc_item(self, index: int) -> Any:
        return self._zc_show(self._zc_items[index], self._zc_parsed)

    def __getitem__(self, index: Any) -> Any:
        # The way of one int, which upb holds to the length itself.
        if index.__class__ is int and self._zc_parsed.buffer is not None:
            try:
                item = self._zc_items[index]
            except (IndexError, TypeError):  # a TypeError for what no size can be
                return super().__getitem__(index)
            return self._zc_show(item, self._zc_parsed)
        return super().__getitem__(index)

    def __iter__(self) -> Iterator[Any]:
        for item in (self._zc_items or ())[:]:
            if self._zc_parsed.buffer is None:
                raise released()
            yield self._zc_show(item, self._zc_parsed)

    def _zc_value(self) -> Any:
        if self._zc_parsed.buffer is None:
            raise released()
        return self._zc_container(to_value(item) for item in self)

    def _zc_release(self) -> None:
        self._zc_parsed.release()
        self._zc_items = None

    def _zc_retained(self) -> int:
        return self._zc_parsed.retained_bytes


class _ProtobufMapView(MapView):
    __slots__ = ("_zc_items", "_zc_parsed", "_zc_show")

    def __init__(self, items: Any, parsed: Parsed, show: Show) -> None:
        self._zc_items = items
        self._zc_parsed = parsed
        self._zc_show = show

    def _zc_live(self) -> Any:
        if self._zc_parsed.buffer is None:
            raise released()
        return self._zc_items

    def __getitem__(self, key: Any) -> Any:
        items = self._zc_live()
        # A map of messages makes an entry for any key that it is asked for.
        if key not in self:
            raise KeyError(key)
        return self._zc_show(items[key], self._zc_parsed)

    def __contains__(self, key: object) -> bool:
        try:
            return key in self._zc_live()
        except (TypeError, ValueError, UnicodeError):  # a key of another type, or outside its range, is not there
            return False

    def __iter__(self) -> Iterator[Any]:
        return iter(self._zc_live())

    def __len__(self) -> int:
        return len(self._zc_live())

    def _zc_value(self) -> Any:
        return {key: to_value(self[key]) for key in self}

    def _zc_release(self) -> None:
        self._zc_parsed.release()
        self._zc_items = None

    def _zc_retained(self) -> int:
        return self._zc_parsed.retained_bytes


def compile_views(plan: Plan, classes: Classes, reads: Mapping[int, Read], *, aligned: bool) -> Show:
    """The function that opens a view of a parsed root message.

    Parameters
    ----------
    reads
        What makes values of messages and parts, by index in the plan, for `to_value`.
    aligned
        Copy tensors whose address does not fit their dtype.

    Returns
    -------
    Callable
        Gives a `View`; where the root is a scalar, the scalar.
    """
    return _Views(plan, classes, reads, aligned=aligned).compile()


class _Views:
    def __init__(self, plan: Plan, classes: Classes, reads: Mapping[int, Read], *, aligned: bool) -> None:
        self.plan = plan
        self.classes = classes
        self.reads = reads
        self.aligned = aligned
        self.source = Source()
        self.sequence = self.source.constant(_ProtobufSequenceView)
        self.mapping = self.source.constant(_ProtobufMapView)
        self.take = self.source.constant(taken)
        self.arrays: dict[int, str] = {}
        self.has = ""

    def compile(self) -> Show:
        for message in self.plan.messages:
            self.has = self.source.constant(self.classes[message.name].HasField)
            if message.shape is Shape.RECORD:
                self.getters(message)
            else:
                with self.source.block(f"def s{message.index}(m, s):"):
                    self.shown(message)
        namespace = self.source.compile("protobuf views")
        for message in self.plan.messages:
            if message.shape is Shape.RECORD:
                namespace[f"s{message.index}"] = self.record_class(message, namespace)
        show: Show = namespace[f"s{self.plan.root}"]
        return show

    def getters(self, message: Message) -> None:
        line, block = self.source.line, self.source.block
        for number, slot in enumerate(message.slots):
            with block(f"def g{message.index}_{number}(view):"):
                line("s = view._zc_parsed")
                with block("if s.buffer is None:"):
                    line(f"raise {self.source.constant(released)}()")
                line("m = view._zc_message")
                line(f"return {self.slot(slot)}")

    def record_class(self, message: Message, namespace: dict[str, Any]) -> type[_ProtobufRecordView]:
        slots = [(slot.field.name, slot) for slot in message.slots if slot.field is not None]
        getters = {name: namespace[f"g{message.index}_{number}"] for number, (name, _) in enumerate(slots)}
        cls: Any = record_view_class(_ProtobufRecordView, str(message.type), getters)
        cls._zc_read = staticmethod(self.reads[message.index])
        cls._zc_absent = {name: slot.name for name, slot in slots if slot.missing is Missing.ABSENT}
        made: type[_ProtobufRecordView] = cls
        return made

    def shown(self, message: Message) -> None:
        line, block = self.source.line, self.source.block
        if message.shape is Shape.TENSOR:
            line(f"return {self.array(message, 'm')}")
        elif message.shape is Shape.UNION:
            line(f"c = {self.source.constant(self.classes[message.name].WhichOneof)}(m, {UNION_ONEOF!r})")
            for slot in message.slots:
                with block(f"if c == {slot.name!r}:"):
                    line(f"return {self.one(slot, f'm.{slot.name}')}")
        else:
            line(f"return {self.slot(message.slots[0])}")

    def slot(self, slot: Slot) -> str:
        x = f"m.{slot.name}"
        match slot.label, slot.type:
            case Label.MANY, List(container=container):
                shown = f"{self.sequence}({x}, s, {self.item(slot)}, {container})"
                return f"({shown} if {x} else {self.default(slot)})" if slot.missing is Missing.DEFAULT else shown
            case Label.MAP, Map():
                return f"{self.mapping}({x}, s, {self.item(slot)})"
        one = self.one(slot, x)
        if slot.missing in {Missing.NONE, Missing.ABSENT}:
            return f"({one} if {self.has}(m, {slot.name!r}) else None)"
        if slot.missing is Missing.DEFAULT:
            return f"({one} if {self.has}(m, {slot.name!r}) else {self.default(slot)})"
        return one

    def one(self, slot: Slot, x: str) -> str:
        """What one occurrence shows."""
        if slot.message is not None:
            message = self.plan.messages[slot.message]
            return self.array(message, x) if message.shape is Shape.TENSOR else f"s{slot.message}({x}, s)"
        if isinstance(slot.item, Null):
            return "None"
        if slot.is_bytes:
            return f"{self.take}({x}, s.parts)"
        table = members(self.plan, slot)
        return x if table is None else f"{self.source.constant(table)}[{x}]"

    def array(self, message: Message, x: str) -> str:
        """The array of a tensor's message."""
        if message.index not in self.arrays:
            openers = [checked_opener(), tensor_opener(cast("Tensor", message.type), message.path)]
            names = [self.source.constant(aligning(opener) if self.aligned else opener) for opener in openers]
            self.arrays[message.index] = f"({' if s.is_checked else '.join(names)})"
        return f"{self.arrays[message.index]}({x}, s.parts)"

    def item(self, slot: Slot) -> str:
        """The function that shows one item of a list or map."""
        return f"s{slot.message}" if slot.message is not None else f"lambda x, s: {self.one(slot, 'x')}"

    def default(self, slot: Slot) -> str:
        made = f"{self.source.constant(slot.default)}()"
        return f"memoryview({made})" if isinstance(slot.type, Bytes) else made
