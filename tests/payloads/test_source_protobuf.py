"""Messages of protobuf from files: binary, streams, JSON and text, by the schemas that people have."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

pytest.importorskip("google.protobuf")
pytest.importorskip("grpc_tools")

from google.protobuf import descriptor_pool, json_format, message_factory
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.proto import serialize_length_prefixed

import zcser
from tests.protowire.test_real_messages import plain
from zcser.core.fidelity import equal
from zcser.payloads import from_source
from zcser.payloads.base import PayloadError
from zcser.payloads.sources.schemas import load
from zcser.schema.model import Ref

TEXT = """
    syntax = "proto3";
    package p;
    message Part { int32 number = 1; repeated string words = 2; }
    message Whole { Part part = 1; map<string, int64> counts = 2; optional bytes data = 3; double ratio = 4; }
"""
EMPTY = {"part": None, "counts": {}, "data": None, "ratio": 0.0}


@pytest.fixture
def proto(tmp_path):
    path = tmp_path / "whole.proto"
    path.write_text(TEXT)
    return path


def own(schema):
    pool = descriptor_pool.DescriptorPool()
    for file in FileDescriptorSet.FromString(schema.descriptor_set).file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(schema.root.name))


def stream(messages):
    out = io.BytesIO()
    for message in messages:
        serialize_length_prefixed(message, out)
    return out.getvalue()


def test_real_feeds_are_read_as_protobuf_reads_them(shared_data):
    folder = shared_data / "proto" / "gtfs_rt"
    schema = load(f"{folder}/gtfs-realtime.proto:FeedMessage")
    for path in sorted(folder.glob("*.pb")):
        assert equal(from_source(str(path), schema=schema).make(0), plain(own(schema).FromString(path.read_bytes())))
    for path in folder.glob("*.asciipb"):
        binary = from_source(str(path.with_suffix(".pb")), schema=schema)
        assert equal(from_source(str(path), schema=schema).make(0), binary.make(0))


def test_a_folder_of_messages_is_a_sample(shared_data):
    schema = load(f"{shared_data}/proto/kserve/open_inference_grpc.proto:ModelInferRequest")
    folder = shared_data / "inference" / "kserve_grpc"
    payload = from_source(str(folder), schema=schema)
    assert payload.distinct == len(list(folder.iterdir())) == 4
    assert {payload.make(number)["model_name"] for number in range(4)} == {
        own(schema).FromString(path.read_bytes()).model_name for path in folder.iterdir()
    }


@pytest.mark.parametrize("suffix", [".desc", ".binpb"])
def test_a_descriptor_set_and_generated_code_are_the_same_schema(proto, tmp_path, monkeypatch, suffix):
    given = load(f"{proto}:Whole")
    compiled = tmp_path / f"set{suffix}"
    compiled.write_bytes(given.descriptor_set)
    assert load(f"{compiled}:p.Whole").fingerprint == load(str(compiled)).fingerprint == given.fingerprint
    from grpc_tools import protoc

    assert protoc.main(["", f"-I{tmp_path}", f"--python_out={tmp_path}", str(proto)]) == 0
    generated = f"from_{suffix[1:]}_pb2"
    (tmp_path / "whole_pb2.py").rename(tmp_path / f"{generated}.py")
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        for text in (f"{generated}:Whole", generated):
            assert load(text).fingerprint == given.fingerprint
        message = sys.modules[generated].Whole(data=b"x")
        (tmp_path / "one.bin").write_bytes(message.SerializeToString())
        value = from_source(str(tmp_path / "one.bin"), schema=load(f"{generated}:Whole")).make(0)
        assert value == EMPTY | {"data": b"x"}
    finally:
        sys.modules.pop(generated, None)


def test_messages_that_a_function_makes_are_given_to_all_codecs_as_dicts(tmp_path, monkeypatch):
    lines = [
        "from google.protobuf.source_context_pb2 import SourceContext",
        "from google.protobuf.duration_pb2 import Duration",
        "def several(): return [SourceContext(file_name='a'), SourceContext(file_name='b')]",
        "def mixed(): return [SourceContext(file_name='a'), Duration(seconds=1)]",
    ]
    (tmp_path / "makes_messages.py").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(str(tmp_path))
    payload = from_source("makes_messages:several")
    assert payload.schema.root == Ref("google.protobuf.SourceContext")
    assert [payload.make(number) for number in range(2)] == [{"file_name": "a"}, {"file_name": "b"}]
    with pytest.raises(PayloadError, match=r"several classes \(Duration, SourceContext\)"):
        from_source("makes_messages:mixed")


def test_a_stream_is_what_protobuf_wrote(proto, tmp_path):
    schema = load(f"{proto}:Whole")
    messages = [own(schema)(ratio=number, counts={"n" * number: number}) for number in range(300)]
    path = tmp_path / "traffic.pbs"
    path.write_bytes(stream(messages))
    payload = from_source(str(path), schema=schema)
    assert payload.distinct == 64
    assert payload.doc.startswith("300 messages of ")
    expected = {message.ratio: message for message in messages}
    for number in range(64):
        value = payload.make(number)
        assert equal(value, plain(expected[value["ratio"]]))
    same = tmp_path / "traffic.bin"
    same.write_bytes(path.read_bytes())
    assert from_source(str(same), schema=schema, delimited=True).make(7) == payload.make(7)


def test_an_empty_message_in_a_stream_is_a_message(proto, tmp_path):
    path = tmp_path / "two.delimited"
    path.write_bytes(b"\0\0")
    payload = from_source(str(path), schema=load(f"{proto}:Whole"))
    assert (payload.make(0), payload.distinct, payload.doc[:10]) == (EMPTY, 1, "2 messages")


def test_json_is_protobufs_own(proto, tmp_path):
    schema = load(f"{proto}:Whole")
    message = own(schema)(part={"number": 3, "words": ["é"]}, counts={"a": 1 << 60}, data=b"\0\xff", ratio=float("nan"))
    path = tmp_path / "one.json"
    path.write_text(json_format.MessageToJson(message))
    assert equal(from_source(str(path), schema=schema).make(0), plain(message))
    lines = tmp_path / "many.jsonl"
    lines.write_text('{"ratio": 1.5}\n\n{"part": {"number": "7"}}\n')
    payload = from_source(str(lines), schema=schema)
    assert payload.make(1)["part"] == {"number": 7, "words": []}


BAD = [
    ("a.json", b'{"ratio": 1, "no": 2}', r"a\.json: .*no field named \"no\""),
    ("a.json", b'{"ratio": 1, "ratio": 2}', r"a\.json: .*duplicate"),
    ("a.jsonl", b'{"ratio": 1}\n{"ratio": "x"}', r"a\.jsonl: line 2: .*ratio"),
    ("a.json", b'{"part": {"words": "\\ud800"}}', r"a\.json: "),
    ("a.pb", b"\x0a\x05\x08", r"a\.pb: protobuf: not a protobuf message"),
    ("a.pb", b"\xff" * 40, r"a\.pb: protobuf: "),
    ("a.pbs", b"\x02\x08", r"a\.pbs: message 1 at byte 0: its length is 2 bytes, and the file has 1 left"),
    ("a.pbs", b"\0\xff\xff\xff\xff\x07", r"message 2 at byte 1: its length is 2,147,483,647 bytes, and the file has 0"),
    ("a.pbs", b"\xff" * 9, r"message 1 at byte 0: no length stands here"),
    ("a.pbs", b"\x80", r"message 1 at byte 0: no length stands here"),
    ("a.pbs", b"\x01\x0a", r"a\.pbs: message 1 at byte 0: protobuf: not a protobuf message"),
    ("a.pbs", b"", r"a\.pbs: there are no messages in it"),
    ("a.txtpb", b"ratio: x", r"a\.txtpb: .*text format: 1:8"),
    ("a.npz", b"", r"a\.npz: \.npz files bring their own schema; leave --schema out"),
]


@pytest.mark.parametrize(("name", "data", "reason"), BAD)
def test_bad_messages_are_one_line_with_file_and_place(proto, tmp_path, name, data, reason):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(PayloadError, match=reason) as caught:
        from_source(str(path), schema=load(f"{proto}:Whole"))
    assert "\n" not in str(caught.value)


def test_unknown_fields_are_dropped_and_noted(proto, tmp_path):
    path = tmp_path / "newer.pb"
    path.write_bytes(b"\x78\x01" + b"\x21" + b"\0" * 8)  # field 15, a varint, which Whole lacks; then ratio = 0
    payload = from_source(str(path), schema=load(f"{proto}:Whole"))
    assert payload.make(0) == EMPTY
    assert any(
        "1 messages hold fields unknown to the schema, which are dropped" in note for note in payload.schema.notes
    )


def test_schemas_that_cannot_be_are_one_line(proto, tmp_path):
    (tmp_path / "two.proto").write_text('syntax = "proto3"; message A {} message B {}')
    (tmp_path / "bad.desc").write_bytes(b"\xff\xff")
    for text, reason in [
        (str(tmp_path / "two.proto"), r"which message\? .*FILE:NAME in a command, takes one of A, B"),
        (f"{proto}:None", "no message is named 'None'; there are p.Part, p.Whole"),
        (str(tmp_path / "none.proto"), "there is no such file"),
        (str(tmp_path / "bad.desc"), "no FileDescriptorSet"),
        ("no_such_module:Class", "there is no module"),
        ("json:loads", "this is of type function; a class or a Schema is needed"),
        ("schema.xml", "no schema; schemas are .proto"),
    ]:
        with pytest.raises(PayloadError, match=reason) as caught:
            load(text)
        assert str(caught.value).startswith(text)
        assert "\n" not in str(caught.value)


REAL = [
    ("onnx/schema/onnx/onnx.proto:TensorProto", "onnx/schema", "onnx/node", "*put_0.pb"),
    ("onnx/schema/onnx/onnx.proto:ModelProto", "onnx/schema", "onnx/node", "*.onnx"),
    ("proto/google_bench/benchmarks/benchmarks.proto", None, "proto/google_bench/benchmarks/datasets", "*/*/*1_*.pb"),
]


@pytest.mark.parametrize(("proto", "include", "folder", "pattern"), REAL)
def test_messages_of_other_programs_are_read_as_protobuf_reads_them(shared_data, proto, include, folder, pattern):
    schema = load(f"{shared_data}/{proto}", include=[f"{shared_data}/{include}"] if include else [])
    files = sorted(map(str, (shared_data / folder).glob(pattern)))[:40]
    payload = from_source(*files, schema=schema)
    assert payload.doc.startswith(f"{len(files)} messages of ")
    whole = {own(schema).FromString(Path(file).read_bytes()).SerializeToString(deterministic=True) for file in files}
    codec = zcser.codec("protobuf", schema)
    assert {codec.encode(payload.make(number)) for number in range(payload.distinct)} == whole


def test_every_message_of_otlp_is_a_schema_by_its_file(shared_data):
    folder = shared_data / "otlp"
    for path in sorted(folder.rglob("*_service.proto")):
        name = path.stem.removesuffix("_service").capitalize()
        assert load(f"{path}:Export{name}ServiceRequest", include=[str(folder)]).records
