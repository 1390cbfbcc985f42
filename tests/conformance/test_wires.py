"""Codecs of one wire read each other's bytes."""

from __future__ import annotations

import itertools

import pytest

from tests.conformance.laws import INFO, assert_same, make, messages, param, row
from tests.conformance.schemas import CASES

PAIRS = [
    param(reader, writer, case)
    for writer, reader in itertools.permutations(INFO, 2)
    if INFO[writer].wire == INFO[reader].wire and "encode" in INFO[writer].operations
    for case in CASES
    if {writer, reader} <= set(row(case)["carry"])
]


@pytest.mark.parametrize(("reader", "writer", "case"), PAIRS)
def test_codecs_of_one_wire_read_each_other(reader, writer, case):
    codec = make(reader, case)
    for data, expected in messages(writer, case, 15):
        assert_same(codec.decode(data), expected)


def test_a_codec_that_only_reads_has_a_writer_of_its_wire():
    for name, info in INFO.items():
        if "encode" not in info.operations:
            assert any(other.wire == info.wire and "encode" in other.operations for other in INFO.values()), name
