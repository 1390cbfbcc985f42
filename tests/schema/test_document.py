"""Schema documents: written and read back they are the same schema, and what is wrong in one is said with its path."""

from __future__ import annotations

import json
import math
import pickle
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import zcser
from tests.conformance.schemas import CASES, Circle, Point
from tests.lower.sources import Buyer, Colour, Every, Line, Order, Stamp
from tests.lower.sources import Point as Place
from zcser.core.errors import SchemaError
from zcser.core.fidelity import equal
from zcser.schema.from_python import schema_of
from zcser.schema.from_sample import infer
from zcser.schema.model import (
    Enum,
    Field,
    Float,
    Int,
    List,
    Map,
    Optional,
    Record,
    Ref,
    Schema,
    Str,
    Tensor,
    Union,
    walk,
)
from zcser.schema.values import VALUE_TYPES

PUBLISHED = Draft202012Validator(
    json.loads((Path(__file__).parents[2] / "schemas" / "zcser-schema.json").read_text(encoding="utf-8"))
)


def classes_of(schema):
    types = [schema.root, *(item.type for record in schema.records for item in record.fields)]
    enums = {part.name: part.cls for type_ in types for part in walk(type_) if isinstance(part, Enum) and part.cls}
    return {**enums, **{record.name: record.cls for record in schema.records if record.cls}}


def defaults_of(schema):
    return [item.make_default() for record in schema.records for item in record.fields if item.has_default]


@pytest.mark.parametrize("case", CASES)
def test_a_schema_comes_back_as_it_was(case):
    schema = CASES[case]
    text = zcser.emit_schema(schema)
    assert not list(PUBLISHED.iter_errors(json.loads(text)))
    with_classes = zcser.load_schema(text, classes=classes_of(schema))
    assert with_classes == schema
    assert [record.cls for record in with_classes.records] == [record.cls for record in schema.records]
    assert equal(defaults_of(with_classes), defaults_of(schema))
    assert zcser.emit_schema(with_classes) == text
    if case != "unions":  # two records of one union are told apart by their classes alone
        without = zcser.load_schema(text)
        assert (without, without.fingerprint) == (schema, schema.fingerprint)
        assert [record.cls for record in without.records] == [None] * len(schema.records)
        assert len(defaults_of(without)) == len(defaults_of(schema))


def test_the_text_is_what_the_head_of_the_module_says():
    schema = infer([{"id": 1, "name": "x", "at": {"1": 5}}, {"id": 2}], name="Event")
    assert zcser.emit_schema(schema).splitlines() == [
        "{",
        '  "zcser": 1,',
        '  "root": {"kind": "record", "name": "Event"},',
        '  "records": {',
        '    "Event": {',
        '      "fields": [',
        '        {"id": 1, "name": "id", "type": "int64"},',
        '        {"id": 2, "name": "name", "type": "str", "required": false},',
        '        {"id": 3, "name": "at", "type": {"kind": "map", "key": "str", "value": "int64"}, "required": false}',
        "      ]",
        "    }",
        "  },",
        '  "notes": [',
        '    "/name: may be absent, missing from 1 of 2",',
        '    "/at: may be absent, missing from 1 of 2",',
        "    \"/at: a map, not a record: 1 key that looks like data (numbers, dates or hashes, as '1'); values int64\"",
        "  ]",
        "}",
    ]


def test_ids_stay_when_a_document_is_edited():
    tree = json.loads(zcser.emit_schema(infer([{"a": 1, "b": 2}])))
    fields = tree["records"]["Root"]["fields"]
    fields.insert(0, {"id": 9, "name": "first", "type": "str"})
    fields.reverse()
    tree["$schema"] = "zcser-schema.json"
    again = zcser.emit_schema(zcser.load_schema(json.dumps(tree)))
    assert [(item["name"], item["id"]) for item in json.loads(again)["records"]["Root"]["fields"]] == [
        ("b", 2),
        ("a", 1),
        ("first", 9),
    ]


