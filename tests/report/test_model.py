"""The neutral tables, and how they are divided for a width."""

from hypothesis import given
from hypothesis import strategies as st

from zcser.report.model import ABSENT, GAP, Column, Entry, Table, one_line, split
from zcser.report.plain import table_lines


def table(widths, groups=None, rows=2):
    groups = groups or [""] * len(widths)
    columns = (Column("name", align="left"), *(Column(f"c{index}", group) for index, group in enumerate(groups)))
    body = tuple(
        (Entry(f"row{row}"), *(Entry("x" * (width - 3), f"{row}.0") for width in widths)) for row in range(rows)
    )
    return Table("title", columns, body)


def test_one_line_has_no_breaks_and_no_escape_codes():
    assert one_line("a\n\tb  c") == "a b c"
    assert one_line("\x1b[31mred\x07\u202e") == "?[31mred??"


def test_table_that_fits_stays_whole():
    whole = table([10, 10])
    assert split(whole, 4 + 2 * (GAP + 11)) == (whole,)


def test_groups_stay_together_where_they_fit():
    parts = split(table([10, 10, 10, 10], ["a", "a", "b", "b"]), 45)
    assert [[column.title for column in part.columns] for part in parts] == [["name", "c0", "c1"], ["name", "c2", "c3"]]


def test_group_that_is_too_wide_breaks_into_even_parts():
    parts = split(table([10] * 5, ["a"] * 5), 60)  # four columns would fit
    assert [len(part.columns) - 1 for part in parts] == [3, 2]


def test_row_without_figures_is_left_out_of_later_parts_only():
    wide = Table("", (Column("name"), Column("a", "1"), Column("b", "2")), ((Entry("x"), ABSENT, ABSENT),))
    first, *rest = split(wide, 7)
    assert first.rows == ((Entry("x"), ABSENT),)
    assert [part.rows for part in rest] == [()]


@given(
    st.lists(st.integers(4, 40), min_size=1, max_size=12),
    st.lists(st.sampled_from("abc"), min_size=12, max_size=12),
    st.integers(50, 160),
)
def test_parts_hold_every_column_once_in_order_and_fit(widths, groups, width):
    whole = table(widths, sorted(groups[: len(widths)]))
    parts = split(whole, width)
    assert [column for part in parts for column in part.columns[1:]] == list(whole.columns[1:])
    assert all(len(line) <= width for line in table_lines(Table("", whole.columns, whole.rows), width))


def test_figures_marks_and_ratios_line_up():
    rows = ((Entry("a"), Entry("6.24 µs", "best")), (Entry("bb"), Entry("156 µs", "25x", "ᶜ")), (Entry("c"), ABSENT))
    lines = list(table_lines(Table("", (Column("codec", align="left"), Column("encode")), rows), 80))
    assert lines == [
        "codec         encode",
        "a      6.24 µs  best",
        "bb      156 µsᶜ  25x",
        "c            -",
    ]
