"""What the studies share: their command line, and the report around their tables."""

from __future__ import annotations

import json

import pytest

from benchmarks.support.batches import batch_of, call_ns
from benchmarks.support.command import parser_of, run
from benchmarks.support.document import Begin, document, report
from benchmarks.support.fresh import MeasuringError
from zcser.measure.clock import now_ns


def nothing(progress):
    progress(1, 2, "part")
    return "| a table |\n", document(Begin(), ["json"], raw={"part": [1]})


def test_a_study_is_printed_and_written_with_its_environment(tmp_path, capsys):
    run(parser_of("nothing", None), tmp_path, name="nothing", title="Nothing, measured", study=nothing)
    printed, progress = capsys.readouterr()
    assert progress.split() == ["0", "s", "1/2", "part"]
    assert printed == (tmp_path / "nothing.md").read_text()
    assert printed.startswith("# Nothing, measured\n")
    assert "| a table |" in printed
    written = json.loads((tmp_path / "nothing.json").read_text())
    assert written["raw"] == {"part": [1]}
    assert set(written["environment"]["libraries"]) == {"numpy", "json"}


@pytest.mark.parametrize(("load", "noticed"), [(1.1, True), (1.0, False), (None, False)])
def test_a_machine_is_not_idle_from_half_a_task_for_each_core(load, noticed):
    found = document(Begin(), [])
    found["load_average_before"], found["environment"]["cores"] = load, 2
    assert ("not idle" in report("title", "", found, 1.0, "nothing")) is noticed


def test_a_folder_that_is_not_there_is_refused_before_anything_runs(tmp_path, capsys):
    with pytest.raises(SystemExit):
        run(parser_of("nothing", None), tmp_path / "none", name="nothing", title="", study=nothing)
    printed, errors = capsys.readouterr()
    assert "is no folder" in errors
    assert printed == ""


def test_a_process_that_fails_ends_the_study_in_a_line(capsys):
    def fail(_):
        raise MeasuringError("time_group in a fresh process: TimeoutExpired")

    with pytest.raises(SystemExit) as end:
        run(parser_of("nothing", None), None, name="nothing", title="", study=fail)
    assert end.value.code == 1
    assert capsys.readouterr().err == "time_group in a fresh process: TimeoutExpired\n"


def wait(_):
    end_ns = now_ns() + 50_000
    while now_ns() < end_ns:
        pass


def test_a_batch_has_as_many_calls_as_its_time_has_room_for():
    assert call_ns(wait, [None] * 4) >= 50_000
    assert 1 <= len(batch_of(wait, None, 1_000_000)) <= 20
    assert batch_of(wait, None, 1) == [None]
