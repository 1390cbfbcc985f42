"""Python text of a schema: imported, its root has the same schema."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import types
from datetime import date, datetime

import msgspec
import pytest

from tests.conformance.schemas import CASES
from tests.lower.sources import Every, Fixed
from zcser import load_schema
from zcser.avro.emit import emit_avro
from zcser.core.errors import SchemaError
from zcser.core.fidelity import equal
from zcser.schema.document import emit_schema
from zcser.schema.emit_python import emit_msgspec, emit_python
from zcser.schema.from_python import schema_of
from zcser.schema.from_sample import infer
from zcser.schema.model import Enum, Field, Int, List, Logical, Optional, Record, Ref, Schema, Set, Str, Tensor


@pytest.fixture
def imported(monkeypatch):
    def load(text):
        module = types.ModuleType("emitted")
        monkeypatch.setitem(sys.modules, "emitted", module)
        exec(compile(text, "emitted.py", "exec"), module.__dict__)
        return module

    return load


def with_all_required(schema):
    """In a class no field is absent."""
    records = [
        dataclasses.replace(
            record,
            fields=tuple(dataclasses.replace(it, required=it.required or it.has_default) for it in record.fields),
        )
        for record in schema.records
    ]
    keeps = [any(item.may_be_absent for item in record.fields) for record in schema.records]
    return tuple(old if kept else new for old, new, kept in zip(schema.records, records, keeps, strict=True))


@pytest.mark.parametrize("case", CASES)
def test_the_imported_root_has_the_schema(imported, case):
    schema = CASES[case]
    for emit in (emit_python, emit_msgspec):
        found = schema_of(imported(emit(schema)).Root)
        assert found.root == schema.root
        assert found.records == with_all_required(schema)
        assert emit(found) == emit(dataclasses.replace(schema, records=found.records))
        if case == "struct":
            made = [item.make_default() for record in found.records for item in record.fields if item.has_default]
            assert equal(made, [None, [], {}, 1.5, ()])


def test_dates_sets_and_their_like_are_annotations_again(imported):
    for cls in (Every, Fixed):
        schema = schema_of(cls)
        for emit in (emit_python, emit_msgspec):
            found = schema_of(imported(emit(schema)).Root)
            assert found == schema
            assert emit(found) == emit(schema)
            made = [[it.make_default() for it in one.records[0].fields if it.has_default] for one in (schema, found)]
            assert equal(*made)
    text = emit_python(schema_of(Every))
    for line in (
        "    at: Annotated[AwareDatetime, Id(2)]",
        "    days: Annotated[frozenset[date], Id(15)]",
        "    fee: Annotated[Decimal, Id(24)] = Decimal('1.50')",
        "    every: Annotated[timedelta, Id(25)] = timedelta(-1, 5, 0)",
        "    where: Annotated[Path, Id(27)] = Path('a/b')",
        "    none: Annotated[set[str], Id(29)] = field(default_factory=set)",
        "    seen: Annotated[dict[date, int], Id(31)] = field(default_factory=lambda: {date.fromisoformat('2026-01-02'): 3})",
    ):
        assert line in text.splitlines()


def test_fields_named_as_what_is_imported_hide_nothing(imported):
    names = ("date", "datetime", "Decimal", "UUID", "Path", "set", "AwareDatetime")
    types = [Logical("date"), Logical("datetime"), Logical("decimal"), Logical("uuid"), Logical("path"), Set(Int()),
             Logical("datetime_utc")]  # fmt: skip
    fields = [Field(name, type_, n) for n, (name, type_) in enumerate(zip(names, types, strict=True), 1)]
    fields.append(Field("when", Optional(Logical("date")), 9, default=date(2026, 1, 2)))
    schema = Schema(Ref("R"), (Record("R", tuple(fields)),))
    found = schema_of(imported(emit_python(schema)).Root)
    assert found == schema
    assert found.records[0].fields[-1].default == date(2026, 1, 2)


def test_a_default_that_is_no_value_of_its_type_is_refused_with_its_path():
    fields = (Field("at", Logical("datetime_utc"), 1, default=datetime(2026, 1, 2)),)
    for emit in (emit_python, emit_avro, emit_schema):
        with pytest.raises(SchemaError, match=r"without a time zone.*R/at"):
            emit(Schema(Ref("R"), (Record("R", fields),)))


def test_records_are_classes_of_the_kind_that_was_asked_for(imported):
    schema = infer([{"id": 1, "inner": {"x": 0.5}}, {"id": 2, "inner": {"x": 1.5}}])
    assert dataclasses.is_dataclass(imported(emit_python(schema)).Inner)
    assert issubclass(imported(emit_msgspec(schema)).Inner, msgspec.Struct)


def test_names_of_the_schema_hide_nothing(imported):
    names = (
        "int",
        "list",
        "dataclass",
        "field",
        "Annotated",
        "Id",
        "Enum",
        "Literal",
        "Root",
        "np",
        "str",
        "_int",
        "enum",
    )
    level = Enum("Level", (("LOW", 1), ("HIGH", 9)))
    records = [
        Record(
            name,
            (
                Field("int", Int(), 1),
                Field("field", List(Str()), 2, default=["x"]),
                Field("e", level, 5),
                Field("t", Tensor(), 6),
            ),
        )
        for name in names
    ]
    fields = tuple(Field(f"f{n}", Ref(name), n) for n, name in enumerate(names, 1))
    schema = Schema(Ref("Top"), (Record("Top", fields), *records))
    module = imported(emit_python(schema))
    assert schema_of(module.Root_) == schema
    assert module.list.__dataclass_fields__["field"].default_factory() == ["x"]


def test_ids_stay_under_re_emission(imported):
    schema = infer([{"b": 1, "a": "x"}])
    tree = load_schema(emit_schema(schema).replace('"id": 2', '"id": 7'))
    again = schema_of(imported(emit_python(tree)).Root)
    assert [(item.name, item.id) for item in again.records[0].fields] == [("b", 1), ("a", 7)]


def test_the_text_runs_as_a_module_of_its_own(tmp_path):
    (tmp_path / "made.py").write_text(emit_python(CASES["defaults"]), encoding="utf-8")
    code = "import made, zcser; print(zcser.codec('json', made.Root).encode(made.Root(a=1)).decode())"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=True, text=True)
    assert done.stdout == ('{"a":1,"b":5,"c":-0.0,"d":"default","e":[1],"f":{"x":1.0,"y":2.0},"g":"g","h":true}\n')


def test_a_default_that_has_no_text_is_refused_with_its_path():
    record = Record("R", (Field("t", Tensor(), 1, default_factory=lambda: __import__("numpy").zeros(3)),))
    with pytest.raises(SchemaError, match=r"holds a tensor.*R/t"):
        emit_python(Schema(Ref("R"), (record,)))
