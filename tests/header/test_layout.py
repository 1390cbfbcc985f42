"""Offsets and sizes are those of C: as ctypes and numpy lay the same fields out, and by hand."""

from __future__ import annotations

import ctypes
import dataclasses
import enum
import itertools
import random
import struct
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import numpy as np
import pytest

from zcser.core.errors import SchemaError
from zcser.core.options import Limits
from zcser.header.layout import MAX_SLOTS, Scalar, Struct, layout_of
from zcser.header.plan import Hole, Plan, Run, big, movable
from zcser.schema.annotations import Int8, Length, UInt8, UInt16
from zcser.schema.from_python import schema_of
from zcser.schema.model import (
    Bool,
    Bytes,
    Enum,
    Field,
    Float,
    Int,
    List,
    Map,
    Null,
    Optional,
    Record,
    Ref,
    Schema,
    Str,
    Tensor,
    Type,
    Union,
)

# Type, ctypes' own, numpy's own.
SCALARS: list[tuple[Type, Any, str]] = [
    (Bool(), ctypes.c_bool, "?"),
    (Int(8), ctypes.c_int8, "i1"),
    (Int(16), ctypes.c_int16, "<i2"),
    (Int(32), ctypes.c_int32, "<i4"),
    (Int(64), ctypes.c_int64, "<i8"),
    (Int(8, signed=False), ctypes.c_uint8, "u1"),
    (Int(16, signed=False), ctypes.c_uint16, "<u2"),
    (Int(32, signed=False), ctypes.c_uint32, "<u4"),
    (Int(64, signed=False), ctypes.c_uint64, "<u8"),
    (Float(32), ctypes.c_float, "<f4"),
    (Float(64), ctypes.c_double, "<f8"),
]
TENSORS = [("uint8", "u1"), ("int16", "<i2"), ("float32", "<f4"), ("int64", "<i8"), ("float64", "<f8")]


def record_schema(*types: Type, records: tuple[Record, ...] = ()) -> Schema:
    fields = tuple(Field(f"f{number}", type_, number + 1) for number, type_ in enumerate(types))
    return Schema(Ref("R"), (Record("R", fields), *records))


def layout(schema: Schema, **limits: int) -> Any:
    return layout_of(schema, Limits(**limits), codec="header")


def structure(name: str, fields: list[tuple[str, Any]]) -> Any:
    return type(name, (ctypes.LittleEndianStructure,), {"_fields_": fields})


@pytest.mark.parametrize("seed", range(20))
def test_offsets_are_those_of_ctypes(seed):
    rng = random.Random(seed)
    inner_kinds = [rng.choice(SCALARS) for _ in range(rng.randrange(1, 5))]
    inner = Record("Inner", tuple(Field(f"f{n}", kind[0], n + 1) for n, kind in enumerate(inner_kinds)))
    inner_c = structure("Inner", [(f"f{n}", kind[1]) for n, kind in enumerate(inner_kinds)])
    types, fields = [], []
    for number in range(rng.randrange(1, 12)):
        type_, kind, _ = rng.choice(SCALARS)
        match rng.randrange(5):
            case 0:
                length = rng.randrange(1, 5)
                type_, kind = List(type_, length=length), kind * length
            case 1:
                type_, kind = Ref("Inner"), inner_c
            case 2:
                length = rng.randrange(1, 4)
                type_, kind = List(Ref("Inner"), length=length), inner_c * length
            case 3:
                size = rng.randrange(1, 9)
                type_, kind = rng.choice([Str(size), Bytes(size)]), ctypes.c_char * size
        types.append(type_)
        fields.append((f"f{number}", kind))
    outer_c = structure("Outer", fields)
    found = layout(record_schema(*types, records=(inner,)))
    assert [member.offset for member in found.members] == [getattr(outer_c, name).offset for name, _ in fields]
    assert [member.node.size for member in found.members] == [getattr(outer_c, name).size for name, _ in fields]
    assert (found.size, found.align) == (ctypes.sizeof(outer_c), ctypes.alignment(outer_c))


@pytest.mark.parametrize("seed", range(20))
def test_offsets_are_those_of_an_aligned_numpy_dtype(seed):
    rng = random.Random(seed)
    types, fields = [], []
    for number in range(rng.randrange(1, 10)):
        if rng.randrange(2):
            type_, _, code = rng.choice(SCALARS)
            fields.append((f"f{number}", code))
        else:
            name, code = rng.choice(TENSORS)
            shape = tuple(rng.randrange(1, 4) for _ in range(rng.randrange(1, 4)))
            type_ = Tensor(name, shape)
            fields.append((f"f{number}", code, shape))
        types.append(type_)
    dtype = np.dtype(fields, align=True)
    found = layout(record_schema(*types))
    assert [member.offset for member in found.members] == [dtype.fields[field[0]][1] for field in fields]
    assert (found.size, found.align) == (dtype.itemsize, dtype.alignment)


