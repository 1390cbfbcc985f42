"""One message a line, and where in a text a fault lies, for every codec of JSON text."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from tests.conformance.laws import INFO, has, param
from zcser import registry
from zcser.core.errors import DecodeError
from zcser.core.options import Limits
from zcser.core.view import to_value

JSON = [param(name) for name, info in INFO.items() if info.wire == "json"]
WRITERS = [param(name) for name, info in INFO.items() if info.wire == "json" and has(name, "encode")]


@dataclasses.dataclass
class Event:
    id: int
    text: str


EVENTS = [Event(1, "a\nb"), Event(2, "\u2028\x85"), Event(3, "")]
LINES = b'{"id":1,"text":"a\\nb"}\r\n\n  \t\n {"id":2,"text":"\xe2\x80\xa8\xc2\x85"} \n{"text":"","id":3}'


@pytest.mark.parametrize("name", JSON)
@pytest.mark.parametrize("buffer", [bytes, bytearray, memoryview])
def test_lines_are_messages_and_blank_lines_are_none(name, buffer):
    codec = registry.codec(name, Event)
    assert list(codec.decode_lines(buffer(LINES))) == EVENTS
    assert list(codec.decode_lines(buffer(b""))) == []
    assert list(codec.decode_lines(buffer(b"\n\r\n"))) == []


@pytest.mark.parametrize("name", WRITERS)
def test_what_is_written_line_by_line_is_ndjson(name):
    codec = registry.codec(name, Event)
    data = codec.encode_lines(iter(EVENTS))
    assert data.endswith(b"\n")
    assert [json.loads(line) for line in data.splitlines()] == [dataclasses.asdict(event) for event in EVENTS]
    assert list(codec.decode_lines(data)) == EVENTS
    assert codec.encode_lines([]) == b""


@pytest.mark.parametrize(
    ("data", "line", "offset", "path"),
    [
        (b'{"id":1,"text":""}\n\n{"id":"x","text":""}\n', 3, 20, "/id"),
        (b'{"id":1,"text":""}\n  {"id":2,"text":}\n', 2, 36, None),
        (b'\xc3\xa9\n{"id":1,"text":""}', 1, 0, None),
        (b'{"id":1,"text":""}\n{"id":1,"text":"\xff"}', 2, 35, None),
        (b'{"id":1,"text":""}\n{"id":1,"text":"a\nb"}', 2, 34, None),
    ],
)
@pytest.mark.parametrize("name", JSON)
def test_an_error_says_which_line_and_where_in_the_whole_text(name, data, line, offset, path):
    codec = registry.codec(name, Event)
    operations = ["decode_lines", "view_lines"] if has(name, "view") and path is None else ["decode_lines"]
    for operation in operations:
        found = []
        with pytest.raises(DecodeError, match=f"in line {line}") as caught:
            found.extend(getattr(codec, operation)(data))
        assert (caught.value.line, caught.value.offset, caught.value.path) == (line, offset, path)
        assert caught.value.codec == name
        assert len(found) == (1 if line > 1 else 0)


@pytest.mark.parametrize("name", JSON)
def test_lines_are_read_one_at_a_time_and_bounded_each(name):
    codec = registry.codec(name, list[int], limits=Limits(bytes=8, elements=3))
    walk = codec.decode_lines(b"[1,2,3]\n" * 100 + b"[1,2,3,4]")
    assert [next(walk) for _ in range(100)] == [[1, 2, 3]] * 100
    with pytest.raises(DecodeError, match="more than limits") as caught:
        next(walk)
    assert (caught.value.line, caught.value.offset) == (101, 800)


@pytest.mark.parametrize("name", [value for value in JSON if has(value.values[0], "view")])
def test_views_of_lines_live_side_by_side(name):
    views = list(registry.codec(name, Event).view_lines(LINES))
    assert [view.id for view in views] == [1, 2, 3]
    assert [to_value(view) for view in views] == EVENTS


def offsets(data: bytes, codec: Any) -> tuple[int | None, str | None]:
    with pytest.raises(DecodeError) as caught:
        codec.decode(data)
    return caught.value.offset, caught.value.path


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (b"[1,\n x]", 5),
        ('["\u00e9\U0001f600", x]'.encode(), 11),
        (b'["a\xff"]', 3),
        (b'["\xed\xa0\x80"]', 2),
        (b"\xef\xbb\xbf[]", 0),
        (b'["\\ud83d\\ude00\\\\ud800\\ud800"]', 21),
        (b'["\\udc00"]', 2),
        (b'["NaN", "\xc3\xa9", NaN]', 14),
        (b"[-Infinity]", 1),
        (b"[1] 2", 4),
        (b"[1]\0", 3),
        (b"", 0),
    ],
)
@pytest.mark.parametrize("name", JSON)
def test_an_error_says_at_which_byte_the_text_ends_to_be_json(name, data, offset):
    codec = registry.codec(name, list[str | int])
    assert offsets(data, codec) == (offset, None)
    assert offsets(bytearray(data), codec) == (offset, None)
    if has(name, "view"):
        with pytest.raises(DecodeError) as caught:
            codec.view(data)
        assert caught.value.offset == offset


@pytest.mark.parametrize("name", [value for value in JSON if value.values[0] != "json"])
def test_what_the_strict_reader_reads_for_another_library_nests_no_deeper_than_that_library_allows(name):
    # The integer is what the library refuses; brackets in strings are none.
    codec = registry.codec(name, dict[str, float])
    assert codec.decode(b'{"a":1, "b":100000000000000000000, "c": 2}') == {"a": 1.0, "b": 1e20, "c": 2.0}
    unknown = registry.codec(name, Event)
    for levels, strings, accepted in ((500, 0, True), (500, 2000, True), (1024, 2000, False), (2500, 0, False)):
        more = b"[" * levels + b'"\\"' + b"[{" * strings + b'"' + b"]" * levels
        data = b'{"id":1,"text":"","more":%s,"big":1e999}' % more
        if accepted:
            assert unknown.decode(data) == Event(1, "")
        else:
            with pytest.raises(DecodeError, match="nested deeper"):
                unknown.decode(data)
