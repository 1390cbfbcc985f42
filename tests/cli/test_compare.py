"""``zcser compare``: what it checks before it measures, what it writes, and how it ends."""

import dataclasses
import io
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from tests.report.results import cell, realistic, result
from zcser import payloads
from zcser.cli import main
from zcser.cli.progress import Progress
from zcser.measure.result import Cell, load_result
from zcser.measure.runner import Event, FirstLook


@pytest.fixture
def requests(monkeypatch):
    """Requests that reached the runner, which answers with a result written by hand."""
    seen = []

    def measure(request, progress):
        seen.append(request)
        progress(Event(1, 1, None, 0, 0, 0.0, 0.0))
        return realistic()

    monkeypatch.setattr("zcser.cli.compare.measure", measure)
    return seen


def answer(monkeypatch, made):
    monkeypatch.setattr("zcser.cli.compare.measure", lambda request, progress: made)


def refused(capsys, *arguments):
    """The one line of a command that measured nothing."""
    assert main(["compare", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("zcser: ")
    assert err.count("\n") == 1
    return err


def test_without_a_source_all_built_in_payloads_are_measured_with_twelve_codecs(requests, capsys):
    assert main(["compare"]) == 0
    (request,) = requests
    assert [payload.name for payload in request.payloads] == list(payloads.names())
    assert (request.operations, request.preset) == ((), "quick")
    first = "flatbuffers flatbuffers-official header json msgpack msgspec-json msgspec-msgpack orjson ormsgpack pickle5 protobuf simdjson"
    assert set(first.split()) <= set(request.codecs)
    assert not {"avro", "capnp", "arrow", "ujson", "pickle"} & set(request.codecs)


@pytest.mark.parametrize("arguments", [["--codecs", "all"], ["--payload", "llm-chunk"]])
def test_all_codecs_are_measured_on_request_and_on_few_payloads(requests, capsys, arguments):
    assert main(["compare", *arguments]) == 0
    assert requests[0].codecs == ()


def test_arguments_reach_the_request(requests, capsys):
    typed = "compare --payload batch-meta llm-chunk --payload batch-meta --codecs json,orjson --ops encode,decode"
    assert main([*typed.split(), "--preset", "full"]) == 0
    (request,) = requests
    assert [payload.name for payload in request.payloads] == ["batch-meta", "llm-chunk"]
    assert request.codecs == ("json", "orjson")
    assert request.operations == ("encode", "decode")
    assert request.preset == "full"
    assert request.command[:4] == ("zcser", "compare", "--payload", "batch-meta")


def test_a_sweep_measures_one_payload_in_several_sizes(requests, capsys):
    sweep = ["compare", "--sweep", "request:kib=1,16", "--ops", "reads,encode", "--fields", "/model_id"]
    assert main(sweep) == 0
    (request,) = requests
    assert [payload.name for payload in request.payloads] == ["request:kib=1", "request:kib=16"]
    assert (request.codecs, request.operations, request.fields) == ((), ("reads", "encode"), ("/model_id",))


def test_a_sweep_that_is_none_is_refused(requests, capsys):
    assert "several values of one knob" in refused(capsys, "--sweep", "request:kib=1")
    assert "--sweep" in refused(capsys, "mine.json", "--sweep", "request:kib=1,2")
    fields = ["--sweep", "request:kib=1,2", "--payload", "llm-chunk", "--fields", "/model_id"]
    assert "llm-chunk: field /model_id" in refused(capsys, *fields)


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_own_file_and_fields(requests, tmp_path, capsys, suffix):
    source = tmp_path / f"mine.{suffix}"
    source.write_text('{"a": {"b": 1}, "c": [2]}\n')
    assert main(["compare", str(source), "--fields", "/a/b,/c/0"]) == 0
    (payload,) = requests[0].payloads
    assert payload.fields == ("/a/b", "/c/0")
    # A result is made to be shown; the folders of a machine are not.
    assert payload.source == source.name
    assert str(tmp_path) not in "".join(requests[0].command)


def test_repeated_keys_are_noted_and_not_refused(requests, tmp_path, capsys):
    source = tmp_path / "mine.json"
    source.write_text('{"a": 1, "a": 2}')
    assert main(["compare", str(source)]) == 0
    assert any("repeated" in note for note in requests[0].payloads[0].schema.notes)


def test_fields_of_a_built_in_payload_must_exist(requests, capsys):
    assert main(["compare", "--payload", "batch-meta", "--fields", "/seq_len"]) == 0
    assert requests[0].payloads[0].fields == ("/seq_len",)
    capsys.readouterr()
    assert "batch-meta: field /nope" in refused(capsys, "--payload", "batch-meta", "--fields", "/nope")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--payload", "batch-mata"], "batch-meta"),
        (["--codecs", "orjsn"], "orjson"),
        (["--ops", "encod"], "encode"),
        (["--payload", "batch-meta", "--fields", "seq_len"], "/seq_len"),
        (["--preset", "slow"], "quick"),
        (["--codecs", ","], "names"),
    ],
)
def test_unknown_name_brings_the_nearest(capsys, arguments, words):
    assert words in refused(capsys, *arguments)


