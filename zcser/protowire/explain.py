"""What is wrong with a message that upb refuses: the place where its wire form breaks, and why.

1. upb says no more than that it is corrupt. This walk over all fields that the schema knows is slow, and runs only then.
2. Each rule is upb's: tags and lengths of 5 bytes at most, numbers of 10, UTF-8 in strings, groups that end where they
   should, `MAX_NESTING` levels of messages.
3. A place is a byte of the message and a path in the schema.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn

from zcser.core.errors import DecodeError, TruncatedError
from zcser.protowire.check import unknown_reason
from zcser.protowire.nesting import MAX_NESTING
from zcser.protowire.padding import PADDING
from zcser.protowire.plan import Label, Message, Plan, Shape, Slot
from zcser.schema.model import Bytes, Float, Map, Str, Type

__all__ = ["explain"]

_VARINT, _FIXED64, _LENGTH, _GROUP, _GROUP_END, _FIXED32 = range(6)
_MOST_SIZE_BYTES, _MOST_NUMBER_BYTES = 5, 10


def explain(plan: Plan, data: bytes | memoryview, *, unknown: bool = False) -> DecodeError | None:
    """The error of the first place of a message that breaks a rule; None where none does.

    Parameters
    ----------
    unknown
        Whether a field that the schema does not know breaks one.
    """
    try:
        _Explainer(plan, data, unknown=unknown).message(plan.root, 0, len(data), 1)
    except DecodeError as error:
        # Made anew: the frames of one that was raised lead back to the caller's, which holds it, and such a cycle would
        # keep the message's buffer locked.
        return type(error)(error.reason, codec=error.codec, path=error.path, offset=error.offset)
    return None


@dataclass(slots=True)
class _Field:
    """What stands in a field: its wire type, whether items may be packed into one value, and what is inside."""

    wire: int
    path: str
    is_packed: bool = False
    is_text: bool = False
    message: int | None = None
    entry: dict[int, _Field] = field(default_factory=dict)


class _Where(NamedTuple):
    """A field: its path, where its tag stands, where the message around it ends, and how deep that is nested."""

    path: str
    start: int
    end: int
    depth: int


class _Explainer:
    def __init__(self, plan: Plan, data: bytes | memoryview, *, unknown: bool) -> None:
        self.plan = plan
        self.data = data
        self.unknown = unknown
        self.fields: dict[int, dict[int, _Field]] = {}

    def fields_of(self, index: int) -> dict[int, _Field]:
        if index not in self.fields:
            self.fields[index] = _fields(self.plan.messages[index])
        return self.fields[index]

    def message(self, index: int, at: int, end: int, depth: int) -> None:
        message = self.plan.messages[index]
        padding = PADDING if message.shape is Shape.TENSOR else None
        self.walk(self.fields_of(index), at, _Where(message.path, at, end, depth), padding)

    def walk(self, fields: dict[int, _Field], at: int, where: _Where, padding: int | None = None) -> None:
        """Walk the fields of a message."""
        while at < where.end:
            here = where._replace(start=at)
            tag, at = self.number(at, here, _MOST_SIZE_BYTES, "tag")
            number, wire = tag >> 3, tag & 7
            if not 0 < number < 1 << 29:
                self.refuse(f"a tag of field number {number}", here)
            known = fields.get(number)
            if known is not None and (wire == known.wire or (known.is_packed and wire == _LENGTH)):
                at = self.known(known, wire, at, here._replace(path=known.path))
            elif self.unknown and number != padding:
                self.refuse(unknown_reason(number), here)
            else:
                at = self.step_over(tag, at, here)

    def known(self, known: _Field, wire: int, at: int, where: _Where) -> int:
        """Walk the value of a field; where it ends."""
        if wire != _LENGTH:
            return self.step_over(wire, at, where)
        size, at = self.number(at, where, _MOST_SIZE_BYTES, "length")
        stop = self.past(at, size, where, f"a length of {size} bytes", where.start)
        if known.message is not None or known.entry:
            if where.depth == MAX_NESTING:
                self.refuse(f"messages nested deeper than {MAX_NESTING} levels", where)
            if known.entry:
                self.walk(known.entry, at, _Where(known.path, at, stop, where.depth + 1))
            elif known.message is not None:
                self.message(known.message, at, stop, where.depth + 1)
        elif known.is_text:
            try:
                str(self.data[at:stop], "utf-8")
            except UnicodeDecodeError as error:
                self.refuse(f"a string that is not UTF-8 ({error.reason})", where, at + error.start)
        elif known.wire != _LENGTH:
            while at < stop:
                at = self.step_over(known.wire, at, where._replace(end=stop))
        return stop

    def step_over(self, tag: int, at: int, where: _Where) -> int:
        """Step over one value; where it ends."""
        match tag & 7:
            case 0:  # a varint
                return self.number(at, where, _MOST_NUMBER_BYTES, "number")[1]
            case 1:
                return self.past(at, 8, where, "8 bytes", at)
            case 2:
                size, at = self.number(at, where, _MOST_SIZE_BYTES, "length")
                return self.past(at, size, where, f"a length of {size} bytes", where.start)
            case 3:
                return self.group(tag >> 3, at, where)
            case 4:
                self.refuse(f"the end of a group (field number {tag >> 3}) that was not begun", where)
            case 5:
                return self.past(at, 4, where, "4 bytes", at)
        self.refuse(f"wire type {tag & 7}, which there is not", where)

    def group(self, number: int, at: int, where: _Where) -> int:
        """Step over a group, and all inside."""
        opened = [number]
        while opened:
            if where.depth + len(opened) > MAX_NESTING + 1:
                self.refuse(f"groups nested deeper than {MAX_NESTING} levels", where)
            if at >= where.end:
                self.cut("a group", where, at)
            here = where._replace(start=at)
            tag, at = self.number(at, here, _MOST_SIZE_BYTES, "tag")
            if tag >> 3 == 0:
                self.refuse("a tag of field number 0", here)
            if tag & 7 == _GROUP:
                opened.append(tag >> 3)
            elif tag & 7 == _GROUP_END:
                if opened.pop() != tag >> 3:
                    self.refuse(f"the end of another group (field number {tag >> 3})", here)
            else:
                at = self.step_over(tag, at, here)
        return at

    def number(self, at: int, where: _Where, most: int, what: str) -> tuple[int, int]:
        """A varint, and where it ends."""
        found = shift = 0
        for place in range(at, at + most):
            if place >= where.end:
                self.cut(f"a {what}", where, at)
            byte = self.data[place]
            found |= (byte & 127) << shift
            if byte < 128:
                return found, place + 1
            shift += 7
        self.refuse(f"a {what} of more than {most} bytes", where, at)

    def past(self, at: int, size: int, where: _Where, what: str, start: int) -> int:
        """Where `size` bytes from `at` on end; `what` began at `start`."""
        if size > where.end - at:
            self.cut(f"{what}, where {where.end - at} are left", where, start)
        return at + size

    def cut(self, what: str, where: _Where, offset: int) -> NoReturn:
        """Refuse what leads past the end of its message, which may be that of the input."""
        if where.end == len(self.data):
            raise TruncatedError(f"the input ends within {what}", codec="protobuf", path=where.path, offset=offset)
        self.refuse(f"the message around it ends within {what}", where, offset)

    def refuse(self, reason: str, where: _Where, offset: int | None = None) -> NoReturn:
        """Raise the error of a place, the field's tag where no other is given."""
        raise DecodeError(reason, codec="protobuf", path=where.path, offset=where.start if offset is None else offset)


