"""Schemas that protobuf itself declares: what each declaration becomes, and what is refused."""

from __future__ import annotations

import pickle

import pytest

pytest.importorskip("google.protobuf")
pytest.importorskip("grpc_tools")

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import FileDescriptorSet

import zcser
from tests.conftest import SHARED_DATA
from zcser.core.errors import CodecUnavailableError, DecodeError, EncodeError, SchemaError
from zcser.protowire import load

EVERY_WIDTH = """
    syntax = "proto3";
    package demo;
    message Widths {
      sint32 a = 1; sint64 b = 2; fixed32 c = 3; fixed64 d = 4; sfixed32 e = 5; sfixed64 f = 6;
      int32 g = 7; int64 h = 8; uint32 i = 9; uint64 j = 10; float k = 11; double l = 12; bool m = 13;
      string n = 14; bytes o = 15; repeated sint32 p = 16; repeated fixed64 q = 17 [packed = false];
    }
"""
WIDTHS = {
    "a": -1, "b": -(2**63), "c": 2**32 - 1, "d": 2**64 - 1, "e": -(2**31), "f": -(2**63),
    "g": -(2**31), "h": 2**63 - 1, "i": 2**32 - 1, "j": 2**64 - 1, "k": 0.5, "l": 0.1, "m": True,
    "n": "größer", "o": b"\x00\xff", "p": [1, -1, 64], "q": [7, 8],
}  # fmt: skip
# By the encoding's own rules: zigzag of -1 is 1 (08 01), of 2**63 below zero 2**64 - 1; fixed widths little-endian.
WIDTHS_HEAD = b"\x08\x01" + b"\x10" + b"\xff" * 9 + b"\x01" + b"\x1d\xff\xff\xff\xff" + b"\x21" + b"\xff" * 8

NAMES = """
    syntax = "proto3";
    message Names { int32 from = 1; map<string, int32> class = 2; string SerializeToString = 3; Names import = 4; }
"""
OLD = """
    syntax = "proto2";
    message Old {
      required int32 id = 1;
      optional int32 plain = 2;
      optional int32 many = 3 [default = 7];
      optional string word = 4 [default = "none"];
      optional Color color = 5 [default = BLUE];
      optional group Part = 6 { optional int32 size = 1; optional bytes data = 2; }
      enum Color { option allow_alias = true; RED = 0; BLUE = 3; AZURE = 3; }
    }
"""
CHOICE = """
    syntax = "proto3";
    message Choice { oneof kind { int32 number = 1; string text = 2; Choice inner = 3; } optional int32 other = 4; }
"""


def own(schema):
    """protobuf's class of the root, from the descriptors alone."""
    pool = descriptor_pool.DescriptorPool()
    for file in FileDescriptorSet.FromString(schema.descriptor_set).file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(schema.root.name))


def test_every_width_is_written_as_declared():
    schema = zcser.load_proto(EVERY_WIDTH)
    codec = zcser.codec("protobuf", schema)
    data = codec.encode(WIDTHS)
    assert data.startswith(WIDTHS_HEAD)
    assert data == own(schema)(**WIDTHS).SerializeToString(deterministic=True)
    assert codec.decode(data) == WIDTHS


def test_a_field_that_is_left_out_is_its_default():
    codec = zcser.codec("protobuf", zcser.load_proto(EVERY_WIDTH))
    value = codec.decode(codec.encode({"a": 5}))
    assert (value["a"], value["b"], value["n"], value["p"]) == (5, 0, "", [])


def test_names_that_python_cannot_read_are_the_keys_all_the_same():
    schema = zcser.load_proto(NAMES)
    codec = zcser.codec("protobuf", schema)
    inner = {"from": 2, "class": {}, "SerializeToString": "", "import": None}
    value = {"from": 1, "class": {"x": 3}, "SerializeToString": "y", "import": inner}
    data = codec.encode(value)
    assert codec.decode(data) == value
    message = own(schema).FromString(data)
    assert (getattr(message, "from"), dict(getattr(message, "class"))) == (1, {"x": 3})


def test_defaults_presence_and_groups_of_proto2():
    schema = zcser.load_proto(OLD)
    codec = zcser.codec("protobuf", schema)
    assert codec.decode(b"\x08\x05") == {
        "id": 5, "plain": None, "many": 7, "word": "none", "color": 3, "part": None
    }  # fmt: skip
    value = {"id": 0, "plain": 0, "many": 1, "word": "", "color": 0, "part": {"size": 2, "data": b"xy"}}
    data = codec.encode(value)
    assert codec.decode(data) == value
    message = own(schema).FromString(data)
    assert (message.id, message.plain, message.HasField("plain"), message.part.data) == (0, 0, True, b"xy")
    with pytest.raises(DecodeError, match="id"):
        codec.decode(b"\x10\x05")