@pytest.mark.parametrize("seed", range(10))
def test_the_compound_format_is_what_native_struct_gives(seed):
    # In native mode struct itself aligns, all but the end, which a format of zero items pads.
    rng = random.Random(seed)
    kinds = [rng.choice(SCALARS)[0] for _ in range(rng.randrange(1, 12))]
    found = layout(record_schema(*kinds))
    native = "".join(member.node.code for member in found.members)
    widest = max((member.node for member in found.members), key=lambda node: node.size)
    assert Plan(found, big).whole.size == struct.calcsize(f"@{native}0{widest.code}")


class Inner(TypedDict):
    a: UInt16
    b: UInt8


class Outer(TypedDict):
    flag: bool
    inner: Inner
    text: Annotated[str, Str(5)]
    pair: Annotated[list[Inner], Length(2)]
    tensor: Annotated[np.ndarray, Tensor("complex128", (2,))]
    nothing: None
    last: Int8


def test_places_by_hand():
    found = layout(schema_of(Outer))
    # Inner: u16 at 0, u8 at 2, 3 bytes, padded to its alignment of 2: 4 bytes.
    # Outer: bool at 0; Inner at 2..6; text at 6..11; pair at 12..20; complex128 at the next multiple of 16, 32..64;
    # None takes nothing; int8 at 64; 65 bytes, padded to 80.
    assert [member.offset for member in found.members] == [0, 2, 6, 12, 32, 64, 64]
    assert (found.size, found.align, found.slots) == (80, 16, 1 + 2 + 1 + 4 + 1 + 0 + 1)


class Level(enum.IntEnum):
    LOW = 0
    HIGH = 255


class Wide(enum.IntEnum):
    A = 0
    B = 256


class Signed(enum.IntEnum):
    A = -129
    B = 127


class Huge(enum.IntEnum):
    A = 2**64 - 1


class Named(enum.Enum):
    A = "x"
    B = "y"


@pytest.mark.parametrize(
    ("cls", "code", "size"),
    [
        (Level, "B", 1),
        (Wide, "H", 2),
        (Signed, "h", 2),
        (Huge, "Q", 8),
        (Named, "B", 1),
        (Literal[-1, 1], "b", 1),
        (Literal[-1, 128], "h", 2),
        (Literal[-(2**31), 2**31 - 1], "i", 4),
        (Literal["a", "b"], "B", 1),
    ],
)
def test_an_enum_takes_the_narrowest_integer_that_holds_it(cls, code, size):
    found = layout(schema_of(cls))
    assert isinstance(found, Scalar)
    assert (found.code, found.size, found.align) == (code, size, size)


def test_an_enum_of_257_strings_takes_two_bytes():
    members = tuple((f"m{number}", f"v{number}") for number in range(257))
    assert layout(Schema(Enum("E", members))).code == "H"
    assert layout(Schema(Enum("E", members[:256]))).code == "B"


class Open(TypedDict):
    here: NotRequired[int]


@dataclasses.dataclass
class Selfish:
    ones: Annotated[list[Selfish], Length(1)]


REFUSED = [
    (Str(), "str has no fixed size; give it one: Annotated[str, Str(32)]"),
    (Bytes(), "bytes has no fixed size; give it one: Annotated[bytes, Bytes(32)]"),
    (Int(None), "an unbounded int has no fixed size; give it 8, 16, 32 or 64 bits"),
    (List(Int()), "list of int64 has no fixed length; give it one: Annotated[list[...], Length(4)]"),
    (List(Str(), length=2), "str has no fixed size"),
    (Optional(Int()), "an optional has no fixed size"),
    (Map(Str(4), Int()), "a map has no fixed size"),
    (Union((Int(), Bool())), "a union has no fixed size"),
    (Tensor(), "tensor any has no fixed dtype and shape"),
    (Tensor("float32"), "tensor float32 has no fixed dtype and shape"),
    (Tensor("float32", (2, None)), "tensor float32[2, ?] has no fixed dtype and shape"),
    (Enum("E", (("a", 2**64), ("b", 0))), "values beyond 64 bits, the largest fixed integer"),
    (Enum("E", (("a", 2**63), ("b", -1))), "values beyond 64 bits, the largest fixed integer"),
    (List(Int(8), length=MAX_SLOTS + 1), "more than a fixed layout holds"),
]


