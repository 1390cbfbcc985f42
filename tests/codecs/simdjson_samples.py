"""Documents of the tests of simdjson."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from zcser import registry


@dataclasses.dataclass
class Item:
    id: int
    values: list[float]
    named: dict[str, dict[str, int]]


def text(*items: Any) -> bytes:
    return json.dumps([dataclasses.asdict(item) for item in items]).encode()


ITEMS = [Item(1, [0.5, 2.0], {"a": {"x": 1}, "b": {"y": 2}}), Item(2, [], {})]


def codec(schema: Any) -> Any:
    return registry.codec("simdjson", schema)
