"""The command line answers before anything heavy is imported."""

import os
import subprocess
import sys

import pytest

HEAVY = ("numpy", "rich", "rich_argparse", "psutil", "orjson", "simdjson", "msgpack", "google.protobuf", "flatbuffers")


def modules_after(arguments, **environment):
    script = (
        "import sys; from zcser.cli import main; code = main(sys.argv[1:]); "
        f"print(code, [name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    environ = {key: value for key, value in os.environ.items() if key not in {"FORCE_COLOR", "NO_COLOR"}}
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env=environ | environment,
    )
    return done.stdout, done.stderr.strip()


@pytest.mark.parametrize("arguments", [["--help"], ["compare", "--help"], ["--version"]])
def test_help_and_version_import_nothing_heavy(arguments):
    out, err = modules_after(arguments)
    assert out
    assert err == "0 []"


def test_usage_error_imports_nothing_heavy():
    _, err = modules_after(["compare", "--preset", "x"])
    assert err.endswith("2 []")


def test_coloured_help_says_the_same_words():
    plain, _ = modules_after(["--help"])
    colored, _ = modules_after(["--help"], FORCE_COLOR="1", TERM="xterm")
    assert "\x1b[" in colored
    assert "\x1b[" not in plain
    for command in ("compare", "list", "schema", "check", "evolve", "env", "doctor", "report", "diff"):
        assert command in plain
        assert command in colored


def test_no_color_wins_over_force_color():
    out, _ = modules_after(["--help"], FORCE_COLOR="1", NO_COLOR="1")
    assert "\x1b[" not in out
