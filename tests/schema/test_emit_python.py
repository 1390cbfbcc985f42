"""Python text of a schema: imported, its root has the same schema."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import types

import msgspec
import pytest

from tests.conformance.schemas import CASES
from zcser import load_schema
from zcser.core.errors import SchemaError
from zcser.core.fidelity import equal
from zcser.schema.document import emit_schema
from zcser.schema.emit_python import emit_msgspec, emit_python
from zcser.schema.from_python import schema_of
from zcser.schema.from_sample import infer
from zcser.schema.model import Enum, Field, Int, List, Record, Ref, Schema, Str, Tensor


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
