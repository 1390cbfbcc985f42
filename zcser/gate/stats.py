"""The statistics of the gate: Welch's t test on trimmed logarithms, and Holm's correction.

1. A process is one observation. Its figure enters as its logarithm, since what disturbs a process slows it by a share.
2. Welch's test, not a permutation test: of 8 against 8 processes no permutation has a p below 1/12870, which Holm's
   correction over some 330 cells or more cannot call significant at all.
3. Of 10 processes or more the lowest and the highest tenth are trimmed, by Yuen's variant of the test: a single disturbed
   process would otherwise hide a change. Simulated for 8, 10 and 20 processes a side, normal, with outliers or in two
   groups, neither variant calls the same code different more often than its p value says, down to p = 1e-4.
4. Tests are one-sided, slower and faster apart, so that either kind of claim has its own bound on false ones.
5. No scipy: the distribution is computed here, and the tests hold it against scipy's values.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Shift", "holm", "incomplete_beta", "t_critical", "t_survival", "trimmed_mean", "welch"]

TRIM_ONE_IN = 10
"""One in so many values, rounded down, is trimmed at each end."""

_TINY = 1e-300
_EPSILON = 1e-15
_MOST_STEPS = 10_000


def _continued_fraction(a: float, b: float, x: float) -> float:
    """The fraction of `incomplete_beta`, by Lentz's method; converges fast for x < (a + 1) / (a + b + 2)."""
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _MOST_STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _away_from_zero(1 + term * d)
            c = _away_from_zero(1 + term / c)
            value *= c * d
        if abs(c * d - 1) < _EPSILON:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b), for a, b > 0 and 0 <= x <= 1.

    Notes
    -----
    The continued fraction is 8.17.22 of the NIST Digital Library of Mathematical Functions (https://dlmf.nist.gov/8.17),
    the reflection that makes it converge fast is 8.17.4.
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log_front) * _continued_fraction(a, b, x) / a


def t_survival(t: float, freedom: float) -> float:
    """The probability that Student's t with so many degrees of freedom exceeds `t`."""
    # Abramowitz and Stegun, 26.7.1 with 26.5.27.
    tail = incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2
    return tail if t >= 0 else 1 - tail


def t_critical(tail: float, freedom: float) -> float:
    """The t that is exceeded with probability `tail`, between 0 and 0.5."""
    low, high = 0.0, 1.0
    while t_survival(high, freedom) > tail:
        low, high = high, 2 * high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if t_survival(middle, freedom) > tail else (low, middle)
    return high


@dataclass(frozen=True, slots=True)
class Shift:
    """By how much the trimmed mean of one sample exceeds another's.

    Attributes
    ----------
    mean, error
        The difference and its standard error.
    freedom
        Degrees of freedom, by Welch and Satterthwaite.
    """

    mean: float
    error: float
    freedom: float

    def p_above(self, bound: float) -> float:
        """One-sided p value of a true difference of at most `bound`."""
        excess = self.mean - bound
        if self.error == 0:
            return 0.0 if excess > 0 else 1.0
        return t_survival(excess / self.error, self.freedom)

    def interval(self, tail: float) -> tuple[float, float]:
        """The interval that leaves out `tail` on each side."""
        reach = t_critical(tail, self.freedom) * self.error
        return self.mean - reach, self.mean + reach


def _core(sample: Sequence[float]) -> list[float]:
    """What trimming leaves of a sample, ascending."""
    cut = len(sample) // TRIM_ONE_IN
    return sorted(sample)[cut : len(sample) - cut]


def trimmed_mean(sample: Sequence[float]) -> float:
    """The mean without the lowest and the highest tenth."""
    return statistics.fmean(_core(sample))


def _squared_error(sample: Sequence[float]) -> float:
    """The squared standard error of the trimmed mean: from the variance with each trimmed value at the end of the rest."""
    core = _core(sample)
    cut = len(sample) // TRIM_ONE_IN
    variance = statistics.variance([core[0]] * cut + core + [core[-1]] * cut)
    return variance * (len(sample) - 1) / (len(core) * (len(core) - 1))


def welch(old: Sequence[float], new: Sequence[float]) -> Shift:
    """The shift from `old` to `new`; at least two values each.

    Notes
    -----
    B. L. Welch, "The generalization of Student's problem when several different population variances are involved",
    Biometrika 34 (1947); K. K. Yuen, "The two-sample trimmed t for unequal population variances", Biometrika 61 (1974),
    which is Welch's own where nothing is trimmed.
    """
    parts = [(_squared_error(sample), len(_core(sample)) - 1) for sample in (old, new)]
    total = sum(part for part, _ in parts)
    # Shares, not squares of the parts: those of tiny variances are 0.
    spread = sum((part / total) ** 2 / freedom for part, freedom in parts) if total > 0 else 0.0
    freedom = 1 / spread if spread > 0 else float(sum(freedom for _, freedom in parts))
    return Shift(trimmed_mean(new) - trimmed_mean(old), math.sqrt(total), freedom)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p values, in the order given.

    Notes
    -----
    S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979).
    Calling those at most alpha keeps the chance of one or more false calls at alpha, however the tests depend on each
    other.
    """
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        running = max(running, min(1.0, p_values[index] * (len(p_values) - rank)))
        adjusted[index] = running
    return adjusted
