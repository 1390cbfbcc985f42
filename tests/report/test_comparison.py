"""Several runs beside each other: what is compared, what is not and why, and the words of it, counted by hand."""

import dataclasses

from tests.report.page.absurd import ABSURD
from tests.report.results import around, cell, payload, realistic, result
from zcser.report import markdown, plain
from zcser.report.comparison import comparison_document
from zcser.report.document import document_of

FINGERPRINT = "1" * 16


def run(*cells, **changes):
    return result(cells, payloads=(payload("one", data_fingerprint=FINGERPRINT),), **changes)


def texts(document):
    """Row name and column title to what stands there, of the section of the first payload."""
    table = document.sections[1].tables[0]
    return {
        (row[0].text, column.title): f"{entry.text} {entry.ratio}".strip()
        for row in table.rows
        for column, entry in zip(table.columns[1:], row[1:], strict=True)
    }


def test_costs_stand_beside_each_other_and_only_differences_have_a_ratio():
    # Each cost is that of four processes within 1 % either way: 0.5 % apart is a tie, twice as much is a difference.
    old = run(cell("a", "encode", 1000), cell("b", "encode", 3000), cell("c", "encode", 5000), cell("d", "encode", 100))
    new = run(cell("a", "encode", 1005), cell("b", "encode", 6000), cell("c", "encode", 2500), cell("e", "encode", 100))
    document = comparison_document([("old", old), ("new", new)])
    assert texts(document) == {
        ("a", "encode, old"): "1.00 µs",
        ("a", "encode, new"): "1.00 µs tie",
        ("b", "encode, old"): "3.00 µs",
        ("b", "encode, new"): "6.00 µs slower 2.0x",
        ("c", "encode, old"): "5.00 µs",
        ("c", "encode, new"): "2.50 µs faster 2.0x",
        ("d", "encode, old"): "100 ns",
        ("d", "encode, new"): "n/a",
        ("e", "encode, old"): "n/a",
        ("e", "encode, new"): "100 ns",
        **{(codec, f"size, {label}"): "-" for codec in "abcde" for label in ("old", "new")},
    }
    assert document.verdict == "new against old, by costs: 1 tied, 1 lower, 1 higher."
    # b and c have changed places; a and b, and a and c, have not.
    assert document.sections[1].notes == (
        "new: 2 of 3 pairs of codecs that both tell apart are in the same order; turned round: b and c (encode)",
    )


def test_what_was_not_measured_alike_has_no_ratio_and_a_reason():
    old = run(cell("a", "encode", 1000))
    data = result([cell("a", "encode", 2000)], payloads=(payload("one", data_fingerprint="2" * 16),))
    timer = run(cell("a", "encode", 2000))
    timer = dataclasses.replace(timer, method=dataclasses.replace(timer.method, timer="another clock"))
    boundary = run(cell("a", "encode", 2000))
    elsewhere = {**boundary.method.boundaries, "encode": "from somewhere else"}
    boundary = dataclasses.replace(boundary, method=dataclasses.replace(boundary.method, boundaries=elsewhere))
    writer = run(cell("a", "encode", around(2000), encoded_by="b"))
    for label, other, entry in [
        ("data", data, "2.00 µs"),
        ("timer", timer, "2.00 µs"),
        ("boundary", boundary, "2.00 µs"),
        ("writer", writer, "2.00 µs other writer"),
    ]:
        document = comparison_document([("old", old), (label, other)])
        assert texts(document)["a", f"encode, {label}"] == entry
        assert document.verdict == f"{label} against old: no two costs can be compared."
    assert comparison_document([("old", old), ("data", data)]).sections[1].notes == (
        "data has other data under this name, so that nothing of it is compared",
    )
    assert comparison_document([("old", old), ("timer", timer)]).notices == (
        "timer and old are not compared in time: the timers differ",
    )


def test_circumstances_say_which_of_them_differ():
    old = run(cell("a", "encode", 1000))
    new = dataclasses.replace(old, environment=dataclasses.replace(old.environment, cpu="Another CPU"))
    document = comparison_document([("old", old), ("new", new)])
    rows = {row[0].text: [entry.text for entry in row[1:]] for row in document.sections[0].tables[0].rows}
    cores = old.environment.cores
    assert rows["processor"] == [f"{old.environment.cpu}, {cores} cores", f"Another CPU, {cores} cores", "differs"]
    assert {name for name, row in rows.items() if row[-1] == "differs"} == {"processor"}
    assert document.sections[0].notes == (f"old: {document_of(old).verdict}", f"new: {document_of(new).verdict}")


def test_runs_without_a_payload_in_common_are_not_compared():
    other = result([cell("a", "encode", 1000, payload="two")], payloads=(payload("two"),))
    document = comparison_document([("old", run(cell("a", "encode", 1000))), ("new", other)])
    assert len(document.sections) == 1
    assert document.notices == (
        "no payload is in the first run and in another one, so that no figures can be set beside each other",
    )
    assert document.verdict == "new against old: no two costs can be compared."


def test_absurd_results_are_compared_without_a_crash():
    for name, made in ABSURD.items():
        for runs in ([("old", realistic()), ("new", made)], [("old", made), ("new", realistic())]):
            document = comparison_document(runs)
            assert document.verdict.startswith("new against old"), name
            assert markdown.render(document)
            assert plain.render(document, 80)
        # A run and itself differ in nothing.
        assert comparison_document([("a", made), ("b", made)]).verdict.endswith(
            ("0 lower, 0 higher.", "no two costs can be compared.")
        ), name
