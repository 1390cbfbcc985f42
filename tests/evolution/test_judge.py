"""The judge against values written by hand: no codec is asked."""

from __future__ import annotations

from datetime import date
from uuid import UUID

import numpy as np
import pytest

from zcser.evolution.changes import changes_between
from zcser.evolution.judge import Judge
from zcser.evolution.matching import correspond
from zcser.schema.model import (
    MISSING,
    Bool,
    Bytes,
    Enum,
    Field,
    Float,
    Int,
    List,
    Logical,
    Map,
    Optional,
    Record,
    Ref,
    Schema,
    Set,
    Str,
    Tensor,
    Union,
)

MODE = Enum("Mode", (("OFF", 0), ("ON", 1)))
MORE = Enum("Mode", (("OFF", 0), ("ON", 2), ("FAST", 3)))
INNER = Record("Inner", (Field("a", Int(32), 1),))
WIDER = Record("Inner", (Field("a", Int(64), 1),))


def schema(type_, *, default=MISSING, required=True, inner=INNER):
    fields = (Field("stays", Str(), 1), Field("x", type_, 2, required, default))
    return Schema(Ref("M"), (Record("M", fields), inner))


def judged(old, new, written, read, *, inverse=False, stays="s"):
    """The outcome of one message in which ``x`` was `written` and `read`; absent where it is ..."""
    matched = correspond(old, new)
    changes = changes_between(matched)
    judge = Judge(matched.inverse() if inverse else matched, changes, inverse=inverse)
    before, after = {"stays": "s"}, {"stays": stays}
    if written is not ...:
        before["x"] = written
    if read is not ...:
        after["x"] = read
    whole, by_change = judge(before, after)
    assert set(by_change) <= set(changes)
    return str(whole.outcome), whole.meant


@pytest.mark.parametrize(
    ("old", "new", "written", "read", "outcome"),
    [
        (Int(32), Int(64), 7, 7, "works"),
        (Int(32), Int(64), 7, 8, "wrong"),
        (Int(32), Int(64), 7, 0, "lost"),
        (Int(64), Int(32), 2**32 + 5, 5, "wrong"),
        (Int(32), Float(64), 7, 7.0, "works"),
        (Float(64), Int(32), 7.5, 7, "wrong"),
        (Float(64), Float(32), 0.1, 0.10000000149011612, "lost"),
        (Float(64), Float(32), 0.5, 0.5, "works"),
        (Float(64), Float(32), 0.5, 0.25, "wrong"),
        (Bool(), Int(8), True, 1, "works"),
        (Int(32), Str(), -7, "-7", "works"),
        (Int(32), Str(), 7, "07", "wrong"),
        (Str(), Int(32), "-7", -7, "works"),
        (Str(), Int(32), "07", 7, "wrong"),
        (Str(), Int(32), str(2**31), 2**31 - 1, "wrong"),
        (Int(32), Str(), 7, "", "lost"),
        (Str(), Bytes(), "\u00e9", b"\xc3\xa9", "works"),
        (Bytes(), Str(), b"\xff", "\ufffd", "wrong"),
        (Int(32), List(Int(32)), 7, [7], "works"),
        (Int(32), List(Int(32)), 7, [], "lost"),
        (Int(32), List(Int(32)), 7, [7, 7], "wrong"),
        (List(Int(32)), Int(32), [1, 2], 2, "lost"),
        (List(Int(32)), Int(32), [1, 2], 3, "wrong"),
        (List(Int(32)), Int(32), [2], 2, "works"),
        (List(Int(32)), Int(32), [], 0, "default"),
        (List(Int(32)), Int(32), [], 1, "wrong"),
        (Optional(Int(32)), Int(32), None, 0, "default"),
        (Optional(Int(32)), Int(32), None, 3, "wrong"),
        (Int(32), Optional(Int(32)), 0, None, "lost"),
        (Int(32), Optional(Int(32)), 0, 0, "works"),
        (MODE, MORE, 1, 2, "works"),  # ON, by its name
        (MODE, MORE, 1, 1, "wrong"),
        (MORE, MODE, 3, 0, "wrong"),  # OFF is no word for FAST
        (MODE, Int(32), 1, 1, "works"),
        (Union((Int(32), Str())), Union((Str(), Int(32))), 7, 7, "works"),
        (Union((Int(32), Str())), Union((Str(), Int(32))), 7, "7", "wrong"),
        (Union((Int(32), Str())), Union((Int(32), Bool())), "s", True, "wrong"),
        (Int(32), Union((Int(32), Str())), 7, 7, "works"),
        (Union((Int(32), Str())), Int(32), 7, 7, "works"),
        (Map(Str(), Int(32)), Map(Str(), Int(64)), {"k": 7}, {"k": 7}, "works"),
        (Map(Str(), Int(32)), Map(Str(), Int(64)), {"k": 7}, {}, "lost"),
        (Map(Str(), Int(32)), Map(Str(), Int(64)), {"k": 7}, {"l": 7}, "wrong"),
        (Set(Int(32)), Set(Int(64)), {7, 8}, {7, 8}, "works"),
        (Set(Int(32)), List(Int(32)), {7, 8}, [8, 7], "works"),
        (List(Int(32)), Set(Int(32)), [7, 7], {7}, "works"),
        (Set(Int(32)), List(Int(32)), {7, 8}, [8, 7, 7], "wrong"),
        (Set(Int(32)), Set(Int(64)), {7, 8}, set(), "lost"),
        (Logical("uuid"), Str(), UUID(int=5), "00000000-0000-0000-0000-000000000005", "works"),
        (Logical("uuid"), Bytes(16), UUID(int=5), bytes(15) + b"\5", "works"),
        (Logical("date"), Int(32), date(1970, 1, 8), 7, "works"),
        (Logical("date"), Int(32), date(1970, 1, 8), 8, "wrong"),
        (Tensor("float32"), Tensor(), np.ones(2, "f4"), np.ones(2, "f4"), "works"),
        (Tensor("float32"), Tensor(), np.ones(2, "f4"), np.zeros(2, "f4"), "lost"),
        (Tensor("float32"), Tensor(), np.ones(2, "f4"), np.full(2, 3, "f4"), "wrong"),
    ],
)
def test_a_changed_field_is_judged_by_what_the_change_means(old, new, written, read, outcome):
    assert judged(schema(old), schema(new), written, read) == (outcome, False)


