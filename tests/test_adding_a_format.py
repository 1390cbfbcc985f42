"""docs/ADDING_A_FORMAT.md is true: its files are those of tests/example_codec, which works once it is installed."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from zcser.testing import check_codec
from zcser.testing.check import LAWS

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "ADDING_A_FORMAT.md").read_text()
EXAMPLE = ROOT / "tests" / "example_codec"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder of site-packages with the example in it, as an installer leaves it."""
    site = tmp_path_factory.mktemp("site")
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())
    for module in project["tool"]["setuptools"]["py-modules"]:
        shutil.copy(EXAMPLE / f"{module}.py", site)
    name, version = project["project"]["name"], project["project"]["version"]
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = []
    for group, points in project["project"]["entry-points"].items():
        lines += [f"[{group}]", *(f"{point} = {place}" for point, place in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines))
    return site


def run(site: Path, *arguments: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(site)}
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_files_of_the_page_are_those_of_the_example():
    files = dict(re.findall(r"`([a-z_]+\.(?:toml|py))`:\n\n```(?:toml|python)\n(.*?)```", PAGE, re.DOTALL))
    assert files == {path.name: path.read_text() for path in EXAMPLE.iterdir() if path.is_file()}
    assert len(blocks("python")) == 3


def test_an_installed_codec_is_one_like_all_others(installed):
    sample = blocks("python")[-1]
    assert run(installed, "-W", "error", "-c", sample).startswith("b'15:1:a,8:1:1#1:2#]}' {'a': [1, 2]} frozenset(")
    script = (
        "from zcser import registry\nfrom zcser.testing import check_codec\n"
        "print('tnetstrings' in registry.names(), check_codec('tnetstrings', only=['sized']).ok)\n"
        "try: registry.codec('tnetstrings', int).view\nexcept AttributeError as error: print(error)"
    )
    first, second = run(installed, "-c", script).splitlines()
    assert first == "True True"
    assert second.startswith("codec 'tnetstrings' has no view(); these have it: ")


def test_the_command_line_knows_it(installed, tmp_path):
    pytest.importorskip("rich_argparse")
    data = tmp_path / "my.json"
    data.write_text(json.dumps({"a": [1, 2], "b": "x"}))
    assert "tnetstrings" in run(installed, "-m", "zcser", "check", str(data))
    assert "Tagged netstrings" in run(installed, "-m", "zcser", "list")


def test_what_the_page_says_the_check_says(tmp_path, monkeypatch):
    source = (EXAMPLE / "zcser_tnetstrings.py").read_text()
    rounding = source.replace("repr(tree).encode()", 'b"%.12g" % tree')
    assert rounding != source
    (tmp_path / "rounding_codec.py").write_text(rounding)
    monkeypatch.syspath_prepend(tmp_path)
    codec = importlib.import_module("rounding_codec").TnetstringsCodec
    (said,) = blocks("text")
    found = str(check_codec(codec, raises=False)).splitlines()
    assert said.splitlines() == found[:2]


def test_the_page_names_every_law():
    rows = re.findall(r"^\| ([a-z_', -]+) \| ", PAGE, re.MULTILINE)
    named = {name for row in rows for name in row.split(", ")} - {"law"}
    assert named == {law.name for law in LAWS} | {"trusted bytes"}


@pytest.mark.slow
def test_an_installer_installs_it(tmp_path):
    if importlib.util.find_spec("pip") is None or importlib.util.find_spec("setuptools") is None:
        pytest.skip("neither pip nor setuptools are here")
    copy = shutil.copytree(EXAMPLE, tmp_path / "example")
    site = tmp_path / "site"
    options = ["--no-deps", "--no-build-isolation", "--quiet", "--target", str(site)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(copy)], check=True)
    assert "True" in run(site, "-c", "from zcser import registry; print('tnetstrings' in registry.names())")
