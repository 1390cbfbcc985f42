"""The C encoder's bytes by hand. Values of all kinds are the conformance suite's."""

from __future__ import annotations

import dataclasses
import random
import struct
from typing import Annotated, Any

import numpy as np
import pytest

from tests.flat.native_encode import Blobs, Inner, Outer, blobs, engine, read
from tests.flat.rich import Rich, rich_json, rich_value, to_json
from zcser.flat.emit import emit_fbs
from zcser.schema.annotations import Id, Int32
from zcser.schema.model import Field, Int, List, Optional, Record, Ref, Schema, Str


def test_a_message_is_laid_out_as_the_program_says():
    value = Outer(-2, "hey", 5, [Inner(9), Inner(None), Inner(8)], {"b": 0.5, "a": -0.0})
    assert engine(Outer).encode(value) == struct.pack(
        "<I 7H xx i q III h xx I 3s x I IIIHHH xx i B xxx HH i i B xxxI II HHHH i I f I s xxx i I f I s x",
        20,  # 0: the root
        *(14, 26, 24, 12, 4, 16, 20),  # 4: vtable
        *(16, 5, 16, 20, 64, -2),  # 20: table, 4 before a multiple of 8
        *(3, b"hey"),  # 48: name
        *(3, 20, 28, 28),  # 56: inners, which are at 80, 92, 96
        *(6, 5, 4, 8, 9),  # 72: vtable; 80: table
        *(4, 4, 4),  # 88: vtable without slots; 92: table
        *(24, 8),  # 96: table of the first form
        *(2, 16, 32),  # 104: labels, whose entries are at 124 and 144
        *(8, 12, 4, 8, 8, 8, -0.0, 1, b"a"),  # 116: vtable; 124: table; 136: key
        *(28, 8, 0.5, 1, b"b"),  # 144: table; 156: key
    )


def test_flatc_reads_every_kind(tmp_path):
    assert to_json(emit_fbs(Rich), engine(Rich).encode(rich_value()), tmp_path) == rich_json()


def test_data_of_the_tail_lie_at_multiples_of_64():
    value = blobs(array=np.array([[1, 2, 3]], np.int16))
    message = engine(Blobs).encode(value)
    root = struct.unpack_from("<I", message)[0]
    blob = root + 4 + struct.unpack_from("<I", message, root + 4)[0]
    assert (blob + 4) % 64 == 0
    assert message[blob : blob + 304] == struct.pack("<I", 300) + value.blob
    data = (blob + 304 + 4 + 63) // 64 * 64
    assert message[blob + 304 : data - 4] == bytes(data - 4 - blob - 304)
    assert message[data - 4 :] == struct.pack("<I3h", 6, 1, 2, 3)


@pytest.mark.parametrize("size", [255, 256])
def test_short_bytes_stand_in_the_head(size):
    message = engine(bytes).encode(b"w" * size)
    # After the root's offset, the vtable, the table and the length; or in the tail.
    assert message.index(b"w") == (24 if size == 255 else 64)
    assert message[-size:] == b"w" * size


# Wide tables -----------------------------------------------------------------------------------------------------------


def wide(count: int) -> Schema:
    fields = (
        Field(f"f{number}", Optional(Int(64 if number % 3 else 8)) if number % 5 else Str(), number + 1)
        for number in range(count)
    )
    return Schema(List(Ref("Wide")), (Record("Wide", tuple(fields)),))


@pytest.mark.parametrize("count", [63, 64, 65, 128, 200, 1000, pytest.param(5000, marks=pytest.mark.slow)])
def test_tables_of_many_slots(count):
    schema, chosen = wide(count), random.Random(count)

    def value(share: float) -> dict[str, Any]:
        return {
            field.name: (
                field.name if isinstance(field.type, Str) else number % 100 if chosen.random() < share else None
            )
            for number, field in enumerate(schema.records[0].fields)
        }

    values = [value(share) for share in (0, 1, 0.5, 0.01, 0.99)]
    message = engine(schema).encode([*values, *values])
    assert read(schema, message) == [*values, *values]
    # Each form has one vtable: what the second half adds is its tables, not again 2 bytes for every slot.
    once = engine(schema).encode(values)
    tables = sum(4 + 8 * len(table) + len("f1234") + 12 for table in values)
    assert len(message) - len(once) <= tables


def test_more_forms_than_are_remembered():
    fields = tuple(Field(f"f{bit}", Optional(Int(8)), bit + 1) for bit in range(7))
    schema = Schema(List(Ref("Bits")), (Record("Bits", fields),))
    values = [{f"f{bit}": bit if number >> bit & 1 else None for bit in range(7)} for number in range(128)]
    message = engine(schema).encode([*values, *values])
    assert read(schema, message) == [*values, *values]
    vtables = set()
    for index in range(256):
        place = 24 + 4 * index  # the vector's items begin there
        table = place + struct.unpack_from("<I", message, place)[0]
        vtables.add(table - struct.unpack_from("<i", message, table)[0])
    assert len(vtables) == 32 + 2 * 96


# The same value ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [str, int, bool])
def test_maps_are_sorted_whatever_their_order(key):
    keys: list[Any] = [True, False] if key is bool else [3, -5, 0, 2**62, -(2**63), 7]
    if key is str:
        keys = ["b", "", "é", "z", "\U0001f600", "\uffff", "a\0", "a", "日本"]
    schema, chosen = dict[key, int], random.Random(1)  # type: ignore[valid-type]
    messages = set()
    for _ in range(8):
        chosen.shuffle(keys)
        messages.add(engine(schema).encode({item: number for number, item in enumerate(sorted(keys))}))
        messages.add(engine(schema).encode({item: sorted(keys).index(item) for item in keys}))
    (message,) = messages
    by_utf8 = sorted(keys, key=lambda item: item.encode() if key is str else item)
    assert list(read(schema, message)) == by_utf8


def test_sparse_ids_leave_their_slots_empty():
    @dataclasses.dataclass
    class Sparse:
        last: Annotated[Int32, Id(20)]
        first: Annotated[Int32, Id(2)]

    message = engine(Sparse).encode(Sparse(7, 8))
    vtable = struct.pack("<22H", 44, 12, 0, 4, *[0] * 17, 8)
    assert message == struct.pack("<I", 48) + vtable + struct.pack("<iii", 44, 8, 7)
