"""What several files of this folder have in common."""

from __future__ import annotations

import pytest

import zcser
from tests.flat.everything import EVERYTHING
from zcser.core.errors import CodecUnavailableError
from zcser.flat.bfbs import FlatSchema


@pytest.fixture(scope="session", params=[False, True], ids=["plain", "prefixed"])
def everything(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> FlatSchema:
    """The schema of tests/flat/everything.py, without and with a size before its messages."""
    path = tmp_path_factory.mktemp("fbs") / "own.fbs"
    path.write_text(EVERYTHING)
    try:
        return zcser.load_fbs(path, size_prefixed=request.param)
    except CodecUnavailableError as error:
        pytest.skip(str(error))
