"""``zcser diff``: exit codes, output and errors."""

import dataclasses
import json

import pytest

from tests.gate.results import changed, counted, noisy, seeded, steady
from zcser.cli import main


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = seeded()
    noisy(rng).save(tmp_path / "old.json")
    noisy(rng).save(tmp_path / "same.json")
    noisy(rng, slower={7: 1.1}).save(tmp_path / "slow.json")
    noisy(rng, processes=4, slower={7: 3.0}).save(tmp_path / "quick.json")
    changed(noisy(rng), method={"timer": "C loop"}).save(tmp_path / "timer.json")
    dataclasses.replace(noisy(rng), preset="full").save(tmp_path / "full.json")
    (tmp_path / "words.json").write_text("not json")
    (tmp_path / "foreign.json").write_text('{"benchmarks": []}')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")  # one piece of table, whatever the runner says of its width
    return tmp_path


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [("old.json", "same.json", 0), ("old.json", "old.json", 0), ("old.json", "slow.json", 1), ("slow.json", "old.json", 0),
     ("old.json", "quick.json", 0), ("quick.json", "old.json", 0)],
)  # fmt: skip
def test_exit_code_is_one_for_a_regression_alone(folder, capsys, old, new, code):
    assert main(["diff", old, new]) == code
    out, err = capsys.readouterr()
    assert err == ""
    assert f"zcser diff: {old} against {new}" in out


def test_report_shows_the_changed_cell_and_ends_in_the_sentence(folder, capsys):
    main(["diff", "old.json", "slow.json", "--fail-if", "cost > 4 %"])
    lines = capsys.readouterr().out.splitlines()
    (row,) = [line for line in lines if line.startswith("one protobuf op1 ")]
    assert row.split()[3] == "p10"
    assert row.split()[-1] == "regressed"
    assert any(line.split()[:2] == ["p10>4%", "60"] for line in lines)
    assert lines[-1].startswith("Regression: 1 regressed: protobuf op1 on one (p10 +")


def test_too_few_processes_are_said(folder, capsys):
    main(["diff", "old.json", "quick.json"])
    assert "8 a side are needed" in " ".join(capsys.readouterr().out.split())


def test_every_rule_counts(folder, capsys):
    steady(**counted()).save("a.json")
    steady(**counted(size=101)).save("b.json")
    assert main(["diff", "a.json", "b.json", "--fail-if", "p10>3%"]) == 0
    assert main(["diff", "a.json", "b.json", "--fail-if", "p10>3%", "--fail-if", "size>0"]) == 1
    assert main(["diff", "a.json", "b.json"]) == 1


def test_markdown_is_written_for_a_pull_request(folder, capsys):
    assert main(["diff", "old.json", "slow.json", "--export-markdown", "out.md"]) == 1
    text = (folder / "out.md").read_text()
    assert "| one protobuf op1 | p10 |" in text
    assert "**regressed**" in text
    assert text.splitlines()[-1].startswith("Regression: ")


def complaint(capsys, *arguments):
    assert main(["diff", *arguments]) == 2
    out, err = capsys.readouterr()
    assert err.startswith("zcser: ")
    assert err.count("\n") == 1
    assert "fault of zcser" not in err
    return out, err


@pytest.mark.parametrize("name", ["words.json", "foreign.json", "missing.json", "."])
def test_file_that_is_no_result_is_one_line_and_exit_two(folder, capsys, name):
    for arguments in ((name, "old.json"), ("old.json", name)):
        out, err = complaint(capsys, *arguments)
        assert out == ""
        assert name in err


@pytest.mark.parametrize("rule", ["p11>5%", "p10", "p10>=5%", "", "allocs>-1"])
def test_bad_rule_is_one_line_and_exit_two(folder, capsys, rule):
    out, err = complaint(capsys, "old.json", "same.json", "--fail-if", rule)
    assert out == ""
    assert repr(rule) in err


def test_other_preset_is_one_line_and_exit_two(folder, capsys):
    out, err = complaint(capsys, "old.json", "full.json")
    assert out == ""
    assert "preset quick against full" in err


def test_rule_that_applies_to_nothing_is_reported_and_exit_two(folder, capsys):
    out, err = complaint(capsys, "old.json", "timer.json", "--fail-if", "p10>3%")
    assert "refused, p10>3%: method of timer" in out
    assert "p10>3% could be applied to nothing: method of timer" in err


def test_unwritable_markdown_is_one_line_and_exit_two(folder, capsys):
    out, err = complaint(capsys, "old.json", "same.json", "--export-markdown", "no/such/out.md")
    assert out == ""
    assert "no/such/out.md" in err


def test_names_of_a_file_cannot_write_escape_codes(folder, capsys):
    document = json.loads((folder / "slow.json").read_text())
    old = json.loads((folder / "old.json").read_text())
    for one in (document, old):
        for item in [*one["cells"], *one["codecs"]]:
            key = "codec" if "codec" in item else "name"
            item[key] = item[key].replace("protobuf", "\x1b[31mp\n")
    (folder / "a.json").write_text(json.dumps(old))
    (folder / "b.json").write_text(json.dumps(document))
    assert main(["diff", "a.json", "b.json"]) == 1
    out = capsys.readouterr().out
    assert "\x1b[31m" not in out
    assert "?[31mp" in out.splitlines()[-1]
