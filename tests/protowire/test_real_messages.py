"""Messages of other programs, read by schemas that protobuf itself declares, beside protobuf's own reading of them."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

pytest.importorskip("google.protobuf")
pytest.importorskip("grpc_tools")

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import FileDescriptorSet

import zcser
from tests.conftest import SHARED_DATA
from zcser.protowire.given import ProtoSchema

PROTO = SHARED_DATA / "proto"
ONNX = SHARED_DATA / "onnx"
DATASETS = PROTO / "google_bench" / "benchmarks" / "datasets"

SAVED_MODEL = """
    syntax = "proto3";
    import "tensorboard/compat/proto/meta_graph.proto";
    message SavedModel { int64 saved_model_schema_version = 1; repeated tensorboard.MetaGraphDef meta_graphs = 2; }
"""


class Source(NamedTuple):
    """A schema: what `zcser.load_proto` takes."""

    proto: Path | str
    root: str
    include: Path | None = None


SOURCES = {
    "gtfs": Source(PROTO / "gtfs_rt" / "gtfs-realtime.proto", "transit_realtime.FeedMessage"),
    "kserve": Source(PROTO / "kserve" / "open_inference_grpc.proto", "inference.ModelInferRequest"),
    "saved_model": Source(SAVED_MODEL, "SavedModel", PROTO / "tf"),
    "onnx tensor": Source(ONNX / "schema" / "onnx" / "onnx.proto", "onnx.TensorProto", ONNX / "schema"),
    "onnx model": Source(ONNX / "schema" / "onnx" / "onnx.proto", "onnx.ModelProto", ONNX / "schema"),
    "dataset": Source(PROTO / "google_bench" / "benchmarks" / "benchmarks.proto", "benchmarks.BenchmarkDataset"),
    "message1 proto2": Source(
        DATASETS / "google_message1" / "proto2" / "benchmark_message1_proto2.proto", "benchmarks.proto2.GoogleMessage1"
    ),
    "message1 proto3": Source(
        DATASETS / "google_message1" / "proto3" / "benchmark_message1_proto3.proto", "benchmarks.proto3.GoogleMessage1"
    ),
    "message2": Source(DATASETS / "google_message2" / "benchmark_message2.proto", "benchmarks.proto2.GoogleMessage2"),
}

FILES = [
    *(("gtfs", path) for path in sorted((PROTO / "gtfs_rt").glob("*.pb"))),
    *(("kserve", path) for path in sorted((SHARED_DATA / "inference" / "kserve_grpc").glob("*.pb"))),
    *(("saved_model", path) for path in sorted((PROTO / "tf" / "saved_models").glob("*saved_model.pb"))),
    *(("onnx tensor", path) for path in sorted((ONNX / "node").glob("*put_0.pb"))),
    *(("onnx model", path) for path in sorted(ONNX.glob("*/*.onnx"))),
]
# A benchmark's message is the payload of its dataset.
PAYLOADS = [
    ("message1 proto2", DATASETS / "google_message1" / "proto2" / "dataset.google_message1_proto2.pb"),
    ("message1 proto3", DATASETS / "google_message1" / "proto3" / "dataset.google_message1_proto3.pb"),
    ("message2", DATASETS / "google_message2" / "dataset.google_message2.pb"),
]


@functools.cache
def loaded(name: str) -> tuple[ProtoSchema, Any, Any]:
    """The schema, its codec, and protobuf's own class, from the descriptors alone."""
    source = SOURCES[name]
    include = [] if source.include is None else [source.include]
    schema = zcser.load_proto(source.proto, include=include, root=source.root)
    pool = descriptor_pool.DescriptorPool()
    for file in FileDescriptorSet.FromString(schema.descriptor_set).file:
        pool.Add(file)
    own = message_factory.GetMessageClass(pool.FindMessageTypeByName(source.root))
    return schema, zcser.codec("protobuf", schema), own


def plain(message: Any) -> dict[str, Any]:
    """What a message holds, as protobuf gives it."""
    return {item.name: plain_field(message, item) for item in message.DESCRIPTOR.fields}


def plain_field(message: Any, item: Any) -> Any:
    held = getattr(message, item.name)
    if item.message_type is not None and item.message_type.GetOptions().map_entry:
        is_message = item.message_type.fields_by_name["value"].message_type is not None
        return {key: plain(value) if is_message else value for key, value in held.items()}
    if item.is_repeated:
        return [plain(one) for one in held] if item.message_type is not None else list(held)
    if may_be_none(item) and not message.HasField(item.name):
        return None
    return plain(held) if item.message_type is not None else held


def may_be_none(item: Any) -> bool:
    return item.has_presence and (not item.has_default_value or item.containing_oneof is not None)


def check(name: str, data: bytes) -> None:
    schema, codec, own = loaded(name)
    reference = own.FromString(data)
    expected = plain(reference)
    value = codec.decode(data)
    assert zcser.equal(value, expected)
    assert zcser.equal(zcser.to_value(codec.view(data)), expected)
    assert zcser.equal(plain(own.FromString(codec.encode(value))), expected)
    assert zcser.equal(codec.decode_segments(codec.encode_segments(value)), expected)
    assert zcser.equal(zcser.normal(schema, expected), expected)


@pytest.mark.parametrize(("name", "path"), [pytest.param(name, path, id=path.name) for name, path in FILES])
def test_a_message_of_another_program_is_read_as_protobuf_reads_it(name, path):
    check(name, path.read_bytes())


@pytest.mark.skipif(not DATASETS.is_dir(), reason="needs the shared data")
@pytest.mark.parametrize(("name", "path"), PAYLOADS)
def test_protobufs_own_benchmark_messages_are_read_as_it_reads_them(name, path):
    _, dataset, _ = loaded("dataset")
    payloads = dataset.decode(path.read_bytes())["payload"]
    assert payloads
    for payload in payloads:
        check(name, payload)


@pytest.mark.skipif(not ONNX.is_dir(), reason="needs the shared data")
def test_a_tensor_of_onnx_is_a_view_of_the_file():
    _, codec, _ = loaded("onnx tensor")
    files = [np.frombuffer(path.read_bytes(), np.uint8) for path in sorted((ONNX / "node").glob("*put_0.pb"))]
    seen = [(data, codec.view(data).raw_data) for data in files]
    shared = [np.shares_memory(np.frombuffer(raw, np.uint8), data) for data, raw in seen if raw]
    assert shared
    assert all(shared)
