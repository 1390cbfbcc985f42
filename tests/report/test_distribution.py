"""Distributions drawn, against pictures worked out by hand."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from tests.report.results import cell, realistic, result
from zcser.measure.result import Latency
from zcser.report import plain
from zcser.report.cells import grid_of
from zcser.report.charts.distribution import distribution_picture
from zcser.report.distribution import Axis, axis_of, distribution_table, sparkline
from zcser.report.document import document_of
from zcser.report.model import ABSENT

SVG = "{http://www.w3.org/2000/svg}"


def latency(*buckets, p50_ns=None, p99_ns=None, max_ns=None):
    count = sum(number for _, number in buckets)
    highest = float(buckets[-1][0]) if max_ns is None else max_ns
    return Latency(count, p50_ns, None, p99_ns, None, highest, (), buckets)


def grid(*cells, payload="one"):
    return grid_of(result(cells), payload)


def drawn(codec, operation, some, **rest):
    return cell(codec, operation, 100, latency=some, **rest)


def test_columns_are_equal_ratios_of_time():
    axis = Axis(1.0, 1000.0)
    assert sparkline(latency((1, 1), (10, 1), (100, 1)), axis, 3) == "..."
    assert sparkline(latency((9, 1), (99, 1)), axis, 3) == ".. "
    assert sparkline(latency((1000, 1)), axis, 3) == "  ."


def test_height_is_the_logarithm_of_the_count():
    # Of 8 levels from 1 to 10**7 samples, each is a power of ten.
    counts = [10**power for power in range(8)]
    some = latency(*((2**place, count) for place, count in enumerate(counts)), max_ns=256.0)
    assert sparkline(some, Axis(1.0, 256.0), 8) == ".:-=+*#@"


def test_single_sample_shows_and_no_sample_is_blank():
    assert sparkline(latency((1, 10**6), (256, 1)), Axis(1.0, 512.0), 9) == "@       ."


def test_marks_stand_where_the_percentiles_are():
    some = latency((1, 90), (16, 9), (128, 1), p50_ns=1.0, p99_ns=16.0)
    assert sparkline(some, Axis(1.0, 256.0), 8) == "|   >  ."
    assert sparkline(latency((1, 90), p50_ns=1.0, p99_ns=1.0), Axis(1.0, 256.0), 8) == ">       "


def test_axis_holds_all_samples_of_all_codecs():
    assert axis_of([latency((20, 1), (90, 1), max_ns=95.0), latency((5, 3))]) == Axis(5.0, 95.0)
    assert axis_of([latency((0, 3))]) == Axis(1.0, 1.0)


def test_one_value_alone_is_a_line_with_one_column():
    some = latency((40, 7), max_ns=40.0)
    assert sparkline(some, axis_of([some]), 6) == "@     "


def test_table_has_a_line_per_codec_on_one_axis():
    fast, slow = latency((100, 1)), latency((100_000, 1))
    table = distribution_table(grid(drawn("a", "encode", fast), drawn("b", "encode", slow), drawn("b", "decode", slow)))
    assert [column.title for column in table.columns] == [
        "codec",
        "encode: 100 ns to 100 µs",
        "decode: 100 µs to 100 µs",
    ]
    by_codec = {row[0].text: row[1:] for row in table.rows}
    assert by_codec["a"] == (by_codec["a"][0], ABSENT)
    assert by_codec["a"][0].text == "." + 35 * " "
    assert by_codec["b"][0].text == 35 * " " + "."


def test_table_fits_into_a_hundred_columns_and_is_ascii_but_for_its_units():
    table = distribution_table(grid_of(realistic(), "request-64k"))
    lines = list(plain.table_lines(table, 100))
    assert max(map(len, lines)) <= 100
    assert "".join(lines).replace("µ", "u").isascii()


def test_payload_without_latencies_has_no_picture():
    bare = grid(cell("a", "encode", 100))
    assert distribution_table(bare) is None
    assert distribution_picture(bare, "encode") is None


def test_document_draws_only_where_asked_to():
    titles = [table.title for section in document_of(realistic()).sections for table in section.tables]
    assert not any("Distribution" in title for title in titles)
    document = document_of(realistic(), distribution=True)
    assert all(section.tables[-1].title.startswith("Distribution") for section in document.sections)


def picture(*cells, operation="encode", payload="one"):
    text = distribution_picture(grid(*cells, payload=payload), operation).svg()
    return text, ET.fromstring(text)  # noqa: S314 - the picture is our own


def test_picture_has_a_row_per_codec_and_marks_at_its_percentiles():
    some = latency((100, 90), (10_000, 1), p50_ns=100.0, p99_ns=1000.0)
    _, root = picture(drawn("a", "encode", some), drawn("b", "encode", some))
    rows = [group for group in root.iter(f"{SVG}g") if group.get("data-codec")]
    assert [group.get("data-codec") for group in rows] == ["a", "b"]
    # The axis goes from 100 ns at x = 160 to 10 µs at x = 720 - 32; 1 µs is half way.
    for group, base in zip(rows, (58, 88), strict=True):
        marks = {path.get("class"): path.get("d") for path in group.iter(f"{SVG}path")}
        assert (marks["p50"], marks["p99"]) == (f"M160 {base}v-24", f"M424 {base}v-24")


def test_picture_draws_one_bar_per_column_with_samples():
    _, root = picture(drawn("a", "encode", latency((100, 90), (10_000, 1))))
    (path,) = [path.get("d") for path in root.iter(f"{SVG}path") if path.get("class") == "samples"]
    # At the middles of the first and of the last column of 4 pixels; the fullest is 24 pixels high, a single sample 3.
    assert path.count("m") == 2
    assert path == "m162 58v-24m524 24v-3"


def test_picture_needs_nothing_from_outside_and_runs_nothing():
    text, root = picture(drawn("a", "encode", latency((100, 1))))
    assert text.count("http") == 1
    elements = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert elements == {"svg", "title", "desc", "g", "text", "line", "path"}
    assert not any(name.startswith("on") or "href" in name for element in root.iter() for name in element.attrib)


@pytest.mark.parametrize("name", ["<script>", 'a"b&c', "tab\tand\nline", "\x1b[31m"])
def test_names_out_of_files_are_text(name):
    _, root = picture(drawn(name, "encode", latency((100, 1)), payload=name), payload=name)
    shown = [element.text for element in root.iter(f"{SVG}text")]
    assert " ".join(name.split()).replace("\x1b", "?") in shown
