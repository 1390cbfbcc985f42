from typing import Any

import pytest
from zcser_tnetstrings import TnetstringsCodec

from zcser import DecodeError
from zcser.core.options import Options
from zcser.schema.from_python import schema_of
from zcser.testing import check_codec


def test_it_keeps_what_zcser_promises_of_every_codec():
    print(check_codec(TnetstringsCodec))


@pytest.mark.parametrize(
    ("source", "value", "data"),
    [
        (list[int | str], [12345, 67890, "xxxxx"], b"24:5:12345#5:67890#5:xxxxx,]"),
        (list[float], [0.1, 0.2, 0.3], b"18:3:0.1^3:0.2^3:0.3^]"),
        (dict[str, bool | None], {"a": True, "": None}, b"17:1:a,4:true!0:,0:~}"),
        (str, "this is cool", b"12:this is cool,"),
    ],
)
def test_the_bytes_are_those_of_the_specification(source: Any, value: Any, data: bytes):
    codec = TnetstringsCodec(schema_of(source), Options())
    assert codec.encode(value) == data
    assert codec.decode(data) == value


@pytest.mark.parametrize(
    "data", [b"", b"1:1", b"01:1#", b"1:1#1:1#", b"2:+1#", b"3:1_0#", b"5:9:x,]", b"9" * 99 + b":x,"]
)
def test_what_is_none_is_a_decode_error(data: bytes):
    with pytest.raises(DecodeError):
        TnetstringsCodec(schema_of(list[int] | int), Options()).decode(data)
