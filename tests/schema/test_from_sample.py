from __future__ import annotations

import collections
import itertools
import json
import math
import re
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zcser.core.errors import SchemaError
from zcser.schema.from_sample import infer
from zcser.schema.model import (
    Bool,
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
    Type,
    Union,
)

DATA = Path(__file__).resolve().parents[2] / "../shared/data"
FILES = [
    *sorted(DATA.glob("json/*.json")),
    *sorted(DATA.glob("json/jsonchecker/pass*.json")),
    *sorted(DATA.glob("json/roundtrip/*.json")),
    *sorted(DATA.glob("inference/**/*.json")),
]
needs_data = pytest.mark.skipif(not FILES, reason="the shared data is not beside this checkout")


# --- the law: every sample conforms -----------------------------------------------------------------------------------
def conforms(schema: Schema, type_: Type, value: Any) -> bool:
    """Written from the docstrings of the model alone. An int stands for a float where both are the same number."""
    match type_:
        case Null():
            return value is None
        case Optional(item):
            return value is None or conforms(schema, item, value)
        case Bool():
            return type(value) is bool
        case Int(bits=None):
            return type(value) is int
        case Int(bits=bits, signed=True):
            return type(value) is int and -(1 << bits - 1) <= value < 1 << bits - 1
        case Int(bits=bits, signed=False):
            return type(value) is int and 0 <= value < 1 << bits
        case Float(bits=64):
            return type(value) is float or (type(value) is int and is_double(value))
        case Str(size=None):
            return type(value) is str
        case List(item=item, length=None, container="list"):
            return type(value) is list and all(conforms(schema, item, each) for each in value)
        case Map(key=Str(), value=item):
            return type(value) is dict and all(type(k) is str and conforms(schema, item, v) for k, v in value.items())
        case Union(options):
            return any(conforms(schema, option, value) for option in options)
        case Ref(name):
            fields = {field.name: field for field in schema.record(name).fields}
            return (
                type(value) is dict
                and value.keys() <= fields.keys()
                and all(field.name in value or not field.required for field in fields.values())
                and all(conforms(schema, fields[key].type, each) for key, each in value.items())
            )
    raise AssertionError(type_)


def is_double(value: int) -> bool:
    """53 bits of significand, from the first one bit to the last, below 2**1024 (IEEE 754 binary64)."""
    size = value.bit_length()
    trailing_zeros = (value & -value).bit_length() - 1
    return value == 0 or (size <= 1024 and size - trailing_zeros <= 53)


def well_formed(schema: Schema) -> None:
    def below(type_: Type) -> list[Type]:
        match type_:
            case Optional(item) | List(item=item) | Map(value=item):
                return [type_, *below(item)]
            case Union(options):
                return [type_, *itertools.chain.from_iterable(map(below, options))]
        return [type_]

    for record in schema.records:
        assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", record.name)
        assert record.cls is None
        assert [field.id for field in record.fields] == list(range(1, len(record.fields) + 1))
    for type_ in [schema.root, *(field.type for record in schema.records for field in record.fields)]:
        for union in (part for part in below(type_) if isinstance(part, Union)):
            kinds = ["object" if isinstance(option, Map | Ref) else option.kind for option in union.options]
            assert len(kinds) == len(set(kinds))
    assert all(note.isprintable() for note in schema.notes)


def test_the_checker_of_the_law_can_fail():
    schema = Schema(Ref("R"), (infer([{"a": 1, "b": None}], name="R").records[0],))
    assert conforms(schema, schema.root, {"a": 5, "b": None})
    for wrong in ({"a": 5}, {"a": 1.5, "b": None}, {"a": True, "b": None}, {"a": 5, "b": None, "c": 1}, [], 2**63):
        assert not conforms(schema, schema.root, wrong)


@needs_data
@pytest.mark.parametrize("numbers", ["float64", "exact"])
@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_every_file_conforms_to_its_own_schema(path, numbers):
    value = json.loads(path.read_text())
    schema = infer([value], numbers=numbers)
    assert conforms(schema, schema.root, value)
    well_formed(schema)


