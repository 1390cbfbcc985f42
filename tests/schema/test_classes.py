"""Classes of attrs, pydantic models and NamedTuples as sources of schemas."""

from __future__ import annotations

import dataclasses
import json
import pickle
import subprocess
import sys
from datetime import UTC, date, datetime
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar

import attrs
import msgspec
import pydantic
import pytest

import zcser
from zcser import registry
from zcser.core.errors import DecodeError, EncodeError, SchemaError
from zcser.schema.from_python import schema_of
from zcser.schema.model import MISSING, Field, Float, Int, List, Logical, Optional, Record, Str

T = TypeVar("T")


class Point(NamedTuple):
    """A place."""

    x: int
    y: float = 0.5


@attrs.define
class Plain:
    a: int = attrs.field(validator=attrs.validators.gt(0))
    b: str = "b"
    c: list[int] = attrs.Factory(list)


@attrs.frozen(kw_only=True)
class Private:
    _a: int
    point: Point = Point(1)  # noqa: RUF009 - immutable
    d: int = attrs.Factory(lambda self: self._a, takes_self=True)


class Inner(pydantic.BaseModel):
    kind: Literal["inner"] = "inner"
    size: Annotated[int, pydantic.Field(gt=0), Int(16)]


class Model(pydantic.BaseModel):
    """A model.

    With more to say.
    """

    full_name: str = pydantic.Field(alias="fullName")
    read: int = pydantic.Field(3, validation_alias="readOnly")
    chosen: int = pydantic.Field(4, validation_alias=pydantic.AliasChoices("one", "two"))
    inner: Inner
    many: list[Inner] = []
    when: pydantic.AwareDatetime | None = None
    day: pydantic.PastDate | None = None


class Box(pydantic.BaseModel, Generic[T]):
    item: T