def _fields(message: Message) -> dict[int, _Field]:
    if message.shape is Shape.TENSOR:
        path = message.path
        return {1: _Field(_VARINT, path), 2: _Field(_VARINT, path, is_packed=True), 3: _Field(_LENGTH, path)}
    return {slot.number: _field(slot) for slot in message.slots}


def _field(slot: Slot) -> _Field:
    if slot.label is Label.MAP and isinstance(slot.type, Map):
        key = _scalar(slot.type.key, f"{slot.path}/key")
        return _Field(_LENGTH, slot.path, entry={1: key, 2: _one(slot, f"{slot.path}/*")})
    if slot.label is Label.MANY:
        found = _one(slot, f"{slot.path}/*")
        found.is_packed = found.wire != _LENGTH
        return found
    return _one(slot, slot.path)


def _one(slot: Slot, path: str) -> _Field:
    return _Field(_LENGTH, path, message=slot.message) if slot.message is not None else _scalar(slot.item, path)


def _scalar(type_: Type, path: str) -> _Field:
    match type_:
        case Str():
            return _Field(_LENGTH, path, is_text=True)
        case Bytes():
            return _Field(_LENGTH, path)
        case Float(bits=bits):
            return _Field(_FIXED32 if bits == 32 else _FIXED64, path)
    return _Field(_VARINT, path)
