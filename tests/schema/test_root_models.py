"""RootModels of pydantic: objects in Python, their roots and nothing else in messages."""

from __future__ import annotations

import json
import pickle
from datetime import date
from typing import Any

import pydantic
import pytest

import zcser
from zcser import registry
from zcser.core.codec import CodecInfo
from zcser.core.errors import DecodeError, EncodeError, SchemaError
from zcser.schema.from_python import schema_of
from zcser.schema.model import Field, Float, Int, List, Optional, Record, Ref, Schema, Str


class Tags(pydantic.RootModel[list[str]]):
    """Words."""


class Days(pydantic.RootModel[dict[str, date]]):
    pass


class Score(pydantic.RootModel[float]):
    root: float = pydantic.Field(gt=0)


class Maybe(pydantic.RootModel[int | None]):
    pass


class Blob(pydantic.RootModel[bytes]):
    pass


class Item(pydantic.BaseModel):
    item_id: int = pydantic.Field(alias="itemId")


class Other(pydantic.BaseModel):
    note: str


class Items(pydantic.RootModel[list[Item]]):
    pass


class Thing(pydantic.RootModel[Item | Other]):
    pass


class Tree(pydantic.BaseModel):
    name: str
    below: Trees


class Trees(pydantic.RootModel[list[Tree]]):
    pass


class Order(pydantic.BaseModel):
    full_name: str = pydantic.Field(alias="fullName")
    tags: Tags
    days: Days
    items: Items
    score: Score = Score(1.0)
    best: Score | None = None
    blob: Blob = Blob(b"")


class Mixed(pydantic.BaseModel):
    part: Tags | Score | Thing | Maybe | list[int] | str
    parts: list[Thing] = []


def order() -> Order:
    items = Items([Item(itemId=1), Item(itemId=2)])
    return Order(
        fullName="Ada", tags=Tags(["a", "b"]), days=Days({"x": date(2026, 1, 2)}), items=items, best=Score(2.5)
    )


TREES = Trees([Tree(name="a", below=Trees([Tree(name="b", below=Trees([]))]))])
PARTS: list[Any] = [Tags(["a"]), Score(1.5), Thing(Item(itemId=3)), Maybe(None), Maybe(4), [1, 2], "a"]


def codecs(cls: type, *names: str) -> dict[str, Any]:
    """Codecs of a class by name; all that carry it where none is named."""
    every = registry.available()
    found = {}
    for name in names or every:
        info = every[name]
        if not isinstance(info, CodecInfo) or "encode" not in info.operations:
            continue
        try:
            found[name] = zcser.codec(name, cls, **({"allow_untrusted_code": True} if info.trusted_only else {}))
        except SchemaError:
            assert not names
    return found


def test_a_root_model_is_a_transparent_record():
    schema = schema_of(Order)
    record = schema.record("Tags")
    assert record == Record("Tags", (Field("root", List(Str()), 1),), transparent=True)
    assert (record.cls, record.doc) == (Tags, "Words.")
    assert schema.record("Order").by_name["best"].type == Optional(Ref("Score"))
    assert pickle.loads(pickle.dumps(schema)) == schema
    assert (
        schema.fingerprint != Schema(schema.root, tuple(Record(r.name, r.fields) for r in schema.records)).fingerprint
    )


def test_root_models_come_back_by_every_codec_as_fields_and_as_the_whole():
    some = ("json", "msgpack", "protobuf", "flatbuffers")
    for value, names in ((order(), ()), (Maybe(None), some), (TREES, some)):
        found = codecs(type(value), *names)
        assert found.keys() >= {*some}
        for name, codec in found.items():
            data = codec.encode(value)
            assert type(codec.decode(data)) is type(value), name
            assert codec.decode(data, copy=False) == value, name
            if "dump" in codec.info.operations:
                assert codec.restore(codec.load(codec.dump(codec.convert(value)))) == value, name
            if "view" in codec.info.operations:
                assert zcser.equal(zcser.to_value(codec.view(data)), value), name


