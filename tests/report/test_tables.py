"""Tables of a payload: what stands where, and what is never hidden."""

import dataclasses

import pytest

from tests.report.results import allocations, cell, codec_record, cost, latency, payload, realistic, result
from zcser.measure.result import Allocations, Cell, Collections, Copies, Retained, Size
from zcser.report.cells import grid_of
from zcser.report.document import document_of
from zcser.report.model import Table
from zcser.report.tables import baseline_table, latency_table, ledger_table, main_table, memory_table


def column(table: Table, title: str) -> dict[str, tuple[str, str]]:
    """Figure and ratio by row."""
    index = [column.title for column in table.columns].index(title)
    return {row[0].text: (row[index].figure, row[index].ratio) for row in table.rows}


def main_of(*cells: Cell) -> Table:
    made = main_table(grid_of(result(cells), "one"))
    assert made is not None
    return made


def test_costs_stand_with_their_ratio_to_the_lowest():
    table = main_of(cell("a", "encode", 200), cell("b", "encode", 500), cell("c", "encode", cost(199, 200, 201)))
    assert column(table, "encode") == {"a": ("200 ns", "tie"), "c": ("200 ns", "tie"), "b": ("500 ns", "2.5x")}


def test_rows_are_ordered_by_encode_and_decode_and_the_incomplete_come_last():
    table = main_of(
        cell("slow", "encode", 900),
        cell("slow", "decode", 900),
        cell("reader", "decode", 1),
        cell("fast", "encode", 100),
        cell("fast", "decode", 200),
        cell("opener", "read-field", 1),
    )
    assert [row[0].text for row in table.rows] == ["fast", "slow", "reader", "opener"]


def test_column_without_figures_is_dropped_and_one_with_a_failure_kept_for_those_that_have_it():
    table = main_of(
        cell("a", "encode", 100),
        Cell("one", "a", "tensor", "unsupported"),
        cell("a", "decode", 100),
        cell("b", "encode", 100),
        Cell("one", "b", "decode", "failed", "gave 1, not 2"),
    )
    assert [column.title for column in table.columns] == ["codec", "encode", "decode"]
    assert column(table, "decode") == {"a": ("100 ns", "best"), "b": ("failed", "")}


def test_missing_figures_differ_by_why_they_are_missing():
    table = main_of(
        cell("a", "read-field", 100, latency=None),
        cell("a", "encode", 100),
        cell("b", "encode", 100),
        Cell("one", "b", "read-field", "unsupported"),
        cell("c", "encode", 100),
        cell("c", "read-field", None),
        cell("d", "encode", 100),
        Cell("one", "d", "read-field", "refused", "no"),
        cell("e", "encode", 100),
    )
    found = {codec: figure for codec, (figure, _) in column(table, "one field").items()}
    assert found == {"a": "100 ns", "b": "-", "c": "n/a", "d": "refused", "e": "n/a"}


def test_zero_and_negative_costs_are_shown_without_a_standing():
    table = main_of(cell("a", "encode", cost(0, 0)), cell("b", "encode", 100), cell("c", "encode", cost(-4, -4)))
    assert column(table, "encode") == {"a": ("0.00 ns", ""), "b": ("100 ns", "best"), "c": ("-4.00 ns", "")}


def test_flags_that_tell_figures_apart_are_marks_and_shared_ones_are_said_once():
    cells = [cell("a", "encode", 100, flags=("hot",)), cell("b", "encode", 300, flags=("hot", "capped"))]
    assert column(main_of(*cells), "encode") == {"a": ("100 ns", "best"), "b": ("300 nsᶜ", "3.0x")}
    section = document_of(result(cells)).sections[0]
    assert [note for note in section.notes if note.startswith("all figures here: hot")]


def test_flag_of_a_newer_writer_is_marked_and_named():
    cells = [cell("a", "encode", 100, flags=("tilted",)), cell("b", "encode", 300)]
    assert column(main_of(*cells), "encode")["a"] == ("100 ns*", "best")
    assert ("*", "tilted") in document_of(result(cells)).legend


