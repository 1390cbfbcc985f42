"""The law of hostile bytes: a value of the schema's type or a `DecodeError`; nothing else, and view agrees with decode.

`read` of laws.py is the law for one input. The loops are seeded, so that a failure is the same everywhere.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from tests.conformance.laws import INFO, MISSING, cells, make, messages, read, row, writer_of
from zcser.core.errors import DecodeError

PIECES = [
    b"", b"\0", b"\xff", b"\x80", b"\x7f", b"\0\0\0\0", b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"[", b"{", b'"',
    b"null", b"true", b"1e999", b"-0", b"\\ud800", b"\xc0\x80", b"\xed\xa0\x80", b"\x91", b"\xdf\xff\xff\xff\xff",
    b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", b"\x08\x96\x01", b"\x0b", b"\x0c",
]  # fmt: skip


CELLS = cells()
UNTRUSTED = [cell for cell in CELLS if cell.values[0] in MISSING or not INFO[cell.values[0]].trusted_only]
"""Without the codecs for trusted bytes alone: as a pickle a few bytes can ask for all of the memory, and get it."""


def corpus(name: str, case: str, about: int) -> list[bytes]:
    """Messages of a case, those of about the given length first."""
    found = {data for data, _ in messages(name, case)}
    return sorted(found, key=lambda data: (abs(len(data) - about), data))


def mutations(messages_: list[bytes], seed: str, count: int) -> Iterator[bytes]:
    """Bytes near to messages: flipped bits, other bytes, pieces put in, cut out, doubled, and taken from another message."""
    rng = random.Random(seed)
    for _ in range(count):
        data = bytearray(rng.choice(messages_[:8]))
        at = rng.randrange(len(data) + 1)
        match rng.randrange(7):
            case 0 | 1 if data:
                data[at % len(data)] ^= 1 << rng.randrange(8)
            case 2 if data:
                data[at % len(data)] = rng.randrange(256)
            case 3:
                data[at:at] = rng.choice(PIECES)
            case 4:
                piece = rng.choice(PIECES)
                data[at : at + len(piece)] = piece
            case 5:
                del data[at : at + rng.randrange(1, 9)]
            case _:
                other = rng.choice(messages_)
                data[at:] = other[rng.randrange(len(other) + 1) :]
        yield bytes(data)


@pytest.mark.parametrize(("name", "case"), CELLS)
def test_a_message_cut_at_any_byte_is_refused_or_still_a_value(name, case):
    codec = make(name, case)
    self_delimiting = codec.info.self_delimiting
    for data in corpus(name, case, 60)[:1]:
        for cut in range(min(len(data), 400)):
            found = read(codec, data[:cut])
            if self_delimiting:
                assert isinstance(found, DecodeError), f"cut at {cut} of {data!r}"


@pytest.mark.parametrize(("name", "case"), UNTRUSTED)
def test_mutated_messages_are_values_or_decode_errors(name, case):
    codec = make(name, case)
    for data in mutations(corpus(name, case, 100), f"{name} {case}", 60):
        read(codec, data)


@pytest.mark.parametrize(("name", "case"), UNTRUSTED)
def test_arbitrary_bytes_are_values_or_decode_errors(name, case):
    codec = make(name, case)
    rng = random.Random(case)
    for data in (*PIECES, bytes(100), b"\xff" * 100, *(rng.randbytes(rng.randrange(1, 80)) for _ in range(10))):
        read(codec, data)


@pytest.mark.parametrize(("name", "case"), UNTRUSTED)
def test_bytes_of_other_codecs_are_values_or_decode_errors(name, case):
    codec = make(name, case)
    for other in INFO:
        if INFO[other].wire != INFO[name].wire and other in row(case)["carry"] and writer_of(other) is not None:
            for data in corpus(other, case, 100)[:3]:
                read(codec, data)


@pytest.mark.parametrize(("name", "case"), CELLS)
def test_bytes_of_other_schemas_are_values_or_decode_errors(name, case):
    codec = make(name, case)
    for other in ("json_like", "scalars", "lists", "recursive", "root_list", "sized", "root_empty"):
        if name in row(other)["carry"]:
            for data in corpus(name, other, 100)[:2]:
                read(codec, data)


@pytest.mark.parametrize(("name", "case"), CELLS)
def test_trailing_bytes_are_never_passed_over_in_silence(name, case):
    codec = make(name, case)
    for data in corpus(name, case, 60)[:3]:
        found = read(codec, data + b"\x01garbage\xff")
        assert INFO[name].wire in ("protobuf", "flatbuffers") or isinstance(found, DecodeError)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "case"), UNTRUSTED)
def test_the_law_of_hostile_bytes_in_depth(name, case):
    codec = make(name, case)
    for data in mutations(corpus(name, case, 200), f"deep {name} {case}", 4000):
        read(codec, data)
