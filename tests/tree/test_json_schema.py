"""JSON Schema: what is written is valid and holds of the messages, and what is read is what it says or refused by name."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

import zcser
from tests.conformance.schemas import CASES
from tests.conformance.strategies import samples
from zcser.core.errors import EncodeError, SchemaError
from zcser.schema.model import Bool, Bytes, Enum, Float, Int, List, Map, Null, Optional, Ref, Str, Union
from zcser.tree.emit import emit_jsonschema


@pytest.mark.parametrize("case", CASES)
def test_messages_are_valid_by_the_schema_that_is_written(case):
    schema = CASES[case]
    text = emit_jsonschema(schema)
    tree = json.loads(text)
    Draft202012Validator.check_schema(tree)
    validator = Draft202012Validator(tree)
    codec = zcser.codec("json", schema)
    held = 0
    for value in samples(schema):
        try:
            message = codec.encode(value)
        except EncodeError:
            continue
        held += 1
        assert not list(validator.iter_errors(json.loads(message)))
    assert held
    if case != "unions":  # two records of one union are told apart by their classes alone
        loaded = zcser.load_json_schema(text)
        assert loaded == schema
        assert loaded.notes == ()
        assert emit_jsonschema(loaded) == text


def test_what_is_no_message_is_not_valid():
    schema = zcser.load_json_schema({"type": "object", "properties": {"n": {"type": "integer", "minimum": -128, "maximum": 127},
                                     "tags": {"type": "array", "items": {"type": "string"}}}, "required": ["n"],
                                     "additionalProperties": False})  # fmt: skip
    validator = Draft202012Validator(json.loads(emit_jsonschema(schema)))
    assert validator.is_valid({"n": 1, "tags": ["x"]})
    for value in ({}, {"n": 128}, {"n": "1"}, {"n": 1, "tags": [1]}, {"n": 1, "more": 1}, [], {"n": None}):
        assert not validator.is_valid(value)


def type_of(node, **more):
    """The type of one property, and the notes."""
    schema = zcser.load_json_schema(
        {"type": "object", "properties": {"it": node}, "additionalProperties": False, **more}
    )
    return schema.records[0].fields[0].type, schema.notes


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({"type": "null"}, Null()),
        ({"type": "boolean"}, Bool()),
        ({"type": "integer"}, Int()),
        ({"type": "integer", "minimum": 0}, Int(64, signed=False)),
        ({"type": "integer", "minimum": 0, "maximum": 255}, Int(8, signed=False)),
        ({"type": "integer", "minimum": -32768, "maximum": 32767}, Int(16)),
        ({"type": "integer", "exclusiveMinimum": -1, "exclusiveMaximum": 2**32}, Int(32, signed=False)),
        ({"type": "integer", "maximum": 2**63 - 1}, Int()),
        ({"type": "number"}, Float()),
        ({"type": "string"}, Str()),
        ({"type": "string", "contentEncoding": "base64"}, Bytes()),
        ({"type": ["string", "null"]}, Optional(Str())),
        ({"type": "string", "nullable": True}, Optional(Str())),
        ({"type": ["integer", "string"]}, Union((Int(), Str()))),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, Optional(Str())),
        ({"oneOf": [{"type": "null"}, {"type": "string"}, {"type": "array", "items": {"type": "number"}}]},
         Optional(Union((Str(), List(Float()))))),
        ({"allOf": [{"type": "string"}], "description": "one"}, Str()),
        ({"type": "array", "items": {"type": "boolean"}}, List(Bool())),
        ({"items": {"type": "boolean"}, "minItems": 3, "maxItems": 3}, List(Bool(), 3)),
        ({"type": "object", "additionalProperties": {"type": "number"}}, Map(Str(), Float())),
        ({"enum": ["a", "b-c", ""]}, Enum("It", (("a", "a"), ("b_c", "b-c"), ("empty", "")))),
        ({"enum": [1, -1, None], "title": "sign"}, Optional(Enum("Sign", (("v1", 1), ("v_1", -1))))),
        ({"const": "x"}, Enum("It", (("x", "x"),))),
        ({"oneOf": [{"const": "x"}, {"const": "y"}]}, Enum("It", (("x", "x"), ("y", "y")))),
        ({"$ref": "#/$defs/text"}, Str()),
        ({"$ref": "#/$defs/odd~1name%25"}, Bool()),
    ],
)  # fmt: skip
def test_keywords_become_types_without_a_note(node, expected):
    found, notes = type_of(node, **{"$defs": {"text": {"type": "string"}, "odd/name%": {"type": "boolean"}}})
    assert found == expected
    assert notes == ()


@pytest.mark.parametrize(
    ("node", "expected", "note"),
    [
        ({"type": "string", "format": "date-time"}, Str(), "format 'date-time' is not checked"),
        ({"type": "string", "maxLength": 5}, Str(), "maxLength 5 is not checked"),
        ({"type": "number", "minimum": 0}, Float(), "minimum 0 is not checked"),
        ({"type": "integer", "minimum": 1, "maximum": 100}, Int(8, signed=False), "uint8, of which the bounds"),
        ({"type": "integer", "minimum": 0, "maximum": 2**64}, Int(None), "int, of which the bounds"),
        ({"type": "integer", "multipleOf": 5}, Int(), "multipleOf 5 is not checked"),
        ({"type": "array", "items": {"type": "string"}, "uniqueItems": True}, List(Str()), "uniqueItems True"),
        ({"type": "string", "contentencoding": "base64"}, Str(), "the keyword 'contentencoding' is not known"),
        ({"enum": [True]}, Bool(), "of which enum allows one value"),
        ({"anyOf": [{"enum": ["a"]}, {"type": "string"}]}, Str(), "str, of which an enum names some values"),
    ],
)
def test_what_is_not_carried_is_noted_with_its_pointer(node, expected, note):
    found, notes = type_of(node)
    assert found == expected
    assert [text for text in notes if text.startswith("/properties/it: ") and note in text]


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        (True, "True says nothing of the value's type"),
        ({}, "a schema without type allows any value"),
        ({"type": "any"}, "type: 'any'"),
        ({"type": "array"}, "items is missing"),
        ({"type": "array", "items": [{"type": "string"}]}, "items: a schema per position"),
        ({"type": "array", "prefixItems": [{"type": "string"}]}, "prefixItems has no form"),
        ({"type": "object"}, "holds any value"),
        ({"type": "object", "patternProperties": {"^x": {"type": "string"}}}, "patternProperties has no form"),
        ({"type": "object", "properties": {"a": {"type": "null"}}, "additionalProperties": {"type": "null"}}, "additionalProperties"),
        ({"type": "object", "properties": {"a": {"type": "null"}}, "required": ["b"]}, "required: 'b' is no property"),
        ({"not": {"type": "null"}}, "not has no form"),
        ({"if": {"type": "null"}, "then": {"type": "null"}}, "if has no form"),
        ({"enum": [1, "a"]}, "enum: its values must be all text"),
        ({"const": 1.5}, "const: its values"),
        ({"type": "string", "contentEncoding": "quoted-printable"}, "contentEncoding: 'quoted-printable'"),
        ({"$ref": "https://example.org/s.json"}, "a remote reference"),
        ({"$ref": "other.json#/x"}, "a remote reference"),
        ({"$ref": "#/$defs/none"}, r"nothing stands at #/\$defs/none"),
        ({"$ref": "#here"}, "names an \\$anchor"),
        ({"$ref": "#/$defs/A", "minLength": 1}, "minLength beside it"),
        ({"$ref": "#/$defs/Loop"}, "leads to itself"),
        ({"$ref": "#/$defs/ListOfItself"}, "leads to itself"),
        ({"allOf": [{"$ref": "#/$defs/Loop"}, {"type": "object"}]}, "leads to itself"),
        ({"anyOf": [{"type": "string"}], "type": "string"}, "type beside it"),
        ({"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]}, "anyOf: A and B are both objects"),
        ({"oneOf": [{"type": "string"}, {"type": "string", "contentEncoding": "base64"}]}, "oneOf: str and bytes are both"),
        ({"allOf": [{"$ref": "#/$defs/A"}, {"type": "string"}]}, "plain objects that are open"),
        ({"allOf": [{"$ref": "#/$defs/A"}, {"anyOf": [{"required": ["a"]}]}]}, "anyOf is not"),
        ({"allOf": [{"$ref": "#/$defs/A"}, {"properties": {"a": {"type": "null"}}}]}, "describes 'a' in two ways"),
        ({"type": "string", "$id": "https://example.org/inner"}, "\\$id: a schema within a schema"),
        ({"type": "integer", "default": "x"}, "default: 'x' does not fit int64"),
        ({"type": "string", "x-zcser-id": 0}, "field id 0 is not in"),
    ],
)  # fmt: skip
def test_what_has_no_form_is_refused_with_the_keyword_and_its_pointer(node, reason):
    definitions = {
        "A": {"type": "object", "properties": {"a": {"type": "string"}}},
        "B": {"type": "object", "properties": {"b": {"type": "string"}}},
        "Loop": {"$ref": "#/$defs/Loop"},
        "ListOfItself": {"type": "array", "items": {"$ref": "#/$defs/ListOfItself"}},
    }
    with pytest.raises(SchemaError, match=reason) as caught:
        type_of(node, **{"$defs": definitions})
    if "x-zcser-id" not in str(node):
        assert (caught.value.path or "").startswith(("/properties/it", "/$defs/"))


def test_records_recursion_ids_defaults_and_open_objects():
    schema = zcser.load_json_schema(
        """{
          "title": "tree node", "type": "object", "description": "A node.\\nMore.",
          "properties": {
            "name": {"type": "string", "default": "x"},
            "children": {"type": "array", "items": {"$ref": "#"}, "x-zcser-id": 5},
            "left": {"anyOf": [{"$ref": "#"}, {"type": "null"}], "default": null},
            "owner": {"type": "object", "properties": {"id": {"type": "integer"}}}
          },
          "required": ["children"]
        }"""
    )
    node, owner = schema.records
    assert (node.name, node.doc, owner.name) == ("TreeNode", "A node.", "Owner")
    assert [(item.name, item.id, item.required) for item in node.fields] == [
        ("name", 1, False),
        ("children", 5, True),
        ("left", 6, False),
        ("owner", 7, False),
    ]
    assert node.fields[1].type == List(Ref("TreeNode"))
    assert (node.fields[0].default, node.fields[2].default) == ("x", None)
    assert schema.notes == (
        "the root: TreeNode is open: further properties are no part of the record",
        "/properties/owner: Owner is open: further properties are no part of the record",
    )


def test_all_of_plain_objects_is_one_record_and_an_inner_schema_may_be_the_root():
    document = {
        "components": {
            "schemas": {
                "Base": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
                "Order": {
                    "allOf": [{"$ref": "#/components/schemas/Base"}, {"properties": {"total": {"type": "number"}}}],
                    "properties": {"note": {"type": "string"}},
                },
            }
        }
    }
    schema = zcser.load_json_schema(document, root="#/components/schemas/Order")
    assert schema.root == Ref("Order")
    assert [(item.name, item.required) for item in schema.records[0].fields] == [
        ("id", True),
        ("total", False),
        ("note", False),
    ]


def test_a_document_of_the_other_kind_is_told():
    with pytest.raises(SchemaError, match=r"zcser\.load_schema reads it"):
        zcser.load_json_schema(zcser.emit_schema(int))


def test_deep_documents_are_refused():
    node = {"type": "string"}
    for _ in range(900):
        node = {"type": "array", "items": node}
    with pytest.raises(SchemaError, match="too deep"):
        type_of(node)