@pytest.mark.parametrize(
    ("counts", "figures"),
    [
        ({"python_allocations": 4.0, "python_bytes": 212.0}, ("4", "212 B")),
        (
            {"python_allocations": 4.0, "python_bytes": 212.0, "native_allocations": 0.0, "native_bytes": 0.0},
            ("4", "212 B"),
        ),
        (
            {"python_allocations": 4.5, "python_bytes": 212.0, "native_allocations": 3.0, "native_bytes": 5104.0},
            ("4.50+3", "5,316 B"),
        ),
        ({"python_allocations": 4.0, "python_bytes": 212.0, "blind": "malloc"}, ("≥4", "≥212 B")),
        ({"python_allocations": 0.0, "python_bytes": 0.0}, ("0", "0 B")),
    ],
)
def test_allocations_are_pythons_and_native_ones(counts, figures):
    one = cell("a", "decode", 100, allocations=Allocations("exact", 64, 64, **counts))
    table = main_of(cell("a", "encode", 100), one)
    assert (column(table, "allocs dec")["a"][0], column(table, "alloc bytes dec")["a"][0]) == figures
    titles = [column.title for column in table.columns]
    assert "peak dec" not in titles
    assert "allocs enc" not in titles


def test_what_the_collector_does_to_the_tail_stands_beside_it():
    gc = Collections((27, 2, 1), 5, 5, 200_000, struck=30, time_share=0.02, slowest_struck=22, free_p999_ns=900.0)
    kept = Retained(latency(700), dataclasses.replace(gc, time_share=0.41))
    one = cell("a", "decode", 100, latency=latency(200), gc=gc, retained=kept)
    table = latency_table(grid_of(result([one]), "one"))
    assert column(table, "dec p99.9")["a"][0] == "~1.80 µs"
    assert column(table, "dec p99.9 no GC")["a"][0] == "900 ns"
    assert column(table, "dec kept p99")["a"][0] == "1.68 µs"
    assert column(table, "dec kept GC")["a"][0] == "41%"


def test_the_cost_with_a_fresh_malloc_is_a_column_of_its_own_where_it_was_taken():
    table = main_of(cell("a", "encode", 100), cell("a", "decode", 100, fresh_cost=cost(300, 400, 500)))
    assert column(table, "decode fresh malloc") == {"a": ("400 ns", "")}
    assert "encode fresh malloc" not in [column.title for column in table.columns]


def test_figures_that_an_older_file_lacks_have_no_column():
    one = cell("a", "decode", 100, latency=latency(200), gc=Collections((27, 2, 1), 5, 5, 20_000))
    titles = [column.title for column in latency_table(grid_of(result([one]), "one")).columns]
    assert titles == ["codec", "dec p50", "dec p90", "dec p99", "dec p99.9", "dec max"]


def test_size_tail_collections_and_memory():
    whole = cell(
        "a",
        "decode",
        100,
        latency=latency(200),
        gc=Collections((27, 2, 1), 5, 5, 20_000),
        allocations=allocations(1_234, blind=True),
    )
    table = main_of(cell("a", "encode", 100, size=Size(80, 70, 90)), whole)
    assert column(table, "size")["a"] == ("80 B", "best")
    assert column(table, "p99 dec")["a"] == ("480 ns", "")
    assert column(table, "GC/1k dec")["a"] == ("1.50", "")
    assert column(table, "peak dec")["a"] == ("≥1,234 B", "")
    assert column(table, "blocks")["a"] == ("≥12", "")


def test_collections_over_no_operations_are_not_taken():
    table = main_of(cell("a", "decode", 100, gc=Collections((0, 0, 0), 0, 0, 0)))
    assert "GC/1k dec" not in [column.title for column in table.columns]


def test_uncertain_percentiles_are_marked_and_invalid_ones_not_shown():
    grid = grid_of(result([cell("a", "encode", 100, latency=latency(100, sure=False))]), "one")
    table = latency_table(grid)
    assert column(table, "enc p99") == {"a": ("~240 ns", "")}
    assert column(table, "enc p99.9") == {"a": ("n/a", "")}
    assert column(table, "enc max") == {"a": ("8.00 µs", "")}


