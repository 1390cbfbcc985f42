"""What the codec class adds to its engine; the engines have tests of their own in tests/flat."""

from __future__ import annotations

import copy
import dataclasses
import json
import os
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import zcser
from tests.conformance.laws import assert_same
from zcser import registry
from zcser.codecs.flatbuffers import FlatbuffersCodec
from zcser.core.errors import BufferTooSmallError, DecodeError, EncodeError, SchemaError, VerifyError
from zcser.core.options import Limits, Options
from zcser.core.view import to_value
from zcser.schema.annotations import Int8
from zcser.schema.from_python import schema_of
from zcser.schema.model import Int, Schema


@dataclasses.dataclass
class Item:
    name: str
    number: Int8
    tensor: np.ndarray


ITEM = Item("é", -5, np.arange(6, dtype="f4").reshape(2, 3))


def codec(source: Any = Item, **options: Any) -> FlatbuffersCodec[Any]:
    return FlatbuffersCodec(schema_of(source), Options(**options))


# The class ------------------------------------------------------------------------------------------------------------


def test_the_registry_gives_it_with_the_default_options():
    found: Any = zcser.codec("flatbuffers", Item)
    assert type(found) is FlatbuffersCodec
    assert found.options == Options(limits=Limits(100, 50_000_000, 2**31 - 1), unknown_fields="drop", guard="on")
    assert found.encode(ITEM) == codec().encode(ITEM)


def test_it_shares_its_wire_with_the_official_codec():
    info = codec().info
    assert (info.name, info.wire, info.library, info.fused) == ("flatbuffers", "flatbuffers", "zcser", True)
    assert (info.reads["tensor"], info.reads["bytes"]) == ("alias", "alias")
    assert {"encode", "encode_into", "encoded_size", "decode", "view"} <= info.operations
    assert not info.operations & {"convert", "dump", "load", "restore"}


def test_its_version_is_that_of_zcser_and_its_implementation_the_engine_that_runs():
    expected = {"native": "C extension", "pure": "pure Python"}[zcser.backend]
    assert FlatbuffersCodec.library_version() == (zcser.__version__, expected)
    assert (codec().info.version, codec().info.implementation) == (zcser.__version__, expected)


@pytest.mark.parametrize("guard", ["on", "off"])
def test_operations_are_the_engines_own_without_a_call_between(guard):
    one = codec(guard=guard)
    bound = {name for name in vars(one) if not name.startswith("_")} - {"schema", "options"}
    assert {
        "encode", "encode_into", "encode_segments", "encoded_size", "decode", "decode_segments"
    } <= bound <= one.info.operations  # fmt: skip
    # With the guard off, verify=True must not reach the engine.
    assert ("view" in bound) == ("view_segments" in bound) == (guard == "on")
    for name in bound:
        assert getattr(one, name) == getattr(one._engine, name)


def test_the_class_has_the_same_operations_as_its_instances():
    one, out = codec(), bytearray(1000)
    data = one.encode(ITEM)
    assert FlatbuffersCodec.encode(one, ITEM) == data
    assert FlatbuffersCodec.encoded_size(one, ITEM) == len(data)
    assert FlatbuffersCodec.encode_into(one, ITEM, out, 8) == len(data)
    assert out[8 : 8 + len(data)] == data
    assert_same(FlatbuffersCodec.decode(one, data), ITEM)
    assert_same(to_value(FlatbuffersCodec.view(one, data)), ITEM)
    segments = FlatbuffersCodec.encode_segments(one, ITEM)
    assert b"".join(segments) == data
    assert_same(FlatbuffersCodec.decode_segments(one, segments), ITEM)
    assert_same(to_value(FlatbuffersCodec.view_segments(one, segments)), ITEM)


