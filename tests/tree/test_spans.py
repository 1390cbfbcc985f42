"""Spans of MessagePack: by hand from the format's specification, and against what the msgpack library reads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zcser.tree.spans import find_spans

msgpack = pytest.importorskip("msgpack")

MANY = 10**9
BIN = b"\xc4\x03abc"
FAMILIES = {
    "nil": b"\xc0", "bools": b"\xc2", "fixint": b"\x7f", "negative fixint": b"\xe0", "float32": b"\xca" + bytes(4),
    "float64": b"\xcb" + bytes(8), "uint8": b"\xcc\0", "uint16": b"\xcd" + bytes(2), "uint32": b"\xce" + bytes(4),
    "uint64": b"\xcf" + bytes(8), "int8": b"\xd0\0", "int16": b"\xd1" + bytes(2), "int32": b"\xd2" + bytes(4),
    "int64": b"\xd3" + bytes(8), "fixstr": b"\xa2hi", "str8": b"\xd9\x02hi", "str16": b"\xda\0\x02hi",
    "str32": b"\xdb\0\0\0\x02hi", "fixext1": b"\xd4\x01a", "fixext2": b"\xd5\x01ab", "fixext4": b"\xd6\x01abcd",
    "fixext8": b"\xd7\x01" + bytes(8), "fixext16": b"\xd8\x01" + bytes(16), "ext8": b"\xc7\x02\x01ab",
    "ext16": b"\xc8\0\x02\x01ab", "ext32": b"\xc9\0\0\0\x02\x01ab", "array": b"\x92\x01\x02", "array16": b"\xdc\0\x01\x01",
    "array32": b"\xdd\0\0\0\x01\x01", "map": b"\x81\xa1k\x01", "map16": b"\xde\0\x01\xa1k\x01",
    "map32": b"\xdf\0\0\0\x01\xa1k\x01", "empty array": b"\x90", "empty map": b"\x80",
}  # fmt: skip


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_passed_over(family):
    before = FAMILIES[family]
    at = 1 + len(before)
    for message in (b"\x92" + before + BIN, memoryview(b"\x92" + before + BIN)):
        assert find_spans(message, 3, MANY) == [(at, at + 2, at + 5)]
        assert find_spans(message, 4, MANY) == []


def test_all_widths_of_bin_are_found_wherever_they_stand():
    wide = b"\xc5\0\x03abc", b"\xc6\0\0\0\x03abc"
    message = b"\x83\xa1a" + BIN + b"\xa1b\x91" + wide[0] + b"\xa1c" + wide[1]
    assert find_spans(message, 1, MANY) == [(3, 5, 8), (11, 14, 17), (19, 24, 27)]


@pytest.mark.parametrize(
    "wrong",
    [b"", b"\xc1", b"\x92" + BIN, BIN + b"\xc0", b"\xc4\x04abc", b"\xc5\0", b"\xdd\xff\xff\xff\xff" + BIN, b"\x91" * 1000,
     b"\xdf\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff", b"\x92" + BIN + b"\xdb\0", b"\xc9\xff\xff\xff\xff\x01" + BIN],
)  # fmt: skip
def test_what_is_not_one_whole_message_has_no_spans(wrong):
    assert find_spans(wrong, 1, MANY) == []


def test_a_walk_of_more_steps_than_allowed_is_given_up():
    message = b"\x9f" + BIN * 15
    assert len(find_spans(message, 1, 16)) == 15
    assert find_spans(message, 1, 15) == []


TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text(max_size=40)
    | st.binary(max_size=300) | st.builds(msgpack.ExtType, st.integers(0, 127), st.binary(max_size=20)),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(max_size=9), inner, max_size=20),
    max_leaves=40,
)  # fmt: skip


def bins(tree: object) -> list[bytes]:
    if isinstance(tree, bytes):
        return [tree]
    if isinstance(tree, dict):
        return [found for item in tree.values() for found in bins(item)]
    return [found for item in tree for found in bins(item)] if type(tree) is list else []


@given(TREES)
def test_the_bins_are_those_that_the_library_reads(tree):
    message = msgpack.packb(tree)
    spans = find_spans(message, 8, MANY)
    assert [message[start:stop] for _, start, stop in spans] == [data for data in bins(tree) if len(data) >= 8]


@given(TREES, st.integers(0, 200), st.binary(max_size=4))
def test_damaged_messages_have_spans_inside_themselves_or_none(tree, at, piece):
    message = bytearray(msgpack.packb(tree))
    message[at : at + len(piece)] = piece
    end = 0
    for begin, start, stop in find_spans(bytes(message), 1, MANY):
        assert end <= begin < start < stop <= len(message)
        end = stop
