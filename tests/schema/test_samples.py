"""Seeded samples of a schema."""

from __future__ import annotations

import dataclasses

import pytest

from zcser.core.fidelity import equal
from zcser.schema.from_python import schema_of
from zcser.schema.normal import normal
from zcser.schema.samples import samples


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
