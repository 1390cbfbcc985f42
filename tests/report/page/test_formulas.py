"""The scripts' formulas and texts against Python's, run by node: the same digits, ranks and words."""

import json
import random
import shutil
import subprocess

import pytest

from tests.report.page.profiles import random_profiles, standings_of
from tests.report.results import realistic
from zcser.core.units import bytes_text, duration_text, number_text, range_text, ratio_text
from zcser.decide.formulas import as_json, profile_as_json
from zcser.report.page.embed import asset

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")

SCRIPTS = "".join(map(asset, ("formulas.js", "texts.js", "sentence.js")))


def run(body, data):
    """What a script prints, which has `data`, as JSON."""
    script = f"'use strict';\n{SCRIPTS}\nconst data = JSON.parse(require('fs').readFileSync(0));\n{body}"
    done = subprocess.run([NODE, "-e", script], input=json.dumps(data), capture_output=True, text=True, check=False)
    assert not done.stderr
    return json.loads(done.stdout)


def test_scripts_rank_as_python_does():
    result = realistic()
    figures = as_json(result)
    cases = [
        (payload, profile)
        for payload, known in figures["payloads"].items()
        for profile in random_profiles(10, [*known["tasks"], "never-measured"], seed=len(known["candidates"]))
    ]
    found = run(
        """console.log(JSON.stringify(data.cases.map(([payload, profile]) => {
            const found = standingsOf(data.figures, data.figures.payloads[payload], profile);
            return {
              ranked: found.scores.map((one) => [one.rank, one.codec, one.total.value]),
              outs: found.outs.map((one) => one.codec).sort(),
              sentence: sentenceOf(found, payload, profile),
            };
        })));""",
        {"figures": figures, "cases": [(payload, profile_as_json(profile)) for payload, profile in cases]},
    )
    assert found == [standings_of(result, payload, profile) for payload, profile in cases]
    # The cases are of use only where they differ.
    assert len({one["sentence"] for one in found}) > len(found) // 2
    assert any(one["outs"] for one in found)


def test_scripts_write_figures_as_python_does():
    rng = random.Random(3)
    edges = [
        0.0,
        0.994,
        0.9995,
        1.0,
        9.994,
        9.996,
        99.94,
        99.96,
        999.4,
        999.6,
        9999.4,
        9999.6,
        12_345.0,
        1e6,
        3e9,
        5e13,
    ]
    values = edges + [10 ** rng.uniform(-2, 12) for _ in range(200)]
    found = run(
        """console.log(JSON.stringify(data.map((value) =>
            [timeText(value), bytesText(value), numberText(value), ratioText(value), rangeText(value, 2 * value, timeText)])));""",
        values,
    )
    for value, texts in zip(values, found, strict=True):
        expected = (
            duration_text(value),
            bytes_text(value),
            number_text(value),
            ratio_text(value),
            range_text(value, 2 * value),
        )
        assert tuple(texts) == expected, value
