"""Changing scalars of a message in place, with the engine in Python, and that its twin in C does the same."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import Any

import pytest

from tests.flat.everything import ROOT, flat_engine, mutants, outcome, twin
from zcser.core.errors import EncodeError
from zcser.flat.bfbs import FlatSchema


def set_at(value: Any, steps: Sequence[str | int], new: Any) -> Any:
    """A copy of a value with one part changed."""
    if not steps:
        return new
    step, *rest = steps
    if isinstance(value, list):
        return [set_at(item, rest, new) if index == step else item for index, item in enumerate(value)]
    return {**value, step: set_at(value[step], rest, new)}


@pytest.mark.parametrize(
    ("steps", "new"),
    [
        (("need", "b"), 255),
        (("needu", "Leaf", "deep", "b", 1), 300),
        (("needs", 2, "Deep", "a"), 0),
        (("leaves", 1, "small", "c"), 77),
        (("counted", 2, "count"), 41),
        (("keyed", 0, "x"), 1),
        (("nested", "need", "a"), 200),
        (("longs", 1), -(2**63)),
    ],
    ids=str,
)
def test_a_patched_message_is_the_message_of_the_changed_value(everything: FlatSchema, steps: Any, new: int) -> None:
    engine = flat_engine(everything)
    message = bytearray(engine.encode(ROOT))
    engine.patch(message, steps, new)
    assert message == engine.encode(set_at(ROOT, steps, new))


@pytest.mark.parametrize(
    ("steps", "new", "words", "path"),
    [
        (("need", "b"), 256, "outside", "/need/b"),
        (("need", "b"), "x", "is needed, not str", "/need/b"),
        (("needu", "Leaf", "deep", "b", 1), 4, "not a member", "/needu/Leaf/deep/b/1"),
        (("t",), 5, "the field is not in the message", "/t"),
        (("needu", "Deep", "a"), 5, "the field is not in the message", "/needu/Deep"),
        (("needs", 1, "Text"), 5, "the field is not in the message", "/needs/1"),
        (("needs", 3), 5, "index 3 is outside", "/needs/3"),
        (("leaves", "one"), 5, "a number is needed", "/leaves/one"),
        (("need", "z"), 5, "there is no field 'z'", "/need/z"),
        (("leaves", 0, "name"), "x", "only a bool, a number", "/leaves/0/name"),
        (("need",), {}, "only a bool, a number", "/need"),
        (("nested", "blob", 0), 5, "nothing stands inside", "/nested/blob/0"),
    ],
    ids=str,
)
def test_what_cannot_be_patched_is_refused_and_changes_nothing(
    everything: FlatSchema, steps: Any, new: Any, words: str, path: str
) -> None:
    engine = flat_engine(everything)
    message = bytearray(engine.encode(ROOT))
    before = bytes(message)
    with pytest.raises(EncodeError, match=words) as caught:
        engine.patch(message, steps, new)
    assert (caught.value.path, bytes(message)) == (path, before)
    assert outcome(engine.patch, message, steps, new) == outcome(twin(everything).patch, message, steps, new)


def test_a_patch_looks_at_each_step_of_the_message(everything: FlatSchema) -> None:
    engine, native, rng = flat_engine(everything), twin(everything), random.Random(3)
    ways = [("needu", "Leaf", "deep", "b", 1), ("nested", "need", "a"), ("needs", 2, "Deep", "a"), ("keyed", 1, "id")]
    message = engine.encode(ROOT)
    for mutant, steps in zip(mutants([message], rng, 400), itertools.cycle(ways), strict=False):
        own, other = bytearray(mutant), bytearray(mutant)
        assert outcome(engine.patch, own, steps, 5) == outcome(native.patch, other, steps, 5)
        assert own == other
    with pytest.raises(EncodeError, match="read-only"):
        engine.patch(message, ("need", "b"), 5)
