"""The .fbs text, held to flatc: what it writes we read, what we write it reads, value by value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conformance.schemas import CASES
from tests.flat.rich import Rich, flatc, rich_json, rich_value, to_json, to_message
from zcser.codecs.flatbuffers_official import FlatbuffersOfficialCodec
from zcser.core.errors import SchemaError
from zcser.core.fidelity import difference
from zcser.core.options import Options
from zcser.flat.emit import emit_fbs
from zcser.flat.plan import layout_of
from zcser.schema.from_python import schema_of
from zcser.schema.model import Field, Int, Record, Ref, Schema, Str, Union


def codec(source: Any) -> FlatbuffersOfficialCodec[Any]:
    return FlatbuffersOfficialCodec(schema_of(source), Options())


def test_flatc_reads_every_field_of_what_we_write(tmp_path: Path) -> None:
    assert to_json(emit_fbs(Rich), codec(Rich).encode(rich_value()), tmp_path) == rich_json()


def test_we_read_every_field_of_what_flatc_writes(tmp_path: Path) -> None:
    message = to_message(emit_fbs(Rich), rich_json(), tmp_path)
    assert difference(codec(Rich).decode(message), rich_value()) is None


@pytest.mark.parametrize("name", sorted(set(CASES) - {"unbounded"}))
def test_flatc_accepts_the_text_of_every_schema(name: str, tmp_path: Path) -> None:
    (tmp_path / "schema.fbs").write_text(emit_fbs(CASES[name]))
    flatc("--binary", "schema.fbs", folder=tmp_path)


def test_names_of_any_text_become_distinct_identifiers(tmp_path: Path) -> None:
    union = Union((Int(), Str()))
    names = ["a b", "a_b", "a-b", "", "1", "\u00fc", "table", "int", "true", 'quo"te\n', "x", "x_type"]
    fields = [Field(name, union if name == "x" else Int(), number) for number, name in enumerate(names, 1)]
    schema = Schema(Ref("string"), (Record("string", tuple(fields)), Record("Tensor", ())))
    text = emit_fbs(schema)
    value = {name: number for number, name in enumerate(names)}
    found = to_json(text, codec(schema).encode(value), tmp_path)
    slots = layout_of(schema).records["string"].slots
    assert len({slot.name for slot in slots}) == len(names)
    by_name = {slot.field.name: found[slot.name] for slot in slots if slot.field is not None and slot.field.name != "x"}
    assert by_name == {name: number for name, number in value.items() if name != "x"}


def test_the_namespace_is_the_callers() -> None:
    assert emit_fbs(int, namespace="my.company").startswith("namespace my.company;\n")
    assert emit_fbs(int, namespace="").startswith("table ")


def test_unbounded_ints_have_no_text() -> None:
    with pytest.raises(SchemaError, match="unbounded"):
        emit_fbs(Schema(Int(None)))
