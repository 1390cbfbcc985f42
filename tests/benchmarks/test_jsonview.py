"""The comparisons of JSON views on tiny counts: every row has its arms, and figures whose answer is known."""

from __future__ import annotations

import gc

import pytest

pytest.importorskip("simdjson")
pytest.importorskip("orjson")
pytest.importorskip("msgspec")

import orjson

from benchmarks.flat.arms import Cost, Effort
from benchmarks.jsonview import arms
from benchmarks.jsonview.study import ROWS, Row, costs_table, ratio, time_group
from benchmarks.origin_json import study as origin
from benchmarks.support.figures import Goal
from benchmarks.support.fresh import in_fresh_process
from zcser.native import zcount

TINY = Effort(processes=1, batches=1, batch_ns=1)


def cost(operation: str, subject: str, p10_ns: float) -> Cost:
    return Cost(operation, subject, "class", p10_ns, batches=1, dirty_batches=0)


@pytest.mark.further
def test_every_row_has_its_arms(monkeypatch):
    few = arms.documents()[:1]
    monkeypatch.setattr(arms, "documents", lambda: few)
    timed = [one for name in arms.GROUPS for one in time_group(name, TINY, 1)]
    assert [row.name for row in ROWS if ratio(row, [timed]).value is None] == []


def test_documents_hold_10_000_records_and_a_megabyte():
    assert {len(orjson.loads(data)["records"]) for data in arms.documents()} == {10_000}
    assert all(1.0e6 < len(data) < 1.2e6 for data in arms.documents())
    assert len(set(arms.documents())) == arms.DOCUMENTS


def test_a_ratio_is_the_median_of_processes():
    processes = [[cost("f", "a", 1), cost("f", "b", 4)], [cost("f", "a", 3), cost("f", "b", 4)], [cost("f", "a", 9)]]
    found = ratio(Row("f", "a", "b", 0.5), processes)
    assert (found.value, found.low, found.high, found.goal, found.met) == (0.5, 0.25, 0.75, Goal("<=", 0.5), True)
    assert ratio(Row("f", "a", "c", 0.5), processes).met is None
    assert costs_table([[cost("f", "a", 1_500_000), cost("f", "b", 2e6)]]).splitlines()[2:] == [
        "| f | a | 1,500 (1,500 to 1,500) |",
        "| f | b | 2,000 (2,000 to 2,000) |",
    ]


def test_the_arms_of_the_origin_read_the_same_text():
    made = origin.calls()
    assert list(made) == list(origin.ARMS)
    labels = [element["label"] for element in made["json"](origin.text())]
    assert made["view, all"](origin.text()) == labels
    assert made["view, 100"](origin.text()) == labels[:100]
    assert made["view, one"](origin.text()) == labels[5000]
    assert made["orjson"](origin.text()) == made["simdjson, full"](origin.text()) == made["json"](origin.text())


@pytest.mark.skipif(zcount.load() is None, reason="the C helper was not built")
@pytest.mark.further
def test_a_view_of_one_element_allocates_less_than_a_tenth_of_a_full_parse():
    # Counted, not timed: the same in every process.
    found = in_fresh_process(origin.memory, preload=True)
    assert found["view, one"][1] < found["orjson"][1] / 10
    assert found["json"][0] > 10_000


def test_collections_are_of_what_makes_containers():
    assert origin._collections(lambda data: None, keep=True) == 0
    # So many new containers, which are kept, bring on a collection: 700, or 2000 from Python 3.13 on.
    most = gc.get_threshold()[0]
    assert origin._collections(lambda data: [[] for _ in range(10_000)], keep=True) >= 10_000 // most - 1 > 0


def test_the_table_of_the_origin_shows_what_was_not_counted():
    rows = [origin.Row("json", 2e6, 1e6, 3e6, None, None, 1.0, 2.0), origin.Row("orjson", 1e6, 1e6, 1e6, 5, 2e6, 0, 0)]
    lines = origin.table(rows).splitlines()
    assert lines[2] == "| `json.loads` | 2.00 (1.00 to 3.00) | - | - | 1.0 | 2.0 |"
    assert lines[3] == "| `orjson.loads` | 1.00 (1.00 to 1.00) | 5 | 2.000 | 0.0 | 0.0 |"
    assert {line.count("|") for line in lines} == {7}