class Open(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")

    a: int


class Stripped(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, str_strip_whitespace=True)

    a: str
    _secret: int = pydantic.PrivateAttr(5)


def test_named_tuples_are_records_with_defaults():
    (record,) = schema_of(Point).records
    assert record == Record("Point", (Field("x", Int(), 1), Field("y", Float(), 2)))
    assert (record.cls, record.doc, record.by_name["y"].default) == (Point, "A place.", 0.5)


def test_classes_of_attrs_are_records_with_defaults():
    (record,) = schema_of(Plain).records
    assert record == Record("Plain", (Field("a", Int(), 1), Field("b", Str(), 2), Field("c", List(Int()), 3)))
    assert record.by_name["b"].default == "b"
    assert record.by_name["c"].make_default() == []
    private = schema_of(Private).record("Private")
    assert [item.name for item in private.fields] == ["_a", "point", "d"]
    assert not private.by_name["d"].has_default


def test_pydantic_models_are_records_with_widths_and_defaults():
    schema = schema_of(Model)
    record = schema.record("Model")
    assert record.doc == "A model."
    assert record.by_name["when"].type == Optional(Logical("datetime_utc"))
    assert record.by_name["day"].type == Optional(Logical("date"))
    assert schema.record("Inner").by_name["size"] == Field("size", Int(16), 2)
    assert record.by_name["many"].make_default() == []
    assert record.by_name["full_name"].default is MISSING
    assert schema_of(Box[int]).records[0].by_name["item"].type == Int()
    assert schema_of(Box[datetime]).records[0].by_name["item"].type == Logical("datetime")


def test_schemas_of_all_classes_are_pickled():
    for cls in (Point, Plain, Private, Model):
        schema = schema_of(cls)
        again = pickle.loads(pickle.dumps(schema))
        assert again == schema
        assert [item.default for item in again.records[0].fields] == [item.default for item in schema.records[0].fields]


def model(**changes: Any) -> Model:
    return Model(
        **{"fullName": "Ada", "inner": Inner(size=1), "many": [Inner(size=2)], "when": datetime(2026, 1, 2, tzinfo=UTC)}
        | changes
    )


VALUES = [
    Point(3, 1.5),
    Plain(1),
    Plain(2, "c", [1]),
    Private(a=1, d=3),
    model(),
    model(day=date(2020, 1, 1)),
    Stripped(a="x"),
    Box[Point](item=Point(1)),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_of_all_classes_come_back_by_every_codec(value):
    for name, info in registry.available().items():
        if not hasattr(info, "operations") or "encode" not in info.operations:
            continue
        if name in {"header", "kserve"} and zcser.check(name, type(value)):
            continue  # nothing of fixed size, or no tensor
        options = {"allow_untrusted_code": True} if info.trusted_only else {}
        codec = zcser.codec(name, type(value), **options)
        data = codec.encode(value)
        found = codec.decode(data)
        assert type(found) is type(value)
        assert found == value
        assert zcser.equal(found, value)
        if "view" in codec.info.operations:
            assert zcser.equal(zcser.to_value(codec.view(data)), value)
        for field in codec.schema.records[0].fields:
            assert zcser.equal(zcser.at(found, (field.name,)), getattr(value, field.name))


class Renamed(msgspec.Struct, rename="camel"):
    first_name: str
    kind: int = msgspec.field(default=3, name="type")
    inner: Renamed | None = None


def test_a_struct_that_renames_fields_is_written_and_read_as_msgspec_does():
    value = Renamed("Ada", inner=Renamed("Bob", kind=4))
    codec = zcser.codec("json", Renamed)
    theirs = msgspec.json.encode(value)
    assert codec.encode(value) == theirs
    assert codec.decode(theirs) == value
    view = zcser.codec("flatbuffers", Renamed).view(zcser.codec("flatbuffers", Renamed).encode(value))
    assert view.inner.first_name == "Bob"
    with pytest.raises(DecodeError, match="firstName"):
        codec.decode(b'{"first_name": "Ada"}')


def test_a_model_is_written_and_read_as_pydantic_does_by_alias():
    codec = zcser.codec("json", Model)
    theirs = model().model_dump_json(by_alias=True, exclude={"read", "chosen"})
    # 'readOnly' is what validation calls the field, and it is what both directions have here.
    assert json.loads(codec.encode(model())) == json.loads(theirs.replace("00Z", "00+00:00")) | {
        "readOnly": 3,
        "chosen": 4,
    }
    assert codec.decode(theirs.encode()) == model()
    view = zcser.codec("flatbuffers", Model).view(zcser.codec("flatbuffers", Model).encode(model()))
    assert view.full_name == "Ada"


def test_constraints_hold_of_what_is_decoded():
    with pytest.raises(DecodeError, match="greater than 0") as caught:
        zcser.codec("json", Model).decode(b'{"fullName": "", "inner": {"size": 1}, "many": [{"size": 1}, {"size": 0}]}')
    assert caught.value.path == "/many/1/size"
    with pytest.raises(DecodeError, match="refuse"):
        zcser.codec("json", Plain).decode(b'{"a": -1}')


def test_fields_that_a_message_lacks_have_their_defaults():
    found = zcser.codec("json", Model).decode(b'{"fullName": "Ada", "inner": {"size": 1}}')
    assert found == Model(fullName="Ada", inner=Inner(size=1))
    with pytest.raises(DecodeError) as caught:
        zcser.codec("json", Model).decode(b'{"inner": {"size": 1}}')
    assert "fullName" in str(caught.value)

    @dataclasses.dataclass
    class Old:
        a: int

    @dataclasses.dataclass
    class New:
        a: int
        day: date = date(2026, 1, 2)
        days: set[date] = dataclasses.field(default_factory=lambda: {date(2026, 1, 2)})

    for name in ("json", "msgpack", "protobuf", "flatbuffers", "flatbuffers-official"):
        data = zcser.codec(name, Old).encode(Old(1))
        # protobuf cannot tell a list that is missing from an empty one.
        assert zcser.codec(name, New).decode(data) == (New(1, days=set()) if name == "protobuf" else New(1))


def test_paths_and_reasons_of_refused_values_name_the_attributes():
    bad = model()
    bad.inner.size = 70_000
    bad.full_name = "\udc80"
    for name in ("json", "msgpack", "protobuf", "flatbuffers"):
        with pytest.raises(EncodeError, match="surrogate") as caught:
            zcser.codec(name, Model).encode(bad)
        assert caught.value.path == "/full_name"
        bad_size = model(inner=Inner.model_construct(size=70_000))
        with pytest.raises(EncodeError, match="int16") as caught:
            zcser.codec(name, Model).encode(bad_size)
        assert caught.value.path == "/inner/size"
    with pytest.raises(EncodeError, match="Model is needed, not dict"):
        zcser.codec("json", Model).encode({"fullName": "Ada"})


def test_extra_fields_of_a_model_would_be_lost():
    codec = zcser.codec("json", Open)
    assert codec.decode(codec.encode(Open(a=1))) == Open(a=1)
    with pytest.raises(EncodeError, match="'b' is not a field of Open"):
        codec.encode(Open(a=1, b=2))


class Blob(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(strict=True)

    data: bytes
    parts: dict[str, list[bytes]]


def test_a_model_without_copies_still_has_bytes():
    blob = Blob(data=b"x" * 5000, parts={"a": [b"y" * 5000]})
    for name in ("json", "msgpack", "protobuf", "flatbuffers"):
        codec = zcser.codec(name, Blob)
        assert codec.decode(codec.encode(blob), copy=False) == blob


def test_all_that_a_codec_refuses_of_a_model_has_the_fields_own_path():
    class Large(pydantic.BaseModel):
        a: Annotated[int, Int(None)] = pydantic.Field(alias="A/1")
        b: Annotated[int, Int(None)] = pydantic.Field(alias="B")

    assert [refusal.path for refusal in zcser.check("msgpack", Large)] == ["Large/a", "Large/b"]


REFUSED: dict[str, tuple[Any, str, str]] = {
    "base64": (pydantic.create_model("Made", a=(pydantic.Base64Bytes, ...)), "changes a value", "Made/a"),
    "init=False": (attrs.make_class("Made", {"a": attrs.field(type=int, init=False)}), "init", "Made/a"),
    "no annotation": (attrs.make_class("Made", {"a": attrs.field()}), "annotation", "Made/a"),
    "another class": (pydantic.create_model("Made", a=(pydantic.SecretStr, ...)), "SecretStr", "Made/a"),
    "type of another class": (
        pydantic.create_model("Made", a=(date, ...), b=(Annotated[int, Logical("date")], ...)),
        "kind",
        "Made/b",
    ),
    "wrong value type": (Annotated[date, Logical("uuid")], "another kind", ""),
    "zone of a date": (Annotated[date, msgspec.Meta(tz=True)], "datetime", ""),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_come_back_is_a_schema_error_with_its_path(case):
    hint, word, path = REFUSED[case]
    with pytest.raises(SchemaError, match=word) as caught:
        schema_of(hint)
    assert (caught.value.path or "") == path


def test_no_library_of_classes_is_imported_for_a_dataclass():
    code = (
        "import sys, dataclasses, datetime, zcser\n"
        "@dataclasses.dataclass\nclass A:\n    a: datetime.date\n"
        "codec = zcser.codec('json', A)\n"
        "assert codec.decode(codec.encode(A(datetime.date(2026, 1, 2)))) == A(datetime.date(2026, 1, 2))\n"
        "print([name for name in ('attr', 'attrs', 'pydantic', 'msgspec', 'google.protobuf') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
