"""The sentence claims no difference that the intervals do not show, whatever the figures are."""

import dataclasses
import math
import re
from statistics import median

from hypothesis import given
from hypothesis import strategies as st

from tests.decide.results import cell, codec, cost, result
from zcser.decide.decision import as_json, decide
from zcser.decide.figures import figures_of
from zcser.decide.profiles import PROFILES, with_settings
from zcser.decide.score import rank
from zcser.decide.verdict import sentence, summary
from zcser.measure.result import Cell, Cost
from zcser.measure.stats import compare
from zcser.report.decision import decision_document

CUSTOM = PROFILES["custom"]


def said(cells, profile=CUSTOM):
    return sentence(rank(figures_of(result(cells), "one"), profile))


def test_winner_lead_and_runner_up():
    cells = [*codec("a", 100, encode=500, decode=500), *codec("b", 100, encode=900, decode=1_000)]
    assert said(cells) == "one, custom: a is cheapest (1.00 µs per message), 1.9x ahead of b."
    # 100 bytes at 1 MB/s are 100 µs.
    slow = with_settings(CUSTOM, ["bandwidth_out=1MB/s"])
    assert said(cells, slow) == "one, custom: a and b tie as cheapest."
    assert said(cells[:2], slow) == (
        "one, custom: a alone can be scored (101 µs per message, 99% of it wire), so there is nothing to compare."
    )


def test_unvalidated_objective_and_single_process_are_said():
    cells = [*codec("a", 9, encode=(500,), decode=(500,)), *codec("b", 9, encode=900, decode=9_000)]
    cells[1] = dataclasses.replace(cells[1], flags=("unvalidated",))
    assert said(cells, with_settings(CUSTOM, ["unvalidated=yes", "p99_ns=1ms"])) == (
        "one, custom: a is cheapest (1.00 µs per message), 9.9x ahead of b; unvalidated; whether the objective of 1.00 ms at "
        "p99 is met cannot be told: its samples are too few or too near (only indicative: some of these figures come from a "
        "single process)."
    )


def test_nothing_to_score_is_said():
    refused = [Cell("one", "a", "encode", "refused", "no floats"), Cell("one", "a", "decode", "refused")]
    assert said(refused) == "one, custom: no codec can be scored; the reasons are above."
    assert said([]) == "one, custom: no codec can be scored."
    assert decide(result([]), CUSTOM).sentence == "Nothing was measured that could be scored."


def test_many_payloads_are_counted():
    cells = [one for number, (a, b) in enumerate([(1, 9), (1, 9), (9, 1), (1, 1)]) for name, figure in (("a", a), ("b", b))
             for one in codec(name, 9, f"p{number}", encode=figure, decode=figure)]  # fmt: skip
    cells += codec("a", 9, "lone", encode=1, decode=1)
    made = result(cells)
    assert summary([rank(figures_of(made, name), CUSTOM) for name in ("p0", "p1", "p2", "p3", "lone")]) == (
        "custom over 5 payloads: a is cheapest on 2; b is cheapest on 1; codecs tie as cheapest on 1; nothing to compare on 1."
    )


processes = st.lists(st.floats(50, 200), min_size=1, max_size=5)
columns = st.dictionaries(st.sampled_from("abcdef"), processes, min_size=2, max_size=6)
ENCODE_ALONE = dataclasses.replace(CUSTOM, reader_weight=0.0)


def below(one, other):
    """What 'differ' means, said once more: disjoint ranges, of a lone process a quarter either way, and 3 % apart."""
    one_high = max(one) if len(one) > 1 else one[0] * 1.25
    other_low = min(other) if len(other) > 1 else other[0] * 0.75
    return one_high < other_low and median(other) > 1.03 * median(one)


@given(columns)
def test_sentence_claims_no_difference_that_processes_do_not_show(column):
    text = said([cell(name, "encode", cost(*figures)) for name, figures in column.items()], ENCODE_ALONE)
    pattern = (
        r"one, custom: (.+?) (is|tie as) cheapest(?: \(.*? per message\))?(?:, (\S+)x ahead of (.))?(?: \(only.*\))?\."
    )
    names, verb, ahead, behind = re.fullmatch(pattern, text).groups()
    shown = re.findall(r"\b[a-f]\b", names)
    if verb == "is":
        assert all(below(column[shown[0]], figures) for name, figures in column.items() if name != shown[0])
    if ahead:
        assert all(below(column[leader], column[behind]) for leader in shown)
        assert float(ahead) <= 1.06 * min(median(column[behind]) / median(column[leader]) for leader in shown)


@given(columns)
def test_ranks_of_one_operation_are_those_of_the_test_of_costs(column):
    costs = {name: cost(*figures) for name, figures in column.items()}
    standings = rank(
        figures_of(result([cell(name, "encode", one) for name, one in costs.items()]), "one"), ENCODE_ALONE
    )
    for place, one in zip(standings.ranks, standings.scores, strict=True):
        assert place == 1 + sum(compare(other, costs[one.codec]) == "less" for other in costs.values())


wild = st.one_of(st.floats(), st.sampled_from([0.0, -1.0, math.nan, math.inf, 1e300, 1e-300]))
wild_costs = st.one_of(st.none(), st.builds(Cost, st.lists(wild, max_size=3).map(tuple), wild, wild, wild, st.just(0), st.just(0),
                                            st.just(0)))  # fmt: skip
names = st.sampled_from(["a", "b\n\x1b[1m", "<script>alert(1)</script>", ""])
cells_of_any_kind = st.lists(
    st.builds(cell, names, st.sampled_from(["encode", "decode", "read-2", "read-0", "read-x", "touch-all", "compress-zstd", ""]),
              wild_costs, status=st.sampled_from(["ok", "refused", "failed", "unsupported"]), payload=names,
              encoded_by=st.one_of(st.none(), names)),
    max_size=8,
)  # fmt: skip


@given(cells_of_any_kind, st.sampled_from(list(PROFILES.values())))
def test_absurd_results_give_an_answer_and_no_crash(cells, profile):
    decision = decide(result(cells), dataclasses.replace(profile, p99_ns=1e6))
    assert as_json(decision)["sentence"] == decision.sentence
    text = decision_document(decision).verdict
    assert text.isprintable()
    assert text.endswith(".")