KEYS = st.one_of(
    st.sampled_from(["a", "b", "id", "", "/", "~", "*", "class", "__class__", "größe", "a b", "1", "2024-01-01"]),
    st.text(max_size=4),
    st.integers(0, 999).map(str),
)
NUMBERS = st.one_of(st.integers(), st.floats(), st.sampled_from([2**53 + 1, 2**63, 2**64, -(2**63) - 1, 10**400]))
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.text(max_size=4)),
    lambda below: st.one_of(st.lists(below, max_size=5), st.dictionaries(KEYS, below, max_size=6)),
    max_leaves=25,
)


@given(st.lists(JSON, min_size=1, max_size=8), st.sampled_from(["float64", "exact"]))
def test_every_sample_conforms_to_the_schema_of_all(samples, numbers):
    schema = infer(samples, numbers=numbers)
    assert all(conforms(schema, schema.root, sample) for sample in samples)
    well_formed(schema)


@given(st.lists(st.dictionaries(KEYS, st.one_of(st.integers(), st.none()), max_size=3), min_size=1, max_size=40))
def test_every_sample_conforms_however_many_keys_there_are(samples):
    schema = infer(samples)
    assert all(conforms(schema, schema.root, sample) for sample in samples)


# --- kinds ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        ([None], Null()),
        ([True, False], Bool()),
        ([1, True], Union((Int(), Bool()))),
        ([-(2**63), 2**63 - 1], Int(64)),
        ([0, 2**63], Int(64, signed=False)),
        ([2**64 - 1], Int(64, signed=False)),
        ([2**64], Int(None)),
        ([-1, 2**63], Int(None)),
        ([-(2**63) - 1], Int(None)),
        ([1.5], Float(64)),
        ([float("nan"), float("inf")], Float(64)),
        ([1, 2.5], Float(64)),
        ([2**53, 2.5], Float(64)),
        ([2**53 + 1, 2.5], Union((Int(), Float()))),
        ([10**400, 2.5], Union((Int(None), Float()))),
        (["", "x"], Str()),
        ([None, "x", None], Optional(Str())),
        ([None, "x", 1], Optional(Union((Str(), Int())))),
        ([[], []], List(Null())),
        ([[None]], List(Null())),
        ([[], [1], [None]], List(Optional(Int()))),
        ([[1], ["a"], [[2.5]]], List(Union((Int(), Str(), List(Float()))))),
        ([{"7": 1}], Map(Str(), Int())),
        ([{"7": None}], Map(Str(), Null())),
        ([{"7": {"8": [1]}}], Map(Str(), Map(Str(), List(Int())))),
        ([{"7": 1}, [2]], Union((Map(Str(), Int()), List(Int())))),
    ],
)
def test_kinds_of_one_place(samples, expected):
    assert infer(samples).root == expected


def test_exact_numbers_keep_ints_apart_from_floats():
    assert infer([1, 2.5], numbers="exact").root == Union((Int(), Float()))
    assert infer([[2.5, 1, 3]], numbers="exact").root == List(Union((Float(), Int())))


def test_missing_null_and_empty_are_three_things():
    schema = infer([{"a": None, "b": 1, "c": "", "d": None}, {"a": 2, "c": "x", "d": None}])
    assert [(field.name, field.type, field.required) for field in schema.record("Root").fields] == [
        ("a", Optional(Int()), True),
        ("b", Int(), False),
        ("c", Str(), True),
        ("d", Null(), True),
    ]


def test_a_field_may_be_absent_and_none_at_once():
    (field,) = infer([{}, {"a": None}, {"a": 1}]).record("Root").fields
    assert (field.type, field.required) == (Optional(Int()), False)


def test_several_objects_in_a_union_share_one_record():
    schema = infer([[{"a": 1}, "x", {"b": 2}]])
    assert schema.root == List(Union((Ref("Root"), Str())))
    assert [(field.name, field.required) for field in schema.record("Root").fields] == [("a", False), ("b", False)]