def test_json_is_that_of_pydantic():
    for value in (order(), Tags(["a"]), Score(2.5), Maybe(None), TREES):
        codec, theirs = zcser.codec("json", type(value)), value.model_dump_json(by_alias=True).encode()
        assert json.loads(codec.encode(value)) == json.loads(theirs)
        assert codec.decode(theirs) == value


def test_a_view_has_the_root_as_the_object_has_it():
    codec = zcser.codec("flatbuffers", Order)
    view = codec.view(codec.encode(order()))
    assert view.tags.root[1] == "b"
    assert view.days.root["x"] == date(2026, 1, 2)
    assert zcser.at(view, "/items/root/1/item_id") == zcser.at(order(), "/items/root/1/item_id") == 2
    assert view.best == Score(2.5)
    patched = bytearray(codec.encode(order()))
    codec.patch(patched, "/best/root", 8.5)
    assert codec.decode(patched).best == Score(8.5)


def test_options_of_a_union_that_are_alike_without_their_classes_are_told_apart():
    for name, codec in codecs(Mixed, "json", "msgpack", "protobuf", "flatbuffers", "capnp").items():
        for part in PARTS:
            value = Mixed.model_construct(part=part, parts=[Thing(Item(itemId=1)), Thing(Other(note="x"))])
            data = codec.encode(value)
            back = codec.decode(data)
            assert back == value, name
            assert type(back.part) is type(part), name
            if "view" in codec.info.operations:
                assert zcser.equal(zcser.to_value(codec.view(data)), value), name


def test_constraints_and_paths():
    codec = zcser.codec("json", Order)
    message = json.loads(codec.encode(order()))
    with pytest.raises(DecodeError, match="greater than 0") as decoding:
        codec.decode(json.dumps(message | {"best": -1.0}).encode())
    assert decoding.value.path == "/best"
    with pytest.raises(EncodeError, match="str is needed") as encoding:
        codec.encode(order().model_copy(update={"tags": Tags.model_construct(root=["a", 1])}))
    assert encoding.value.path == "/tags/root/1"
    with pytest.raises(EncodeError, match="Tags is needed, not list"):
        codec.encode(order().model_copy(update={"tags": ["a"]}))


def test_without_its_class_a_root_model_is_a_dict_of_its_root():
    text = zcser.emit_schema(Order)
    theirs = order().model_dump_json(by_alias=True).encode()
    plain = zcser.codec("json", zcser.load_schema(text))
    value = plain.decode(theirs)
    assert value["tags"] == {"root": ["a", "b"]}
    assert json.loads(plain.encode(value)) == json.loads(theirs)
    for wrong in ({"root": ["a"], "more": 1}, {}, ["a"]):
        with pytest.raises(EncodeError):
            plain.encode(value | {"tags": wrong})
    classes = {record.name: record.cls for record in schema_of(Order).records if record.cls is not None}
    assert zcser.load_schema(text, classes=classes) == schema_of(Order)


class Endless(pydantic.RootModel["int | list[Endless]"]):
    pass


def test_what_no_message_can_tell_is_refused_with_its_class():
    with pytest.raises(SchemaError, match=r"Endless stands as its root and holds itself.*BaseModel"):
        schema_of(Endless)
    with pytest.raises(SchemaError, match="two kinds of None: Maybe stands as its root, which may be None"):
        schema_of(Maybe | None)
    with pytest.raises(SchemaError, match="Tags stands as its root: list of str has no fixed length; give it one"):
        zcser.codec("header", Tags)
    with pytest.raises(SchemaError, match="a transparent record has one field"):
        Record("R", (Field("a", Int(), 1), Field("b", Float(), 2)), transparent=True)


def test_a_root_is_no_level_of_nesting():
    codec = zcser.codec("json", Trees)
    trees = Trees([])
    for _ in range(49):
        trees = Trees([Tree(name="a", below=trees)])
    # 50 lists and the 49 records between them, of 100 levels.
    assert zcser.normal(Trees, trees) is trees
    assert codec.decode(codec.encode(trees)) == trees
    trees = Trees([Tree(name="a", below=trees)])
    for refuse in (codec.encode, lambda value: zcser.normal(Trees, value)):
        with pytest.raises(EncodeError, match="nested deeper than 100"):
            refuse(trees)
