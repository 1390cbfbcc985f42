"""The study of the guard on tiny counts: arms that are equal, and figures whose answer is known."""

from __future__ import annotations

import pytest

pytest.importorskip("orjson")
pytest.importorskip("msgpack")
pytest.importorskip("ormsgpack")
pytest.importorskip("msgspec")

from benchmarks.flat.arms import Effort
from benchmarks.guards import study, subjects
from zcser.tree import codec as tree_codec

TINY = Effort(processes=1, batches=2, batch_ns=10_000)


@pytest.mark.parametrize("library", subjects.LIBRARIES)
def test_every_subject_has_both_operations(library):
    costs = study.time_group("llm-chunk", library, TINY, 1)
    assert {(cost.operation, cost.subject) for cost in costs} == {
        (operation, subject) for operation in ("encode", "decode") for subject in subjects.SUBJECTS
    }
    assert all(cost.p10_ns > 0 for cost in costs)


def test_making_arms_leaves_the_c_part_where_it_was():
    before = tree_codec.make_coder
    subjects.arms(TINY, "llm-chunk", "json")
    assert tree_codec.make_coder is before


def test_the_1_kb_message_is_about_that_and_its_values_differ():
    _, items = subjects.values("telemetry-1k")
    sizes = [len(subjects.LIBRARIES["orjson"]().encode(value)) for value in items]
    assert 900 < min(sizes) < max(sizes) < 1250
    assert len({repr(item) for item in items}) == 64


def raw(message: str, times: dict[str, float]) -> list[dict[str, object]]:
    costs = [
        {"operation": operation, "subject": subject, "p10_ns": p10_ns}
        for operation in ("encode", "decode")
        for subject, p10_ns in times.items()
    ]
    return [{"message": message, "library": "orjson", "costs": costs}]


def test_ratios_are_over_the_library_and_short_calls_in_nanoseconds(monkeypatch):
    monkeypatch.setattr(study, "has_native", lambda: True)
    long = raw("m", {"library": 2000.0, "guard off": 2100.0, "guard on": 3000.0, subjects.PYTHON: 8000.0})
    rows = {one.name: (one.value, one.met) for one in study.figures(long, "m", "orjson")}
    assert rows["m, orjson, encode: guard off"] == (1.05, True)
    assert rows["m, orjson, encode: guard on"] == (1.5, False)
    assert rows["m, orjson, decode: guard on, in Python"] == (4.0, None)
    short = raw("m", {"library": 300.0, "guard off": 390.0, "guard on": 400.0, subjects.PYTHON: 900.0})
    rows = {one.name: (one.value, one.met) for one in study.figures(short, "m", "orjson")}
    assert rows["m, orjson, encode: guard off"] == (1.3, None)
    assert rows["m, orjson, encode: guard off, more"] == (90.0, True)


def test_without_the_c_part_its_goal_is_not_measured(monkeypatch):
    monkeypatch.setattr(study, "has_native", lambda: False)
    times = dict.fromkeys(subjects.SUBJECTS, 1000.0)
    rows = {one.name: one for one in study.figures(raw("m", times), "m", "orjson")}
    assert rows["m, orjson, encode: guard on"].value is None
    assert rows["m, orjson, encode: guard on"].met is None
