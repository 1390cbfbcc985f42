from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zcser.schema.describe import describe
from zcser.schema.from_sample import infer
from zcser.schema.model import Enum, Field, Int, List, Optional, Record, Ref, Schema, Str


@dataclass
class Point:
    x: int


COLOR = Enum("Color", (("RED", 1), ("GREEN", 2)))
OF_CLASS = Schema(
    Ref("Point"),
    (
        Record(
            "Point",
            (
                Field("x", Int(), 3),
                Field("color", Optional(COLOR), 12, default=None),
                Field("tags", List(Str()), 1, default_factory=list),
            ),
            cls=Point,
        ),
    ),
)


def test_a_sample_reads_as_root_records_and_reasons():
    schema = infer([{"id": 1, "姓名": "x", "days": {"2024-01-01": 2, "2024-01-02": 3}}, {"id": 2, "extra": {}}])
    assert describe(schema).splitlines() == [
        f"root Root  (fingerprint {schema.fingerprint})",
        "",
        "Root",
        "  id  field  type              presence",
        "   1  id     int64             required",
        "   2  姓名   str               may be absent",
        "   3  days   map str -> int64  may be absent",
        "   4  extra  Extra             may be absent",
        "",
        "Extra",
        "  no fields",
        "",
        "why",
        "  /姓名: may be absent, missing from 1 of 2",
        "  /days: may be absent, missing from 1 of 2",
        "  /days: a map, not a record: 2 keys that look like data (numbers, dates or hashes, as '2024-01-01'); values int64",
        "  /extra: may be absent, missing from 1 of 2",
        "  /extra: a record without fields, no object had a key (1)",
    ]


def test_a_class_reads_with_its_name_defaults_and_enums_and_without_reasons():
    assert describe(OF_CLASS).splitlines() == [
        f"root Point  (fingerprint {OF_CLASS.fingerprint})",
        "",
        f"Point  ({__name__}.Point)",
        "  id  field  type                 presence",
        "   3  x      int64                required",
        "  12  color  optional enum Color  default None",
        "   1  tags   list of str          default list()",
        "",
        "enums",
        "  Color: RED = 1, GREEN = 2",
    ]


def test_a_root_without_records_is_one_line():
    schema = Schema(List(Int()))
    assert describe(schema) == f"root list of int64  (fingerprint {schema.fingerprint})"


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("class", "class"),
        ("a/b~c", "a/b~c"),
        ("größe", "größe"),
        ("", '""'),
        ("a b", '"a b"'),
        (" a", '" a"'),
        ('say"so', '"say\\"so"'),
        ("a\nb", '"a\\nb"'),
        ("\x1b[2J", '"\\u001b[2J"'),
    ],
)
def test_names_stand_as_they_are_or_quoted(key, shown):
    assert f"   1  {shown}  " in describe(infer([{key: 1}]))


@given(st.dictionaries(st.text(max_size=8), st.one_of(st.none(), st.text(), st.integers()), max_size=5))
def test_no_key_breaks_a_line(sample):
    schema = infer([sample])
    text = describe(schema)
    tables = sum(2 + max(1, len(record.fields) + bool(record.fields)) for record in schema.records)
    notes = len(schema.notes) + 2 if schema.notes else 0
    assert len(text.splitlines()) == 1 + tables + notes
    assert text.replace("\n", "").isprintable()


def test_the_text_does_not_depend_on_the_seed_of_hashes():
    code = """
from zcser.schema.describe import describe
from zcser.schema.from_sample import infer
print(describe(infer([{"b": {"1": [None, 2.5, 1, "x", [], {}]}, "a": {"c": True}}, {"d": 1, "e": 2, "a": {"f": ""}}])))
"""
    texts = [
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    ]
    assert len(set(texts)) == 1
    assert b"union" in texts[0]
