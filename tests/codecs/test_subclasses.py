"""Subclasses of codecs by users: what they override is called, however quick a form of it the codec has."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, TypedDict

import numpy as np
import pytest

from tests.conformance.laws import INFO
from zcser import registry
from zcser.core.errors import SchemaError
from zcser.schema.model import Tensor


class Plain(TypedDict):
    number: int
    text: str


@dataclasses.dataclass
class Point:
    x: int
    y: float


@dataclasses.dataclass
class Message:
    id: int
    data: Annotated[np.ndarray, Tensor("float32", (None,))]


SCHEMAS = [Plain, Point, Message, list[Message]]
OPERATIONS = ("encode", "convert", "decode", "restore", "view")
MARK = object()


@pytest.mark.parametrize("guard", ["on", "off"])
@pytest.mark.parametrize("name", sorted(INFO))
def test_what_a_subclass_overrides_is_called(name, guard):
    for schema in SCHEMAS:
        try:
            codec = registry.codec(name, schema, guard=guard)
        except SchemaError:
            continue  # not carried
        for operation in (one for one in OPERATIONS if hasattr(codec, one)):
            subclass: Any = type("Overridden", (type(codec),), {operation: lambda *_: MARK})
            assert getattr(subclass(codec.schema, codec.options), operation)(None) is MARK, (schema, operation)
