"""``zcser doctor`` and the options that say where to measure: output and exit codes."""

import json

import pytest

from tests.report.results import realistic
from zcser.cli import app, main
from zcser.cli import compare as compare_command
from zcser.cli import doctor as command
from zcser.measure.doctor import FORMULA, Diagnosis, Variation, smallest_change
from zcser.measure.findings import Evidence, findings

EVIDENCE = Evidence(clock="tsc", cpus=(0, 1), governors=("powersave",))


def diagnosis(sd):
    return Diagnosis(
        processes=8,
        wall_s=15.2,
        cells=(Variation("llm-chunk", "json", "encode", 8, 5060.0, sd, 1.014, 1.001, 1.028),),
        sd=sd,
        smallest_change={str(side): smallest_change(sd, side) for side in (8, 12)},
        formula=FORMULA,
        evidence=EVIDENCE,
        findings=findings(EVIDENCE),
        unknown=("turbo",),
    )


@pytest.fixture
def found(monkeypatch):
    """Let the check find processes that vary by a share; what it was asked for is in the list."""
    asked = []

    def use(sd):
        monkeypatch.setattr(command, "diagnose", lambda *arguments: asked.append(arguments[:2]) or diagnosis(sd))
        return asked

    return use


def test_machine_that_sees_five_percent_is_fine(found, capsys):
    found(0.02)
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    # See test_doctor of zcser.measure for 8 by hand; of 12, (2.074 + 1.321) * 0.02 * sqrt(2/12) = 0.02772.
    assert out.splitlines()[-1] == (
        "Processes vary by 2.0%: this machine now sees changes from 3.6% on with 8 processes a side, "
        "and from 2.8% on with 12."
    )
    assert FORMULA in out


def test_machine_that_does_not_see_five_percent_is_exit_one(found, capsys):
    found(0.04)
    assert main(["doctor"]) == 1
    assert capsys.readouterr().out.splitlines()[-1].endswith("5% would go unseen.")


def test_findings_come_with_what_to_do_and_the_unseen_is_named(found, capsys):
    found(0.02)
    main(["doctor"])
    out = capsys.readouterr().out
    assert "mend: sudo cpupower frequency-set -g performance\n" in out
    assert "not visible here, so not judged: turbo" in out


def test_json_is_all_that_was_found_and_nothing_else(found, capsys):
    found(0.04)
    assert main(["doctor", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["sd"] == 0.04
    assert document["smallest_change"].keys() == {"8", "12"}
    assert document["evidence"]["governors"] == ["powersave"]
    assert document["evidence"]["load"] is None
    assert [finding["name"] for finding in document["findings"]] == ["governor", "pinning"]


def test_interrupted_check_is_one_line(monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "diagnose", interrupted)
    assert main(["doctor"]) == 1
    assert capsys.readouterr() == ("", "zcser: interrupted\n")


def test_cpus_and_node_reach_the_check(found):
    asked = found(0.02)
    main(["doctor", "--pin", "0-2,5", "--numa", "1"])
    main(["doctor"])
    assert asked == [((0, 1, 2, 5), 1), ((), None)]


def test_cpus_and_node_reach_the_comparison(monkeypatch):
    asked = []

    def measure(request, _):
        asked.append((request.pin, request.numa))
        return realistic()

    monkeypatch.setattr(compare_command, "measure", measure)
    assert main(["compare", "--pin", "1", "--numa", "0"]) == 0
    assert asked == [((1,), 0)]


@pytest.mark.parametrize("name", ["doctor", "compare"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pin", "x"], "write it like 2 or 0-3,5"),
        (["--pin", ""], "write it like 2 or 0-3,5"),
        (["--pin", "65535"], "cannot pin to CPU 65535"),
        (["--numa", "-1"], "the number of a NUMA node is needed"),
        (["--numa", "x"], "the number of a NUMA node is needed"),
        (["--numa", "999999"], "there is no NUMA node 999999"),
    ],
)
def test_bad_place_is_exit_two_in_one_line(capsys, name, arguments, message):
    assert main([name, *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.count("\n") == 1


def test_every_command_has_a_module():
    from zcser.cli.parser import COMMANDS

    assert app.MODULES.keys() == COMMANDS.keys()


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "result.json"
    realistic().save(path)
    return path


def test_report_writes_hdr_files(saved, tmp_path, capsys):
    folder = tmp_path / "hdr"
    assert main(["report", str(saved), "--export-hdr", str(folder)]) == 0
    assert (folder / "token-chunk.orjson.encode.hgrm").read_text().startswith("       Value     Percentile TotalCount")


def test_hdr_folder_that_cannot_be_written_is_exit_two(saved, tmp_path, capsys):
    assert main(["report", str(saved), "--export-hdr", str(saved)]) == 2
    assert capsys.readouterr().err.startswith("zcser: cannot write ")


def test_latency_on_the_screen_is_drawn_too(saved, capsys):
    main(["report", str(saved), "--latency"])
    assert capsys.readouterr().out.count("Distribution: every sample") == 3
    main(["report", str(saved)])
    assert "Distribution" not in capsys.readouterr().out
