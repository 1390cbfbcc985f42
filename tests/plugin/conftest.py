"""A project with benchmarks, whose own pytest runs in a process of its own."""

import dataclasses
import json
import subprocess
import sys

import pytest

from zcser.native import zcount

BYTES = "peak_bytes" if zcount.load() is None else "python_bytes"
"""The column of Python's memory, which each method of counting has: of one object the peak is the sum."""

# One process and a few milliseconds: what is tested is what becomes of the figures.
SHORT_PRESET = """
import dataclasses
from zcser.measure.plan import PRESETS
slot = dataclasses.replace(PRESETS["quick"].slot, warm_ns=100_000, batch_ns=100_000, latency_ns=3_000_000)
PRESETS["quick"] = dataclasses.replace(PRESETS["quick"], rounds=1, slot=slot)
"""


@dataclasses.dataclass
class Project:
    pytester: pytest.Pytester

    def run(self, source, *options, preset=SHORT_PRESET):
        """Run pytest on a test module, warnings being errors as in this repository."""
        (self.pytester.path / "conftest.py").write_text(preset)
        (self.pytester.path / "test_it.py").write_text(source)
        quick = ("--benchmark-max-time=0.01", "--benchmark-min-rounds=2", "-p", "no:cacheprovider", "-W", "error")
        return self.pytester.runpytest_subprocess(*quick, *options)

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


def modules_after(folder, *options):
    """The modules that a pytest session in a folder has loaded at its end."""
    script = f"import sys, pytest; pytest.main({['-q', *options]!r}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=folder, check=True, capture_output=True, text=True)
    return set(done.stdout.splitlines()[-1].split())