def test_defaults_of_every_kind_come_back_and_are_fresh_where_they_are_mutable():
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    values = [
        (Float(), math.nan),
        (Float(), -math.inf),
        (Float(), -0.0),
        (Optional(Int(None)), 2**70),
        (Tensor("float32"), array),
        (Map(Int(), List(Str())), {-3: ["x"]}),
        (Union((Int(), Ref("Inner"))), {"x": 1.5}),
    ]
    fields = [Field(f"f{n}", type_, n, required=False, default=value) for n, (type_, value) in enumerate(values, 1)]
    schema = Schema(Ref("Outer"), (Record("Outer", tuple(fields)), Record("Inner", (Field("x", Float(), 1),))))
    text = zcser.emit_schema(schema)
    loaded = pickle.loads(pickle.dumps(zcser.load_schema(text)))
    assert equal(defaults_of(loaded), [value for _, value in values])
    first, second = (item.make_default() for item in [loaded.record("Outer").by_name["f6"]] * 2)
    assert first == second
    assert first is not second
    # By hand: 1.0 is 00 00 80 3f, and so on; the union's value stands under its option's name.
    defaults = [item["default"] for item in json.loads(text)["records"]["Outer"]["fields"]]
    assert defaults[:2] == ["NaN", "-Infinity"]
    assert defaults[4]["base64"] == "AAAAAAAAgD8AAABAAABAQAAAgEAAAKBA"
    assert defaults[5:] == [{"-3": ["x"]}, {"Inner": {"x": 1.5}}]


def test_a_file_is_read_and_classes_are_taken(tmp_path):
    path = tmp_path / "shapes.json"
    path.write_text(zcser.emit_schema(Point | Circle), encoding="utf-8-sig")
    assert zcser.load_schema(path, classes={"Point": Point, "Circle": Circle}).python_type(Ref("Circle")) is Circle
    with pytest.raises(SchemaError, match="Point and Circle of one union are both dict"):
        zcser.load_schema(path)


def test_dates_sets_and_their_like_come_back_with_their_defaults():
    schema = schema_of(Every)
    text = zcser.emit_schema(schema)
    tree = json.loads(text)
    assert not list(PUBLISHED.iter_errors(tree))
    loaded = zcser.load_schema(text)
    assert loaded == schema
    assert zcser.emit_schema(zcser.load_schema(text, classes={"Every": Every})) == text
    assert equal(defaults_of(loaded), defaults_of(schema))
    fields = {item["name"]: item for item in tree["records"]["Every"]["fields"]}
    # By hand: a day less five seconds is 86,395,000,000 microseconds.
    assert {name: fields[name]["default"] for name in ("since", "fee", "every", "key", "some", "none", "seen", "other")} == {
        "since": "2026-01-02T03:04:05.000006+00:00", "fee": "1.50", "every": -86_395_000_000,
        "key": "00000000-0000-0000-0000-000000000001", "some": [1, 9, 10], "none": [], "seen": {"2026-01-02": 3},
        "other": {"date": "2026-01-02"},
    }  # fmt: skip
    assert fields["at"]["type"] == "datetime_utc"
    assert fields["days"]["type"] == {"kind": "set", "item": "date", "frozen": True}


def test_classes_of_every_library_are_taken_back():
    schema = schema_of(Order)
    text = zcser.emit_schema(schema)
    assert not list(PUBLISHED.iter_errors(json.loads(text)))
    classes = {"Order": Order, "Buyer": Buyer, "Line": Line, "Point": Place, "Stamp": Stamp, "Colour": Colour}
    assert zcser.load_schema(text, classes=classes) == schema


def test_a_default_of_attrs_is_made_by_its_own_keywords():
    # The constructor of Line calls its field _sku by the name sku.
    line = {"_sku": "00000000-0000-0000-0000-000000000007", "price": "1.5", "place": {"x": 1, "y": 2.0}, "added": None}
    tree = json.loads(zcser.emit_schema(schema_of(list[Line])))
    field = {"id": 1, "name": "line", "type": {"kind": "record", "name": "Line"}, "default": line}
    tree["records"]["Holder"] = {"fields": [field]}
    tree["root"] = {"kind": "record", "name": "Holder"}
    loaded = zcser.load_schema(json.dumps(tree), classes={"Line": Line, "Point": Place})
    made = loaded.record("Holder").fields[0].make_default()
    assert made == Line(UUID(int=7), Decimal("1.5"), Place(1, 2.0))


def test_the_published_form_names_every_value_type():
    names = PUBLISHED.schema["$defs"]["type"]["anyOf"][0]["enum"]
    assert set(VALUE_TYPES) <= set(names)


