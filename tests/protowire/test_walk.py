"""The walk over the wire form: both twins give the same for any bytes, and what they cut is parsed as the whole is."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from google.protobuf.internal.encoder import _VarintBytes
from hypothesis import given
from hypothesis import strategies as st

from tests.conformance.laws import assert_same, read
from tests.conformance.schemas import CASES
from tests.conformance.strategies import plain, samples
from tests.protowire.carriers import HOLDERS, Holder, Named, walkers
from tests.protowire.outer import codec_of
from zcser.codecs.protobuf import ProtobufCodec
from zcser.core.errors import DecodeError, SchemaError
from zcser.core.fidelity import difference
from zcser.core.options import Options
from zcser.protowire.planner import plan_of
from zcser.protowire.read import read_value
from zcser.protowire.routes import routes_of

CODEC = codec_of(Holder)
ROUTES = routes_of(plan_of(CODEC.schema))
WALKERS = walkers(ROUTES)
WORDS = [
    b"", b"\0", b"\x12\x02xy", b"\x1a\x05hello", b"\x1b\x08\x01\x1c", b"\x7b\x7c", b"\x8a\0", b"\x92\x80\x80\0\x01z",
    b"\x12\x80\x80\x80\x80\x80\0", b"\xff" * 11, b"\x0e", b"\x14", b"\x1a\x0c" + b"forged stand",
    b"\x12\x0c" + bytes(12), b"\x1a\x11\x08\x01\x12\x01\x0c\x1a\x0c" + bytes(12),
]  # fmt: skip


def mutants(messages: list[bytes], count: int, seed: str) -> Iterator[bytes]:
    """Good messages after a few changes of bytes, lengths, order and ends."""
    rng = random.Random(seed)
    for _ in range(count):
        data = bytearray(rng.choice(messages))
        for _ in range(rng.choice((1, 1, 2, 3, 6))):
            place = rng.randrange(len(data) + 1)
            match rng.randrange(6):
                case 0 if place < len(data):
                    data[place] ^= 1 << rng.randrange(8)
                case 1 if place < len(data):
                    data[place] = rng.choice((0, 1, 2, 0x12, 0x1A, 0x7F, 0x80, 0xFF))
                case 2 if place < len(data):
                    data[place] = (data[place] + rng.choice((-1, 1))) & 255
                case 3:
                    data[place:place] = rng.choice(WORDS)
                case 4:
                    del data[place : place + rng.choice((1, 2, 9, 300))]
                case 5:
                    data += rng.choice(messages)
        yield bytes(data)


@given(HOLDERS, st.sampled_from([1, 13, 1024]))
def test_what_is_cut_out_and_spliced_in_again_is_the_message(value, least):
    data = CODEC.encode(value)
    for walker in WALKERS:
        head = walker.cut(data, least)
        # The bytes lie in the message itself, so that a stand-in's place tells which.
        text, cuts = walker.splice(head, False)
        assert len(text) <= len(head)
        parts = (memoryview(data),)
        for reader in (CODEC._read_held, CODEC._borrow):
            if reader is CODEC._read_held or least == 1:
                assert_same(plain(read_value(reader, CODEC._parse(head), parts)), CODEC.decode(data))
        assert all(place <= len(text) for place in cuts[::2])


def agreed(data: bytes, least: int, gaps: Any = ()) -> bytes | None:
    found = [walker.cut(data, least, gaps) for walker in WALKERS]
    assert all(one == found[0] for one in found), data.hex()
    head = found[0]
    if head is not None:
        assert len({walker.splice(head, True) and str(walker.splice(head, True)) for walker in WALKERS}) == 1
    return head


def test_both_walks_agree_on_mutants_and_never_change_what_is_read():
    rng = random.Random(3)
    big = np.arange(700, dtype=np.float32)
    values = [
        CODEC.decode(CODEC.encode(value))
        for value in (
            Holder(1, b"x" * 12, np.zeros((2, 3)), b"", [b"a", b"b" * 200], [np.ones(12, np.uint8), big],
                   [Named("n", big)], {"k": b"v" * 1500}, {1: np.zeros(0)}, big, [[b"z"], []], {"blob": b"q"}, None, "end"),
            Holder(0, b"", big, None, [], [], [], {}, {}, b"bytes", [], {"tensor": None}, None, ""),
        )
    ]  # fmt: skip
    values.append(Holder(**{**vars(values[0]), "inner": values[1]}))
    messages = [CODEC.encode(value) for value in values]
    outcomes = {"same": 0, "refused": 0}
    for data in mutants(messages, 1500, "walk"):
        agreed(data, rng.choice((1, 13, 1024)))
        try:
            whole = CODEC.restore(CODEC.load(data))
        except DecodeError as error:
            whole = error
        for least, reader in ((1, CODEC._borrow), (1024, CODEC._read_held)):
            found: Any
            try:
                message, parts, _ = CODEC._cut(data, least)
                found = plain(read_value(reader, message, parts))
            except DecodeError as error:
                found = error
            assert isinstance(found, DecodeError) == isinstance(whole, DecodeError), (data.hex(), found, whole)
            if isinstance(found, DecodeError):
                assert (found.path, found.offset) == (whole.path, whole.offset)
            else:
                assert difference(found, whole) is None, data.hex()
        outcomes["refused" if isinstance(whole, DecodeError) else "same"] += 1
    assert min(outcomes.values()) > 100


def test_both_walks_agree_on_gaps_anywhere():
    rng = random.Random(5)
    value = Holder(1, b"x" * 40, np.zeros(9), None, [b"a" * 30], [np.ones(20)], [], {}, {}, 5, [], {}, None, "end")
    good = CODEC.encode(value)
    cut = 0
    for data in (good, *mutants([good], 150, "gaps")):
        for _ in range(10):
            places = sorted(rng.sample(range(len(data) + 1), 2 * min(2, len(data) // 2)))
            if rng.random() < 0.7 and data == good:
                start = good.index(b"x" * 40)
                places = [start, start + 40 - rng.choice((0, 0, 1))]
            gaps = [(start, end - start) for start, end in zip(places[::2], places[1::2], strict=True)]
            text = b"".join(
                data[start:end] for start, end in zip([0, *places[1::2]], [*places[::2], len(data)], strict=True)
            )
            cut += agreed(text, 1, gaps) is not None
    assert cut > 5


@pytest.mark.parametrize("case", CASES)
def test_mutants_of_every_case_are_read_alike_by_decode_and_view(case):
    try:
        codec = ProtobufCodec(CASES[case], Options())
    except SchemaError:
        pytest.skip("protobuf does not carry it")
    if codec._walker is None:
        pytest.skip("it has no payloads")
    messages = [codec.encode(value) for value in samples(CASES[case], 12)]
    for data in mutants(messages, 60, case):
        read(codec, data)
        value: Any
        try:
            value = plain(codec.decode(data, copy=False))
        except DecodeError as error:
            value = error
        try:
            expected = codec.decode(data)
        except DecodeError:
            assert isinstance(value, DecodeError)
        else:
            assert_same(value, expected)


# --- what protobuf asks of messages that come in parts ----------------------------------------------------------------


def test_the_last_of_several_counts_and_split_messages_merge():
    data = bytes.fromhex(
        "08 01 12 01 61"  # id, blob
        "1a 0c 08 05 12 02 02 02 1a 04 61626364"  # a tensor: int8, [2, 2], abcd
        "12 02 6263"  # blob again
        "52 02 08 09"  # the union: an int
        "1a 06 1a 04 65666768"  # of the tensor only the data, which replaces the first
        "52 03 12 01 7a"  # the union again: bytes
        "62 00"  # side
    )
    codec = codec_of(Holder)
    for value in (codec.decode(data), codec.decode(data, copy=False), codec.view(data)):
        assert bytes(value.blob) == b"bc"
        assert value.tensor.tobytes() == b"efgh"
        assert value.tensor.shape == (2, 2)
        assert bytes(value.either) == b"z"


@pytest.mark.parametrize(
    ("levels", "accepted"), [(1, True), (99, True), (100, False), (101, False), (5000, False)], ids=str
)
def test_messages_are_nested_100_deep_at_most(levels, accepted):
    body = b""
    for _ in range(levels):  # field 13 of Holder: another one
        body = b"\x6a" + _VarintBytes(len(body)) + body
    assert (agreed(body, 1) is not None) == accepted
    with pytest.raises(DecodeError, match="lacks" if accepted else "deeper than 100 levels") as caught:
        CODEC.decode(body, copy=False)
    assert accepted or caught.value.offset is not None


def test_groups_are_stepped_over():
    good = CODEC.encode(Holder(1, b"x", np.zeros(3), None, [], [], [], {}, {}, 5, [], {}, None, "end"))
    group = bytes.fromhex("fb01 08 01 12 02 6161 fb01 fc01 1d 00000000 19 0000000000000000 fc01")
    assert_same(CODEC.decode(group + good, copy=False).blob, memoryview(b"x"))
    for wrong in (group[:-2], group[:-2] + b"\x7c", b"\x7c", b"\x7b" * 200 + b"\x7c" * 200):
        for call in (CODEC.decode, CODEC.view, lambda data: CODEC.decode(data, copy=False)):
            with pytest.raises(DecodeError) as caught:
                call(wrong + good)
            assert caught.value.offset is not None
