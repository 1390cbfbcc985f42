"""The verdict: it says what the figures show, and no more."""

import dataclasses
import re
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.report.results import cell, cost, realistic, result
from zcser.measure.result import Cell, Size
from zcser.report.sentence import verdict


def sized(codec, encode_ns, wire_bytes, **rest):
    return cell(codec, "encode", encode_ns, size=Size(wire_bytes, wire_bytes, wire_bytes), **rest)


def test_names_winner_lead_and_runner_up():
    made = result([sized("orjson", 500, 100), sized("msgpack", 950, 80), cell("orjson", "decode", 900),
                   cell("msgpack", "decode", 2_000)])  # fmt: skip
    assert verdict(made) == (
        "one: orjson is fastest to encode, 1.9x ahead of msgpack; orjson is fastest to decode, 2.2x ahead of msgpack; "
        "msgpack is smallest, 1.2x ahead of orjson."
    )


def test_overlapping_processes_tie():
    made = result([cell("a", "encode", cost(100, 101, 140)), cell("b", "encode", cost(130, 131, 132))])
    assert verdict(made) == "one: a and b tie as fastest to encode."


def test_less_than_three_percent_ties_however_narrow_the_ranges():
    made = result([cell("a", "encode", cost(100, 100, 100)), cell("b", "encode", cost(102, 102, 102))])
    assert verdict(made) == "one: a and b tie as fastest to encode."


def test_sizes_within_three_percent_tie():
    made = result([sized("a", 100, 1_000), sized("b", 300, 1_020), sized("c", 900, 2_000)])
    assert verdict(made).endswith("; a and b tie as smallest, 2.0x ahead of c.")


def test_leaders_are_ahead_only_where_each_of_them_is():
    # c differs from a, the lowest; but not from b, which ties with a.
    overlapping = [
        cell("a", "encode", cost(100, 101, 110)),
        cell("b", "encode", cost(105, 106, 130)),
        cell("c", "encode", cost(120, 125, 128)),
    ]
    assert verdict(result(overlapping)) == "one: a and b tie as fastest to encode."
    apart = [*overlapping[:2], cell("c", "encode", cost(212, 212, 212))]
    assert verdict(result(apart)) == "one: a and b tie as fastest to encode, 2.0x ahead of c."


def test_unvalidated_winner_is_called_so_beside_the_fastest_that_validates():
    made = result(
        [
            cell("fb", "read-field", 100, flags=("unvalidated",)),
            cell("header", "read-field", 300),
            cell("protobuf", "read-field", 900),
        ]
    )
    assert verdict(made) == (
        "one: fb is fastest to read one field, 3.0x ahead of header (unvalidated; of those that validate: header)."
    )


def test_one_codec_is_no_comparison():
    made = result([sized("json", 12_300, 88), cell("json", "decode", 10_000)])
    assert verdict(made) == (
        "one: json alone was measured, so there is nothing to compare: encode 12.3 µs, decode 10.0 µs, 88 B."
    )


def test_operation_of_one_codec_is_no_win():
    made = result([cell("a", "encode", 100), cell("b", "decode", 100)])
    assert verdict(made) == ("one: a alone was measured to encode (100 ns); b alone was measured to decode (100 ns).")


@pytest.mark.parametrize(
    "cells",
    [
        [],
        [Cell("one", "header", "encode", "refused", "a list has no fixed size")],
        [Cell("-", "baseline", "empty", "ok", cost=cost(38))],
    ],
    ids=["no cells", "all refused", "baselines alone"],
)
def test_nothing_measured_is_said(cells):
    assert verdict(result(cells)).startswith("Nothing could be measured")


def test_figures_without_sense_have_no_place():
    made = result([cell("a", "encode", cost(0, 0)), cell("b", "encode", cost(-5, 5)), cell("c", "encode", None)])
    assert verdict(made) == "one: no figure allows a comparison."


def test_single_process_is_indicative_only():
    hedge = "(only indicative: some of these figures come from a single process)."
    compared = [cell("a", "encode", cost(100)), cell("b", "encode", cost(1000, 1000))]
    assert verdict(result(compared)).endswith(hedge)
    far_behind = [cell("a", "encode", 100), cell("b", "encode", 300), cell("c", "encode", cost(900))]
    assert not verdict(result(far_behind)).endswith(hedge)


