"""What the command line reads: files with a schema beside them, several of them, and how far the reading is."""

from __future__ import annotations

import io
import json
import pickle
from typing import Annotated

import msgspec
import pydantic
import pytest

import zcser
from zcser.cli import main
from zcser.cli.reading import Reading
from zcser.payloads.sources.schemas import load
from zcser.schema.annotations import Alias

PROTO = 'syntax = "proto3"; message Point { int32 x = 1; }'


@pytest.fixture
def points(tmp_path):
    pytest.importorskip("grpc_tools")
    (tmp_path / "point.proto").write_text(PROTO)
    for number in range(2):
        (tmp_path / f"{number}.pb").write_bytes(bytes([8, number + 1]))
    return tmp_path


def test_schema_and_check_take_messages_with_their_schema_and_the_schema_alone(points, capsys):
    with_data = ["--schema", f"{points}/point.proto:Point", f"{points}/0.pb", f"{points}/1.pb"]
    assert main(["schema", *with_data]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("root Point ")
    assert main(["schema", f"{points}/point.proto"]) == 0
    assert capsys.readouterr().out == printed
    assert main(["check", *with_data]) == 0
    assert "0.pb and 1 more" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["compare", "--schema", "a.proto"], "built-in payloads have schemas of their own"),
        (["compare", "0.pb"], "0.pb: a .pb file needs its schema: --schema FILE.proto:Message"),
        (
            ["compare", "point.proto"],
            "point.proto: this is a schema; messages of it are read with --schema point.proto",
        ),
        (["compare", "--schema", "none.proto", "0.pb"], "none.proto: there is no such file"),
        (["compare", "--schema", "point.proto", "none.pb"], "none.pb: there is no such file"),
        (["compare", "--delimited", "json:loads"], "json:loads: a function stands alone"),
        (["compare", "--include", ".", "a.json"], "--include is for the --schema, and there is none"),
        (["schema", "--delimited", "--schema", "point.proto", "a.json"], "a.json: --delimited is for binary messages"),
        (["schema", "empty"], "empty: this is a directory without a file of data"),
    ],
)
def test_what_cannot_be_read_is_one_line(points, monkeypatch, capsys, arguments, words):
    (points / "a.json").write_text("{}")
    (points / "empty").mkdir()
    monkeypatch.chdir(points)
    assert main(arguments) == 2
    line, rest = capsys.readouterr().err.split("\n", 1)
    assert line.startswith("zcser: ")
    assert words in line
    assert not rest


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_what_is_read_at_once_is_not_told():
    stream = io.StringIO()
    reading = Reading("a.pb", stream)
    reading(0, 0, 1000)
    reading(1, 1000, 1000)
    reading.clear()
    assert stream.getvalue() == ""


def test_a_large_file_is_told_before_it_is_read():
    stream = io.StringIO()
    Reading("a\n.pb", stream)(0, 0, 100_000_000)
    assert stream.getvalue() == "zcser: reading a .pb (100 MB)\n"


def test_a_long_reading_is_told_now_and_then():
    clock = iter([0.0, 0.5, 1.5, 2.0, 7.0])
    stream = io.StringIO()
    reading = Reading("a.pbs", stream, clock.__next__)
    for count in range(1, 5):
        reading(count, count * 20_000, 100_000)
    assert stream.getvalue().splitlines() == [
        "zcser: reading a.pbs (100 kB): 2 messages so far, 40.0 kB",
        "zcser: reading a.pbs (100 kB): 4 messages so far, 80.0 kB",
    ]


def test_on_a_terminal_nothing_is_left():
    stream = Terminal()
    reading = Reading("a.pbs", stream)
    reading(0, 0, 100_000_000)
    reading.clear()
    assert stream.getvalue().rsplit("\r", 2)[1].isspace()


class Words(pydantic.RootModel[list[str]]):
    pass


class Named(pydantic.BaseModel):
    full_name: str = pydantic.Field(alias="fullName")
    words: Words


class Tagged(msgspec.Struct, tag=True, rename="camel"):
    full_name: str
    some_words: Annotated[list[str], Alias("words")] = []


def test_a_document_of_renamed_fields_reads_what_the_library_of_the_class_writes(tmp_path, capsys):
    data, document = tmp_path / "named.jsonl", tmp_path / "named.json"
    data.write_text(Named(fullName="Ada", words=Words(["a"])).model_dump_json(by_alias=True) + "\n")
    assert main(["schema", f"{__name__}:Named", "--emit", "zcser"]) == 0
    document.write_text(capsys.readouterr().out)
    for schema in (f"{__name__}:Named", str(document)):
        assert main(["check", "--schema", schema, str(data)]) == 0
    capsys.readouterr()
    assert main(["schema", "--schema", str(document)]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["id", "field", "in", "messages", "type", "presence"] in rows
    assert ["1", "full_name", "fullName", "str", "required"] in rows
    assert main(["schema", "--schema", str(document), "--emit", "jsonschema"]) == 0
    assert json.loads(capsys.readouterr().out)["$defs"]["Words"] == {"type": "array", "items": {"type": "string"}}


def test_what_a_struct_says_of_its_layout_is_said_to_be_unused(tmp_path, capsys):
    data = tmp_path / "tagged.jsonl"
    data.write_bytes(msgspec.json.encode(Tagged("Ada")) + b"\n")
    assert main(["schema", f"{__name__}:Tagged"]) == 0
    assert '  Tagged: the tag "type": "Tagged" of msgspec is not written or read; ' in capsys.readouterr().out
    assert main(["check", "--schema", f"{__name__}:Tagged", str(data)]) == 2
    assert "zcser schema says what of its class's layout is not read" in capsys.readouterr().err


class Circle(msgspec.Struct, tag="circle"):
    r: float


class Square(msgspec.Struct, tag="square", rename="camel"):
    side_length: float


class Drawing(msgspec.Struct):
    shapes: list[Circle | Square]


def test_a_document_with_unions_of_records_is_taken_back_and_its_values_travel(tmp_path, capsys):
    data, document = tmp_path / "drawing.json", tmp_path / "schema.json"
    text = b'{"shapes":[{"Circle":{"r":1.0}},{"Square":{"sideLength":2.0}}]}'
    assert zcser.codec("json", Drawing).encode(Drawing([Circle(1.0), Square(2.0)])) == text
    data.write_bytes(text)
    document.write_text(zcser.emit_schema(Drawing))
    assert main(["check", "--schema", str(document), str(data)]) == 0
    assert "header refuses" in capsys.readouterr().out
    schema = load(str(document))
    value = zcser.codec("json", schema).decode(text)
    assert [type(shape).__name__ for shape in value["shapes"]] == ["Circle", "Square"]
    again, of_worker = pickle.loads(pickle.dumps((value, schema)))
    assert again == value
    for name in ("json", "protobuf", "flatbuffers"):
        codec = zcser.codec(name, of_worker)
        assert codec.decode(codec.encode(again)) == value
    # Names that no class can have leave the record a dict, and the reader says what is wrong.
    document.write_text(zcser.emit_schema(Drawing).replace('"side_length"', '"side length"'))
    assert main(["schema", "--schema", str(document)]) == 0
    for wrong in ({"records": 5}, {"records": {"Circle": 5, "Square": {"fields": [5]}}}):
        document.write_text(json.dumps(json.loads(zcser.emit_schema(Drawing)) | wrong))
        assert main(["schema", "--schema", str(document)]) == 2
