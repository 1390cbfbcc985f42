"""Proofs: whatever one holds for, the check lets pass; and good messages have one."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.conformance.schemas import CASES
from tests.conformance.strategies import samples
from tests.protowire.outer import OUTER, OUTER_BYTES, OUTER_CODEC, Outer, codec_of
from tests.protowire.test_walk import mutants
from zcser.codecs.protobuf import ProtobufCodec
from zcser.core.errors import DecodeError, SchemaError
from zcser.core.options import Options
from zcser.core.view import to_value
from zcser.native import backend
from zcser.protowire.proof import rules_of
from zcser.protowire.read import read_value
from zcser.schema.annotations import Int8, Length
from zcser.schema.model import Tensor

native = pytest.mark.skipif(backend != "native", reason="the proofs are in C")


class Level(enum.IntEnum):
    LOW = -3
    HIGH = 9


@dataclass
class Sample:
    level: Level
    small: Int8
    levels: list[Level]
    tensor: npt.NDArray[np.int16]
    square: Annotated[npt.NDArray[Any], Tensor(None, (2, None))]
    either: int | Level | npt.NDArray[np.int16]
    by_key: dict[str, Level]


@dataclass
class Square:
    square: Annotated[npt.NDArray[Any], Tensor(None, (2, None))]


SAMPLE = Sample(
    Level.HIGH, -1, [Level.LOW, Level.HIGH], np.arange(3, dtype="<i2"), np.ones((2, 2)), Level.LOW, {"k": Level.HIGH}
)
CODEC = codec_of(Sample)
BYTES = CODEC.encode(SAMPLE)


def held(codec: ProtobufCodec[Any], data: bytes) -> tuple[bool, str]:
    """Whether a message is proved; and what the check has to say of it."""
    if codec._walker is None:
        message, head = codec.load(data), data
    else:
        message, _, head = codec._cut(data, 1)
    assert codec._proves is not None
    assert codec._verify is not None
    try:
        read_value(codec._verify, message)
    except DecodeError as error:
        return codec._proves(head), error.reason
    return codec._proves(head), ""


@native
def test_good_messages_are_proved():
    assert held(OUTER_CODEC, OUTER_BYTES) == (True, "")
    assert held(CODEC, BYTES) == (True, "")


FIXES = {  # field: bytes that end the message, whether it is proved then, and what the check says
    "a number of no member between the others": ("08 00", False, "has no member"),
    "a number above": ("08 0a", False, "has no member"),
    "a member in more bytes than it needs": ("08 89 80 00", True, ""),
    "a member above 32 bits, which upb cuts off": ("08 89 80 80 80 10", False, ""),
    "no int8": ("10 80 01", False, "int8 is needed"),
    "an int8": ("10 ff ffffffffffffffff 01", True, ""),
    "no members, packed": ("1a 02 09 08", False, "has no member"),
    "members, packed": ("1a 02 09 09", True, ""),
    "no member, not packed": ("18 08", False, "has no member"),
    "a tensor in two parts": ("22 04 1a 02 0000", False, "do not fit"),
    "the same of the right size": ("22 08 1a 06 000000000000", False, ""),
    "an empty union": ("32 00", False, ""),
    "an entry without a value": ("3a 03 0a 01 61", False, "has no member"),
    "an entry of no member": ("3a 02 10 08", False, "has no member"),
    "an entry without a key": ("3a 02 10 09", True, ""),
    "an unknown field": ("78 01", True, ""),
    "an unknown group": ("7b 7c", False, ""),
    "another wire type": ("0d 00000000", True, ""),
}


@native
@pytest.mark.parametrize("what", FIXES)
def test_each_occurrence_is_held_to_its_rule(what):
    more, proved, reason = FIXES[what]
    found, said = held(CODEC, BYTES + bytes.fromhex(more))
    assert found is proved
    assert reason in said
    assert bool(reason) == bool(said)


TENSORS = {  # wire form of `Square.square`, and whether it is proved
    "float64 (2, 2)": ("08 0b 12 02 02 02 1a 20" + "00" * 32, True),
    "not packed": ("08 0b 10 02 10 02 1a 20" + "00" * 32, True),
    "data that are replaced": ("08 0b 12 02 02 02 1a 01 00 1a 20" + "00" * 32, True),
    "padding": ("08 0b 12 02 02 02 7a 01 00 1a 20" + "00" * 32, True),
    "another extent": ("08 0b 12 02 01 04 1a 20" + "00" * 32, False),
    "another rank": ("08 0b 12 01 04 1a 20" + "00" * 32, False),
    "one more": ("08 0b 12 03 02 02 01 1a 20" + "00" * 32, False),
    "too few bytes": ("08 0b 12 02 02 02 1a 1f" + "00" * 31, False),
    "12 bytes, as a stand-in has": ("08 01 12 02 02 06 1a 0c" + "00" * 12, True),
    "no dtype of the table": ("08 7f 12 02 02 02 1a 20" + "00" * 32, False),
    "no dtype at all": ("12 02 02 02 1a 04 00000000", True),
    "an extent below zero": ("08 0b 12 14 feffffffffffffffff01 feffffffffffffffff01 1a 20" + "00" * 32, False),
    "extents that overflow": ("08 01 12 0c 02 80808080808080808001 01 1a 20" + "00" * 32, False),
}


@native
@pytest.mark.parametrize("what", TENSORS)
def test_a_tensor_is_proved_where_shape_dtype_and_data_fit(what):
    text, proved = TENSORS[what]
    tensor = bytes.fromhex(text)

    found, said = held(codec_of(Square), b"\x0a" + bytes((len(tensor),)) + tensor)
    assert found is proved
    assert bool(said) is not proved


@native
def test_nothing_is_proved_of_a_mutant_that_the_check_refuses():
    outcomes: dict[tuple[bool, bool], int] = {}
    subjects: list[tuple[ProtobufCodec[Any], list[bytes], int]] = [
        (OUTER_CODEC, [OUTER_BYTES], 800),
        (CODEC, [BYTES], 800),
    ]
    for source in CASES.values():
        try:
            codec: ProtobufCodec[Any] = ProtobufCodec(source, Options())
        except SchemaError:
            continue
        if codec._proves is not None:
            subjects.append((codec, [codec.encode(value) for value in samples(source, 12)], 30))
    for codec, messages, count in subjects:
        for data in mutants(messages, count, "proof"):
            try:
                proved, said = held(codec, data)
            except DecodeError:  # upb refused it
                continue
            assert not (proved and said), (data.hex(), said)
            outcomes[proved, bool(said)] = outcomes.get((proved, bool(said)), 0) + 1
    assert outcomes[True, False] > 100
    assert outcomes[False, True] > 100


@dataclass
class Pair:
    both: Annotated[list[int], Length(2)]


@dataclass
class Chain:
    tensor: npt.NDArray[Any]
    next: Chain | None


@dataclass
class Plain:
    name: str
    data: bytes


@pytest.mark.parametrize("source", [Pair, Chain, Plain])
def test_no_proof_for_what_one_cannot_show(source):
    codec = codec_of(source)
    assert rules_of(codec._plan, codec._classes, codec.options) is None


def test_no_proof_that_there_are_no_unknown_fields():
    codec = codec_of(Outer, unknown_fields="refuse")
    assert codec._proves is None
    with pytest.raises(DecodeError, match="field number 15 is unknown"):
        codec.view(codec.encode(OUTER) + b"\x78\x01")


def test_a_view_of_what_is_not_proved_is_checked():
    with pytest.raises(DecodeError, match="int8 is needed") as caught:
        CODEC.view(BYTES + bytes.fromhex("10 80 01"))
    assert caught.value.path == "Sample/small"
    merged = to_value(CODEC.view(BYTES + bytes.fromhex("22 08 1a 06 070008000900")))
    assert merged.tensor.tolist() == [7, 8, 9]


BAD = {
    "no messages": ((), 0, b"\1"),
    "a root that is none": (((0, 0, ()),), 1, b"\1"),
    "a target that is none": (((0, 0, ((10, 1, 0, 0, 0, 0),)),), 0, b"\1"),
    "a target below all": (((0, 0, ((10, -4, 0, 0, 0, 0),)),), 0, b"\1"),
    "a message that is no length": (((0, 0, ((8, 0, 0, 0, 0, 0),)),), 0, b"\1"),
    "a number that is no varint": (((0, 0, ((10, -2, 0, 0, 0, 0),)),), 0, b"\1"),
    "tags out of order": (((0, 0, ((10, -1, 1, 0, 0, 0), (8, -1, 2, 0, 0, 0))),), 0, b"\1"),
    "members too far apart": (((0, 0, ((8, -2, 1, 0, 64, 1),)),), 0, b"\1"),
    "too many dtypes": (((0, 0, ()),), 0, bytes(257)),
    "a rule that is too short": (((0, 0, ((8, -2),)),), 0, b"\1"),
    "rules in a list": (([0, 0, ()],), 0, b"\1"),
    "a shape in a list": (((-1, [2]),), 0, b"\1"),
    "an extent that is none": (((-1, ("2",)),), 0, b"\1"),
}


@native
@pytest.mark.parametrize("what", BAD)
def test_rules_that_lead_nowhere_are_refused(what):
    from zcser.native import _protowire

    with pytest.raises((ValueError, TypeError)):
        _protowire.Prover(*BAD[what])
    with pytest.raises(TypeError):
        _protowire.Prover(((0, 0, ()),), 0, b"").proves(bytearray(b""))  # type: ignore[arg-type]
