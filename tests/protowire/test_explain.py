"""A message that is refused says where: the offset worked out by hand, the path in the schema."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from google.protobuf.message import DecodeError as ProtobufError

from tests.protowire.outer import codec_of
from tests.protowire.test_walk import mutants
from zcser.core.errors import DecodeError, TruncatedError
from zcser.protowire.explain import explain
from zcser.schema.annotations import Float32


@dataclass
class Inner:
    n: int
    text: str


@dataclass
class Outer:
    n: int
    blob: bytes
    inner: Inner
    floats: list[Float32]
    by_name: dict[str, Inner]
    tensor: np.ndarray
    either: int | str | Inner


CODEC = codec_of(Outer)
STRICT = codec_of(Outer, unknown_fields="refuse")
GOOD = CODEC.encode(Outer(1, b"blob", Inner(2, "x"), [0.5], {"k": Inner(3, "")}, np.zeros(2, np.uint8), 7))
PREFIX = 6
"""Bytes of a blob of 4 before each fault."""


@pytest.mark.parametrize(
    ("data", "path", "offset", "kind", "reason"),
    [
        ("08", "Outer/n", 1, TruncatedError, "the input ends within a number"),
        ("08 ff ff", "Outer/n", 1, TruncatedError, "the input ends within a number"),
        ("08" + "ff" * 10 + "01", "Outer/n", 1, DecodeError, "a number of more than 10 bytes"),
        ("88", "Outer", 0, TruncatedError, "the input ends within a tag"),
        ("88 80 80 80 80 80 00", "Outer", 0, DecodeError, "a tag of more than 5 bytes"),
        ("00 00", "Outer", 0, DecodeError, "a tag of field number 0"),
        ("0e", "Outer", 0, DecodeError, "wire type 6"),
        ("0c", "Outer", 0, DecodeError, "the end of a group"),
        ("12 05 00", "Outer/blob", 0, TruncatedError, "a length of 5 bytes, where 1 are left"),
        ("12 85 80 80 80 80 00", "Outer/blob", 1, DecodeError, "a length of more than 5 bytes"),
        ("1a 02 08", "Outer/inner", 0, TruncatedError, "a length of 2 bytes, where 1 are left"),
        ("1a 01 08 00 00", "Inner/n", 3, DecodeError, "the message around it ends within a number"),
        ("1a 03 12 05 61 00", "Inner/text", 2, DecodeError, "a length of 5 bytes, where 1 are left"),
        ("1a 04 12 02 61 ff", "Inner/text", 5, DecodeError, "not UTF-8"),
        ("1a 05 12 03 ed a0 80", "Inner/text", 4, DecodeError, "not UTF-8"),
        ("22 05 00000000 00 08 01", "Outer/floats/*", 6, DecodeError, "the message around it ends within 4 bytes"),
        ("25 00 00", "Outer/floats/*", 1, TruncatedError, "4 bytes, where 2 are left"),
        ("2a 04 0a 02 c3 28", "Outer/by_name/key", 4, DecodeError, "not UTF-8"),
        ("2a 05 12 03 12 01 ff", "Inner/text", 6, DecodeError, "not UTF-8"),
        ("32 04 12 02 80 80", "Outer/tensor", 4, TruncatedError, "the input ends within a number"),
        ("3a 04 12 02 61 ff", "Outer/either", 5, DecodeError, "not UTF-8"),
        ("7b 08 01 74", "Outer", 3, DecodeError, "the end of another group"),
        ("7b 08 01", "Outer", 3, TruncatedError, "the input ends within a group"),
        ("7b" * 200, "Outer", 0, DecodeError, "groups nested deeper"),
    ],
)
def test_the_place_of_a_fault_is_told(data, path, offset, kind, reason):
    message = b"\x12\x04blob" + bytes.fromhex(data)
    for call in (CODEC.decode, CODEC.view, CODEC.load, lambda data: CODEC.decode(data, copy=False)):
        with pytest.raises(DecodeError, match="not a protobuf message of this schema") as caught:
            call(message)
        assert type(caught.value) is kind
        assert reason in caught.value.reason
        assert (caught.value.path, caught.value.offset) == (path, PREFIX + offset)


@pytest.mark.parametrize(
    ("data", "path", "offset"),
    [
        ("f801 01", "Outer", 0),
        ("09 0000000000000000", "Outer", 0),
        ("10 01", "Outer", 0),  # blob as a varint
        ("1a 02 1801", "Inner", 2),
        ("32 02 2005", "Outer/tensor", 2),
    ],
)
def test_the_place_of_a_field_that_nobody_knows_is_told(data, path, offset):
    for call in (STRICT.decode, STRICT.view):
        with pytest.raises(DecodeError, match="unknown, or of another wire type") as caught:
            call(GOOD + bytes.fromhex(data))
        assert (caught.value.path, caught.value.offset) == (path, len(GOOD) + offset)
    assert CODEC.decode(GOOD + bytes.fromhex(data)).n == 1


def test_every_refusal_of_upb_has_its_place_and_nothing_else_does():
    refused = 0
    for data in mutants([GOOD, GOOD[6:] + b"\x1b\x08\x01\x1c"], 4000, "explain"):
        found = explain(CODEC._plan, data)
        try:
            native = CODEC._parse(data)
        except ProtobufError:
            refused += 1
            assert found is not None, data.hex()
            assert found.offset is not None
            assert 0 <= found.offset <= len(data)
        else:
            assert found is None, (data.hex(), found, native)
    assert refused > 500


def test_a_message_that_was_cut_is_told_from_one_that_is_corrupt():
    cut = 0
    for size in range(len(GOOD)):
        found = explain(CODEC._plan, GOOD[:size])
        if found is not None:
            assert type(found) is TruncatedError
            assert found.offset <= size
            cut += 1
    assert cut > len(GOOD) // 2