def test_it_is_immutable():
    one = codec()
    for name in ("schema", "options", "encode", "view", "_engine", "anything"):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(one, name, None)
        with pytest.raises(AttributeError, match="immutable"):
            delattr(one, name)
    assert_same(one.decode(one.encode(ITEM)), ITEM)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"guard": "off"},
        {"strict": True, "unknown_fields": "refuse", "limits": Limits(depth=3, elements=9, bytes=900)},
    ],
)
def test_it_pickles_as_its_schema_and_options(options):
    one = codec(**options)
    for other in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one), copy.copy(one)):
        assert type(other) is FlatbuffersCodec
        assert (other.schema, other.options) == (one.schema, one.options)
        assert other._engine is not one._engine
        assert other.encode(ITEM) == one.encode(ITEM)
    assert len(pickle.dumps(one)) < 1500  # neither program nor engine


# Schemas --------------------------------------------------------------------------------------------------------------


def test_a_kind_that_it_cannot_carry_is_a_schema_error_of_this_codec():
    with pytest.raises(SchemaError, match="unbounded") as caught:
        registry.codec("flatbuffers", Schema(Int(None)))
    assert caught.value.codec == "flatbuffers"


def test_a_schema_deeper_than_the_limit_is_refused_at_once():
    deep: Any = int
    for _ in range(4):
        deep = list[deep]
    codec(deep, limits=Limits(depth=4))
    with pytest.raises(SchemaError, match="deep") as caught:
        codec(deep, limits=Limits(depth=3))
    assert caught.value.codec == "flatbuffers"


# The guard ------------------------------------------------------------------------------------------------------------


def test_without_the_guard_good_values_have_the_same_bytes():
    assert codec(guard="off").encode(ITEM) == codec().encode(ITEM)
    assert_same(codec(guard="off").decode(codec().encode(ITEM)), ITEM)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (dataclasses.replace(ITEM, number=128), "number"),
        (dataclasses.replace(ITEM, number=np.int8(3)), ""),  # the guard makes it an int
        (dataclasses.replace(ITEM, name=b"bytes"), "name"),
        (dataclasses.replace(ITEM, tensor=ITEM.tensor.T), ""),  # the guard copies it into C order
        (None, "Item"),
    ],
)
def test_without_the_guard_what_does_not_fit_is_refused_and_the_guard_says_where(value, words):
    with pytest.raises(EncodeError, match="does not fit the schema as it is; guard='on' says where") as caught:
        codec(guard="off").encode(value)
    assert caught.value.codec == "flatbuffers"
    if words:
        with pytest.raises(EncodeError) as caught:
            codec().encode(value)
        assert words in str(caught.value)
    else:
        assert_same(codec().decode(codec().encode(value)), zcser.normal(schema_of(Item), value))


def broken(data: bytes) -> bytes:
    """The message with a name that is not UTF-8."""
    return data.replace("é".encode(), b"\xff\xfe")


def test_views_verify_unless_the_guard_or_the_call_says_otherwise():
    guarded, trusting = codec(), codec(guard="off")
    data = broken(guarded.encode(ITEM))
    for view in (guarded.view, FlatbuffersCodec.view.__get__(guarded)):
        with pytest.raises(VerifyError, match="UTF-8") as caught:
            view(data)
        assert caught.value.path == "/name"
    for view in (
        guarded.view(data, verify=False),
        FlatbuffersCodec.view(guarded, data, verify=False),
        trusting.view(data),
        trusting.view(data, verify=True),
    ):
        assert view["number"] == -5
        with pytest.raises(DecodeError, match=r"(?i)utf-8"):
            view["name"]


def test_decode_verifies_whatever_the_guard():
    data = broken(codec().encode(ITEM))
    for guard in ("on", "off"):
        with pytest.raises(DecodeError, match="UTF-8"):
            codec(guard=guard).decode(data)


# Limits, unknown fields, buffers --------------------------------------------------------------------------------------


