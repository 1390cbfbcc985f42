"""What bytes of the right length can still get wrong: the number of an enum, and text that is no UTF-8.

A check is a function of a buffer and a byte offset that raises `Fault`. A part that cannot go wrong has none.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from zcser.header.layout import Items, Node, Scalar, Struct, Text, wire_values
from zcser.schema.model import Enum

__all__ = ["Check", "Fault", "check_of"]

Check = Callable[[memoryview, int], None]


class Fault(Exception):  # noqa: N818 - never leaves the package: the codec makes a DecodeError of it
    """Bytes that mean nothing; `steps` is the path to them, innermost step first."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.offset = offset
        self.steps: list[str | int] = []


def check_of(node: Node) -> Check | None:
    """The check of a layout, None where all bytes of its length are a message."""
    return _check_of(node, {})


def _check_of(node: Node, known: dict[int, Check | None]) -> Check | None:
    if id(node) not in known:
        match node:
            case Scalar(type=Enum() as type_):
                known[id(node)] = _enum(node, type_)
            case Text():
                known[id(node)] = _text(node)
            case Items():
                known[id(node)] = _items(node, _check_of(node.item, known))
            case Struct():
                checks = [(member.name, member.offset, _check_of(member.node, known)) for member in node.members]
                known[id(node)] = _struct(
                    [(name, offset, check) for name, offset, check in checks if check is not None]
                )
            case _:
                known[id(node)] = None
    return known[id(node)]


def _enum(node: Scalar, type_: Enum) -> Check:
    unpack_from = struct.Struct(f"<{node.code}").unpack_from
    numbers = frozenset(wire_values(type_))

    def check(buffer: memoryview, offset: int) -> None:
        (number,) = unpack_from(buffer, offset)
        if number not in numbers:
            raise Fault(f"{number} is the number of no member of {type_}", offset)

    return check


def _text(node: Text) -> Check:
    size = node.size

    def check(buffer: memoryview, offset: int) -> None:
        try:
            str(buffer[offset : offset + size], "utf-8")
        except UnicodeDecodeError as error:
            raise Fault(f"not UTF-8: {error.reason}", offset + error.start) from None

    return check


def _items(node: Items, check_item: Check | None) -> Check | None:
    if check_item is None or node.length == 0:
        return None
    length, stride = node.length, node.item.size

    def check(buffer: memoryview, offset: int) -> None:
        for index in range(length):
            try:
                check_item(buffer, offset + index * stride)
            except Fault as fault:
                fault.steps.append(index)
                raise

    return check


def _struct(checks: list[tuple[str, int, Check]]) -> Check | None:
    if not checks:
        return None

    def check(buffer: memoryview, offset: int) -> None:
        for name, place, check_member in checks:
            try:
                check_member(buffer, offset + place)
            except Fault as fault:
                fault.steps.append(name)
                raise

    return check
