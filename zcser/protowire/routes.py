"""Routes: which fields of which messages lead to payloads, for the walk over a message's wire form.

1. A wire tag is a field's number and its wire type; payloads, and the messages around them, have wire type 2. A field of
   another wire type is an unknown one, whatever its number.
2. A walk enters only messages that hold a payload, or in which one does; it steps over all others.
"""

from __future__ import annotations

from dataclasses import dataclass

from zcser.protowire.plan import Label, Plan, Shape

__all__ = ["BYTES", "TENSOR", "TENSOR_DATA", "Node", "Routes", "routes_of"]

BYTES = -1
"""Instead of a node: a payload of a field of bytes."""

TENSOR = -2
"""Instead of a node: the data of a tensor."""

TENSOR_DATA = 3
"""Number of the field in a tensor's message that holds its data."""

Node = tuple[tuple[int, int], ...]
"""Of one message: pairs of a tag and where it leads, the number of a node, `BYTES` or `TENSOR`; by rising tag."""


@dataclass(frozen=True, slots=True)
class Routes:
    """All nodes, and the number of the root's."""

    nodes: tuple[Node, ...]
    root: int


def routes_of(plan: Plan) -> Routes | None:
    """The routes of a plan; None where its messages hold no payload."""
    carriers = sorted(plan.carriers())
    if plan.root not in carriers:
        return None
    number_of = {index: number for number, index in enumerate(carriers)}
    nodes: list[Node] = []
    entries: list[Node] = []
    for index in carriers:
        message = plan.messages[index]
        found = [(_tag(TENSOR_DATA), TENSOR)] if message.shape is Shape.TENSOR else []
        for slot in message.slots:
            if slot.is_bytes:
                target = BYTES
            elif slot.message in number_of and slot.message is not None:
                target = number_of[slot.message]
            else:
                continue
            if slot.label is Label.MAP:  # each entry is a message { key = 1; value = 2; }
                entries.append(((_tag(2), target),))
                target = len(carriers) + len(entries) - 1
            found.append((_tag(slot.number), target))
        nodes.append(tuple(sorted(found)))
    return Routes((*nodes, *entries), number_of[plan.root])


def _tag(number: int) -> int:
    return number << 3 | 2