def test_ledger_shows_shares_and_calls_fused_codecs_so():
    cells = [
        cell("tree", "encode", 1_000),
        cell("tree", "convert", 600),
        cell("tree", "guard", cost(-8, -8)),
        cell("tree", "dump", 390),
        cell("one", "encode", 500),
        Cell("one", "one", "convert", "unsupported"),
        cell("rest", "encode", 700),
        Cell("one", "rest", "convert", "unsupported"),
    ]
    table = ledger_table(grid_of(result(cells), "one"), frozenset({"one"}))
    assert column(table, "convert") == {"one": ("fused", ""), "rest": ("-", ""), "tree": ("600 ns", "60%")}
    assert column(table, "guard")["tree"] == ("-8.00 ns", "")


def test_unguarded_figures_stand_in_the_ledger_alone():
    cells = [cell("a", "encode", 300), cell("a", "encode-unguarded", 200, flags=("unvalidated",))]
    grid = grid_of(result(cells), "one")
    assert [column.title for column in main_table(grid).columns] == ["codec", "encode"]
    assert column(ledger_table(grid, frozenset()), "encode unguarded") == {"a": ("200 nsᵘ", "best")}


def test_ledger_is_shown_unasked_where_nothing_else_was_measured():
    section = document_of(result([cell("a", "convert", 100)]), ledger=False, latency=False).sections[0]
    assert [column.title for table in section.tables for column in table.columns] == ["codec", "convert"]
    assert section.problems == ()


def test_baselines_keep_unknown_ones_and_their_tails():
    cells = [cell(codec="baseline", operation=name, figure=38, payload="-", latency=latency(40)) for name in
             ("new", "empty")]  # fmt: skip
    table = baseline_table(result(cells))
    assert column(table, "cost") == {"empty operation": ("38.0 ns", ""), "new": ("38.0 ns", "")}
    assert column(table, "p99.9")["new"] == ("~360 ns", "")


def test_refusals_and_failures_are_below_the_table_once_per_reason():
    cells = [
        *(
            Cell("one", "header", operation, "refused", "a list\nhas no fixed size")
            for operation in ("encode", "decode")
        ),
        cell("b", "encode", 100),
        Cell("one", "b", "decode", "failed", "gave 1, not 2"),
        Cell("one", "b", "tensor", "unsupported"),
        Cell("one", "c", "encode", "failed", None),
        Cell("one", "d", "encode", "failed", "d: broke"),
    ]
    section = document_of(result(cells)).sections[0]
    assert section.problems == (
        "header refused: a list has no fixed size",
        "b failed (decode): gave 1, not 2",
        "c failed: no reason given",
        "d failed: broke",
    )


def test_document_names_what_is_not_installed_and_whether_it_was_interrupted():
    document = document_of(dataclasses.replace(realistic(), complete=False))
    assert document.notices == (
        "interrupted: this is what was measured until then",
        "not installed, so not compared: pyarrow (pip install 'zcser[pyarrow]')",
    )


def test_payload_of_which_nothing_was_measured_has_its_section():
    made = dataclasses.replace(result([]), payloads=(payload("late"),))
    (section,) = document_of(made).sections
    assert (section.title, section.tables, section.problems) == ("late", (), ("nothing was measured",))


def test_long_inference_notes_are_counted_and_what_changed_data_comes_first():
    notes = (*(f"note {number}" for number in range(8)), "/a: 46 of 99 numbers were ints: normalised to float")
    made = dataclasses.replace(
        result([cell("a", "encode", 1)]), payloads=(payload("one", source="x.json", notes=notes),)
    )
    assert document_of(made).sections[0].notes == (
        notes[-1],
        "note 0",
        "note 1",
        "6 more notes on the schema: zcser schema x.json",
    )


@pytest.mark.parametrize("ledger", [False, True])
def test_legend_states_the_boundary_of_every_cost_column(ledger):
    document = document_of(realistic(), ledger=ledger, latency=False)
    terms = [term for term, _ in document.legend]
    costs = {"encode", "decode", "one field", "touch all", "tensor", "convert", "guard", "dump", "load", "restore"}
    shown = {column.title for section in document.sections for table in section.tables for column in table.columns}
    assert costs & shown <= set(terms)
    assert ("convert" in terms) is ledger


