"""The table of a 1 KB message: what its arms write is read back, and how its figures come about."""

from __future__ import annotations

import pytest

pytest.importorskip("flatbuffers")
pytest.importorskip("google.protobuf")

from benchmarks.origin import message
from benchmarks.origin.frame import ARMS, VALUES, frame
from benchmarks.origin.message import Run

PLACES = [pytest.param(place, id=arm.name) for place, arm in enumerate(ARMS)]


@pytest.mark.parametrize("place", PLACES)
def test_every_arm_writes_about_a_kilobyte_and_reads_it_back(place):
    message.prove(place)
    write, _ = ARMS[place].make()
    # Five numbers of at most 8 bytes and a float beside the data.
    assert 4 * VALUES <= len(bytes(write(frame(1)))) <= 4 * VALUES + 160


@pytest.mark.parametrize("operation", ["write", "read"])
def test_an_arm_makes_the_calls_that_it_is_asked_for_or_those_that_its_budget_holds(operation):
    assert message.time_arm(0, operation, calls=640, budget_s=60).calls == 640
    assert message.time_arm(0, operation, calls=10**9, budget_s=0.01).calls < 10**6


def test_fewer_calls_are_told_as_a_million_by_the_rule_of_three():
    assert Run(seconds=2.0, calls=500_000, collections=3).per_million == (4000.0, 6.0)
