"""Which engine a layout has: the one that the environment asks for, as all of zcser's engines."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import zcser
from tests.header.engines import ENGINES

SHOW = """
import sys
from zcser.header import RecordLayout
layout = RecordLayout.from_struct("<HB", "size kind")
assert layout.unpack_from(b"\\1\\0\\2") == (1, 2)
print(type(layout.unpack_from.__self__).__name__, "zcser.native._header" in sys.modules)
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_the_engine_that_is_asked_for_runs(engine):
    environment = {**os.environ, "ZCSER_BACKEND": engine}
    done = subprocess.run([sys.executable, "-c", SHOW], env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout == {"native": "Layout True\n", "pure": "PureEngine False\n"}[engine]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_codec_runs_the_engine_that_is_asked_for(engine):
    script = "import zcser, sys; zcser.codec('header', int).encode(5); print('zcser.native._header' in sys.modules)"
    environment = {**os.environ, "ZCSER_BACKEND": engine}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == {"native": "True\n", "pure": "False\n"}[engine]


def test_the_name_is_found_by_those_who_look_for_it():
    assert zcser.header.RecordLayout.__module__ == "zcser.header.records.layout"
    with pytest.raises(AttributeError, match="nothing"):
        zcser.header.nothing  # noqa: B018 - the access is the test