def test_legend_explains_every_symbol_that_is_used_and_no_other():
    terms = [term for term, _ in document_of(result([cell("a", "encode", 100), cell("b", "encode", 900)])).legend]
    assert {"best", "1.9x"} <= set(terms)
    assert not {"tie", "-", "n/a", "~", "≥"} & set(terms)


def test_reader_says_whose_bytes_it_read():
    made = result([cell("simdjson", "decode", 100, encoded_by="orjson")])
    made = dataclasses.replace(made, codecs=(codec_record("simdjson"),))
    assert "simdjson reads what orjson wrote" in document_of(made).sections[0].notes


def test_58_messages_that_grpc_does_not_receive_are_told_with_their_size():
    # 4,194,304 bytes pass with grpcio's defaults, and one more is RESOURCE_EXHAUSTED.
    made = result(
        [
            cell("a", "encode", 100, size=Size(4 << 20, 4 << 20, 4 << 20)),
            cell("b", "encode", 100, size=Size(1 << 20, 1 << 20, (4 << 20) + 1)),
            cell("c", "encode", 100, size=Size(6 << 20, 6 << 20, 6 << 20)),
        ]
    )
    (note,) = [note for note in document_of(made).sections[0].notes if "gRPC" in note]
    assert note.startswith("over 4 MiB, ")
    assert "a " not in note.partition(": ")[2]
    assert [part.split()[0] for part in note.partition(": ")[2].split(", ")] == ["b", "c"]


def test_memory_tells_what_is_allocated_aliased_and_held():
    blind = Allocations("exact", 64, 64, 3.0, 90.0, blind="it maps files")
    made = result(
        [
            cell("a", "encode", 100, copies=Copies("copy", 1.04, None)),
            cell("a", "decode", 100, copies=Copies(None, 2.5, None), allocations=blind),
            cell("a", "tensor", 100, copies=Copies("alias", 0.25, 66_240)),
            cell("b", "decode", 300, copies=Copies("copy", None, None)),
            cell("b", "tensor", 300, copies=Copies("copy", 3.0, None)),
            cell("b", "read-field", 300),
        ]
    )
    table = memory_table(grid_of(made, "one"))
    assert [column.title for column in table.columns] == ["codec", "encode", "decode", "tensor", "tensor holds"]
    assert column(table, "encode") == {"a": ("1.04", "copy"), "b": ("n/a", "")}
    assert column(table, "decode") == {"a": ("≥2.50", ""), "b": ("copy", "")}
    assert column(table, "tensor") == {"a": ("0.25", "alias"), "b": ("3", "copy")}
    assert column(table, "tensor holds") == {"a": ("66.2 kB", ""), "b": ("nothing", "")}


def test_memory_is_shown_and_explained_where_it_is_asked_for():
    made = result([cell("a", "tensor", 100, copies=Copies("alias", 0.25, 66_240))])
    plain, asked = document_of(made), document_of(made, memory=True)
    assert len(asked.sections[0].tables) == len(plain.sections[0].tables) + 1
    added = [term for term, _ in asked.legend if term not in dict(plain.legend)]
    assert added == ["alias", "holds"]


def test_result_without_copies_has_no_memory_table():
    assert memory_table(grid_of(realistic(), "request-64k")) is None


def test_views_that_lose_against_decode_are_named_and_those_that_win_or_are_none_are_not():
    made = result(
        [
            *(cell(codec, "decode", 100) for codec in ("loses", "wins", "ties", "decodes")),
            cell("loses", "touch-all", 250),
            cell("wins", "touch-all", 40),
            cell("ties", "touch-all", cost(99, 101, 102)),
            cell("decodes", "touch-all", 300, flags=("same-as:decode",)),
        ]
    )
    notes = [note for note in document_of(made).sections[0].notes if "view" in note]
    assert notes == [
        "decode is faster than the view where all of a message is read; the view takes of its time: loses 2.5x"
    ]
