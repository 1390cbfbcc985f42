"""The law of the gate: over whole diffs of the same code it cries wolf in under 5%, and it sees a true +5%."""

import pytest

from tests.gate.results import noisy, seeded
from zcser.gate.diff import diff
from zcser.gate.rules import parse_rules

RULES = parse_rules(["p10>3%"])


def alarms(diffs, *, seed):
    """How many diffs of the same code find a regression."""
    rng = seeded(seed)
    found = 0
    for _ in range(diffs):
        sd = rng.uniform(0.01, 0.02)
        found += diff(noisy(rng, sd=sd, processes=8), noisy(rng, sd=sd, processes=8), RULES).exit_code
    return found


def seen(diffs, *, seed):
    """How many diffs find the one cell of 400 that is 5% slower."""
    rng = seeded(seed)
    found = 0
    for _ in range(diffs):
        number = rng.randrange(400)
        old, new = noisy(rng, cells=400), noisy(rng, cells=400, slower={number: 1.05})
        found += old.cells[number].operation in {one.cell.operation for one in diff(old, new, RULES).of("regressed")}
    return found


def test_upper_bound_of_false_alarms_is_under_five_percent():
    # Clopper and Pearson's upper 95% bound of 0 in 60 is 4.87%: 1 - 0.05 ** (1 / 60).
    assert alarms(60, seed=20) == 0


@pytest.mark.slow
def test_upper_bound_of_false_alarms_is_under_five_percent_in_many_diffs():
    # Clopper and Pearson's upper 95% bound of 4 in 200 is 4.52%, of 5 it is 5.18% (scipy.stats.beta.ppf).
    assert alarms(200, seed=20) <= 4


def test_true_five_percent_in_one_cell_of_a_full_run_is_seen():
    assert seen(8, seed=21) >= 7


@pytest.mark.slow
def test_true_five_percent_in_one_cell_of_a_full_run_is_seen_in_ninety_percent():
    assert seen(30, seed=21) >= 27