def test_source_and_built_in_names_exclude_each_other(capsys):
    assert "--payload" in refused(capsys, "mine.json", "--payload", "batch-meta")


@pytest.mark.parametrize("option", ["--export-json", "--export-markdown", "--export-csv", "--export-svg", "-o"])
def test_unwritable_output_is_found_before_measuring(requests, tmp_path, capsys, option):
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert "file" in refused(capsys, option, str(blocked / "out"))
    assert requests == []


def test_output_folder_gets_result_report_and_table(requests, tmp_path, capsys):
    assert main(["compare", "-o", str(tmp_path / "out")]) == 0
    assert load_result(tmp_path / "out" / "result.json") == realistic()
    assert {"report.md", "result.json", "table.csv"} <= {path.name for path in (tmp_path / "out").iterdir()}
    assert requests[0].samples == tmp_path / "out" / "samples.npz"


def test_place_that_becomes_unwritable_does_not_cost_the_figures(monkeypatch, tmp_path, capsys):
    folder = tmp_path / "out"

    def measure(request, progress):
        (folder / "result.json").mkdir()
        return realistic()

    monkeypatch.setattr("zcser.cli.compare.measure", measure)
    assert main(["compare", "-o", str(folder)]) == 2
    out, err = capsys.readouterr()
    assert out.splitlines()[-1].startswith("Over 3 payloads, ")
    assert err.startswith("zcser: cannot write")


def test_ledger_operations_that_were_asked_for_are_shown(requests, capsys):
    assert main(["compare", "--ops", "encode,convert"]) == 0
    assert "Ledger:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("cells", "complete", "code"),
    [
        ([cell("a", "encode", 1), Cell("one", "b", "encode", "refused", "no")], True, 0),
        ([cell("a", "encode", 1), Cell("one", "b", "encode", "failed", "gave 1, not 2")], True, 1),
        ([Cell("one", "b", "encode", "refused", "no")], True, 1),
        ([cell("baseline", "empty", 1, payload="-")], True, 1),
        ([cell("a", "encode", 1)], False, 1),
    ],
    ids=["refusal", "failure", "all refused", "baselines alone", "interrupted"],
)
def test_exit_code(monkeypatch, capsys, cells, complete, code):
    answer(monkeypatch, dataclasses.replace(result(cells), complete=complete))
    assert main(["compare", "--payload", "batch-meta"]) == code


def test_failed_round_trip_shows_its_reason_instead_of_a_time(monkeypatch, capsys):
    answer(
        monkeypatch,
        result([cell("a", "encode", 1), cell("b", "decode", 1), Cell("one", "b", "encode", "failed", "gave 1, not 2")]),
    )
    main(["compare", "--payload", "batch-meta"])
    assert "b failed (encode): gave 1, not 2" in capsys.readouterr().out


