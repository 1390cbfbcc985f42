"""The differences of two schemas, as a person would list them."""

from __future__ import annotations

import dataclasses
import enum
from typing import Annotated

import pytest

from zcser import Id
from zcser.evolution import ChangeKind, Verdict, evolve
from zcser.evolution.changes import changes_between
from zcser.evolution.matching import correspond
from zcser.schema.annotations import Alias, Float32, Int8, Int16, Int32, UInt16, UInt32
from zcser.schema.from_python import schema_of


def made(name, /, **fields):
    """A dataclass; a field is an annotation, or one and its default."""
    parts = [(key, *value) if isinstance(value, tuple) else (key, value) for key, value in fields.items()]
    parts = [part if len(part) == 2 else (*part[:2], dataclasses.field(default=part[2])) for part in parts]
    return dataclasses.make_dataclass(name, parts)


def changes(old, new):
    return [(change.kind.name, change.path) for change in changes_between(correspond(schema_of(old), schema_of(new)))]


class Mode(enum.Enum):
    OFF = 0
    SLOW = 1


Grown = enum.Enum("Mode", {"OFF": 0, "SLOW": 2, "FAST": 1})
Renamed = enum.Enum("Mode", {"OFF": 0, "LOW": 1})


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (Int16, Int32, ["WIDEN"]),
        (Int32, Int16, ["NARROW"]),
        (UInt16, Int32, ["WIDEN"]),
        (UInt32, Int32, ["KIND"]),
        (Int16, Float32, ["WIDEN"]),
        (Int32, Float32, ["KIND"]),  # 2**24 + 1 is no float32
        (int, str, ["KIND"]),
        (int, list[int], ["TO_LIST"]),
        (list[int], int, ["FROM_LIST"]),
        (Int8, list[Int16], ["TO_LIST", "WIDEN"]),
        (int, int | None, ["TO_OPTIONAL"]),
        (int | None, int, ["TO_REQUIRED"]),
        (list[int], list[int | None], ["TO_OPTIONAL"]),
        (Mode, Grown, ["ENUM_GROW", "ENUM_RENUMBER"]),
        (Grown, Mode, ["ENUM_SHRINK", "ENUM_RENUMBER"]),
        (Mode, Renamed, ["ENUM_RENAME"]),
        (int | str, int | str | bool, ["OPTION_ADD"]),
        (int | str, str | int, ["OPTION_REORDER"]),
        (int | str, int, ["OPTION_REMOVE"]),
        (int, int | str, ["OPTION_ADD"]),
        (int, (int, 5), ["DEFAULT_ADD"]),
        ((int, 5), int, ["DEFAULT_REMOVE"]),
        ((int, 5), (int, 6), ["DEFAULT_CHANGE"]),
        ((int, 5), (int, 5), []),
        (dict[str, int], dict[int, int], ["KIND"]),
        (tuple[int, int], tuple[int, int, int], ["SHAPE"]),
        (set[Int16], set[Int32], ["WIDEN"]),
        (list[int], set[int], ["KIND"]),
    ],
)
def test_a_field_of_another_type(old, new, expected):
    assert changes(made("A", x=old), made("A", x=new)) == [(kind, "A/x") for kind in expected]


def test_names_come_before_numbers():
    old = made("A", a=int, b=str, c=int)
    assert changes(old, made("A", a=int, c=int)) == [("REMOVE", "A/b"), ("RENUMBER", "A")]
    assert changes(old, made("A", a=int, c=int, b=str)) == [("RENUMBER", "A"), ("REORDER", "A")]
    assert changes(old, made("A", a=int, x=str, c=int)) == [("RENAME", "A/b")]
    assert changes(old, made("A", a=int, x=int, c=int)) == [("ADD", "A/x"), ("REMOVE", "A/b")]
    kept = made("A", c=Annotated[int, Id(3)], a=Annotated[int, Id(1)], b=str)
    assert changes(old, kept) == [("REORDER", "A")]


def test_a_number_given_to_another_field_is_said():
    change, _ = changes_between(correspond(schema_of(made("A", a=int)), schema_of(made("A", b=str))))
    assert change.kind is ChangeKind.ADD
    assert "the id was that of 'a'" in change.detail


def test_a_record_that_was_split_off_is_one_change_both_ways():
    flat = made("A", name=str, street=str, city=str)
    nested = made("A", name=str, address=made("Address", street=str, city=str))
    assert changes(flat, nested) == [("SPLIT", "A/address")]
    assert changes(nested, flat) == [("MERGE", "A/address")]


def test_records_are_matched_by_where_they_stand():
    old = made("A", inner=made("Inner", x=Int16))
    new = made("A", inner=list[made("Other", x=Int32)])
    assert changes(old, new) == [("TO_LIST", "A/inner"), ("RECORD_RENAME", "A/inner"), ("WIDEN", "Inner/x")]


def test_each_change_is_run_alone_where_it_can_be():
    old = made("A", x=int, gone=str)
    new = made("A", x=int | None, more=(Annotated[int, Id(3)], 3))
    (report,) = evolve(old, new, codecs=["json"]).codecs
    seen = {change.kind.name: [str(tally) for tally in tallies.values()] for change, tallies in report.changes}
    # Together every message is refused one way, for the field that is gone; alone the others are as harmless as they are.
    assert seen == {
        "ADD": ["default", "lost as meant"],
        "REMOVE": ["lost as meant", "error"],
        "TO_OPTIONAL": ["works", "works or error"],
    }
    assert report.together == frozenset()


def test_a_change_that_moves_the_numbers_of_others_is_run_with_them():
    (report,) = evolve(made("A", x=int, y=int), made("A", x=int, new=int, y=int), codecs=["json"]).codecs
    assert {change.kind.name for change in report.together} == {"ADD", "RENUMBER"}


def test_generated_protobuf_classes_are_schemas_too():
    timestamp_pb2 = pytest.importorskip("google.protobuf.timestamp_pb2")
    found = evolve(timestamp_pb2.Timestamp, timestamp_pb2.Timestamp, codecs=["protobuf", "json"])
    assert found.changes == ()
    assert [report.verdict for report in found.codecs] == [Verdict.SAFE, Verdict.SAFE]


def test_another_name_in_messages_is_a_rename():
    old, new = made("R", a=Annotated[int, Alias("A")]), made("R", a=Annotated[int, Alias("B")])
    (change,) = changes_between(correspond(schema_of(old), schema_of(new)))
    assert (change.kind, change.path, change.detail) == (ChangeKind.RENAME, "R/a", "in messages, from A to B")
    # Of formats without names it is no change, and those with names have another key.
    assert {one.codec: one.verdict for one in evolve(old, new, codecs=["json", "flatbuffers"]).codecs} == {
        "json": Verdict.UNSAFE,
        "flatbuffers": Verdict.SAFE,
    }