def test_interrupted_run_says_so():
    made = dataclasses.replace(realistic(), complete=False)
    assert verdict(made).startswith("Interrupted, so incomplete: ")


def test_several_payloads_are_counted():
    cells = []
    for number, (a, b) in enumerate([(100, 200), (100, 300), (100, 400), (400, 100), (100, 100)]):
        cells += [sized("a", a, 10, payload=f"p{number}"), sized("b", b, 10, payload=f"p{number}")]
    assert verdict(result(cells)) == (
        "Over 5 payloads, a is fastest to encode on 3 of 5 (typically 3.0x ahead, 1 tied); "
        "no codec is clearly smallest on any of 5."
    )


def test_a_hundred_payloads_are_one_line():
    cells = [sized(codec, figure, figure, payload=f"p{number}") for number in range(100) for codec, figure in
             (("a", 100), ("b", 200))]  # fmt: skip
    assert verdict(result(cells)) == (
        "Over 100 payloads, a is fastest to encode on 100 of 100 (typically 2.0x ahead); "
        "a is smallest on 100 of 100 (typically 2.0x ahead)."
    )


def test_realistic_run_is_counted_as_by_hand():
    # From FIGURES: encode is msgpack's (6,240), orjson's (225), and a tie of orjson's 318 and header's 322; one field is
    # flatbuffers-official's (2,350 to 4,870: 2.1x), protobuf's (512 to 612: 1.2x) and header's (83 to 655: 7.9x).
    assert verdict(realistic()) == (
        "Over 3 payloads, msgpack (request-64k) and orjson (token-chunk) are fastest to encode on 1 of 3 each (typically "
        "2.2x ahead, 1 tied); msgpack (request-64k), orjson (token-chunk) and header (batch-meta) are fastest to decode on "
        "1 of 3 each (typically 1.5x ahead); flatbuffers-official (request-64k), protobuf (token-chunk) and header "
        "(batch-meta) are fastest to read one field on 1 of 3 each (typically 2.1x ahead, unvalidated on 1); protobuf is "
        "smallest on 2 of 3 (typically 1.6x ahead, 1 tied)."
    )


def test_names_cannot_break_the_line():
    made = result([cell("a\nb\x1b[1m", "encode", 100, payload="x\ny"), cell("c", "encode", 500, payload="x\ny")])
    assert verdict(made) == "x y: a b?[1m is fastest to encode, 5.0x ahead of c."


processes = st.lists(st.floats(50, 200), min_size=2, max_size=5)
columns = st.dictionaries(st.sampled_from("abcdef"), processes, min_size=2, max_size=6)


def below(one, other):
    """What 'differ' means, said once more: disjoint ranges, and medians over 3 % apart."""
    return max(one) < min(other) and median(other) > 1.03 * median(one)


@given(columns)
def test_sentence_claims_no_difference_that_ranges_do_not_show(column):
    text = verdict(result([cell(codec, "encode", cost(*figures)) for codec, figures in column.items()]))
    names, verb, ahead, behind = re.fullmatch(
        r"one: (.+) (is|tie as) fastest to encode(?:, (\S+)x ahead of (.))?\.", text
    ).groups()
    shown = re.findall(r"\b[a-f]\b", names)
    if verb == "is":
        assert all(below(column[shown[0]], figures) for codec, figures in column.items() if codec != shown[0])
    if ahead:
        assert all(below(column[leader], column[behind]) for leader in shown)
        assert float(ahead) <= 1.06 * min(median(column[behind]) / median(column[leader]) for leader in shown)


@given(st.lists(columns, min_size=2, max_size=5))
def test_sentence_counts_no_win_that_ranges_do_not_show(payloads):
    cells = [
        cell(codec, "encode", cost(*figures), payload=f"p{number}")
        for number, column in enumerate(payloads)
        for codec, figures in column.items()
    ]
    text = verdict(result(cells))
    wins = [
        [
            codec
            for codec, mine in column.items()
            if all(below(mine, his) for name, his in column.items() if name != codec)
        ]
        for column in payloads
    ]
    found = re.search(r", (.+) (?:is|are) fastest to encode on (\d+) of (\d+)", text)
    if found is None:
        assert "no codec is clearly fastest to encode" in text
        assert not any(wins)
        return
    names, count, contests = re.findall(r"\b[a-f]\b", found[1]), int(found[2]), int(found[3])
    assert contests == len(payloads)
    assert all(sum(name in winners for winners in wins) == count for name in names)
