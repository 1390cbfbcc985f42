"""Arguments are rotated in order, made as late and as rarely as possible, and never shared where a call uses them up."""

from __future__ import annotations

import pytest

from zcser.measure import inputs as inputs_module
from zcser.measure.inputs import Fresh, Rotating

FAR = 1 << 62


@pytest.fixture
def made() -> list[int]:
    return []


def rotating(made: list[int], numbers, budget_ns: int = FAR) -> Rotating:
    def make(number: int) -> str:
        made.append(number)
        return f"v{number}"

    return Rotating(make, numbers, budget_ns)


def test_arguments_come_round_in_order(made):
    inputs = rotating(made, range(3))
    assert inputs.arguments(4) == ["v0", "v1", "v2", "v0"]
    assert inputs.arguments(3) == ["v1", "v2", "v0"]
    assert made == [0, 1, 2]
    assert inputs.distinct == 3


def test_no_more_is_made_than_is_asked_for(made):
    inputs = rotating(made, range(64))
    inputs.arguments(2)
    assert made == [0, 1]
    assert inputs[5] == "v5"
    assert made == [0, 1, 5]


def test_without_time_one_is_made(made):
    inputs = rotating(made, range(64), budget_ns=0)
    assert inputs.arguments(3) == ["v0", "v0", "v0"]
    assert inputs.distinct == 1


def test_only_the_given_numbers_are_used(made):
    inputs = rotating(made, (number for number in range(10) if number % 4 == 2))
    assert inputs.first() == (2, "v2")
    assert inputs.arguments(3) == ["v2", "v6", "v2"]


def test_no_usable_value_is_an_error(made):
    with pytest.raises(LookupError, match="no value has"):
        rotating(made, ()).first()


def test_arguments_that_are_used_up_are_made_for_each_call(made):
    fresh = Fresh(lambda item: [item], rotating(made, range(2)), most=3)
    first = fresh.arguments(3)
    assert first == [["v0"], ["v1"], ["v0"]]
    assert first[0] is not first[2]
    assert len(fresh.arguments(100)) == 3
    assert fresh.first() == (0, ["v0"])
    assert fresh.distinct == 2


def test_arguments_that_are_made_for_each_call_say_what_making_takes(monkeypatch, made):
    ticks = iter(range(0, 10_000, 40))
    monkeypatch.setattr(inputs_module, "now_ns", lambda: next(ticks))
    source = rotating(made, range(2))
    assert source.making_ns == 0
    source.arguments(2)
    fresh = Fresh(lambda item: [item], source, most=9)
    assert fresh.making_ns == 0
    fresh.arguments(4)
    assert fresh.making_ns == 40 // 4
    assert source.making_ns == 0


def test_leading_arguments_are_those_of_the_first_values_at_any_time(made):
    inputs = rotating(made, range(64))
    inputs.arguments(3)
    inputs.arguments(2)
    assert inputs.leading(2) == ["v0", "v1"]
    assert inputs.leading(4) == ["v0", "v1", "v2", "v0"]
    assert Fresh(lambda item: [item], inputs, most=2).leading(9) == [["v0"], ["v1"]]
    assert made == [0, 1, 2]
