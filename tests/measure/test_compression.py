"""Compressed sizes are those that the libraries give to whoever calls them by hand, and what was compressed comes back."""

from __future__ import annotations

import zlib
from dataclasses import replace

import pytest

from tests.measure.made import Point, payload
from zcser import registry
from zcser.measure import compression
from zcser.measure.bench import Bench, MismatchError
from zcser.measure.compression import COMPRESSORS
from zcser.measure.figures import Size
from zcser.measure.operations import OPERATIONS
from zcser.measure.plan import Key, Request, make_plan
from zcser.measure.prepare import require


def wordy(number: int) -> Point:
    return Point("a text that repeats, " * (3 + number), [number] * 20)


def bench() -> Bench:
    codec = registry.codec("json", Point)
    made = Bench(payload(wordy), codec, codec, fields=(), rotation=4, prepare_ns=10**9)
    made.verify(10**9)
    return made


def by_hand(name: str, data: bytes) -> bytes:
    if name == "zlib":
        return zlib.compress(data, 6)
    if name == "lz4":
        return pytest.importorskip("lz4.frame").compress(data)
    return pytest.importorskip("zstandard").ZstdCompressor(3).compress(data)


@pytest.mark.parametrize("name", [one.name for one in COMPRESSORS])
def test_sizes_are_those_of_the_library(name):
    codec = registry.codec("json", Point)
    messages = [codec.encode(wordy(number)) for number in range(4)]
    compressed = [by_hand(name, message) for message in messages]
    on = bench()
    prepared = OPERATIONS[f"compress-{name}"].prepare(on)
    require(prepared)
    # All grow with the value's number; of four, the second is the median from below.
    assert prepared.size() == Size(*(len(compressed[number]) for number in (1, 0, 3)), plain_bytes=len(messages[1]))
    back = OPERATIONS[f"decompress-{name}"].prepare(on)
    require(back)
    assert back.call(compressed[2]) == messages[2]


def test_a_compressor_that_loses_something_is_caught():
    prepared = OPERATIONS["compress-zlib"].prepare(bench())
    with pytest.raises(MismatchError, match="not what comes back"):
        require(replace(prepared, call=lambda data: zlib.compress(data[:-1])))


def test_what_is_not_installed_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(compression.importlib.util, "find_spec", lambda _: None)
    made = make_plan(Request(payloads=(payload(),), codecs=("json", "simdjson"), operations=("sizes",)))
    shown = {key.operation for key in made.shown if key.codec == "json"}
    assert shown == {"encode", "decode", *compression.COMPRESSIONS}
    missing = made.unsupported[Key("points", "json", "compress-zstd")]
    assert missing == "zstd is not installed: pip install 'zcser[compression]'"
    assert Key("points", "json", "decompress-zlib") in made.measured
    assert made.unsupported[Key("points", "simdjson", "compress-zlib")] == "simdjson has no encode"
