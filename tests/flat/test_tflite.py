"""TensorFlow Lite models: whole and at once what the official runtime reads of them part by part, on both engines."""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tests.conftest import SHARED_DATA
from tests.flat.flatc import flatc
from tests.flat.flatc_json import BACKENDS, engine_of, schema_of
from zcser.flat.reflection import BaseType, ObjectDef, SchemaDef

TFLITE = SHARED_DATA / "flatbuffers" / "tflite"
MODELS = sorted(TFLITE.glob("*.tflite"))


@pytest.fixture(scope="module")
def official(tmp_path_factory) -> Any:
    """What the official runtime reads of a model, with the classes that flatc makes of TensorFlow Lite's schema."""
    pytest.importorskip("flatbuffers")
    made = tmp_path_factory.mktemp("tflite")
    flatc(made, "--python", "--gen-object-api", "--gen-onefile", TFLITE / "schema.fbs")
    (path,) = made.glob("*.py")
    spec = importlib.util.spec_from_file_location("tflite_schema_generated", path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    # Both engines read the same model, and are to write the same bytes of it.
    yield functools.cache(lambda message: module.ModelT.InitFromObj(module.Model.GetRootAs(message)))
    del sys.modules[spec.name]


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in rest)


def differences(content: SchemaDef, of: ObjectDef, theirs: Any, ours: Any, path: str) -> Iterator[str]:
    """Where an object of the official classes is not what we read."""
    if theirs is None or ours is None:
        if (theirs is None) is not (ours is None):
            yield f"{path}: {theirs} {ours}"
        return
    for item in of.fields:
        if item.deprecated or BaseType.UTYPE in (item.type.base_type, item.type.element):
            continue
        their, our, type_, where = getattr(theirs, camel(item.name)), ours[item.name], item.type, f"{path}/{item.name}"
        if type_.base_type == BaseType.OBJECT:
            yield from differences(content, content.objects[type_.index], their, our, where)
        elif type_.base_type == BaseType.UNION:
            number = getattr(theirs, camel(f"{item.name}_type"))
            if number == 0:
                if our is not None:
                    yield f"{where}: NONE {our}"
                continue
            (member,) = (member for member in content.enums[type_.index].values if member.value == number)
            if list(our) != [member.name]:
                yield f"{where}: {member.name} {list(our)}"
            yield from differences(content, content.objects[member.union_type.index], their, our[member.name], where)
        elif type_.base_type == BaseType.VECTOR and type_.element == BaseType.OBJECT and their is not None:
            if len(their) != len(our):
                yield f"{where}: {len(their)} {len(our)} items"
            for number, (one, other) in enumerate(zip(their, our, strict=True)):
                yield from differences(content, content.objects[type_.index], one, other, f"{where}/{number}")
        elif plain(their) != plain(our):
            yield f"{where}: {their!r} {our!r}"


def plain(value: Any) -> Any:
    """The official object API has bytes for strings and arrays for vectors."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, str):
        value = value.encode()
    return list(map(plain, value)) if isinstance(value, Sequence) else value


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_models_are_what_the_official_runtime_reads(path, backend, official):
    schema = schema_of(TFLITE / "schema.fbs")
    engine = engine_of(backend, schema)
    message = path.read_bytes()
    value = engine.decode(message)
    content = schema.definition.schema
    root = next(item for item in content.objects if item.name == "tflite.Model")
    assert list(differences(content, root, official(message), value, "")) == []
    assert any(value["buffers"])

    written = engine.encode(value)
    assert list(differences(content, root, official(written), value, "")) == []
    view = engine.view(message)
    assert view["subgraphs"][0]["tensors"][0]["name"] == value["subgraphs"][0]["tensors"][0]["name"]