def test_what_a_reader_has_no_field_for_is_lost_as_meant_and_a_new_field_has_its_default():
    with_x, without = schema(Int(32), default=5), Schema(Ref("M"), (Record("M", (Field("stays", Str(), 1),)),))
    assert judged(with_x, without, 7, ...) == ("lost", True)
    assert judged(without, with_x, ..., 5) == ("default", False)
    assert judged(without, with_x, ..., 0) == ("wrong", False)  # a zero is not the declared default
    assert judged(without, with_x, 7, ..., inverse=True) == ("lost", True)
    assert judged(without, schema(Int(32), required=False), ..., ...) == ("default", False)
    assert judged(without, schema(Int(32)), ..., 0) == ("default", False)
    assert judged(without, schema(Optional(Int(32))), ..., None) == ("default", False)
    assert judged(without, schema(Optional(Int(32))), ..., 0) == ("wrong", False)


def test_a_default_that_displaces_a_value_is_lost():
    assert judged(schema(Int(32)), schema(Int(32), default=5), 0, 5) == ("lost", False)
    assert judged(schema(Int(32)), schema(Int(32), default=5), 0, 6) == ("wrong", False)


def test_a_field_that_did_not_change_makes_the_whole_message_wrong():
    assert judged(schema(Int(32)), schema(Int(64)), 7, 7, stays="t") == ("wrong", False)
    assert judged(schema(Int(32)), schema(Int(32)), 7, 7, stays="t") == ("wrong", False)
    assert judged(schema(Int(32)), schema(Int(32)), 7, 7) == ("works", False)


def test_a_change_inside_a_record_is_judged_inside_it():
    old, new = schema(List(Ref("Inner"))), schema(List(Ref("Inner")), inner=WIDER)
    (change,) = changes_between(correspond(old, new))
    assert change.path == "Inner/a"
    assert judged(old, new, [{"a": 1}, {"a": 2}], [{"a": 1}, {"a": 2}]) == ("works", False)
    assert judged(old, new, [{"a": 1}, {"a": 2}], [{"a": 1}, {"a": 3}]) == ("wrong", False)
    # The list itself did not change: a shorter one is no matter of its items.
    assert judged(old, new, [{"a": 1}, {"a": 2}], [{"a": 1}]) == ("wrong", False)