def test_empty_objects_are_a_record_without_fields():
    schema = infer([{"a": {}}])
    assert schema.record("A") == Record("A", ())
    assert schema.notes == ("/a: a record without fields, no object had a key (1)",)


# --- names, ids, notes ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("user_mentions", "UserMentions"),
        ("areaNames", "AreaNames"),
        ("größe", "Groe"),  # decomposed: o keeps its letter, ß has none in ASCII
        ("2nd place", "NdPlace"),
        ("x-2", "X2"),
        ("", "Record"),
        ("姓名", "Record"),
        ("123!", "Record"),
        ("none", "NoneRecord"),
        ("class", "Class"),
        ("__class__", "Class"),
        ("a/b~c", "ABC"),
        ("x" * 100, "X" + "x" * 63),
    ],
)
def test_record_names_come_from_keys(key, name):
    schema = infer([{key: {"a": 1}}])
    assert [record.name for record in schema.records] == ["Root", name]
    assert schema.record("Root").fields[0].name == key


def test_record_names_are_unique():
    sample = {"user": {"user": {"a": 1}}, "User2": {"b": 2}, "USER": {"c": 3}, "users": [{"user": {"d": 4}}]}
    schema = infer([sample], name="user")
    assert [record.name for record in schema.records] == [
        "User", "User2", "User3", "User22", "USER", "Users", "User4",
    ]  # fmt: skip


def test_items_and_map_values_are_named_after_the_key_above():
    schema = infer([{"by_day": {"2024-01-01": [[{"a": 1}]]}}])
    assert schema.record("Root").fields[0].type == Map(Str(), List(List(Ref("ByDay"))))


def test_ids_follow_the_first_appearance_of_keys():
    samples = [{"b": 1}, {"a": 1, "b": 2, "r": [{"y": 1}]}, {"r": [{"x": 1, "y": 2}], "c": 1}]
    schema = infer(samples)
    assert [field.name for field in schema.record("Root").fields] == ["b", "a", "r", "c"]
    assert [field.name for field in schema.record("R").fields] == ["y", "x"]


@given(st.lists(st.dictionaries(st.sampled_from("abcdefg"), JSON, max_size=5), min_size=2, max_size=8))
def test_more_samples_renumber_nothing(samples):
    before, after = (
        {field.name: field.id for record in infer(part).records if record.name == "Root" for field in record.fields}
        for part in (samples[:-1], samples)
    )
    assert before.items() <= after.items()


def test_a_number_that_turns_float_keeps_its_rank_in_a_union():
    assert infer([1, "x"]).root == Union((Int(), Str()))
    assert infer([1, "x", 2.5]).root == Union((Float(), Str()))


@pytest.mark.parametrize(
    ("samples", "note"),
    [
        ([{"a": [{"b": None}, {"b": 1}]}], "/a/*/b: optional, None in 1 of 2"),
        ([{"a": 1}, {}, {}], "/a: may be absent, missing from 2 of 3"),
        ([None, 1], "the root: optional, None in 1 of 2"),
        ([{"": None}], "/: null, nothing but None was seen (1)"),
        ([{"a/b": {"~": None}}], "/a~1b/~0: null, nothing but None was seen (1)"),
        ([{"\x1b[2J\n": None}], r"/\x1b[2J\n: null, nothing but None was seen (1)"),
        ([{"x" * 100: None}], f"/{'x' * 45}...: null, nothing but None was seen (1)"),
        ([[1, 2.5]], "/*: float64, 1 of 2 numbers were ints: normalised to float"),
        ([[2**53 + 1, 2.5]], "/*: 1 of 2 numbers were ints: kept apart, as float64 cannot hold 9007199254740993"),
        ([[10**5000, 2.5]], "/*: 1 of 2 numbers were ints: kept apart, as float64 cannot hold an int of 16610 bits"),
        ([1, "a", "b"], "the root: a union, several kinds were seen (int 1, str 2)"),
        ([2**63], "the root: uint64, some ints are beyond int64 and none is negative"),
        ([2**64], "the root: unbounded int, some ints are beyond 64 bits: only JSON text carries it"),
        ([math.nan, 1.0, -math.inf], "the root: 2 of 3 floats were NaN or infinite, which JSON text lacks"),
        (["\ud800", "ü"], "the root: 1 of 2 strings held a lone surrogate, which no wire carries"),
        ([{"a": []}], "/a: list of null, no list had an item (1)"),
    ],
)
def test_notes_say_what_was_decided_and_where(samples, note):
    assert note in infer(samples).notes


