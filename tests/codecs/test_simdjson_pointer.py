"""simdjson: one place of a document by a JSON pointer, compiled once."""

from __future__ import annotations

import json

import pytest

from tests.codecs.simdjson_samples import ITEMS, Item, codec, text
from zcser import registry
from zcser.core.errors import DecodeError, ReleasedViewError, SchemaError, UnsupportedOperation
from zcser.core.view import at, release
from zcser.schema.from_sample import infer

pytest.importorskip("simdjson")


def test_a_pointer_reads_one_place_of_views_and_buffers():
    made = codec(list[Item])
    data = text(*ITEMS)
    for path, expected in (
        ("/0/id", 1),
        ("/0/values/1", 2.0),
        ("/0/named/b/y", 2),
        ((1, "id"), 2),
        ((-1, "id"), 2),
    ):
        pointer = made.pointer(path)
        assert pointer(data) == pointer(made.view(data)) == at(made.decode(data), path) == expected
    assert list(made.pointer("/0/values")(data)) == [0.5, 2.0]
    assert len(made.pointer("")(data)) == 2
    assert "/0/id" in repr(made.pointer("/0/id"))


def test_pointers_into_real_documents(shared_data):
    for name, path in (
        ("json/twitter.json", "/statuses/50/user/screen_name"),
        ("json/twitter.json", "/search_metadata/count"),
        ("json/citm_catalog.json", "/performances/100/seatCategories/0/areas/0/areaId"),
    ):
        data = (shared_data / name).read_bytes()
        value = json.loads(data)
        assert codec(infer([value])).pointer(path)(data) == at(value, path)


def test_a_pointer_takes_the_key_of_the_maps_own_type_and_passes_unions():
    assert codec(dict[int, dict[bool, int]]).pointer("/-5/true")(b'{"-5":{"true":7}}') == 7
    mixed = codec(list[dict[str, int] | str]).pointer("/0/k")
    assert mixed(b'[{"k":3}]') == 3
    with pytest.raises(KeyError, match="/0/k"):
        mixed(b'["k"]')


@pytest.mark.parametrize(
    ("path", "word"),
    [("/0/nobody", "id, values, named"), ("/x", "no index"), ("/0/id/1", "no parts"), ("/0/values/x", "no index")],
)
def test_a_pointer_that_leads_nowhere_is_refused_before_there_is_a_message(path, word):
    with pytest.raises(SchemaError, match=word):
        codec(list[Item]).pointer(path)


def test_a_pointer_says_where_a_message_ends():
    made = codec(list[Item])
    with pytest.raises(IndexError, match="nothing at /7"):
        made.pointer("/7/id")(text(*ITEMS))
    with pytest.raises(KeyError, match="nothing at /0/named/z"):
        made.pointer("/0/named/z/q")(text(*ITEMS))
    with pytest.raises(DecodeError):
        made.pointer("/0/id")(b'[{"id":"one"}]')
    view = made.view(text(*ITEMS))
    release(view)
    with pytest.raises(ReleasedViewError):
        made.pointer("/0/id")(view)


def test_a_codec_without_views_has_no_pointers():
    with pytest.raises(UnsupportedOperation, match="simdjson"):
        registry.codec("json", list[int]).pointer("/0")
