"""Names that fields have in messages, where they are not those of the attributes: of every class, and through documents."""

from __future__ import annotations

import dataclasses
import json
import sys
import types
from typing import Annotated, Any, NamedTuple, TypedDict

import attrs
import msgspec
import pydantic
import pytest

import zcser
from tests.schema.test_document import PUBLISHED
from zcser.core.errors import EncodeError, SchemaError
from zcser.schema.annotations import Alias, Id
from zcser.schema.emit_python import emit_msgspec, emit_python
from zcser.schema.from_python import schema_of
from zcser.schema.model import Field, Int, Record, Ref, Schema


class Model(pydantic.BaseModel):
    full_name: str = pydantic.Field(alias="fullName")
    counts: list[int] = pydantic.Field([], alias="n s")


class Struct(msgspec.Struct, rename={"full_name": "fullName"}):
    full_name: str
    counts: list[int] = msgspec.field(default_factory=list, name="n s")


@dataclasses.dataclass
class Dataclass:
    full_name: Annotated[str, Alias("fullName")]
    counts: Annotated[list[int], Alias("n s")] = dataclasses.field(default_factory=list)


@attrs.define
class Attrs:
    full_name: Annotated[str, Alias("fullName")]
    counts: Annotated[list[int], Alias("n s")] = attrs.Factory(list)


class Tuple(NamedTuple):
    full_name: Annotated[str, Alias("fullName")]
    counts: Annotated[list[int], Alias("n s")] = []


class Dict(TypedDict):
    full_name: Annotated[str, Alias("fullName")]
    counts: Annotated[list[int], Alias("n s"), Id(2)]


CLASSES: tuple[Any, ...] = (Model, Struct, Dataclass, Attrs, Tuple, Dict)
MESSAGE = b'{"fullName":"Ada","n s":[1,2]}'


def test_every_class_has_its_names_in_messages():
    for cls in CLASSES:
        codec = zcser.codec("json", cls)
        value = codec.decode(MESSAGE)
        assert zcser.at(value, "/full_name") == "Ada"
        assert codec.encode(value) == MESSAGE
        flat = zcser.codec("flatbuffers", cls)
        assert flat.view(flat.encode(value)).counts[1] == 2


def test_a_document_keeps_them():
    for cls in CLASSES:
        schema = schema_of(cls)
        text = zcser.emit_schema(schema)
        assert not list(PUBLISHED.iter_errors(json.loads(text)))
        # By hand: what of the document is new.
        document = json.loads(text)
        assert document["zcser"] == 2
        assert [item["alias"] for item in document["records"][cls.__name__]["fields"]] == ["fullName", "n s"]
        loaded = zcser.load_schema(text)
        assert loaded == schema
        assert loaded.fingerprint == schema.fingerprint
        assert zcser.load_schema(text, classes={cls.__name__: cls}) == schema
        plain = {"full_name": "Ada", "counts": [1, 2]}
        for name in ("json", "protobuf", "flatbuffers"):
            ours, theirs = zcser.codec(name, loaded), zcser.codec(name, cls)
            value = zcser.codec("json", cls).decode(MESSAGE)
            assert ours.encode(plain) == theirs.encode(value), name
            assert ours.decode(theirs.encode(value)) == plain, name


def test_the_text_of_a_module_keeps_them(monkeypatch):
    module = types.ModuleType("aliased")
    monkeypatch.setitem(sys.modules, "aliased", module)
    for cls in CLASSES:
        for emit in (emit_python, emit_msgspec):
            exec(compile(emit(cls), "aliased.py", "exec"), module.__dict__)
            assert schema_of(module.Root) == schema_of(cls), (cls, emit)
    text = emit_msgspec(Struct)
    assert "full_name: Annotated[str, Id(1)] = field(name='fullName')" in text


def test_dicts_have_the_names_of_the_schema():
    fields = (
        Field("a", Int(), 1, alias="b"),
        Field("b", Int(), 2, required=False, alias="a"),
        Field("c", Int(), 3, False, 5),
    )
    schema = Schema(Ref("R"), (Record("R", fields),))
    codec = zcser.codec("json", schema)
    assert json.loads(codec.encode({"a": 1, "b": 2, "c": 3})) == {"b": 1, "a": 2, "c": 3}
    assert codec.decode(b'{"b":1}') == {"a": 1, "c": 5}
    assert codec.encode({"a": 1}) == b'{"b":1}'
    named = zcser.codec("json", zcser.load_schema(zcser.emit_schema(Dict)))
    with pytest.raises(EncodeError, match="'fullName' is not a field of Dict"):
        named.encode({"fullName": "Ada", "counts": []})
    with pytest.raises(EncodeError, match="field 'full_name' of Dict is missing"):
        named.encode({"counts": []})


def test_a_document_of_version_1_has_the_names_of_the_classes_that_are_given():
    document = json.loads(zcser.emit_schema(Model))
    document["zcser"] = 1
    for item in document["records"]["Model"]["fields"]:
        del item["alias"]
    text = json.dumps(document)
    assert zcser.load_schema(text, classes={"Model": Model}) == schema_of(Model)
    assert [item.alias for item in zcser.load_schema(text).record("Model").fields] == [None, None]

    @dataclasses.dataclass
    class Plain:
        a: int

    assert json.loads(zcser.emit_schema(Plain))["zcser"] == 1


@pytest.mark.parametrize(
    ("version", "record", "reason"),
    [
        (1, {"fields": [{"id": 1, "name": "a", "type": "str", "alias": "b"}]}, '"alias" is of version 2.*/fields/0'),
        (1, {"fields": [], "transparent": False}, '"transparent" is of version 2.*/records/R'),
        (2, {"fields": [{"id": 1, "name": "a", "type": "str", "alias": 1}]}, "a text is needed.*/fields/0/alias"),
        (2, {"fields": [], "transparent": True}, "a transparent record has one field .at /records/R"),
        (
            2,
            {"fields": [{"id": 1, "name": "a", "type": "str", "alias": "b"}, {"id": 2, "name": "b", "type": "str"}]},
            "two fields have the same name in messages .at /records/R",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_path(version, record, reason):
    document = {"zcser": version, "root": {"kind": "record", "name": "R"}, "records": {"R": record}}
    with pytest.raises(SchemaError, match=reason):
        zcser.load_schema(json.dumps(document))


def test_an_alias_that_is_misplaced_is_refused():
    for hint, reason in (
        (list[Annotated[int, Alias("a")]], "an Alias.. names a field"),
        (Annotated[int, Alias], "inside Annotated changes nothing"),
        (Annotated[int, Alias(1)], "must be a str"),  # type: ignore[arg-type]
    ):
        with pytest.raises(SchemaError, match=reason):
            schema_of(dataclasses.make_dataclass("Made", [("a", hint)]))
