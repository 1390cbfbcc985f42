"""Layouts with either engine, in one process, whichever one this process would choose."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from unittest import mock

import pytest

from zcser.header import RecordLayout

HAS_NATIVE = importlib.util.find_spec("zcser.native._header") is not None

ENGINES = [
    "pure",
    pytest.param("native", marks=pytest.mark.skipif(not HAS_NATIVE, reason="the C extension is not built")),
]

BUILT = ["pure", "native"] if HAS_NATIVE else ["pure"]


def with_engine(engine: str, make: Callable[[], RecordLayout]) -> RecordLayout:
    with mock.patch("zcser.header.records.engine.backend", engine):
        return make()


def with_each(make: Callable[[], RecordLayout]) -> list[RecordLayout]:
    return [with_engine(engine, make) for engine in BUILT]
