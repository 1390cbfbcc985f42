"""`zbench.codec`, and the mark that names codecs, payloads and operations."""

import re

import pytest

pytest_plugins = ["pytester"]

MATRIX = """
import pytest
@pytest.mark.zcser(codecs=["json", "header"], payloads=["telemetry-1k", "llm-chunk"], operations=["encode", "restore"])
def test_cell(zbench, codec, payload, operation):
    zbench.codec(codec, payload, operation)
"""


def test_the_mark_runs_a_test_for_each_combination_by_name(project):
    result = project.run(MATRIX, "--collect-only", "-q", "--strict-markers")
    names = [line.partition("::")[2] for line in result.stdout.lines if "::" in line]
    assert names == [
        f"test_cell[{payload}-{codec}-{operation}]"
        for payload in ("telemetry-1k", "llm-chunk")
        for codec in ("json", "header")
        for operation in ("encode", "restore")
    ]


def test_tests_are_chosen_by_the_names_of_the_mark(project):
    found = project.recorded(MATRIX, "-k", "json and llm-chunk")
    assert set(found) == {"test_cell[llm-chunk-json-encode]", "test_cell[llm-chunk-json-restore]"}
    for name, entry in found.items():
        extra = entry["extra_info"]["zcser"]
        assert extra["where"] == "workers"
        assert extra["cell"] == ["llm-chunk", "json", name.removesuffix("]").rpartition("-")[2]]
        assert extra["values"] == 64


def test_what_a_codec_refuses_or_does_not_have_is_skipped_with_the_reason(project):
    # A fixed layout has no room for strings of any length, and no middle stage.
    result = project.run(MATRIX, "-k", "header and llm-chunk", "-rs")
    result.assert_outcomes(skipped=2, deselected=6)
    result.stdout.fnmatch_lines(["*header*encode*llm-chunk*"])


@pytest.mark.parametrize("mark", ["codex=['json']", pytest.param("'json'", marks=pytest.mark.further)])
def test_a_mark_of_other_names_is_an_error(project, mark):
    source = f"import pytest\n@pytest.mark.zcser({mark})\ndef test_it(zbench):\n    pass\n"
    result = project.run(source)
    assert result.ret != pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["*the mark zcser takes payloads, codecs, operations, not *"])


WRONG = {
    "'jsn', 'llm-chunk', 'encode'": r"no codec is named 'jsn'; did you mean.*json",
    "'json', 'llm-chnk', 'encode'": r"no built-in payload is named 'llm-chnk'; did you mean llm-chunk",
    "'json', 'llm-chunk', 'encod'": r"no operation is named 'encod'; did you mean encode",
    "'json', 'llm-chunk', 'guard'": r"'guard' is derived from encode and encode-unguarded",
    "'json', 'llm-chunk', 'encode', value=1": r"a payload has values of its own",
    "'json', dict[str, int], 'encode'": r"a schema needs value=",
    "'json', dict[str, int], 'encode', value={'a': 'b'}": r"EncodeError",
}


def test_wrong_arguments_fail_the_test_and_say_why(project):
    source = "".join(f"def test_{number}(zbench):\n    zbench.codec({call})\n" for number, call in enumerate(WRONG))
    # pytest-benchmark warns of a fixture that was not used, even where the test failed before.
    result = project.run(source, "-W", "default::pytest.PytestWarning")
    result.assert_outcomes(failed=len(WRONG))
    text = result.stdout.str()
    for number, message in enumerate(WRONG.values()):
        report = text[text.index(f"_ test_{number} _") :].partition("\n____")[0]
        assert re.search(message, report), report
