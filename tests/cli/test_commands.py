"""Commands that measure nothing: what they print, and how they take a stream's wishes."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.report.results import realistic
from zcser import load_fbs, payloads, registry
from zcser.cli import main
from zcser.cli.forms import FORMS
from zcser.measure.result import Copies, load_result
from zcser.report.charts.files import picture_files


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "result.json"
    realistic().save(path)
    return path


def zcser(*arguments, **environment):
    environ = {key: value for key, value in os.environ.items() if key not in {"FORCE_COLOR", "NO_COLOR", "COLUMNS"}}
    return subprocess.run(
        [sys.executable, "-m", "zcser", *map(str, arguments)],
        capture_output=True,
        check=False,
        env=environ | environment,
    )


def test_list_names_every_codec_and_every_payload(capsys):
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in (*registry.names(), *payloads.names()))


def test_codec_without_its_library_is_listed_with_its_pip_command(capsys, monkeypatch):
    error = registry.CodecUnavailableError("codec 'x' needs a library: pip install 'zcser[x]'")
    monkeypatch.setattr(registry, "available", lambda: {"x": error})
    assert main(["list"]) == 0
    assert "pip install 'zcser[x]'" in capsys.readouterr().out


def test_env_tells_machine_versions_and_noise(capsys):
    assert main(["env"]) == 0
    out = capsys.readouterr().out
    assert all(
        word in out for word in ("cpu", "python version", "python free_threaded", "libraries numpy", "preempted")
    )


def test_schema_of_a_file_and_of_a_class(tmp_path, capsys):
    source = tmp_path / "m.json"
    source.write_text('{"id": 7, "tags": ["a"]}')
    assert main(["schema", str(source)]) == 0
    assert "tags" in capsys.readouterr().out
    assert main(["schema", "zcser.payloads.messages:BatchMeta"]) == 0
    assert "kv_cache_offset" in capsys.readouterr().out


def test_schema_as_an_arrow_schema(capsys):
    pytest.importorskip("pyarrow")
    assert main(["schema", "zcser.payloads.messages:BatchMeta", "--emit", "arrow"]) == 0
    first = json.loads(capsys.readouterr().out)["schema"]["fields"][0]
    assert (first["name"], first["type"]) == ("batch_id", {"name": "int", "bitWidth": 64, "isSigned": False})


def test_schema_of_a_flatbuffers_schema(tmp_path, capsys):
    source = tmp_path / "m.fbs"
    source.write_text("namespace a; table T { x:ushort = 7; } root_type T;")
    assert main(["schema", str(source)]) == 0
    printed = capsys.readouterr().out
    assert "root a.T " in printed
    (row,) = (line.split() for line in printed.splitlines() if " x " in line)
    assert row == ["1", "x", "uint16", "default", "7"]
    compiled = tmp_path / "m.bfbs"
    compiled.write_bytes(load_fbs(source).bfbs)
    assert main(["schema", str(compiled)]) == 0
    assert capsys.readouterr().out == printed
    assert main(["schema", str(source), "--emit", "proto"]) == 0
    assert "x = 1;" in capsys.readouterr().out
    assert main(["schema", str(source), "--emit", "fbs"]) == 2
    assert "a FlatBuffers schema already" in capsys.readouterr().err
    for name in ("absent.fbs", "absent.bfbs"):
        assert main(["schema", str(tmp_path / name)]) == 2
        assert "there is no such file" in capsys.readouterr().err


def test_check_gives_each_refusal_with_path_and_reason(capsys):
    assert main(["check", "zcser.payloads.messages:TokenChunk"]) == 0
    out = capsys.readouterr().out
    assert "header refuses zcser.payloads.messages:TokenChunk:" in out
    assert "TokenChunk/text: str has no fixed size" in out


def test_check_without_a_source_covers_the_built_in_payloads(capsys):
    assert main(["check"]) == 0
    out = capsys.readouterr().out
    assert all(f"\n{name} " in out for name in payloads.names())


def test_report_ends_in_the_sentence(saved, capsys):
    assert main(["report", str(saved)]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("Over 3 payloads, ")
    assert last.endswith(".")


def test_report_shows_ledger_and_latency_on_request(saved, capsys):
    main(["report", str(saved)])
    assert "Ledger:" not in capsys.readouterr().out
    main(["report", str(saved), "--ledger", "--latency"])
    out = capsys.readouterr().out
    assert "Ledger:" in out
    assert "enc p99.9" in out


def test_report_shows_memory_on_request_and_writes_it(saved, tmp_path, capsys):
    made = load_result(saved)
    cells = tuple(dataclasses.replace(one, copies=Copies("copy", 1.5, None)) for one in made.cells if one.cost)
    dataclasses.replace(made, cells=cells).save(saved)
    main(["report", str(saved), "--export-markdown", str(tmp_path / "plain.md")])
    assert "Memory:" not in capsys.readouterr().out
    assert "Memory:" not in (tmp_path / "plain.md").read_text()
    main(["report", str(saved), "--memory", "--export-markdown", str(tmp_path / "memory.md")])
    assert "Memory:" in capsys.readouterr().out
    assert "**Memory:" in (tmp_path / "memory.md").read_text()


def test_report_writes_every_format(saved, tmp_path, capsys):
    folder = tmp_path / "new" / "out"
    extra = tmp_path / "extra.md"
    assert main(["report", str(saved), "-o", str(folder), "--export-markdown", str(extra)]) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["report.md", "result.json", "table.csv"]
    assert json.loads((folder / "result.json").read_text()) == json.loads(saved.read_text())
    assert extra.read_text() == (folder / "report.md").read_text()


def test_report_writes_every_picture_as_a_file(saved, tmp_path, capsys):
    folder = tmp_path / "new" / "pictures"
    assert main(["report", str(saved), "--export-svg", str(folder)]) == 0
    # A result that was read again gives the bytes of the one that was saved.
    assert {path.name: path.read_text() for path in folder.iterdir()} == picture_files(realistic())
    assert (folder / "request-64k.distribution.encode.svg").is_file()


def test_report_writes_one_page_of_one_result_or_of_several(saved, tmp_path, capsys):
    other = tmp_path / "other" / saved.name
    other.parent.mkdir()
    other.write_bytes(saved.read_bytes())
    single, several = tmp_path / "single.html", tmp_path / "several.html"
    assert main(["report", str(saved), "--report", str(single), "--profile", "log", "--set", "reads_per_write=3"]) == 0
    text = single.read_text()
    assert text.startswith("<!doctype html>")
    assert '"profile":{"name":"log"' in text
    assert '"reads_per_write":3.0' in text
    capsys.readouterr()
    assert main(["report", str(saved), str(other), "--report", str(several)]) == 0
    assert f"other/{saved.name}" in several.read_text()


def test_report_compares_several_results(saved, tmp_path, capsys):
    other = tmp_path / "other" / saved.name
    other.parent.mkdir()
    other.write_bytes(saved.read_bytes())
    assert main(["report", str(saved), str(other), "--export-markdown", str(tmp_path / "both.md")]) == 0
    shown = capsys.readouterr().out
    # Files of one name are told apart by their folders; a result and its copy tie in each cost
    # that was measured, the floors of the machine apart.
    names = [f"{one.parent.name}/{one.name}" for one in (saved, other)]
    cells = [cell for cell in realistic().cells if cell.codec != "baseline" and "derived" not in cell.flags]
    costs = [cell for cell in cells if cell.cost is not None]
    last = f"{names[1]} against {names[0]}, by costs: {len(costs)} tied, 0 lower, 0 higher."
    assert shown.splitlines()[-1] == last
    assert f"by costs: {len(costs)} tied, 0 lower, 0 higher." in (tmp_path / "both.md").read_text()
    main(["report", str(saved), str(other), "--profile", "log"])
    assert [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()[-2:]] == names
    assert main(["report", str(saved), str(other), "--export-csv", str(tmp_path / "both.csv")]) == 2
    assert "name one result for the other exports" in capsys.readouterr().err


def test_export_to_a_device_writes_to_it_and_does_not_replace_it(saved):
    read_end, write_end = os.pipe()
    done = subprocess.Popen(
        [sys.executable, "-m", "zcser", "report", saved, "--export-json", f"/dev/fd/{write_end}"],
        pass_fds=[write_end],
        stdout=subprocess.DEVNULL,
    )
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        assert json.loads(pipe.read()) == json.loads(saved.read_text())
    assert done.wait() == 0


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="a name of POSIX systems")
def test_export_to_standard_output_comes_before_the_report_in_a_file_too(saved, tmp_path):
    with (tmp_path / "out").open("w") as out:
        command = [sys.executable, "-m", "zcser", "report", saved, "--export-json", "/dev/stdout"]
        subprocess.run(command, stdout=out, check=True)
    document, _, report = (tmp_path / "out").read_text().partition("\n")
    assert json.loads(document) == json.loads(saved.read_text())
    assert report.startswith("zcser compare")


@pytest.mark.skipif(not Path("/dev/null").is_char_device(), reason="a device of POSIX systems")
def test_every_export_takes_a_device(saved):
    for option in ("--export-json", "--export-markdown", "--export-csv"):
        assert main(["report", str(saved), option, "/dev/null"]) == 0
    assert Path("/dev/null").is_char_device()


def test_pipe_has_no_escape_codes_and_a_hundred_columns(saved):
    done = zcser("report", saved)
    assert b"\x1b" not in done.stdout
    *lines, _ = done.stdout.decode().splitlines()
    assert max(len(line.rstrip()) for line in lines) <= 100


def test_force_color_colours_a_pipe_and_no_color_wins(saved):
    assert b"\x1b[" in zcser("report", saved, FORCE_COLOR="1", TERM="xterm").stdout
    assert b"\x1b" not in zcser("report", saved, FORCE_COLOR="1", NO_COLOR="1", TERM="xterm").stdout


def test_columns_sets_the_width(saved):
    *lines, _ = zcser("report", saved, COLUMNS="80").stdout.decode().splitlines()
    assert max(len(line.rstrip()) for line in lines) <= 80


def test_ascii_stream_gets_ascii(saved):
    done = zcser("report", saved, PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "6.24 us" in done.stdout.decode("ascii")


@pytest.mark.parametrize("arguments", [["--help"], ["list"], ["report", "RESULT", "--ledger", "--latency"]])
def test_reader_that_leaves_early_is_silence(saved, arguments):
    command = [sys.executable, "-m", "zcser", *(str(saved) if word == "RESULT" else word for word in arguments)]
    done = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    done.stdout.close()
    assert (done.stderr.read(), done.wait()) == (b"", 0)
    done.stderr.close()


def test_full_disk_is_one_line(saved):
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "zcser", "report", saved]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr == b"zcser: No space left on device\n"


def test_without_rich_the_figures_are_the_same_and_a_hint_is_given(saved, capsys, monkeypatch):
    main(["report", str(saved)])
    rich = capsys.readouterr().out
    for name in [name for name in sys.modules if name == "rich" or name.startswith("rich.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rich", None)
    assert main(["report", str(saved)]) == 0
    out, err = capsys.readouterr()
    assert err == "zcser: for colours: pip install 'zcser[cli]'\n"
    assert out.splitlines()[-1] == rich.splitlines()[-1]
    assert [line.split() for line in out.splitlines() if line.startswith("msgpack ")] == [
        line.split() for line in rich.splitlines() if line.startswith("msgpack ")
    ]


def test_interrupted_result_is_reported_as_incomplete(tmp_path, capsys):
    path = tmp_path / "part.json"
    dataclasses.replace(realistic(), complete=False).save(path)
    assert main(["report", str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("Interrupted, so incomplete: ")


def test_an_edited_schema_is_taken_back(tmp_path, capsys):
    source, edited = tmp_path / "rows.ndjson", tmp_path / "edited.json"
    source.write_text('{"id": 7, "note": "x"}\n{"id": 8}\n')
    assert main(["schema", str(source), "--emit", "zcser"]) == 0
    document = json.loads(capsys.readouterr().out)
    document["records"]["Root"]["fields"][0] |= {"id": 5, "type": "uint16"}
    edited.write_text(json.dumps(document))
    assert main(["schema", str(source), "--schema", str(edited), "--emit", "proto"]) == 0
    proto = capsys.readouterr().out
    assert "uint32 id = 5;" in proto
    assert main(["schema", "--schema", str(edited), "--emit", "proto"]) == 0
    assert capsys.readouterr().out == proto
    assert main(["schema", "--schema", str(edited), "--emit", "fbs"]) == 0
    assert "id: ushort (id: 4);" in capsys.readouterr().out
    for command in (["check", "--schema", str(edited)], ["check", str(source), "--schema", str(edited)]):
        assert main(command) == 0
        assert "header" in capsys.readouterr().out


def test_a_value_that_does_not_fit_the_schema_is_told_with_line_and_path(tmp_path, capsys):
    source, schema = tmp_path / "rows.ndjson", tmp_path / "schema.json"
    schema.write_text(
        json.dumps({"type": "object", "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 255}}})
    )
    for line, reason in [
        ('{"n": 256}', "line 3: integer is outside uint8 (at /n)"),
        ('{"n": "x"}', "line 3: uint8 is needed, not str 'x' (at /n)"),
        ('{"n": 1, "m": 2}', "line 3: 'm' is not a field of Root (at the root)"),
        ('{"n": 1', "line 3: Expecting ',' delimiter (at byte 7)"),
    ]:
        source.write_text('{"n": 1}\n\n' + line)
        for command in ("schema", "compare", "check"):
            assert main([command, str(source), "--schema", str(schema)]) == 2
            assert f"zcser: {source}: {reason}" in capsys.readouterr().err
    for arguments, reason in [
        (["compare", "--schema", str(schema)], "built-in payloads have schemas of their own"),
        (["schema", "zcser.payloads.messages:BatchMeta", "--schema", str(schema)], "is a schema itself"),
        (["schema", str(source), "--schema", str(source)], "rows.ndjson: no schema; schemas are"),
        (["schema", "--schema", "absent.json"], "absent.json: there is no such file"),
    ]:
        assert main(arguments) == 2
        assert reason in capsys.readouterr().err


def test_every_form_is_written_and_a_missing_library_is_told(tmp_path, capsys, monkeypatch):
    source = tmp_path / "m.json"
    source.write_text('{"id": 7, "tags": ["a"]}')
    written = {}
    for form in FORMS:
        assert main(["schema", str(source), "--emit", form]) == 0
        written[form] = capsys.readouterr().out
        assert main(["schema", str(source), "--emit", form]) == 0
        assert capsys.readouterr().out == written[form]
    assert all("tags" in text for text in written.values())
    assert len(set(written.values())) == len(FORMS)
    for form in FORMS:  # of dates, sets, and models with aliases too
        assert main(["schema", "tests.lower.sources:Order", "--emit", form]) == 0
        assert capsys.readouterr().out
    monkeypatch.setitem(FORMS, "proto", ("zcser.no_such_module", "emit", "protobuf"))
    assert main(["schema", str(source), "--emit", "proto"]) == 2
    assert "pip install 'zcser[protobuf]'" in capsys.readouterr().err
