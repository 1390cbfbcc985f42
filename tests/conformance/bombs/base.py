"""What bombs of several wires are made of."""

from __future__ import annotations

from zcser.schema.model import Field as SchemaField
from zcser.schema.model import Int, List, Optional, Ref, Schema
from zcser.schema.model import Record as SchemaRecord

LISTS = Schema(
    Ref("L"), (SchemaRecord("L", (SchemaField("a", List(Ref("L")), 1), SchemaField("n", Optional(Int()), 2))),)
)


def varint(number: int) -> bytes:
    """Base 128, low groups first: protobuf's encoding document."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
