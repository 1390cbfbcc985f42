"""Apache Fory: what its library loses or takes, were it not for the codec."""

from __future__ import annotations

import pytest

pytest.importorskip("pyfory", reason="pyfory is not installed: pip install 'zcser[fory]'")

import pyfory

from zcser import registry
from zcser.core.errors import DecodeError, EncodeError
from zcser.schema.annotations import UInt64


def test_a_message_is_what_the_library_makes_of_builtins_and_reads():
    plain = pyfory.Fory(xlang=True, ref=False, strict=True)
    codec = registry.codec("fory", dict[str, list[int]])
    value = {"a": [1, -(2**63), 2**63 - 1], "b": []}
    assert codec.encode(value) == plain.serialize(value)
    assert plain.deserialize(codec.encode(value)) == value


def test_integers_over_63_bits_are_kept_wherever_they_stand():
    value = {2**63: [2**64 - 1, 5], 0: [0, 2**63 - 1]}
    codec = registry.codec("fory", dict[UInt64, list[UInt64]])
    found = codec.decode(codec.encode(value))
    assert found == value
    assert {type(number) for key, items in found.items() for number in (key, *items)} == {int}


def test_a_lone_surrogate_that_the_library_would_write_and_not_read_is_refused():
    assert pyfory.Fory(xlang=True).serialize("\ud800")
    with pytest.raises(EncodeError, match="surrogate"):
        registry.codec("fory", list[str]).encode(["a", "\ud800"])


def test_a_good_message_is_read_after_many_that_are_not():
    codec = registry.codec("fory", list[list[int]])
    data = codec.encode([[1], [2, 3]])
    for cut in range(len(data)):
        with pytest.raises(DecodeError):
            codec.decode(data[:cut])
    with pytest.raises(DecodeError, match="before its bytes do"):
        codec.decode(data + b"\0")
    assert codec.decode(data) == [[1], [2, 3]]
