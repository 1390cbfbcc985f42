"""A project with benchmarks, whose own pytest runs in a process of its own."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from zcser.native import zcount

BYTES = "peak_bytes" if zcount.load() is None else "python_bytes"
"""The column of Python's memory, which each method of counting has: of one object the peak is the sum."""

# One process and a few milliseconds, and all values however slowly they are made: what is tested is what becomes of the
# figures.
SHORT_PRESET = """
import dataclasses
from zcser.measure.presets import PRESETS
slot = dataclasses.replace(PRESETS["quick"].slot, warm_ns=100_000, batch_ns=100_000, latency_ns=20_000_000)
PRESETS["quick"] = dataclasses.replace(PRESETS["quick"], rounds=1, slot=slot, prepare_ns=60_000_000_000)
"""


QUICK = ("--benchmark-max-time=0.01", "--benchmark-min-rounds=2", "-p", "no:cacheprovider", "-W", "error")
# Hypothesis, which has nothing to do here, takes longer to load than all the rest.
QUICK += ("-p", "no:hypothesispytest")


@dataclasses.dataclass
class Project:
    pytester: pytest.Pytester

    def run(self, source, *options, preset=SHORT_PRESET):
        """Run pytest on a test module, warnings being errors as in this repository."""
        (self.pytester.path / "conftest.py").write_text(preset)
        (self.pytester.path / "test_it.py").write_text(source)
        return self.pytester.runpytest_subprocess(*QUICK, *options)

    def recorded(self, source, *options, **keywords):
        """The benchmarks of pytest-benchmark's JSON file, by name."""
        result = self.run(source, "--benchmark-json=out.json", *options, **keywords)
        assert result.ret == pytest.ExitCode.OK, result.stdout.str() + result.stderr.str()
        document = json.loads((self.pytester.path / "out.json").read_text())
        return {entry["name"]: entry for entry in document["benchmarks"]}


@pytest.fixture
def project(pytester, monkeypatch):
    # By this variable pytest-benchmark knows that it runs under xdist, which the tests here may and their projects do not.
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    return Project(pytester)


@dataclasses.dataclass
class Session:
    """A session of a project that several tests look at."""

    folder: Path
    lines: list[str]
    entries: dict[str, dict[str, Any]]


def session_of(folder, source, *options, preset=SHORT_PRESET):
    """Run pytest on a test module in a folder, which gets pytest-benchmark's ``out.json``."""
    (folder / "conftest.py").write_text(preset)
    (folder / "test_it.py").write_text(source)
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_XDIST_WORKER"}
    command = [sys.executable, "-m", "pytest", *QUICK, "--benchmark-json=out.json", *options]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert (folder / "out.json").exists(), done.stdout + done.stderr
    document = json.loads((folder / "out.json").read_text())
    return Session(folder, done.stdout.splitlines(), {entry["name"]: entry for entry in document["benchmarks"]})


def modules_after(folder, *options):
    """The modules that a pytest session in a folder has loaded at its end."""
    script = f"import sys, pytest; pytest.main({['-q', *QUICK[-2:], *options]!r}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=folder, check=True, capture_output=True, text=True)
    return set(done.stdout.splitlines()[-1].split())
