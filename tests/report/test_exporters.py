"""Every output format: complete, aligned, and unable to be broken by a name."""

import csv
import io
import re

import pytest
from rich.console import Console

from tests.report.results import cell, realistic, result
from zcser.report import csv_table, markdown, plain, terminal
from zcser.report.document import document_of
from zcser.report.flat import flat_table

NASTY = "[bold]a|b`c*_<i>\\[/] \x1b[31m,\"'\n=1+1"


def on_terminal(document, width=100, **console):
    out = io.StringIO()
    terminal.render(document, Console(file=out, width=width, highlight=False, **console))
    return out.getvalue()


@pytest.mark.parametrize("width", [80, 100, 140])
def test_no_line_but_the_verdict_is_wider_than_the_terminal(width):
    document = document_of(realistic())
    for text in (on_terminal(document, width), plain.render(document, width)):
        *lines, last = text.splitlines()
        assert last == document.verdict
        assert all(len(line.rstrip()) <= width for line in lines)


def test_terminal_and_plain_show_the_same_figures():
    document = document_of(realistic())
    figures = re.compile(r"[~≥]?\d[\d.,]* (?:ns|µs|ms|B|kB)\b")
    assert figures.findall(on_terminal(document)) == figures.findall(plain.render(document, 100))


def test_no_escape_codes_where_nobody_asked_for_colour():
    assert "\x1b" not in on_terminal(document_of(realistic()))
    assert "\x1b" in on_terminal(document_of(realistic()), force_terminal=True, color_system="standard")


def test_colour_changes_no_character():
    document = document_of(realistic())
    colored = on_terminal(document, force_terminal=True, color_system="standard")
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == on_terminal(document)


@pytest.mark.parametrize("render", [on_terminal, lambda document: plain.render(document, 100)])
def test_names_are_no_markup_on_a_terminal(render):
    text = render(document_of(result([cell(NASTY, "encode", 100), cell("b", "encode", 300)])))
    assert "[bold]a|b`c*_<i>\\[/] ?[31m,\"' =1+1" in text


def unescaped(text):
    return re.sub(r"\\(.)", r"\1", text)


def markdown_rows(text):
    """Cells of all table rows, split at pipes that no backslash guards."""
    return [
        [unescaped(part.strip()) for part in re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1]]
        for line in text.splitlines()
        if line.startswith("|")
    ]


def test_markdown_rows_have_as_many_cells_as_their_head_whatever_a_name_holds():
    made = result([cell(NASTY, "encode", 100), cell("b", "encode", 300)])
    head, rule, *rows = markdown_rows(markdown.render(document_of(made, ledger=False, latency=False)))
    assert head == ["codec", "encode"]
    assert rule == [":---", "---:"]
    assert rows[0] == ["[bold]a|b`c*_<i>\\[/] ?[31m,\"' =1+1", "**100 ns** best"]
    assert rows[1] == ["b", "300 ns 3.0x"]


def test_markdown_holds_every_payload_table_reason_and_the_verdict():
    document = document_of(realistic())
    text = markdown.render(document)
    for section in document.sections:
        assert f"## {section.title}" in text
        assert all(markdown.escape(problem) in text for problem in section.problems)
        assert all(f"**{table.title}**" in text for table in section.tables if table.title)
    assert text.endswith(markdown.escape(document.verdict) + "\n")


def test_csv_has_a_row_per_cell_with_raw_figures():
    made = realistic()
    rows = list(csv.DictReader(io.StringIO(csv_table.render(flat_table(made)))))
    assert len(rows) == len(made.cells)
    for row, one in zip(rows, made.cells, strict=True):
        assert (row["payload"], row["codec"], row["operation"]) == (one.payload, one.codec, one.operation)
        assert row["cost_p10_ns"] == ("" if one.cost is None else repr(one.cost.p10_ns))
        assert row["latency_p999_ns"] == ("" if one.latency is None else str(one.latency.p999_ns or ""))


def test_csv_quotes_whatever_a_name_holds():
    made = result([cell(NASTY, "encode", 100)])
    (row,) = csv.DictReader(io.StringIO(csv_table.render(flat_table(made)), newline=""))
    assert row["codec"] == NASTY


def test_csv_leaves_what_was_not_taken_empty():
    (row,) = csv.DictReader(io.StringIO(csv_table.render(flat_table(result([cell("a", "encode", 100)])))))
    assert row["latency_p99_ns"] == row["peak_bytes"] == row["wire_bytes"] == ""
    assert float(row["cost_p10_ns"]) == pytest.approx(100)
