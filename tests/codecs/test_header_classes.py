"""Classes and roots that the header codec reads and writes."""

from __future__ import annotations

import dataclasses
from typing import Annotated, TypedDict

import msgspec
import numpy as np
import pytest

from tests.codecs.header_samples import (
    Phase,
    Unit,
    codec_of,
)
from zcser.codecs.header import HeaderCodec
from zcser.core.errors import (
    DecodeError,
    EncodeError,
)
from zcser.core.fidelity import equal
from zcser.core.options import Options
from zcser.core.view import to_value
from zcser.schema.annotations import Int32, Length, UInt8, UInt16, UInt64
from zcser.schema.model import Bytes, Field, Int, Record, Ref, Schema, Tensor


@dataclasses.dataclass(kw_only=True)
class Keyword:
    b: UInt8
    a: UInt16


@dataclasses.dataclass(init=False)
class Own:
    a: UInt16
    b: UInt8

    def __init__(self, b: int, a: int) -> None:
        self.a, self.b = a, b


class Packed(msgspec.Struct, frozen=True):
    a: UInt16
    b: UInt8 = 5


class KeywordStruct(msgspec.Struct, kw_only=True):
    a: UInt16
    b: UInt8


class Single(TypedDict):
    only: UInt64


@dataclasses.dataclass
class Dotted:
    only: Int32


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (Keyword(a=1, b=2), b"\x02\0\x01\0"),
        (Own(a=1, b=2), b"\x01\0\x02\0"),
        (Packed(1, 2), b"\x01\0\x02\0"),
        (KeywordStruct(a=1, b=2), b"\x01\0\x02\0"),
        (Dotted(-1), b"\xff" * 4),
    ],
)
def test_values_of_every_sort_of_class_are_made_field_by_name(value, data):
    codec = codec_of(type(value))
    assert codec.encode(value) == data
    assert equal(codec.decode(data), value)
    assert equal(codec.decode(bytearray(data), copy=False), value)


def test_dicts_need_exactly_their_keys():
    codec = codec_of(Single)
    assert codec.decode(codec.encode({"only": 5})) == {"only": 5}
    with pytest.raises(EncodeError, match="field 'only' of Single is missing"):
        codec.encode({})
    with pytest.raises(EncodeError, match="'more' is not a field of Single"):
        codec.encode({"only": 5, "more": 1})
    with pytest.raises(EncodeError, match="'more' is not a field of Single"):
        codec.encode({"more": 1})


def test_a_field_whose_name_has_a_dot_is_read_as_one_name():
    record = Record("R", (Field("a.b", Int(8), 1), Field("a", Int(8), 2)), cls=type("R", (), {}))
    value = record.cls()
    setattr(value, "a.b", 1)
    value.a = 2
    assert HeaderCodec(Schema(Ref("R"), (record,)), Options()).encode(value) == b"\x01\x02"


@dataclasses.dataclass
class Even:
    number: UInt8

    def __post_init__(self) -> None:
        if self.number % 2:
            raise ValueError(f"{self.number} is odd")


def test_a_class_that_refuses_its_fields_is_a_decode_error():
    codec = codec_of(Even)
    assert codec.decode(b"\x02") == Even(2)
    for read in (codec.decode, lambda data: codec.restore(codec.load(data))):
        with pytest.raises(DecodeError, match="no value can be made of this message: 3 is odd"):
            read(b"\x03")


@pytest.mark.parametrize(
    ("source", "value", "data"),
    [
        (int, -2, b"\xfe" + b"\xff" * 7),
        (bool, True, b"\x01"),
        (Unit, Unit.SECOND, b"\x01"),
        (None, None, b""),
        (Annotated[bytes, Bytes(2)], b"ab", b"ab"),
        (Annotated[list[Phase], Length(2)], [Phase.DECODE, Phase.PREFILL], b"\x07\x01"),
        (Annotated[list[list[UInt8]], Length(0)], None, None),
        (tuple[UInt8, UInt8], (1, 2), b"\x01\x02"),
        (Annotated[np.ndarray, Tensor("uint8", ())], np.array(7, np.uint8), b"\x07"),
        (Annotated[np.ndarray, Tensor("bfloat16", (0, 3))], None, b""),
        (Annotated[list[None], Length(3)], [None] * 3, b""),
    ],
    ids=str,
)
def test_a_root_may_be_any_type_of_one_size(source, value, data):
    if data is None:
        with pytest.raises(ValueError, match="fixed"):
            codec_of(source)
        return
    if value is None and source is not None:
        value = np.empty((0, 3), pytest.importorskip("ml_dtypes").bfloat16)
    codec = codec_of(source)
    assert codec.encode(value) == data
    assert equal(codec.decode(data), value)
    assert equal(to_value(codec.view(data)), value)
    assert b"".join(codec.encode_segments(value)) == data
