"""The benchmark of the glue on tiny counts: arms that are equal, and figures whose answer is known."""

from __future__ import annotations

import pytest

pytest.importorskip("orjson")
pytest.importorskip("msgpack")
pytest.importorskip("fastavro")
pytest.importorskip("google.protobuf")

from benchmarks.flat.arms import Effort
from benchmarks.glue import study
from benchmarks.glue.messages import MESSAGES, values
from benchmarks.glue.subjects import CODECS, OPERATIONS, SUBJECTS

TINY = Effort(processes=1, batches=1, batch_ns=10_000)


@pytest.mark.parametrize("name", CODECS)
def test_the_glue_by_hand_makes_and_reads_what_the_codec_does(name):
    # The arms are held to each other when they are made.
    for message in MESSAGES:
        costs = study.time_group(message, name, TINY, 1)
        wanted = {(operation, subject) for operation in OPERATIONS for subject in SUBJECTS}
        assert {(cost.operation, cost.subject) for cost in costs} == wanted
        assert all(cost.p10_ns > 0 for cost in costs)


def test_the_values_of_a_message_differ():
    for message in MESSAGES:
        assert len({repr(value) for value in values(message)[1]}) == 64


def test_ratios_are_over_the_glue_by_hand():
    times = {"by hand": (1000.0, 2000.0), "guard off": (1100.0, 2200.0), "guard on": (1500.0, 3200.0)}
    raw = [
        {
            "message": "m",
            "codec": "orjson",
            "costs": [
                {"operation": operation, "subject": subject, "p10_ns": p10_ns[process]}
                for operation in OPERATIONS
                for subject, p10_ns in times.items()
            ],
        }
        for process in range(2)
    ]
    rows = {one.name: one for one in study.figures(raw, "m", "orjson")}
    assert len(rows) == 6
    assert (rows["m, orjson, convert: by hand"].value, rows["m, orjson, convert: by hand"].met) == (1500.0, None)
    assert rows["m, orjson, restore: guard off"].value == pytest.approx(1.1)
    slow = rows["m, orjson, restore: guard on"]
    assert (slow.low, slow.value, slow.high, slow.met) == (1.5, 1.55, 1.6, False)
