"""Counting: how many items all lists and maps of a message have, by functions generated for a schema."""

from __future__ import annotations

from collections.abc import Callable

from google.protobuf.message import Message as ProtobufMessage

from zcser.core.source import Source
from zcser.protowire.descriptors import Classes
from zcser.protowire.plan import Label, Message, Plan, Slot

__all__ = ["compile_count"]


def compile_count(plan: Plan, classes: Classes) -> Callable[[ProtobufMessage], int]:
    """The function that counts the items of a root message.

    An item takes a byte of the wire at least: a message of `n` bytes has no more than `n` items.
    """
    own = {message.index for message in plan.messages if any(slot.label is not Label.ONE for slot in message.slots)}
    counted = plan.containing(own)
    source = Source()
    for message in plan.messages:
        with source.block(f"def n{message.index}(m):"):
            source.line(f"return {_terms(message, counted, source.constant(classes[message.name].HasField))}")
    count: Callable[[ProtobufMessage], int] = source.compile("protobuf count")[f"n{plan.root}"]
    return count


def _terms(message: Message, counted: set[int], has: str) -> str:
    return " + ".join(term for slot in message.slots for term in _slot_terms(slot, counted, has)) or "0"


def _slot_terms(slot: Slot, counted: set[int], has: str) -> list[str]:
    x, inner = f"m.{slot.name}", f"n{slot.message}" if slot.message in counted else None
    match slot.label:
        case Label.ONE:
            return [f"({inner}({x}) if {has}(m, {slot.name!r}) else 0)"] if inner else []
        case Label.MANY:
            return [f"len({x})", *([f"sum(map({inner}, {x}))"] if inner else [])]
        case Label.MAP:
            return [f"len({x})", *([f"sum(map({inner}, {x}.values()))"] if inner else [])]
