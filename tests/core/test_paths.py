"""JSON Pointers, by the examples of RFC 6901 section 5."""

from __future__ import annotations

import pytest

from zcser.core.paths import parse_path, pointer
from zcser.core.view import at

DOCUMENT = {
    "foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, 'k"l': 6, " ": 7, "m~n": 8,
}  # fmt: skip
RFC_6901 = {
    "": DOCUMENT, "/foo": ["bar", "baz"], "/foo/0": "bar", "/": 0, "/a~1b": 1, "/c%d": 2, "/e^f": 3, "/g|h": 4,
    "/i\\j": 5, '/k"l': 6, "/ ": 7, "/m~0n": 8,
}  # fmt: skip


@pytest.mark.parametrize("path", RFC_6901)
def test_pointers_lead_where_the_rfc_says(path):
    assert at(DOCUMENT, path) == RFC_6901[path]
    assert pointer(parse_path(path)) == path


def test_escapes_are_undone_in_the_order_of_the_rfc():
    assert parse_path("/~01") == ("~1",)
    assert parse_path("/~1~0~1") == ("/~/",)


def test_a_tuple_is_taken_as_it_is():
    assert parse_path(("a/b", 0, "~")) == ("a/b", 0, "~")
    assert pointer(("a/b", 0, "~")) == "/a~1b/0/~0"


def test_a_pointer_without_its_slash_is_refused_with_the_right_spelling():
    with pytest.raises(ValueError, match="'/foo'"):
        parse_path("foo")
