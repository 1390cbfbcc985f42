"""The committed matrix is what the code gives; and no change is safe in every codec and conformance case."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.schemas import CASES
from zcser import registry
from zcser.core.codec import CodecInfo
from zcser.core.errors import CodecUnavailableError
from zcser.evolution import Outcome, Verdict, evolve
from zcser.evolution.matrix import cell
from zcser.evolution.pairs import PAIRS

COMMITTED = Path(__file__).parents[2] / "docs" / "EVOLUTION.md"
PAGES = Path(__file__).parents[2] / "zcser" / "report" / "page" / "assets" / "evolution.json"

OWN = {
    name: found
    for name, found in registry.available().items()
    if isinstance(found, CodecUnavailableError) or registry.codec_class(name).__module__.startswith("zcser.codecs.")
}
MISSING = [name for name, found in OWN.items() if isinstance(found, CodecUnavailableError)]
# One codec a wire, for the quick tests: those of one wire read each other's bytes.
QUICK = list({found.wire: name for name, found in reversed(OWN.items()) if isinstance(found, CodecInfo)}.values())

# Of every shape; the rest is for the slow test.
FEW = ("literals", "absent_or_none", "recursive_dict", "tuples", "root_optional_union")


def committed() -> dict[tuple[str, str], dict[str, str]]:
    """The cells of the file, by group and change, by codec."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for part in COMMITTED.read_text(encoding="utf-8").split("\n## "):
        group, _, text = part.partition("\n")
        rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
        if not rows or rows[0][0] != "change":
            continue
        for row in rows[2:]:
            columns = zip(rows[0][1:], row[1:], strict=True)
            found[group, row[0]] = {name: words for names, words in columns for name in names.split(", ")}
    return found


@pytest.mark.parametrize("group", sorted({pair.group for pair in PAIRS}))
@pytest.mark.further
def test_the_committed_matrix_is_what_the_code_gives(group):
    # Each change in a third of the wires, and each wire in a third of the changes; the slow test takes all.
    cells = committed()
    for number, pair in enumerate(PAIRS):
        if pair.group == group:
            codecs = QUICK[number % 3 :: 3]
            seen = {report.codec: cell(report) for report in evolve(pair.old, pair.new, codecs=codecs).codecs}
            assert seen == {name: cells[group, pair.name].get(name) for name in codecs}, pair.name


def test_pages_show_the_committed_matrix():
    pages = {
        (section["group"], change): {
            name: words for names, words in zip(section["columns"], cells, strict=True) for name in names
        }
        for section in json.loads(PAGES.read_text(encoding="utf-8"))
        for change, cells in section["rows"]
    }
    assert pages == committed()


def test_the_committed_matrix_has_every_change_and_codec():
    cells = committed()
    assert list(cells) == [(pair.group, pair.name) for pair in PAIRS]
    assert {frozenset(row) for row in cells.values()} == {frozenset(OWN)}


@pytest.mark.slow
def test_the_command_prints_the_matrix():
    if MISSING:
        pytest.skip(f"not installed: {', '.join(MISSING)}")
    done = subprocess.run([sys.executable, "-m", "zcser.evolution"], check=True, capture_output=True)
    assert done.stdout.decode() == COMMITTED.read_text(encoding="utf-8")


def works_throughout(case: str) -> None:
    found = evolve(CASES[case], CASES[case])
    assert found.changes == ()
    assert found.unsafe == ()
    carrying = [report for report in found.codecs if report.verdict is not Verdict.NOT_CARRIED]
    assert "json" in {report.codec for report in carrying}
    for report in carrying:
        assert report.verdict is Verdict.SAFE, report
        assert {outcome for tally in report.whole.values() for outcome in tally.counts} == {Outcome.WORKS}, report


@pytest.mark.parametrize("case", FEW)
@pytest.mark.further
def test_no_change_is_safe_in_every_codec(case):
    works_throughout(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", sorted(set(CASES) - set(FEW)))
def test_no_change_is_safe_in_every_codec_and_case(case):
    works_throughout(case)


def test_a_pair_differs_in_what_its_name_says():
    for pair in PAIRS:
        changes = evolve(pair.old, pair.new, codecs=[]).changes
        assert changes, pair.name
        words = re.findall("renam|reorder|renumber|optional to required|widen|narrow", pair.name)
        if len(words) == 1 and pair.group != "Unions and records":
            known = " ".join(change.kind.name + " " + str(change.kind) for change in changes)
            assert {"optional to required": "TO_REQUIRED"}.get(words[0], words[0]) in known, pair.name
