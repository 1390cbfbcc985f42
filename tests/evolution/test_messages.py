"""The messages that a run writes show every alternative of their schema, and leave nothing to luck."""

from __future__ import annotations

from zcser.evolution import evolve
from zcser.evolution.messages import messages
from zcser.schema.model import Enum, Field, Int, List, Optional, Record, Ref, Schema, Str, Union


def of_fields(*types):
    return Schema(Ref("M"), (Record("M", tuple(Field(f"f{n}", type_, n) for n, type_ in enumerate(types, 1))),))


def test_every_member_option_and_bound_is_met():
    many = Enum("Many", tuple((f"M{n}", n) for n in range(60)))
    found = messages(of_fields(many, Int(64), Optional(List(Union((Int(16), Str()))))))
    assert {value["f1"] for value in found} == set(range(60))
    assert {-(2**63), 2**63 - 1} <= {value["f2"] for value in found}
    lists = [value["f3"] for value in found]
    assert None in lists
    assert {len(items) for items in lists if items is not None} >= {0, 1, 2}
    items = [item for items in lists for item in items or ()]
    assert {-(2**15), 2**15 - 1, ""} <= set(items)


def test_one_new_member_of_many_is_noticed():
    members = tuple((f"M{n}", n) for n in range(60))
    old, new = of_fields(Enum("Many", members[:-1])), of_fields(Enum("Many", members))
    (report,) = evolve(old, new, codecs=["json"]).codecs
    assert [str(tally) for tally in report.whole.values()] == ["works", "works or error"]
