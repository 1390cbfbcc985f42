"""Ten operations for whose sake the core exists: one document in five libraries, and two bare allocations.

Each is one call of one argument, prepared by name, so that a process loads only what it runs.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["OPERATIONS", "Prepared", "prepare"]


DOCUMENT: dict[str, Any] = {
    "trace": "4bf92f3577b34da6a3ce929d0e0e4736",
    "host": {"name": "node-17", "zone": "eu-west-1b", "gpus": 8, "spot": False, "owner": None},
    "labels": {"model": "llama-3-8b", "stage": "decode", "tenant": "a-1029", "priority": "high"},
    "spans": [
        {"name": f"layer-{number}", "start": 1_700_000_000.25 + number, "took": 0.125 * number, "tokens": 17 * number}
        for number in range(8)
    ],
    "counters": [number * number for number in range(40)],
    "loads": [number / 7 for number in range(24)],
}
"""Some 1.2 kB of JSON, as a service's telemetry is: nested, a few strings, numbers of both kinds."""


class Prepared(NamedTuple):
    """A call and its argument."""

    call: Callable[[Any], Any]
    argument: Any


def _text() -> bytes:
    return json.dumps(DOCUMENT).encode()


def _orjson_dumps() -> Prepared:
    import orjson

    return Prepared(orjson.dumps, DOCUMENT)


def _orjson_loads() -> Prepared:
    import orjson

    return Prepared(orjson.loads, _text())


def _msgpack_packb() -> Prepared:
    import msgpack

    return Prepared(msgpack.packb, DOCUMENT)


def _msgpack_unpackb() -> Prepared:
    import msgpack

    return Prepared(msgpack.unpackb, msgpack.packb(DOCUMENT))


def _protobuf_encode() -> Prepared:
    from google.protobuf.struct_pb2 import Struct

    message = Struct()
    message.update(DOCUMENT)
    return Prepared(Struct.SerializeToString, message)


def _protobuf_decode() -> Prepared:
    from google.protobuf.struct_pb2 import Struct

    encode, message = _protobuf_encode()
    return Prepared(Struct.FromString, encode(message))


def _simdjson_parse() -> Prepared:
    import simdjson

    # A parser of its own each time: a reused one asks for hardly any memory.
    return Prepared(lambda text: simdjson.Parser().parse(text), _text())


def _json_loads() -> Prepared:
    return Prepared(json.loads, _text().decode())


def _numpy_empty() -> Prepared:
    import numpy as np

    return Prepared(functools.partial(np.empty, dtype=np.uint8), 65536)


def _bytes() -> Prepared:
    return Prepared(bytes, 1000)


OPERATIONS: dict[str, Callable[[], Prepared]] = {
    "orjson.dumps": _orjson_dumps,
    "orjson.loads": _orjson_loads,
    "msgpack.packb": _msgpack_packb,
    "msgpack.unpackb": _msgpack_unpackb,
    "protobuf encode": _protobuf_encode,
    "protobuf decode": _protobuf_decode,
    "simdjson parse": _simdjson_parse,
    "json.loads": _json_loads,
    "numpy.empty(65536)": _numpy_empty,
    "bytes(1000)": _bytes,
}
"""By name, as tables show them."""


def prepare(name: str) -> Prepared:
    """Load what an operation needs, and make its argument."""
    return OPERATIONS[name]()
