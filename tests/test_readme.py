"""The README shows nothing that the project does not: its samples run, and its figures stand in the committed result."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from zcser.measure.result import load_result
from zcser.report import markdown
from zcser.report.document import document_of

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()


def test_the_python_samples_of_the_readme_run(capsys, tmp_path, monkeypatch):
    samples = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert samples
    for sample in samples:
        # Not exec() here: a dataclass looks its annotations up in a real module.
        path = tmp_path / "readme_sample.py"
        path.write_text(sample)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(__import__("sys").modules, "readme_sample", raising=False)
        __import__("readme_sample")
    assert "llama (2, 4)" in capsys.readouterr().out


def test_the_table_of_the_readme_is_the_committed_result():
    table = re.search(r"<!-- table: request-1k -->\n(.*?)\n<!-- end of table -->", README, re.DOTALL)
    assert table is not None
    report = (ROOT / "results" / "quick.md").read_text()
    assert table[1] in report.partition("## request-64k")[0]


@pytest.mark.further
def test_the_committed_report_is_made_from_the_committed_result():
    result = load_result(ROOT / "results" / "quick.json")
    assert (ROOT / "results" / "quick.md").read_text() == markdown.render(document_of(result))
    assert result.complete
    assert not [cell.reason for cell in result.cells if cell.status == "failed"]


@pytest.mark.parametrize("needle", ["zcser compare", "pytest"])
def test_the_two_commands_are_one_line_each(needle):
    lines = [line for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) for line in block.splitlines()]
    (first, *_) = [line for line in lines if needle in line]
    assert first.startswith("python3 -m venv .venv && .venv/bin/pip install")
    assert needle != "pytest" or first in (ROOT / ".ci" / "run").read_text()
