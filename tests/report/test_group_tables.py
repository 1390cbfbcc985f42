"""Tables of partial reads, sizes and composite tasks: where they stand, what they say, and that they stay away without cells."""

from tests.report.results import cell, payload, result
from tests.report.test_tables import column
from zcser.measure.result import Cell, DeepSize, PartialRead, Size
from zcser.report import csv_table
from zcser.report.cells import grid_of
from zcser.report.document import document_of
from zcser.report.flat import flat_table
from zcser.report.group_tables import composite_table, partial_table, sizes_table

READS = {"read-1": PartialRead(1, ("/a",)), "read-10%": PartialRead(30, ()), "read-all": PartialRead(3000, ())}
RECORD = payload("one", leaves=3000, reads=READS)


def test_partial_reads_show_which_codec_costs_least_for_how_many_leaves():
    cells = (
        cell("view", "read-1", 100),
        cell("view", "read-10%", 1000),
        cell("view", "read-all", 90_000, flags=("walked",)),
        cell("tree", "read-1", 1000),
        cell("tree", "read-10%", 1000),
        cell("tree", "read-all", 9000),
        cell("view", "read-1-unverified", 50, flags=("unvalidated",)),
    )
    table = partial_table(grid_of(result(cells), "one"), RECORD)
    assert table.title.endswith("which are 1, 30, 3,000 of 3,000")
    assert column(table, "read 1") == {"view": ("100 ns", "best"), "tree": ("1.00 µs", "10x")}
    assert column(table, "read all") == {"view": ("90.0 µsʷ", "10x"), "tree": ("9.00 µs", "best")}
    assert column(table, "read 1 unverified") == {"view": ("50.0 nsᵘ", "best"), "tree": ("n/a", "")}

    document = document_of(result(cells, payloads=(RECORD,)))
    (note,) = [note for note in document.sections[0].notes if "leaves" in note]
    assert note == "reading so many of 3,000 leaves costs least in: 1 view, 30 tree or view, 3,000 tree"
    assert [row[0].text for row in document.sections[0].tables[0].rows] == ["view", "tree"]
    assert any(term == "ʷ" for term, _ in document.legend)


def test_sizes_stand_with_what_is_left_and_what_it_costs():
    cells = (
        cell("a", "encode", 100, size=Size(200, 200, 200)),
        cell("a", "decode", 100, deep_size=DeepSize(1500, 1000, 2000, 3)),
        cell("a", "compress-zlib", 5000, size=Size(50, 40, 60, plain_bytes=200)),
        cell("a", "decompress-zlib", 2000),
        Cell("one", "a", "compress-lz4", "unsupported", "lz4 is not installed: pip install 'zcser[compression]'"),
    )
    table = sizes_table(grid_of(result(cells), "one"))
    assert [one.title for one in table.columns] == [
        "codec",
        "size",
        "in memory",
        "zlib",
        "zlib compress",
        "zlib decompress",
    ]
    row = [(entry.text, entry.ratio) for entry in table.rows[0]]
    assert row[1:] == [("200 B", "best"), ("1,500 B", ""), ("50 B", "25%"), ("5.00 µs", "best"), ("2.00 µs", "best")]
    header, *lines = csv_table.render(flat_table(result(cells))).splitlines()
    figures = dict(zip(header.split(","), lines[2].split(","), strict=True))
    assert (figures["wire_bytes"], figures["plain_bytes"], figures["memory_bytes"]) == ("50", "200", "")


def test_composite_tasks_say_what_was_changed_in_place():
    cells = (
        cell("f", "forward", 100, flags=("in-place",)),
        cell("f", "patch", 10),
        cell("j", "forward", 400),
        Cell("one", "j", "patch", "unsupported", "j has no patcher"),
    )
    table = composite_table(grid_of(result(cells), "one"))
    assert column(table, "forward") == {"f": ("100 nsⁱ", "best"), "j": ("400 ns", "4.0x")}
    assert column(table, "patch") == {"f": ("10.0 ns", "best"), "j": ("-", "")}


def test_what_was_not_measured_has_no_table():
    section = document_of(result((cell("a", "encode", 100), cell("a", "decode", 100)))).sections[0]
    assert len(section.tables) == 1
    assert not any("leaves" in note for note in section.notes)
