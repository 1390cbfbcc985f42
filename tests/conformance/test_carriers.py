"""The expected table of codecs and data, held in both directions: `tests/expected/carriers.toml`."""

from __future__ import annotations

import dataclasses
import functools
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.laws import INFO, assert_same, has, param, written
from tests.conftest import SHARED_DATA
from zcser import payloads, registry
from zcser.core.errors import SchemaError
from zcser.core.view import at, to_value
from zcser.schema.from_sample import infer
from zcser.schema.model import Schema
from zcser.schema.normal import normal

TABLE = tomllib.loads((Path(__file__).parents[1] / "expected" / "carriers.toml").read_text())


def rows(part: str) -> dict[str, dict[str, Any]]:
    """The expected row of each file or payload."""
    table = TABLE[part]
    return dict.fromkeys(table["files"]["names"], table["default"]) | table["exceptions"]


def cells(part: str, what: str) -> list[Any]:
    return [param(name, item) for item, row in rows(part).items() for name in registry.names() if name in row[what]]


BEGINNING = 8
"""Items of each list that the quick tests keep: in a long list the later ones are like the first."""


def beginning(value: Any) -> Any:
    """A value with the first items of its lists alone."""
    if isinstance(value, list):
        return [beginning(item) for item in value[:BEGINNING]]
    if isinstance(value, dict):
        return {key: beginning(item) for key, item in value.items()}
    if dataclasses.is_dataclass(value):
        fields = {item.name: beginning(getattr(value, item.name)) for item in dataclasses.fields(value)}
        return dataclasses.replace(value, **fields)
    return value


@functools.cache
def document(name: str, *, whole: bool = False) -> tuple[Schema, Any]:
    """A file of the shared data, and the schema inferred from it."""
    path = SHARED_DATA / name
    if not path.exists():
        pytest.skip("the shared data is not beside this checkout")
    value = json.loads(path.read_text(encoding="utf-8"))
    if not whole:
        value = beginning(value)
    return infer([value]), value


@functools.cache
def payload(name: str) -> tuple[Any, Any]:
    found = payloads.get(name)
    return found, found.make(0)


def test_every_codec_stands_in_every_row():
    for part in ("data", "payloads"):
        for item, row in rows(part).items():
            assert set(row["carry"]) | set(row["refuse"]) == set(registry.names()), item
    assert set(rows("payloads")) == set(payloads.names())


def carry(name: str, schema: Schema, value: Any) -> None:
    codec = registry.codec(name, schema)
    assert registry.check(name, schema) == []
    expected = normal(schema, value)
    data = codec.encode(value) if has(name, "encode") else written(name, schema, value)
    assert_same(codec.decode(data), expected)
    if has(name, "view"):
        assert_same(to_value(codec.view(data)), expected)


def refuse(name: str, schema: Schema, word: str) -> None:
    with pytest.raises(SchemaError, match=word):
        registry.codec(name, schema)
    assert registry.check(name, schema)


@pytest.mark.parametrize(("name", "item"), cells("data", "carry"))
def test_a_file_that_a_codec_must_carry_comes_back(name, item):
    carry(name, *document(item))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "item"), cells("data", "carry"))
def test_a_whole_file_comes_back(name, item):
    carry(name, *document(item, whole=True))


@pytest.mark.parametrize(("name", "item"), cells("data", "refuse"))
def test_a_file_that_a_codec_cannot_carry_is_refused_with_the_reason(name, item):
    refuse(name, document(item)[0], rows("data")[item]["refuse"][name])


@pytest.mark.parametrize(("name", "item"), cells("payloads", "carry"))
def test_a_payload_that_a_codec_must_carry_comes_back(name, item):
    found, value = payload(item)
    carry(name, found.schema, beginning(value))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "item"), cells("payloads", "carry"))
def test_a_whole_payload_comes_back(name, item):
    found, value = payload(item)
    carry(name, found.schema, value)


@pytest.mark.parametrize(("name", "item"), cells("payloads", "refuse"))
def test_a_payload_that_a_codec_cannot_carry_is_refused_with_the_reason(name, item):
    refuse(name, payload(item)[0].schema, rows("payloads")[item]["refuse"][name])


@pytest.mark.parametrize(("name", "item"), cells("payloads", "carry"))
def test_the_fields_that_a_payload_names_are_read_alike_from_value_and_view(name, item):
    if not has(name, "view"):
        pytest.skip(f"{name} has no view")
    found, value = payload(item)
    view = registry.codec(name, found.schema).view(written(name, found.schema, value))
    for path in filter(None, (found.field, *found.fields, found.tensor)):
        assert_same(to_value(at(view, path)), to_value(at(normal(found.schema, value), path)))


def test_no_codec_is_missing_from_the_wires():
    assert set(INFO) <= set(registry.names())
