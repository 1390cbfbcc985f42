"""Messages of others: what protobuf's own classes of their schemas read in them, the codec reads too.

The codec's schema is made from the descriptor of protoc's class, field by field; what zcser has no type for (fixed and
zigzag integers, groups) is left out, and is an unknown field then.
"""

from __future__ import annotations

import functools
import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.laws import assert_same, parts
from tests.conformance.strategies import plain
from tests.conftest import SHARED_DATA
from zcser.codecs.protobuf import ProtobufCodec
from zcser.core.buffers import address
from zcser.core.options import Options
from zcser.core.view import to_value
from zcser.schema.model import Bool, Bytes, Field, Float, Int, List, Record, Ref, Schema, Str, Type

GOOGLE = SHARED_DATA / "proto" / "google_bench"
DATASETS = "benchmarks/datasets"
FILES = {
    "google_message1_proto2": (GOOGLE, f"{DATASETS}/google_message1/proto2/benchmark_message1_proto2.proto"),
    "google_message1_proto3": (GOOGLE, f"{DATASETS}/google_message1/proto3/benchmark_message1_proto3.proto"),
    "google_message2": (GOOGLE, f"{DATASETS}/google_message2/benchmark_message2.proto"),
    "dataset": (GOOGLE, "benchmarks/benchmarks.proto"),
    "gtfs": (SHARED_DATA / "proto" / "gtfs_rt", "gtfs-realtime.proto"),
    "onnx": (SHARED_DATA / "onnx" / "schema", "onnx/onnx-ml.proto"),
}

_SCALARS: dict[int, Type] = {
    1: Float(64), 2: Float(32), 3: Int(64), 4: Int(64, signed=False), 5: Int(32), 8: Bool(), 9: Str(), 12: Bytes(),
    13: Int(32, signed=False), 14: Int(32),
}  # fmt: skip
_MESSAGE = 11


def is_many(field: Any) -> bool:
    return bool(field.is_repeated)


@functools.cache
def module(name: str, folder: Path) -> Any:
    """What protoc makes of a file."""
    pytest.importorskip("grpc_tools")
    root, path = FILES[name]
    if not root.is_dir():
        pytest.skip("the shared data is not beside this checkout")
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{root}", f"--python_out={folder}", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(path.removesuffix(".proto").replace("/", ".").replace("-", "_") + "_pb2")
    finally:
        sys.path.remove(str(folder))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("real")


def spoken(descriptor: Any) -> list[Any]:
    """The fields of a message that zcser has types for."""
    return [field for field in descriptor.fields if field.type in _SCALARS or field.type == _MESSAGE]


def schema_of_descriptor(root: Any) -> Schema:
    records: dict[str, Record] = {}
    pending = [root]
    while pending:
        descriptor = pending.pop()
        if descriptor.full_name in records:
            continue
        fields = []
        for field in spoken(descriptor):
            type_ = _SCALARS.get(field.type) or Ref(field.message_type.full_name)
            if field.type == _MESSAGE:
                pending.append(field.message_type)
            many = is_many(field)
            required = not field.has_presence
            fields.append(Field(field.name, List(type_) if many else type_, field.number, required=required))
        records[descriptor.full_name] = Record(descriptor.full_name, tuple(fields))
    return Schema(Ref(root.full_name), tuple(records.values()))


def value_of(message: Any) -> dict[str, Any]:
    """What the reference reads, as the codec gives it."""
    found: dict[str, Any] = {}
    for field in spoken(message.DESCRIPTOR):
        held = getattr(message, field.name)
        if is_many(field):
            found[field.name] = [value_of(item) for item in held] if field.type == _MESSAGE else list(held)
        elif not field.has_presence or message.HasField(field.name):
            found[field.name] = value_of(held) if field.type == _MESSAGE else held
    return found


def assert_read_alike(cls: Any, messages: list[bytes]) -> None:
    codec = ProtobufCodec(schema_of_descriptor(cls.DESCRIPTOR), Options())
    assert messages
    for data in messages:
        expected = value_of(cls.FromString(data))
        assert_same(codec.decode(data), expected)
        assert_same(to_value(codec.view(data)), expected)
        borrowed = codec.decode(data, copy=False)
        assert_same(plain(borrowed), expected)
        for part in parts(borrowed):
            if isinstance(part, memoryview) and part.nbytes:
                assert address(data) <= address(part) < address(data) + len(data)
        # Written again, it is what the reference writes of the fields that were read.
        again = cls.FromString(codec.encode(expected))
        assert_same(value_of(again), expected)
        assert b"".join(codec.encode_segments(expected)) == codec.encode(expected)


@pytest.mark.parametrize(
    ("name", "cls"),
    [
        ("google_message1_proto2", "GoogleMessage1"),
        ("google_message1_proto3", "GoogleMessage1"),
        ("google_message2", "GoogleMessage2"),
    ],
)
def test_googles_benchmark_messages(name, cls, folder):
    reference = getattr(module(name, folder), cls)
    root, path = FILES[name]
    data = (root / path).parent / f"dataset.{name}.pb"
    dataset = module("dataset", folder).BenchmarkDataset
    assert_read_alike(dataset, [data.read_bytes()])
    assert_read_alike(reference, list(dataset.FromString(data.read_bytes()).payload))


def test_feeds_of_gtfs_realtime(folder):
    feed = module("gtfs", folder).FeedMessage
    root, _ = FILES["gtfs"]
    whole = [path.read_bytes() for path in sorted(root.glob("*.pb")) if path.name[0] in "at"]
    assert_read_alike(feed, whole)


def test_tensors_and_models_of_onnx(folder):
    onnx = module("onnx", folder)
    node = SHARED_DATA / "onnx" / "node"
    tensors = [
        path for path in sorted(node.glob("*put_?.pb")) if not {"sequence", "optional"} & set(path.name.split("_"))
    ]
    assert_read_alike(onnx.TensorProto, [path.read_bytes() for path in tensors][:60])
    assert_read_alike(onnx.ModelProto, [path.read_bytes() for path in sorted(node.glob("*.onnx"))][:25])
