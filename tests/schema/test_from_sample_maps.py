"""Records against maps: rules a to d at the head of `zcser.schema.from_sample`, and what they give on known bodies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from zcser.schema.from_sample import infer
from zcser.schema.model import Float, Int, List, Map, Optional, Ref, Schema, Str, Union

DATA = Path(__file__).resolve().parents[2] / "../shared/data"


def is_map(samples: list[Any]) -> bool:
    return isinstance(infer(samples).root, Map)


@pytest.mark.parametrize(
    "keys",
    [
        ["205705993"],
        ["-1", "+2", "3"],
        ["2024-01-31", "2024-02-29"],
        ["2024-01-31T12:00:00Z"],
        ["1.2.3", "1.10"],
        ["61ccd360-5fca-446d-ad04-8ea32699764b"],
        ["9E107D9D372BB6826BD81D3542A419D6"],
        ["e107d9d372bb6826"],
        ["/pets", "/pets/{id}", "/users", "/users/{id}"],
        ["bob@example.com", "eve@example.com", "ann@example.org", "joe@example.org"],
        ["200", "404", "default", "5XX"],
        ["", " ", "\n\n", "AI"],
        ["x" * 65, "y" * 65, "z" * 65, "w" * 65],
    ],
    ids=lambda keys: ascii(keys[0])[:20],
)
def test_keys_that_look_like_data_make_a_map(keys):
    assert is_map([dict.fromkeys(keys, 1.5)])


@pytest.mark.parametrize(
    "keys",
    [
        ["Inference-Header-Content-Length"],
        [" intelligence"],
        ["bob@example.com", "eve@example.com", "ann@example.org"],
        ["prompt_tokens", "completion_tokens", "total_tokens", "cached_tokens"],
        ["@type", "$ref", "http.method", "xml:lang", "First Name"],
        ["OUTPUT0", "OUTPUT1", "T1", "T2", "x1"],
        ["姓名", "größe", "имя", "prénom"],
        ["facade", "decade", "deadbeefdeadbeef"],
        ["e107d9d372bb682"],
        [f"feature_{number}" for number in range(200)],
    ],
    ids=lambda keys: ascii(keys[0])[:20],
)
def test_names_make_a_record(keys):
    assert not is_map([dict.fromkeys(keys, 1.5)])


def test_keys_that_look_like_data_with_values_of_several_kinds_make_a_record():
    schema = infer([{"1": 1, "2": "x"}])
    assert [field.type for field in schema.record("Root").fields] == [Int(), Str()]
    assert any("their values differ" in note for note in schema.notes)
    assert not is_map([{"1": [1], "2": ["x"]}])


def test_a_union_that_values_show_by_themselves_does_not_stop_a_map():
    assert infer([{"1": [1, "x"], "2": [2]}]).root == Map(Str(), List(Union((Int(), Str()))))


def test_ints_and_floats_are_one_kind_of_map_value():
    assert infer([{"1": 1, "2": 2.5, "3": None}]).root == Map(Str(), Optional(Float()))


def test_records_with_most_fields_in_common_are_one_kind_of_map_value():
    schema = infer([{"1": {"a": 1, "b": 2}, "2": {"a": 1}}])
    assert schema.root == Map(Str(), Ref("Root"))
    assert [(field.name, field.required) for field in schema.record("Root").fields] == [("a", True), ("b", False)]


def test_records_with_few_fields_in_common_are_not():
    assert not is_map([{"1": {"a": 1, "b": 2}, "2": {"c": 1, "d": 2}, "3": {"e": 1}}])


def test_keys_of_their_own_in_each_object_make_a_map():
    words = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen"]
    assert is_map([{word: 1} for word in words])
    assert not is_map([{word: 1} for word in words[:7]])
    assert not is_map([dict.fromkeys(words, 1)] * 8)


def test_odd_keys_in_every_object_make_a_record():
    assert not is_map([{"Is it?": "a", "Was it?": "b", "Who?": "c", "Why?": "d"}] * 3)


def test_very_many_objects_under_names_make_a_map():
    names = [f"user{chr(97 + number % 26)}{chr(97 + number // 26)}" for number in range(32)]
    assert infer([{name: {"age": 3} for name in names}]).root == Map(Str(), Ref("Root"))
    assert not is_map([{name: {"age": 3} for name in names[:31]}])


def test_more_keys_than_there_are_field_ids_make_a_map():
    assert infer([{f"k{number}": number for number in range(19_000)}]).root == Map(Str(), Int())
    assert len(infer([{f"k{number}": number for number in range(18_999)}]).record("Root").fields) == 18_999
    in_parts = [{f"k{number}": str(number)} for number in range(19_000)] + [{"k0": 1}]
    assert infer([dict(pair for part in in_parts[:10_000] for pair in part.items()), *in_parts[10_000:]]).root == Map(
        Str(), Union((Str(), Int()))
    )


def test_records_that_become_one_with_too_many_fields_become_a_map():
    def wide(first: int) -> dict[str, Any]:
        return {f"k{number}": (number if number % 2 else "x") for number in range(first, first + 10_000)}

    schema = infer([{"1": wide(0), "2": wide(0), "3": wide(9_000)}])
    assert schema.root == Map(Str(), Map(Str(), Union((Str(), Int()))))


def test_a_map_that_grows_without_end_is_recognised_on_the_way():
    schema = infer({f"user{number}": {"n": number, "s": None}} for number in range(30_000))
    assert schema.root == Map(Str(), Ref("Root"))
    assert "in the first documents" in schema.notes[0]


def of_file(name: str) -> Schema:
    path = DATA / name
    if not path.exists():
        pytest.skip("the shared data is not beside this checkout")
    return infer([json.loads(path.read_text())])


def test_citm_catalog_is_maps_and_records():
    types = {field.name: str(field.type) for field in of_file("json/citm_catalog.json").record("Root").fields}
    assert types == {
        "areaNames": "map str -> str",
        "audienceSubCategoryNames": "map str -> str",
        "blockNames": "BlockNames",
        "events": "map str -> Events",
        "performances": "list of Performances",
        "seatCategoryNames": "map str -> str",
        "subTopicNames": "map str -> str",
        "subjectNames": "SubjectNames",
        "topicNames": "map str -> str",
        "topicSubTopics": "map str -> list of int64",
        "venueNames": "VenueNames",
    }


def test_twitter_is_records_alone():
    schema = of_file("json/twitter.json")
    assert not any(isinstance(field.type, Map) for record in schema.records for field in record.fields)
    entities = schema.record(str(schema.record("User").by_name["entities"].type))
    assert [(field.name, field.required) for field in entities.fields] == [("description", True), ("url", False)]


def test_canada_is_lists_of_floats_and_says_which_were_ints():
    schema = of_file("json/canada.json")
    assert schema.record("Geometry").by_name["coordinates"].type == List(List(List(Float())))
    # 46 as counted by: grep -oE '[[,]-?[0-9]+[],]' canada.json
    assert schema.notes == (
        "/features/*/geometry/coordinates/*/*/*: float64, 46 of 111126 numbers were ints: normalised to float",
    )


def test_openai_logprobs_are_maps_and_usage_is_a_record():
    schema = of_file("inference/openai/completion.json")
    assert schema.record("Logprobs").by_name["top_logprobs"].type == List(Map(Str(), Float()))
    assert schema.record("Root").by_name["usage"].type == Ref("Usage")
