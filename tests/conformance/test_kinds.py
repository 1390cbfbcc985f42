"""Which codec carries which schema, held to ``tests/expected/kinds.toml`` in both directions."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import pytest

from tests.conformance.laws import EXPECTED, carriers, cells, codecs, has, make, param, row, written
from tests.conformance.schemas import CASES
from zcser import registry
from zcser.core.errors import SchemaError
from zcser.core.view import to_value
from zcser.schema.annotations import Id
from zcser.schema.model import Kind, Str, walk

REFUSED = [param(name, case) for case in CASES for name in registry.names() if name in row(case)["refuse"]]


def test_the_table_names_every_codec_and_only_cases_that_exist():
    assert set(EXPECTED["cases"]) <= set(CASES)
    for case in CASES:
        carry, refuse = set(row(case)["carry"]), set(row(case)["refuse"])
        assert carry | refuse == set(registry.names())
        assert not carry & refuse


@pytest.mark.parametrize(("name", "case"), cells())
def test_a_codec_is_made_for_every_schema_that_the_table_expects_it_to_carry(name, case):
    codec = make(name, case)
    assert codec.schema == CASES[case]
    assert registry.check(name, CASES[case]) == []


@pytest.mark.parametrize(("name", "case"), REFUSED)
def test_what_a_codec_cannot_carry_is_a_schema_error_at_construction(name, case):
    word = row(case)["refuse"][name]
    with pytest.raises(SchemaError, match=word) as caught:
        registry.codec(name, CASES[case])
    assert caught.value.codec == name
    refusals = registry.check(name, CASES[case])
    assert refusals
    assert all(refusal.reason for refusal in refusals)
    assert (caught.value.path or "", caught.value.reason) in refusals


def test_the_cases_hold_every_kind_in_every_place():
    found: set[tuple[str, Kind]] = set()
    for schema in CASES.values():
        found |= {("root", schema.root.kind)}
        for type_ in [schema.root, *(item.type for record in schema.records for item in record.fields)]:
            found |= {(str(outer.kind), inner.kind) for outer in walk(type_) for inner in list(walk(outer))[1:]}
    kinds = set(Kind) - {Kind.OPTIONAL, Kind.NULL}
    assert {kind for place, kind in found if place == "root"} == set(Kind)
    for place in ("optional", "list", "map"):
        missing = kinds - {kind for where, kind in found if where == place}
        assert not missing, (place, missing)
    assert {kind for where, kind in found if where == "union"} >= kinds - {Kind.UNION}


@dataclasses.dataclass
class Highest:
    late: Annotated[int, Id(18_999)]
    early: Annotated[str, Id(1)]


@pytest.mark.parametrize("name", carriers("json_like"))
def test_the_highest_id_is_carried(name):
    codec, value = registry.codec(name, Highest), Highest(-1, "x")
    data = written(name, Highest, value)
    assert codec.decode(data) == value
    if has(name, "view"):
        assert to_value(codec.view(data)) == value


@dataclasses.dataclass
class Mixed:
    number: int
    text: str
    inner: Inner
    named: dict[str, int]
    size: Annotated[str, Str(4)]


@dataclasses.dataclass
class Inner:
    good: bool
    numbers: list[int]


@pytest.mark.parametrize("name", [param("header")])
def test_check_lists_every_refusal_with_its_path(name):
    refusals = registry.check(name, Mixed)
    assert {refusal.path for refusal in refusals} == {"Mixed/text", "Mixed/named", "Inner/numbers"}
    assert len(refusals) == 3
    assert all("fixed" in refusal.reason for refusal in refusals)


@pytest.mark.parametrize("name", codecs())
def test_what_is_no_schema_is_a_schema_error(name):
    for source in (5, "text", {"a": int}, object):
        with pytest.raises(SchemaError):
            registry.codec(name, source)