@pytest.mark.parametrize(("type_", "reason"), REFUSED, ids=[str(row[0]) for row in REFUSED])
def test_what_has_no_fixed_size_is_a_schema_error_with_its_path(type_, reason):
    with pytest.raises(SchemaError) as caught:
        layout(record_schema(Bool(), type_))
    assert reason in caught.value.reason
    assert "fixed" in caught.value.reason
    assert caught.value.path.startswith("R/f1")
    assert caught.value.codec == "header"


def test_the_path_of_a_nested_part_names_the_record_that_holds_it():
    inner = Record("Inner", (Field("names", List(Str(), length=2), 1),))
    with pytest.raises(SchemaError) as caught:
        layout(record_schema(List(Ref("Inner"), length=2), records=(inner,)))
    assert caught.value.path == "Inner/names/*"


def test_a_field_that_may_be_absent_has_no_place():
    with pytest.raises(SchemaError, match="fixed place") as caught:
        layout(schema_of(Open))
    assert caught.value.path == "Open/here"


def test_a_record_that_contains_itself_has_no_size():
    with pytest.raises(SchemaError, match="Selfish contains itself, so that it has no fixed size"):
        layout(schema_of(Selfish))


def test_limits_on_depth_and_elements_hold_for_the_layout():
    nested: Type = Int()
    for _ in range(5):
        nested = List(nested, length=1)
    assert layout(record_schema(nested), depth=6).height == 6
    with pytest.raises(SchemaError, match=r"nested deeper than limits\.depth = 5"):
        layout(record_schema(nested), depth=5)
    # A record that was met before, at less depth, counts where it stands.
    inner = Record("Inner", (Field("x", List(Int(), length=1), 1),))
    twice = record_schema(Ref("Inner"), List(List(Ref("Inner"), length=1), length=1), records=(inner,))
    assert layout(twice, depth=5).height == 5
    with pytest.raises(SchemaError, match=r"nested deeper than limits\.depth = 4"):
        layout(twice, depth=4)
    assert layout(record_schema(List(Int(), length=9)), elements=9).size == 72
    with pytest.raises(SchemaError, match=r"the fixed length 10 is more than limits\.elements = 9"):
        layout(record_schema(List(Int(), length=10)), elements=9)


def test_a_schema_of_a_thousand_levels_is_a_schema_error():
    records = [Record(f"R{n}", (Field("x", Ref(f"R{n + 1}"), 1),)) for n in range(1000)]
    schema = Schema(Ref("R0"), (*records, Record("R1000", ())))
    with pytest.raises(SchemaError, match=r"nested deeper than limits\.depth = 100"):
        layout(schema)


def test_runs_and_holes_cover_the_message():
    types = (
        Int(8), Bytes(256), Int(16), Tensor("float64", (64,)), Tensor("float64", (64,)), Bytes(255), Tensor("uint8", (0,)),
        Str(0), List(Tensor("float32", (64,)), length=2), Int(64), Null(), Bytes(300), Int(8), Bytes(256),
    )  # fmt: skip
    root = layout(record_schema(*types))
    for is_hole, holes in ((big, 7), (movable, 9)):
        parts = Plan(root, is_hole).parts
        assert sum(isinstance(part, Hole) for part in parts) == holes
        assert parts[0].offset == 0
        assert all(part.offset + part.size == after.offset for part, after in itertools.pairwise(parts))
        assert parts[-1].offset + parts[-1].size == root.size
        slots = [
            slot for part in parts for slot in (range(part.first, part.last) if isinstance(part, Run) else [part.slot])
        ]
        assert slots == list(range(root.slots))


@pytest.mark.parametrize(
    "type_", [Null(), Tensor("uint8", (0, 5)), List(Null(), length=3), Str(0), List(Int(), length=0)]
)
def test_a_layout_of_no_bytes_is_one_run_of_none(type_):
    root = layout(Schema(type_))
    assert root.size == 0
    assert sum(part.size for part in Plan(root, big).parts) == 0
    assert Plan(root, big).whole.size == 0


def test_places_of_one_record_share_a_node():
    found = layout(schema_of(Outer))
    assert isinstance(found, Struct)
    assert found.members[1].node is found.members[3].node.item
