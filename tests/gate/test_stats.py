"""The distribution, the test and the correction, held against scipy 1.17's values (written out, scipy is not needed)."""

import math
import statistics

import pytest

from zcser.gate.stats import holm, incomplete_beta, t_critical, t_survival, trimmed_mean, welch


@pytest.mark.parametrize(
    ("a", "b", "x", "expected"),
    [  # scipy.special.betainc
        (0.5, 0.5, 0.3, 0.36901011956554536),
        (9, 0.5, 0.2, 1.0488546951897453e-07),
        (9, 0.5, 0.95, 0.34328958321110975),
        (3.5, 0.5, 1e-06, 2.9102629483066934e-22),
        (16, 485, 0.05, 0.9801416228369938),
        (200, 3, 0.99, 0.6712381710383889),
        (1, 1, 0.37, 0.37),
        (2, 3, 0, 0),
        (2, 3, 1, 1),
    ],
)
def test_incomplete_beta_is_scipys(a, b, x, expected):
    assert incomplete_beta(a, b, x) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(
    ("t", "freedom", "expected"),
    [  # scipy.stats.t.sf
        (0.0, 5, 0.5),
        (0.5, 7, 0.3162035678446422),
        (2.0, 3.5, 0.06306926128795672),
        (2.0, 18, 0.030410732834666217),
        (-1.3, 9.7, 0.8881789895287667),
        (5.45, 18, 1.771481740637077e-05),
        (10.9, 18, 1.1668995328936667e-09),
        (40, 7.0, 7.951089992425182e-10),
        (1.96, 1e6, 0.024998033792634926),
        (0.01, 10, 0.4961089874954857),
        (3.0, 1, 0.10241638234956672),
    ],
)
def test_survival_of_t_is_scipys(t, freedom, expected):
    assert t_survival(t, freedom) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("tail", "freedom", "expected"),
    [  # scipy.stats.t.isf
        (0.025, 18, 2.1009220402410387),
        (0.025, 7, 2.3646242515927844),
        (0.05, 14.2, 1.759558920730583),
        (1e-05, 18, 5.722331169969607),
        (0.4, 3, 0.2766706623326898),
    ],
)
def test_critical_t_is_scipys(tail, freedom, expected):
    assert t_critical(tail, freedom) == pytest.approx(expected, rel=1e-7)


OLD = (1.00, 1.02, 0.98, 1.01, 0.99, 1.03, 0.97, 1.0)
NEW = (1.05, 1.08, 1.01, 1.1, 1.06, 1.02, 1.07, 1.09, 1.2)


def test_welch_is_scipys():
    # scipy.stats.ttest_ind(NEW, OLD, equal_var=False)
    shift = welch(OLD, NEW)
    assert shift.mean / shift.error == pytest.approx(3.816252026210936, rel=1e-9)
    assert shift.freedom == pytest.approx(10.259711936026177, rel=1e-9)
    assert shift.p_above(0.0) == pytest.approx(0.0016204656907811016, rel=1e-8)
    assert shift.interval(0.025) == pytest.approx((0.03159294306869697, 0.11951816804241422), rel=1e-7)


def test_trimmed_welch_is_scipys():
    # scipy.stats.ttest_ind(new, old, equal_var=False, trim=0.1), of ten and eleven values, one of them an outlier.
    shift = welch([*OLD, 1.5, 0.96], [*NEW, 1.04, 1.03])
    assert shift.mean / shift.error == pytest.approx(4.141175965144577, rel=1e-9)
    assert shift.freedom == pytest.approx(14.665346534653464, rel=1e-9)
    assert shift.p_above(0.0) == pytest.approx(0.00045512429112992356, rel=1e-8)
    assert shift.interval(0.025) == pytest.approx((0.029056707939102675, 0.09094329206089743), rel=1e-7)


def test_trimmed_mean_leaves_out_a_tenth_at_each_end():
    assert trimmed_mean([1, 2, 3, 4, 5, 6, 7, 8, 9, 1000]) == pytest.approx(5.5)
    assert trimmed_mean([1, 2, 3, 4, 5, 6, 7, 8, 900]) == pytest.approx(104)


def test_swapping_the_samples_turns_the_shift():
    there, back = welch(OLD, NEW), welch(NEW, OLD)
    assert back.mean == -there.mean
    assert back.p_above(0.0) == pytest.approx(1 - there.p_above(0.0))


def test_samples_without_spread_differ_for_certain_or_not_at_all():
    same, apart = welch([1.0, 1.0], [1.0, 1.0]), welch([1.0, 1.0], [2.0, 2.0])
    assert (same.p_above(0.0), apart.p_above(0.0), apart.p_above(1.0)) == (1.0, 0.0, 1.0)


def test_tiny_spread_does_not_vanish_in_the_arithmetic():
    step = math.ulp(1.0)
    shift = welch([1.0, 1.0 + step, 1.0], [1.0, 1.0, 1.0])
    assert 1 < shift.freedom < 5
    assert statistics.variance([1.0, 1.0 + step, 1.0]) > 0


def test_holm_is_the_published_step_down():
    # By hand: sorted .005, .01, .03, .04 times 4, 3, 2, 1 are .02, .03, .06, .04, and the last may not be below .06.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