GOOD = '{"zcser": 1, "root": {"kind": "record", "name": "R"}, "records": {"R": {"fields": [%s]}}}'
FIELD = '{"id": 1, "name": "a", "type": %s}'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not JSON: .* line 1 column 2"),
        ('{"zcser": 1, "zcser": 1}', "the key 'zcser' stands twice"),
        ('{"zcser": NaN}', "NaN is no value of JSON"),
        ("[{}]", "an object is needed, not an array"),
        ("{}", 'no zcser schema document: it has no "zcser"'),
        ('{"type": "object"}', "a JSON Schema is read by zcser.load_json_schema"),
        ('{"zcser": 3}', "of version 3; this zcser reads versions 1 and 2 .at /zcser"),
        ('{"zcser": 1}', '"root" is missing'),
        ('{"zcser": 1, "root": "int64", "record": {}}', "'record' is not known; did you mean \"records\""),
        ('{"zcser": 1, "root": "int46"}', "no type is named 'int46'; did you mean int64.* .at /root"),
        ('{"zcser": 1, "root": "User"}', '"name": "User"'),
        ('{"zcser": 1, "root": {"kind": "bag"}}', "\"kind\" of a type is one of .* not 'bag' .at /root"),
        (
            '{"zcser": 1, "root": {"kind": "set", "item": {"kind": "list", "item": "str"}}}',
            "not list of str; use a list .at /root",
        ),
        (
            '{"zcser": 1, "root": {"kind": "set", "item": "str", "frozen": 1}}',
            "true or false is needed.* .at /root/frozen",
        ),
        (GOOD % (FIELD % '"date", "default": "2026-02-30"'), "does not stand for date: ValueError.*fields/0/default"),
        (GOOD % (FIELD % '"timedelta", "default": 1.5'), "does not stand for timedelta: .* an integer is needed"),
        (GOOD % (FIELD % '"ipv4", "default": 1'), "does not stand for ipv4: .* a text is needed"),
        (GOOD % (FIELD % '"datetime_utc", "default": "2026-01-02T03:04:05"'), "a time zone is needed"),
        (GOOD % (FIELD % '{"kind": "set", "item": "int8"}, "default": [1, 1]'), "two items of a set are equal"),
        ('{"zcser": 1, "root": {"kind": "list"}}', '"item" is missing .at /root'),
        ('{"zcser": 1, "root": {"kind": "list", "item": "str", "length": -1}}', "a length must be .* .at /root"),
        ('{"zcser": 1, "root": {"kind": "tensor", "dtype": "f4"}}', "unknown tensor dtype 'f4'.* .at /root"),
        (
            '{"zcser": 1, "root": {"kind": "enum", "name": "E", "members": {"a": 1, "b": "x"}}}',
            "all int or all str .at /root",
        ),
        (
            '{"zcser": 1, "root": {"kind": "map", "key": "bytes", "value": "str"}}',
            "keys must be str, int or bool.*/root/key",
        ),
        ('{"zcser": 1, "root": {"kind": "record", "name": "R"}}', "record 'R' is not in the schema"),
        (GOOD % '{"id": 1, "name": "a"}', '"type" is missing .at /records/R/fields/0'),
        (
            GOOD % (FIELD % '"int64", "required": 0'),
            "true or false is needed, not an integer .at /records/R/fields/0/required",
        ),
        (GOOD % (FIELD % '"str"' + "," + FIELD % '"str"'), "field id 1 is also 'a''s .at /records/R"),
        (GOOD % (FIELD % '"int8", "default": 200'), "integer 200 is outside int8.* .at /records/R/fields/0/default"),
        (GOOD % (FIELD % '"bytes", "default": "%"'), "does not stand for bytes.* .at /records/R/fields/0/default"),
        (GOOD % (FIELD % '{"kind": "record", "name": "R"}, "default": {"b": 1}'), "does not stand for R"),
        ('{"zcser": 1, "root": ' + '{"kind": "list", "item": ' * 3000 + '"str"' + "}" * 3001, "nest"),
    ],
)
def test_what_is_wrong_is_said_with_its_path(text, reason):
    with pytest.raises(SchemaError, match=reason):
        zcser.load_schema(text)


@pytest.mark.parametrize("text", ["missing.json", "nul\0.json", "."])
def test_a_file_that_cannot_be_read_is_a_schema_error(text):
    with pytest.raises(SchemaError):
        zcser.load_schema(text)


def test_the_published_schema_refuses_what_the_reader_refuses():
    for text in ('{"zcser": 1}', GOOD % (FIELD % '"int46"'), GOOD % '{"id": 0, "name": "a", "type": "str"}'):
        assert list(PUBLISHED.iter_errors(json.loads(text)))
        with pytest.raises(SchemaError):
            zcser.load_schema(text)