def test_a_note_says_why_there_is_a_map_before_the_notes_on_its_values():
    notes = infer([{"days": {"1": None, "2": "x"}}]).notes
    assert notes == (
        "/days: a map, not a record: 2 keys that look like data (numbers, dates or hashes, as '1'); values optional str",
        "/days/*: optional, None in 1 of 2",
    )


def test_a_plain_record_needs_no_notes():
    assert infer([{"a": 1, "b": [1.5], "c": {"d": "x"}}]).notes == ()


# --- many documents ---------------------------------------------------------------------------------------------------
def test_a_generator_is_read_once_and_not_kept():
    def documents():
        for number in range(2_000):
            yield {"id": number, "text": f"{number:x}" * 5_000, "by_day": {f"2024-{number}": [number]}}

    tracemalloc.start()
    schema = infer(documents())
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [str(field.type) for field in schema.record("Root").fields] == ["int64", "str", "map str -> list of int64"]
    # The documents hold 27 MB of text together.
    assert peak_bytes < 5e6


def test_many_documents_give_what_one_list_of_them_gives():
    documents = [{"a": number} if number % 3 else {"b": [number / 2], "c": None} for number in range(3_000)]
    whole = infer([documents], name="Root")
    assert infer(iter(documents)).records == whole.records


# --- bad input --------------------------------------------------------------------------------------------------------
def test_nothing_to_infer_from_is_an_error():
    with pytest.raises(SchemaError, match="no sample"):
        infer([])


@pytest.mark.parametrize("document", [{"a": 1}, "text", b"text"])
def test_a_single_document_is_not_taken_for_many(document):
    with pytest.raises(SchemaError, match=r"pass \[document\]"):
        infer(document)


@pytest.mark.parametrize(
    ("value", "path", "word"),
    [
        ({"a": [1, b"x"]}, "/a/*", "bytes"),
        ({"a": (1,)}, "/a", "tuple"),
        ({"a/b": {1, 2}}, "/a~1b", "set"),
        (np.float64(1), "", r"numpy\.float64"),
        ([collections.OrderedDict()], "/*", r"collections\.OrderedDict"),
        ({"a": {1: 2}}, "/a", "the key 1 is int"),
        ({"a": {None: 2}}, "/a", "the key None is NoneType"),
        ({"a": {"\ud800": 2}}, "/a", "lone surrogate"),
    ],
)
def test_what_json_does_not_have_is_refused_with_its_path(value, path, word):
    with pytest.raises(SchemaError, match=word) as caught:
        infer([value])
    assert caught.value.path == path


def nested(levels: int, wrap: Any) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = wrap(value)
    return value


WRAPS = [lambda value: [value], lambda value: {"k": value}, lambda value: {"1": value}]


@pytest.mark.parametrize("wrap", WRAPS)
def test_a_hundred_levels_are_inferred(wrap):
    value = nested(100, wrap)
    schema = infer([value])
    assert conforms(schema, schema.root, value)


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("levels", [101, 50_000])
def test_deeper_nesting_is_an_error_of_ours(wrap, levels):
    with pytest.raises(SchemaError, match="nested deeper than 100 levels"):
        infer([nested(levels, wrap)])


def test_a_list_that_holds_itself_is_nested_too_deep():
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(SchemaError, match="nested deeper"):
        infer([loop])


def test_an_unknown_word_for_numbers_is_an_error():
    with pytest.raises(ValueError, match="'float64', 'exact'"):
        infer([1], numbers="decimal")  # type: ignore[arg-type]  # the point of the test
