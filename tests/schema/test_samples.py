"""Seeded samples of a schema."""

from __future__ import annotations

import dataclasses

import pytest

from zcser.core.fidelity import equal
from zcser.schema.from_python import schema_of
from zcser.schema.model import List, Logical, Schema
from zcser.schema.normal import normal
from zcser.schema.samples import samples
from zcser.schema.values import VALUE_TYPES


@dataclasses.dataclass
class Node:
    name: str
    left: Node | None
    children: list[Node]


@pytest.mark.parametrize("manner", ["plain", "edges"])
def test_samples_of_a_record_that_holds_itself_end_and_are_normal(manner):
    schema = schema_of(Node)
    found = samples(schema, manner, 20)
    assert len({repr(value) for value in found}) > 10
    for value, again in zip(found, samples(schema, manner, 20), strict=True):
        assert equal(value, again)
        assert equal(value, normal(schema, value, strict=True))


@pytest.mark.parametrize("name", VALUE_TYPES)
def test_every_value_type_has_normal_samples(name):
    schema = Schema(List(Logical(name)))
    found = [value for sample in samples(schema, "edges", 20) for value in sample]
    assert len({str(value) for value in found}) > 1
    assert all(normal(Schema(Logical(name)), value, strict=True) == value for value in found)