def test_limits_hold_on_both_sides():
    value = ["a", "b", "c"]
    data = codec(list[str]).encode(value)
    fits = codec(list[str], limits=Limits(depth=1, elements=3, bytes=len(data)))
    assert fits.decode(fits.encode(value)) == value
    for limits, words in ((Limits(elements=2), "elements"), (Limits(bytes=len(data) - 1), "bytes")):
        tight = codec(list[str], limits=limits)
        with pytest.raises(EncodeError, match=f"limits.{words}"):
            tight.encode(value)
        for read in (tight.decode, tight.view):
            with pytest.raises(DecodeError, match=f"limits.{words}") as caught:
                read(data)
            assert caught.value.codec == "flatbuffers"


@dataclasses.dataclass
class Wider:
    name: str
    number: Int8
    tensor: np.ndarray
    more: int


def test_unknown_fields_are_dropped_or_refused():
    data = codec(Wider).encode(Wider(ITEM.name, ITEM.number, ITEM.tensor, 5))
    assert_same(codec().decode(data), ITEM)
    assert_same(to_value(codec(unknown_fields="drop").view(data)), ITEM)
    refusing = codec(unknown_fields="refuse")
    assert_same(refusing.decode(codec().encode(ITEM)), ITEM)
    for read in (refusing.decode, refusing.view):
        with pytest.raises(DecodeError, match="unknown_fields"):
            read(data)


def test_a_buffer_that_is_too_small_says_how_many_bytes_are_needed():
    one, out = codec(), bytearray(b"\xaa" * 100)
    with pytest.raises(BufferTooSmallError) as caught:
        one.encode_into(ITEM, out, 64)
    assert (caught.value.needed, caught.value.available) == (one.encoded_size(ITEM), 36)
    assert caught.value.codec == "flatbuffers"
    assert out == b"\xaa" * 100


# Both engines ---------------------------------------------------------------------------------------------------------

RECORD = """
import hashlib, json, random, sys
import zcser
from zcser import payloads

def outcome(call):
    try:
        return call()
    except zcser.ZcserError as error:
        return f"{type(error).__name__}: {error}"

found = {"backend": zcser.backend}
for name in payloads.names():
    payload = payloads.get(name)
    codec = zcser.codec("flatbuffers", payload.schema)
    rng = random.Random(name)
    for number in range(6):
        value = payload.make(number)
        data = codec.encode(value)
        out = bytearray(len(data) + 8)
        again = codec.encode(codec.decode(data))
        seen = codec.encode(zcser.to_value(codec.view(data)))
        refused = []
        for _ in range(6 if len(data) < 5000 else 0):
            place = rng.randrange(len(data) // 4) * 4
            wrong = data[:place] + rng.randbytes(4) + data[place + 4:]
            answer = outcome(lambda: codec.decode(wrong))
            refused.append(answer if isinstance(answer, str) else codec.encode(answer).hex())
        found[f"{name} {number}"] = [
            hashlib.sha256(data).hexdigest(), len(data), codec.encoded_size(value), codec.encode_into(value, out, 8),
            bytes(out[8:]) == data, again == data, seen == data, refused,
        ]
print(json.dumps(found))
"""


@pytest.mark.further
@pytest.mark.skipif(zcser.backend != "native", reason="the C extension is not built, or not asked for")
def test_both_engines_write_the_same_bytes_of_all_payloads_and_refuse_with_the_same_words():
    processes = {
        backend: subprocess.Popen(
            [sys.executable, "-c", RECORD], env={**os.environ, "ZCSER_BACKEND": backend}, stdout=subprocess.PIPE
        )
        for backend in ("native", "pure")
    }
    found = {backend: json.loads(process.communicate()[0]) for backend, process in processes.items()}
    assert [found[backend].pop("backend") for backend in found] == ["native", "pure"]
    assert found["native"] == found["pure"]
    assert len(found["native"]) >= 6 * 8
    for digest, size, told, written, *same, refused in found["native"].values():
        assert size == told == written
        assert all(same)
        assert len(digest) == 64
        assert isinstance(refused, list)
    assert any("Error" in words for row in found["native"].values() for words in row[-1])
