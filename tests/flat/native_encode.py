"""Engines in C and values for the tests of encoding."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

pytest.importorskip("zcser.native._flat")

from zcser import registry
from zcser.core.options import Options
from zcser.flat.native.engine import make_engine
from zcser.flat.plan import layout_of
from zcser.flat.program import program_of
from zcser.schema.annotations import Float32, Int16, UInt8
from zcser.schema.from_python import schema_of
from zcser.schema.normal import Normaliser


def engine(source: Any, **options: Any) -> Any:
    """A fresh engine, whose scratch memory nobody used before."""
    schema, chosen = schema_of(source), Options(**options)
    normal = Normaliser(schema, strict=chosen.strict, finite=False, limits=chosen.limits, codec="flatbuffers")
    return make_engine(program_of(layout_of(schema)), chosen, codec="flatbuffers", normal=normal)


def read(source: Any, message: bytes) -> Any:
    """The value of a message, by the official package."""
    return registry.codec("flatbuffers-official", source).decode(message)


@dataclasses.dataclass(slots=True)
class Inner:
    tag: UInt8 | None


@dataclasses.dataclass(slots=True)
class Outer:
    small: Int16
    name: str
    wide: int | None
    inners: list[Inner]
    labels: dict[str, Float32]


@dataclasses.dataclass
class Blobs:
    """Without slots, so that its attributes may be properties."""

    blob: bytes
    array: np.ndarray
    names: list[str]
    counts: dict[str, int]


def blobs(**changes: Any) -> Blobs:
    return dataclasses.replace(Blobs(b"b" * 300, np.arange(1500.0), ["a", "b"], {"k": 1}), **changes)
