"""The layout of a schema: slots, scalars, boxes, and what is refused. Expected slots are counted by hand."""

from __future__ import annotations

import dataclasses
import enum
from typing import Annotated, Any

import pytest

from zcser.core.errors import SchemaError
from zcser.flat.layout import Form, Missing, form_of
from zcser.flat.plan import layout_of
from zcser.schema.annotations import Id, Int8, UInt16
from zcser.schema.depth import static_depth
from zcser.schema.from_python import schema_of
from zcser.schema.model import Enum, Field, Int, List, Map, Null, Optional, Record, Ref, Schema, Str, Union


def slots(source: Any) -> dict[str, int]:
    return {slot.name: slot.index for slot in layout_of(schema_of(source)).root.slots}


@dataclasses.dataclass
class Gaps:
    late: Annotated[int, Id(7)]
    first: Annotated[int, Id(1)]
    either: Annotated[int | str, Id(3)]
    after: Annotated[str, Id(4)]


class Mode(enum.Enum):
    A = "a"
    B = "b"


@dataclasses.dataclass
class Defaults:
    plain: int
    text: str
    maybe: int | None = 3
    zero: int = 0
    five: int = 5
    negative_zero: float = -0.0
    no: bool = False
    first: Mode = Mode.A
    second: Mode = Mode.B
    items: list[int] = dataclasses.field(default_factory=list)


def test_a_slot_follows_from_the_id_and_a_union_takes_two() -> None:
    # Id 2 leaves slot 1 empty; the union of id 3 has its number in slot 2 and its table in slot 3.
    assert slots(Gaps) == {"first": 0, "either": 3, "after": 4, "late": 7}


def test_a_removed_field_moves_no_other() -> None:
    @dataclasses.dataclass
    class Fewer:
        either: Annotated[int | str, Id(3)]
        late: Annotated[int, Id(7)]

    assert slots(Fewer) == {"either": 3, "late": 7}


def enum_scalar(*values: int | str) -> str:
    type_ = Enum("E", tuple((f"m{number}", value) for number, value in enumerate(values)))
    return layout_of(Schema(type_)).enums[type_].number.name


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ((0, 255), "ubyte"),
        ((-1, 127), "byte"),
        ((-1, 128), "short"),
        ((0, 256), "ushort"),
        ((0, 2**31), "uint"),
        ((-1, 2**31), "long"),
        ((0, 2**64 - 1), "ulong"),
        (("a", "b"), "ubyte"),
    ],
)
def test_an_enum_stands_in_the_narrowest_scalar(values: tuple[int | str, ...], name: str) -> None:
    assert enum_scalar(*values) == name


def test_an_enum_of_257_strings_needs_two_bytes() -> None:
    assert enum_scalar(*(f"v{number}" for number in range(257))) == "ushort"


@pytest.mark.parametrize(
    ("type_", "path"),
    [
        (Enum("E", (("a", -1), ("b", 2**63))), "R/f"),
        (Enum("E", (("a", 2**64),)), "R/f"),
        (Int(None), "R/f"),
        (Optional(List(Int(None))), "R/f/*"),
        (Map(Str(), List(Int(None))), "R/f/*/*"),
        (Map(Int(None), Int()), "R/f/key"),
    ],
)
def test_integers_beyond_64_bits_are_refused_with_the_path(type_: Any, path: str) -> None:
    with pytest.raises(SchemaError) as caught:
        layout_of(Schema(Ref("R"), (Record("R", (Field("f", type_, 1),)),)))
    assert caught.value.path == path


def test_a_union_of_more_than_255_options_is_refused() -> None:
    records = tuple(Record(f"R{number}", (), dataclasses.make_dataclass(f"R{number}", [])) for number in range(256))
    with pytest.raises(SchemaError, match="255"):
        layout_of(Schema(Union(tuple(Ref(record.name) for record in records)), records))


def test_a_record_that_fits_no_table_is_refused() -> None:
    fields = tuple(Field(f"f{number}", Int(), number) for number in range(1, 8200))
    with pytest.raises(SchemaError, match="65535 bytes"):
        layout_of(Schema(Ref("R"), (Record("R", fields),)))


def test_what_a_lacking_slot_means_follows_from_the_field() -> None:
    found = {slot.name: slot.missing for slot in layout_of(schema_of(Defaults)).root.slots}
    assert found == {
        "plain": Missing.ZERO,
        "text": Missing.REFUSED,
        "maybe": Missing.NONE,
        "zero": Missing.ZERO,
        "five": Missing.DEFAULT,
        "negative_zero": Missing.DEFAULT,
        "no": Missing.ZERO,
        "first": Missing.ZERO,
        "second": Missing.DEFAULT,
        "items": Missing.DEFAULT,
    }


@pytest.mark.parametrize(
    ("source", "form"),
    [
        (int, Form.SCALAR),
        (str, Form.STRING),
        (bytes, Form.NUMBERS),
        (list[Int8], Form.NUMBERS),
        (list[str], Form.STRINGS),
        (list[bytes], Form.TABLES),
        (list[list[UInt16]], Form.TABLES),
        (list[int | None], Form.TABLES),
        (dict[str, int], Form.TABLES),
        (int | str, Form.UNION),
    ],
)
def test_kinds_stand_as_the_mapping_table_says(source: Any, form: Form) -> None:
    assert form_of(schema_of(source).root) is form


def test_nulls_in_a_list_are_bytes() -> None:
    assert form_of(List(Null())) is Form.NUMBERS


def test_names_that_the_layout_needs_give_way_to_the_records() -> None:
    schema = Schema(
        List(List(Str())),
        (Record("StrListBox", (Field("f", List(List(Str())), 1),)),),
    )
    names = [table.name for table in layout_of(schema).tables]
    assert names[0] == "StrListBox"
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("source", "depth"), [(int, 0), (list[int], 1), (dict[str, list[int | None]], 2), (Gaps, 1), (list[Gaps], 2)]
)
def test_static_depth_counts_records_lists_and_maps(source: Any, depth: int) -> None:
    assert static_depth(schema_of(source)) == depth
