"""Files that are no .bfbs, that contradict themselves, or that were made to harm: refused, with the place named."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from typing import Any

import pytest

import zcser
from tests.flat.bfbs_files import field_of, named, object_of, rewritten
from tests.flat.game_schema import TEXT
from zcser.core.errors import DecodeError, SchemaError
from zcser.flat.bfbs import FlatSchema, load_bfbs, program_for
from zcser.flat.bfbs_definition import read_bfbs
from zcser.flat.reflection import BaseType, EnumVal, FieldDef, KeyValue, ObjectDef, SchemaDef, TypeDef


@pytest.fixture(scope="module")
def schema() -> FlatSchema:
    return zcser.load_fbs(TEXT)


@pytest.mark.parametrize("data", [b"", b"BFBS", b"\x10\0\0\0BFBX" + bytes(40), bytes(100)])
def test_what_is_no_bfbs_is_a_decode_error_that_says_so(data):
    with pytest.raises(DecodeError, match="BFBS"):
        load_bfbs(data)


def test_a_bfbs_that_was_cut_is_a_decode_error(schema):
    for size in range(8, len(schema.bfbs), 97):
        with contextlib.suppress(SchemaError), pytest.raises(DecodeError):
            load_bfbs(schema.bfbs[:size])


def test_a_file_that_was_read_and_written_again_is_the_same_schema(schema):
    assert load_bfbs(rewritten(read_bfbs(schema.bfbs))).records == schema.records


def put(place: Callable[[SchemaDef], Any], /, **values: Any) -> Callable[[SchemaDef], None]:
    def change(content: SchemaDef) -> None:
        for name, value in values.items():
            setattr(place(content), name, value)

    return change


def field(table: str, name: str, /, **values: Any) -> Callable[[SchemaDef], None]:
    return put(lambda content: field_of(content, table, name), **values)


def type_of(table: str, name: str, /, **values: Any) -> Callable[[SchemaDef], None]:
    return put(lambda content: field_of(content, table, name).type, **values)


def of_object(name: str, /, **values: Any) -> Callable[[SchemaDef], None]:
    return put(lambda content: object_of(content, name), **values)


def of_enum(name: str, /, **values: Any) -> Callable[[SchemaDef], None]:
    return put(lambda content: named(content.enums, f"game.{name}"), **values)


def of_member(name: str, member: str, /, **values: Any) -> Callable[[SchemaDef], None]:
    return put(lambda content: named(named(content.enums, f"game.{name}").values, member), **values)


HOSTILE: dict[str, tuple[Callable[[SchemaDef], None], str, str]] = {
    "object beyond the end": (type_of("Root", "leaf", index=99), "game.Root/leaf", "object 99 is not in the schema"),
    "object before the start": (type_of("Root", "leaf", index=-1), "game.Root/leaf", "object -1"),
    "enum beyond the end": (type_of("Root", "colour", index=50), "game.Root/colour", "enum 50"),
    "union beyond the end": (type_of("Root", "thing", index=50), "game.Root/thing_type", "without its union"),
    "vector beyond the end": (type_of("Root", "leaves", index=1 << 30), "game.Root/leaves", "object"),
    "nested beyond": (
        field("Root", "nested", attributes=[KeyValue("nested_flatbuffer", "Nobody")]), "game.Root/nested", "no table 'Nobody'",
    ),
    "nested struct": (
        field("Root", "nested", attributes=[KeyValue("nested_flatbuffer", "Small")]), "game.Root/nested", "is a struct",
    ),
    "unknown base type": (type_of("Root", "leaf", base_type=77), "game.Root/leaf", "base type 77"),
    "negative base type": (type_of("Root", "leaf", base_type=-5), "game.Root/leaf", "base type -5"),
    "array in a table": (type_of("Root", "leaf", base_type=BaseType.ARRAY), "game.Root/leaf", "base type 17"),
    "vector of vectors": (type_of("Root", "words", element=BaseType.VECTOR), "game.Root/words", "a vector of base type 14"),
    "enum of another type": (type_of("Root", "real", index=0), "game.Root/real", "another type"),
    "union as an enum": (
        type_of("Root", "colour", index=4), "game.Root/colour", "no enum over integers",
    ),
    "id twice": (field("Root", "flags", id=0, offset=4), "game.Root/", "is also"),
    "offset against id": (field("Root", "flags", offset=44), "game.Root/flags", "at 6 of a vtable, not at 44"),
    "slot beyond all vtables": (field("Root", "flag", id=65_535, offset=0), "game.Root/flag", "vtable"),
    "more slots than ids": (field("Root", "flag", id=30_000, offset=60_004), "game.Root/flag", "30001 is not in"),
    "two keys of a struct": (field("Small", "a", key=True), "game.Small", "one key"),
    "two keys": (field("Leaf", "text", key=True), "game.Leaf", "one key"),
    "union without its number": (field("Root", "thing_type", id=40, offset=84), "game.Root/thing", "without its number"),
    "number without its union": (
        type_of("Root", "thing", base_type=BaseType.STRING), "game.Root/thing_type", "without its union",
    ),
    "vector of unions, one number": (
        type_of("Root", "things_type", base_type=BaseType.UTYPE), "game.Root/things", "without its number",
    ),
    "option of no kind": (
        of_member("Thing", "Leaf", union_type=TypeDef(BaseType.INT)), "game.Thing/Leaf", "a table, a struct or a string",
    ),
    "option without a type": (of_member("Thing", "Leaf", union_type=None), "game.Thing/Leaf", "a table, a struct"),
    "option out of range": (of_member("Thing", "Named", value=256), "game.Thing/Named", "from 1 to 255, not 256"),
    "option below zero": (of_member("Thing", "Leaf", value=-1), "game.Thing/Leaf", "from 1 to 255"),
    "option twice": (of_member("Thing", "Pair", value=1), "game.Thing/Pair", "also"),
    "two options of one name": (of_member("Thing", "Pair", name="Leaf"), "game.Thing", "same name"),
    "no options": (of_enum("Thing", values=[EnumVal("NONE", 0)]), "game.Thing", "without options"),
    "union of wide numbers": (of_enum("Thing", underlying_type=TypeDef(BaseType.INT)), "game.Thing", "more than 8 bits"),
    "no members": (of_enum("Colour", values=[]), "game.Colour", "without members"),
    "member out of range": (of_member("Colour", "Red", value=-129), "game.Colour", "does not fit int8"),
    "two members of one name": (of_member("Colour", "Red", name="Blue"), "game.Colour", "distinct"),
    "default out of range": (field("Root", "odd", default_integer=128), "game.Root/odd", "does not fit int8"),
    "default of a bool": (field("Root", "flag", default_integer=2), "game.Root/flag", "does not fit bool"),
    "default of a float": (field("Root", "real", default_real=1e39), "game.Root/real", "does not fit float32"),
    "wide scalar": (field("Root", "real", offset64=True), "game.Root/real", "offset64"),
    "wide vector of offsets": (field("Root", "words", offset64=True), "game.Root/words", "32 bits"),
    "long vector, short offset": (field("Root", "wide", offset64=False), "game.Root/wide", "needs offset64"),
    "alignment of a vector": (
        field("Root", "aligned", attributes=[KeyValue("force_align", "3")]), "game.Root/aligned", "no power of 2",
    ),
    "alignment without a number": (
        field("Root", "aligned", attributes=[KeyValue("force_align", None)]), "game.Root/aligned", "no power of 2",
    ),
    "root that is not there": (
        lambda content: setattr(content, "root_table", ObjectDef("game.Nobody")), "", "no table 'game.Nobody'",
    ),
    "root that is a struct": (
        lambda content: setattr(content, "root_table", ObjectDef("game.Pair")), "", "is a struct",
    ),
    "no root": (lambda content: setattr(content, "root_table", None), "", "no root_type"),
    "identifier": (lambda content: setattr(content, "file_ident", "GAMES"), "game.Root", "4 bytes, not 5"),
    "two objects of one name": (of_object("Leaf", name="game.Root"), "game.Root", "have this name"),
    "object and enum of one name": (of_enum("Big", name="game.Root"), "game.Root", "have this name"),
    "name with a NUL": (of_object("Leaf", name="game.L\0"), "game.L", "no identifier"),
    "name that is none": (of_object("Leaf", name="game..Leaf"), "game..Leaf", "no identifier"),
    "field without a name": (field("Leaf", "text", name=""), "game.Leaf", "no identifier"),
    "option of another alphabet": (of_member("Thing", "Leaf", name="L\u00e9af"), "game.Thing", "no identifier"),
    "two fields of one name": (field("Leaf", "text", name="id"), "game.Leaf", "same name"),
    "struct inside itself": (type_of("Small", "c", base_type=BaseType.OBJECT, index=3), "game.Small/c", "contains itself"),
    "table in a struct": (type_of("Small", "c", base_type=BaseType.OBJECT, index=2), "game.Small/c", "is a table"),
    "string in a struct": (type_of("Small", "c", base_type=BaseType.STRING), "game.Small/c", "no place in a struct"),
    "array of strings": (type_of("Small", "b", element=BaseType.STRING), "game.Small/b", "an array of base type 13"),
    "array of nothing": (type_of("Small", "b", fixed_length=0), "game.Small/b", "no items"),
    "array beyond its struct": (type_of("Small", "b", fixed_length=65_535), "game.Small/b", "behind the struct's 16 bytes"),
    "array over a field": (type_of("Small", "b", fixed_length=4), "game.Small/c", "inside the field before"),
    "field beyond its struct": (field("Small", "c", offset=16), "game.Small/c", "behind the struct's 16 bytes"),
    "field over another": (field("Small", "c", offset=4), "game.Small/c", "inside the field before"),
    "field not aligned": (field("Small", "c", offset=10), "game.Small/c", "not aligned to 4"),
    "struct aligned to less than its fields": (of_object("Small", minalign=2), "game.Small/c", "not aligned to 4"),
    "struct of no bytes": (of_object("Small", bytesize=0), "game.Small", "not 0"),
    "struct of less than no bytes": (of_object("Small", bytesize=-16), "game.Small", "not -16"),
    "struct of more than a table": (of_object("Small", bytesize=1 << 30), "game.Small", "1 to 65535 bytes"),
    "alignment of a struct": (of_object("Small", minalign=3), "game.Small", "aligned to 3"),
    "alignment of less than nothing": (of_object("Small", minalign=-16), "game.Small", "aligned to -16"),
    "alignment beyond all": (of_object("Small", minalign=128, bytesize=128), "game.Small", "aligned to 128"),
    "size against alignment": (of_object("Small", bytesize=20), "game.Small", "a struct of 20 bytes"),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_a_file_that_contradicts_itself_is_a_schema_error_that_names_the_place(schema, case):
    change, path, reason = HOSTILE[case]
    content = read_bfbs(schema.bfbs)
    change(content)
    with pytest.raises(SchemaError, match=reason) as caught:
        load_bfbs(rewritten(content))
    assert (caught.value.path or "").startswith(path)


def chain(count: int, *, is_struct: bool, back: bool = False) -> SchemaDef:
    """Objects that each hold the next, the last one the first again, or a scalar."""
    objects = []
    for number in range(count):
        last = number == count - 1 and not back
        type_ = TypeDef(BaseType.UBYTE) if last else TypeDef(BaseType.OBJECT, index=(number + 1) % count)
        # Sorted by name, as flatc has them.
        inner = FieldDef("next", type_, id=0, offset=0 if is_struct else 4, optional=not last and not is_struct)
        objects.append(ObjectDef(f"o{number:05}", [inner], is_struct, 1, int(is_struct)))
    root = ObjectDef("root", [FieldDef("first", TypeDef(BaseType.OBJECT, index=0), offset=4, optional=True)])
    return SchemaDef([*objects, root], [], root_table=root)


def test_structs_nested_without_end_are_refused():
    with pytest.raises(SchemaError, match="inside each other"):
        load_bfbs(rewritten(chain(5000, is_struct=True)))
    assert program_for(load_bfbs(rewritten(chain(60, is_struct=True)))).nodes


@pytest.mark.parametrize("back", [False, True])
def test_tables_without_end_are_refused_in_bounded_time(back):
    with pytest.raises(SchemaError, match="more than 4096 tables"):
        load_bfbs(rewritten(chain(5000, is_struct=False, back=back)))
    schema = load_bfbs(rewritten(chain(4000, is_struct=False, back=back)))
    if back:
        codec = zcser.codec("flatbuffers", schema)
        assert codec.decode(codec.encode({})) == {"first": None}
    else:
        with pytest.raises(SchemaError, match=r"deeper than limits\.depth"):
            zcser.codec("flatbuffers", schema)


def test_a_table_has_65535_bytes():
    size = 4096
    structs = [
        ObjectDef("s", [FieldDef("a", TypeDef(BaseType.ARRAY, BaseType.UBYTE, fixed_length=size))], True, 1, size)
    ]
    fields = [
        FieldDef(f"f{number:02}", TypeDef(BaseType.OBJECT, index=1), id=number, offset=4 + 2 * number, optional=True)
        for number in range(16)
    ]
    root = ObjectDef("root", fields)
    with pytest.raises(SchemaError, match="a table has 65535") as caught:
        load_bfbs(rewritten(SchemaDef([root, *structs], [], root_table=root)))
    assert caught.value.path == "root/f15"


def test_any_change_of_any_byte_is_harmless(schema):
    generator = random.Random(15)
    outcomes = {"loaded": 0, "refused": 0}
    for _ in range(1500):
        data = bytearray(schema.bfbs)
        for _ in range(generator.choice((1, 1, 2, 8))):
            place = generator.randrange(8, len(data))
            data[place] = generator.choice(
                (0, 1, 0x7F, 0x80, 0xFF, generator.randrange(256), data[place] ^ 1 << generator.randrange(8))
            )
        try:
            found = load_bfbs(data)
            program_for(found)
        except (DecodeError, SchemaError):
            outcomes["refused"] += 1
        else:
            outcomes["loaded"] += 1
    assert min(outcomes.values()) > 50
