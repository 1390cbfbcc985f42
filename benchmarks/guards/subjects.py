"""What is compared: the values, the bare libraries, and our codecs over them."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import functools
import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgpack
import msgspec
import orjson
import ormsgpack

from benchmarks.flat.arms import Arm, Effort, prove, rotating
from zcser import payloads, registry
from zcser.schema.from_sample import infer
from zcser.schema.model import Schema
from zcser.tree import codec as tree_codec

__all__ = ["LIBRARIES", "MESSAGES", "PYTHON", "SUBJECTS", "Calls", "arms", "has_native", "values"]

MESSAGES = ("telemetry-1k", "llm-chunk")

PYTHON = "guard on, in Python"
SUBJECTS = ("library", "guard off", "guard on", PYTHON)


class Calls(NamedTuple):
    """Encode and decode."""

    encode: Callable[[Any], bytes]
    decode: Callable[[Any], Any]


_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

LIBRARIES: dict[str, Callable[[], Calls]] = {
    "json": lambda: Calls(lambda value: _JSON(value).encode(), json.loads),
    "orjson": lambda: Calls(orjson.dumps, orjson.loads),
    "msgspec-json": lambda: Calls(msgspec.json.Encoder().encode, msgspec.json.Decoder().decode),
    "msgpack": lambda: Calls(msgpack.Packer().pack, msgpack.unpackb),
    "ormsgpack": lambda: Calls(ormsgpack.packb, ormsgpack.unpackb),
    "msgspec-msgpack": lambda: Calls(msgspec.msgpack.Encoder().encode, msgspec.msgpack.Decoder().decode),
}


def _plain(value: Any) -> Any:
    """The value in dicts."""
    if isinstance(value, enum.Enum):
        return value.value
    if dataclasses.is_dataclass(value):
        return {item.name: _plain(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


@functools.cache
def values(message: str) -> tuple[Schema, list[Any]]:
    """The schema inferred from 64 values, and these, in dicts."""
    payload = payloads.get(message)
    items = [_plain(payload.make(number)) for number in range(64)]
    return infer(items), items


@contextlib.contextmanager
def _without_c() -> Iterator[None]:
    """Codecs that are made inside it have generated code alone."""
    kept = tree_codec.make_coder
    tree_codec.make_coder = lambda *_, **__: None  # type: ignore[assignment]
    try:
        yield
    finally:
        tree_codec.make_coder = kept


def has_native() -> bool:
    """Whether the C part was built and is not switched off."""
    codec = registry.codec("json", int)
    return getattr(codec.decode, "__self__", None) is not codec


def arms(effort: Effort, message: str, library: str) -> list[Arm]:
    """All subjects, both ways."""
    schema, items = values(message)
    calls = {"library": LIBRARIES[library]()}
    for subject, guard in (("guard off", "off"), ("guard on", "on")):
        codec = registry.codec(library, schema, guard=guard)
        calls[subject] = Calls(codec.encode, codec.decode)
    with _without_c():
        codec = registry.codec(library, schema)
        calls[PYTHON] = Calls(codec.encode, codec.decode)
    wires = [calls["library"].encode(value) for value in items]
    found = []
    for subject, (encode, decode) in calls.items():
        prove(f"{subject} of {library}", [encode(value) for value in items], wires)
        prove(f"{subject} of {library}", [decode(data) for data in wires], items)
        found += [
            rotating(effort, "encode", subject, encode, items, form="dict"),
            rotating(effort, "decode", subject, decode, wires, form="dict"),
        ]
    return found