class Terminal(io.StringIO):
    def isatty(self):
        return True


def events():
    yield Event(1, 2, "json", 0, 4, 0.0, 0.0)
    yield Event(
        1, 2, "orjson", 1, 4, 0.5, 1.0, first_look=FirstLook("json", {"decode": 2345.6, "encode": 120.0, "dump": 1.0})
    )
    yield Event(2, 2, "json", 2, 4, 1.0, 2.0, "orjson: worker died\nof signal 11")
    yield Event(2, 2, None, 4, 4, 2.0, 4.0)


def test_progress_off_a_terminal_is_a_line_per_round():
    stream = io.StringIO()
    progress = Progress(stream)
    for event in events():
        progress(event)
    assert stream.getvalue().splitlines() == [
        "zcser: round 1 of 2, 4 workers in all, 0 s so far",
        "zcser: a first look, from one process of each codec; what counts is the table at the end",
        "  json                  encode  120 ns  decode 2.35 µs",
        "zcser: orjson: worker died of signal 11",
        "zcser: round 2 of 2, 4 workers in all, 2 s so far",
    ]


def test_progress_on_a_terminal_is_written_over_and_leaves_first_looks_and_troubles():
    stream = Terminal()
    progress = Progress(stream)
    for event in events():
        progress(event)
    assert "\x1b" not in stream.getvalue()
    shown = [line.rsplit("\r", 1)[-1] for line in stream.getvalue().split("\n")]
    assert shown == [
        "zcser: a first look, from one process of each codec; what counts is the table at the end",
        "  json                  encode  120 ns  decode 2.35 µs",
        "zcser: orjson: worker died of signal 11",
        "",
    ]


MEASURE = ["--payload", "batch-meta", "--codecs", "header,json", "--ops", "encode"]
TINY = """
import sys
from tests.measure import made
from zcser.cli import main
from zcser.measure import presets
presets.PRESETS["quick"] = made.TINY
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """One real, small run."""
    folder = tmp_path_factory.mktemp("run") / "out"
    export = f"--export-json={folder / 'r.json'}"
    command = [sys.executable, "-c", TINY, "compare", *MEASURE, "-o", str(folder), export]
    # readline, which pytest imports, sets COLUMNS behind os.environ's back; an explicit environment is without it.
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment), folder


def test_real_run_ends_in_the_sentence_and_exit_code_0(measured):
    done, _ = measured
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("batch-meta: ")
    assert "\x1b" not in done.stdout + done.stderr


def test_real_run_writes_what_report_reads(measured, capsys, monkeypatch):
    done, folder = measured
    monkeypatch.delenv("COLUMNS", raising=False)
    assert main(["report", str(folder / "result.json")]) == 0
    assert capsys.readouterr().out == done.stdout
    document = json.loads((folder / "result.json").read_text())
    assert {cell["codec"] for cell in document["cells"]} == {"baseline", "header", "json"}


def test_real_run_keeps_its_samples(measured):
    _, folder = measured
    made = load_result(folder / "result.json")
    with np.load(folder / "samples.npz") as samples:
        taken = sum(len(samples[name]) for name in samples if name.startswith("batch-meta/json/encode/"))
    assert taken == made.cell("batch-meta", "json", "encode").latency.n


def test_interrupted_run_prints_what_it_has_and_ends_in_1(tmp_path):
    command = [sys.executable, "-m", "zcser", "compare", *MEASURE, "--preset", "full", "-o", str(tmp_path)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stderr.readline().startswith("zcser: round 1")
    time.sleep(2)
    os.kill(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 1, err
    assert "Traceback" not in err
    assert out.splitlines()[-1].startswith("Interrupted, so incomplete: ")
    assert load_result(tmp_path / "result.json").complete is False


def test_a_result_keeps_no_folder_of_the_machine(measured):
    _, folder = measured
    command = load_result(folder / "result.json").command
    assert str(folder) not in " ".join(command)
    assert command[-2:] == (folder.name, "--export-json=r.json")
