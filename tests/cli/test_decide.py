"""``zcser decide`` and ``zcser compare --profile``: what they print, and what they refuse."""

import json

import pytest

from tests.decide.results import codec, result
from tests.report.results import realistic
from zcser.cli import main
from zcser.measure.operations import DEFAULT


@pytest.fixture
def folder(tmp_path, monkeypatch):
    realistic().save(tmp_path / "run.json")
    result(codec("a", 9, encode=1)).save(tmp_path / "half.json")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    return tmp_path


def test_table_shows_ranks_ties_and_the_sentence_last(folder, capsys):
    # From tests.report.results.FIGURES: batch-meta costs header 322 + 471, orjson 318 + 702, msgpack 701 + 842 ns of core.
    assert main(["decide", "run.json", "--profile", "custom", "--payload", "batch-meta"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    start = next(number for number, line in enumerate(lines) if line.split()[:2] == ["codec", "rank"])
    rows = [line.split()[:4] for line in lines[start + 1 : start + 4]]
    assert rows == [["header", "1", "793", "ns"], ["orjson", "2", "1.02", "µs"], ["msgpack", "3", "1.54", "µs"]]
    assert sum("simdjson, written by orjson" in line for line in lines) == 1
    assert lines[-1] == "batch-meta, custom: header is cheapest (793 ns per message), 1.3x ahead of orjson."
    assert err == ""


def test_ties_have_an_equals_sign_and_settings_count(folder, capsys):
    # At 10 kB/s the bytes decide: 41 of protobuf and 64 of header, two of 189.
    assert main(["decide", "run.json", "--payload", "batch-meta", "--set", "bandwidth_out=10kB/s"]) == 0
    out = capsys.readouterr().out
    # The formula in words is that of the profile as it comes.
    assert out.startswith("zcser decide, server, changed: decodes a request whole")
    rows = {words[0]: words[1] for line in out.splitlines() if len(words := line.split()) > 5}
    assert (rows["protobuf"], rows["header"], rows["json"], rows["orjson"]) == ("1", "2", "5=", "5=")


def test_json_is_plain_and_agrees_with_the_table(folder, capsys):
    assert main(["decide", "run.json", "--profile", "custom", "--json", "--payload", "batch-meta"]) == 0
    document = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    scores = document["payloads"]["batch-meta"]["scores"]
    assert [(one["rank"], one["codec"], round(one["core_ns"]["value"])) for one in scores[:2]] == [
        (1, "header", 793),
        (2, "orjson", 1020),
    ]
    assert document["profile"]["bandwidth_in"] is None
    assert document["sentence"].startswith("batch-meta, custom: header is cheapest")


def test_result_without_anything_to_score_is_exit_one(folder, capsys):
    assert main(["decide", "half.json"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "one, server: no codec can be scored; the reasons are above."


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["--profile", "fast"], "proxy, server"), (["--set", "reads=2"], "reads_per_write"), (["--payload", "nope"], "batch-meta"),
     (["--set", "cpu_share=0"], "cpu_share")],
)  # fmt: skip
def test_bad_usage_is_one_line_and_exit_two(folder, capsys, arguments, words):
    assert main(["decide", "run.json", *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert words in err


def test_compare_appends_the_decision_and_checks_it_before_measuring(folder, capsys, monkeypatch):
    asked, half = [], result(codec("a", 9, encode=1))
    monkeypatch.setattr("zcser.cli.compare.measure", lambda request, progress: asked.append(request) or half)
    assert main(["compare", "--payload", "batch-meta", "--profile", "server", "--set", "reads_per_write=2"]) == 0
    out = capsys.readouterr().out
    assert "zcser compare" in out.splitlines()[0]
    assert out.splitlines()[-1] == "one, server: no codec can be scored; the reasons are above."
    assert asked[0].operations == ()
    for bad in (["--profile", "fast"], ["--set", "reads_per_write=2"]):
        assert main(["compare", "--payload", "batch-meta", *bad]) == 2
    assert len(asked) == 1


def test_compare_measures_what_the_profile_weighs_besides_the_usual(folder, capsys, monkeypatch):
    asked = []
    monkeypatch.setattr("zcser.cli.compare.measure", lambda request, progress: asked.append(request) or realistic())
    main(["compare", "--payload", "batch-meta", "--profile", "proxy"])
    main(["compare", "--payload", "batch-meta", "--profile", "proxy", "--ops", "encode,decode"])
    assert [request.operations for request in asked] == [
        (*DEFAULT, "read-2", "read-2-unverified"),
        ("encode", "decode"),
    ]