def test_of_a_oneof_at_most_one_is_written():
    schema = zcser.load_proto(CHOICE)
    codec = zcser.codec("protobuf", schema)
    nothing = {"number": None, "text": None, "inner": None, "other": None}
    for value in (
        nothing,
        nothing | {"number": 0},
        nothing | {"text": "", "other": 1},
        nothing | {"inner": nothing | {"text": "x"}},
    ):
        data = codec.encode(value)
        assert codec.decode(data) == value
        assert own(schema).FromString(data).WhichOneof("kind") == next((k for k in value if value[k] is not None and k != "other"), None)  # fmt: skip
    with pytest.raises(EncodeError, match="of the oneof 'kind' at most one may be there: number, text, inner"):
        codec.encode(nothing | {"number": 1, "text": "x"})


def test_other_codecs_take_the_schema_and_it_pickles():
    schema = pickle.loads(pickle.dumps(zcser.load_proto(CHOICE)))
    value = {"number": 1, "text": None, "inner": None, "other": None}
    for name in ("json", "flatbuffers", "protobuf"):
        codec = zcser.codec(name, schema)
        assert codec.decode(codec.encode(value)) == value


def test_a_root_is_found_by_its_name_or_by_being_the_only_one():
    text = 'syntax = "proto3"; package a.b; message X { Y y = 1; } message Y { Z z = 1; message Z {} }'
    schema = zcser.load_proto(text)
    assert schema.root.name == "a.b.X"
    assert schema.messages == ("a.b.X", "a.b.Y", "a.b.Y.Z")
    assert schema.with_root("Z").root.name == "a.b.Y.Z"
    assert zcser.load_descriptors(bytearray(schema.descriptor_set), root="a.b.Y").root.name == "a.b.Y"


@pytest.mark.parametrize(
    ("text", "root", "words"),
    [
        ('syntax = "proto3"; message X {} message Y {}', None, "which message.*X, Y"),
        ('syntax = "proto3"; enum E { A = 0; }', None, "declares none"),
        ('syntax = "proto3"; message X {}', "Z", "no message is named 'Z'; there are X"),
        ('syntax = "proto3"; message X { message M {} } message Y { message M {} }', "M", r"'M' is X\.M and Y\.M"),
        ('syntax = "proto3"; message X { int32 a = 20000; }', None, r"field id 20000 is not in 1\.\.18999"),
        ('syntax = "proto3"; message X { int32 a = 1; int32 b = 1; }', None, "protoc refuses it"),
        (
            'syntax = "proto2"; message X { option message_set_wire_format = true; extensions 4 to max; }',
            None,
            "message sets",
        ),
        ("message {", None, "protoc refuses it"),
    ],
)
def test_what_cannot_be_is_refused_with_its_reason(text, root, words):
    with pytest.raises(SchemaError, match=words):
        zcser.load_proto(text, root=root)


def test_files_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(SchemaError, match=r"cannot read .*none\.proto"):
        zcser.load_proto(tmp_path / "none.proto")
    with pytest.raises(SchemaError, match=r"is no \.proto file"):
        zcser.load_proto(tmp_path / "schema.txt")
    with pytest.raises(SchemaError, match="no FileDescriptorSet"):
        zcser.load_descriptors(b"\xff\xff\xff")


def test_without_protoc_it_is_said_how_to_get_it(monkeypatch):
    monkeypatch.setattr(load.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(load.shutil, "which", lambda name: None)
    with pytest.raises(CodecUnavailableError, match=r"pip install 'zcser\[proto\]'"):
        zcser.load_proto(CHOICE)


def test_an_import_is_found_beside_the_file_and_in_include(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "part.proto").write_text('syntax = "proto3"; message Part { int32 x = 1; }')
    main = tmp_path / "main.proto"
    main.write_text(
        'syntax = "proto3"; import "part.proto"; import "google/protobuf/timestamp.proto";'
        "message Main { Part part = 1; google.protobuf.Timestamp at = 2; }"
    )
    schema = zcser.load_proto(main, include=[tmp_path / "lib"])
    assert [record.name for record in schema.records] == ["Main", "Part", "google.protobuf.Timestamp"]
    with pytest.raises(SchemaError, match=r"part\.proto"):
        zcser.load_proto(main)


EDGE = SHARED_DATA / "proto" / "edge"


@pytest.mark.slow
@pytest.mark.skipif(not EDGE.is_dir(), reason="needs the shared data")
@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("unittest", ("message sets", "1..18999")),
        ("test_messages_proto3", ()),
        ("map_unittest", ("message sets", "1..18999")),
    ],
)
def test_every_message_of_protobufs_own_tests_has_a_codec_or_a_known_reason(name, refused):
    path = next(EDGE.rglob(f"{name}.proto"))
    with pytest.raises(SchemaError, match="there are ") as none:
        zcser.load_proto(path, include=[EDGE], root="no such message")
    first, *others = str(none.value).partition("there are ")[2].split(", ")
    loaded = zcser.load_proto(path, include=[EDGE], root=first)
    for other in (first, *others):
        try:
            zcser.codec("protobuf", loaded.with_root(other))
        except SchemaError as error:
            assert any(words in str(error) for words in refused), (other, str(error))  # noqa: PT017 - or none is raised
