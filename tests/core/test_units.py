"""Figures as text: expected texts are written by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zcser.core.units import bytes_text, duration_text, number_text, ratio_text


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0.00 ns"),
        (0.4, "0.40 ns"),
        (38, "38.0 ns"),
        (340, "340 ns"),
        (999.4, "999 ns"),
        (999.6, "1.00 µs"),
        (12_345, "12.3 µs"),
        (999_600, "1.00 ms"),
        (1_200_000, "1.20 ms"),
        (2.5e9, "2.50 s"),
        (-8, "-8.00 ns"),
        (-1_570, "-1.57 µs"),
        (1e300, "1e+291 s"),
    ],
)
def test_time_has_three_digits_and_its_unit(nanoseconds, text):
    assert duration_text(nanoseconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (64, "64 B"), (1_234, "1,234 B"), (9_999, "9,999 B"), (10_000, "10.0 kB"), (65_802, "65.8 kB"),
     (999_960, "1.00 MB"), (1_400_000, "1.40 MB"), (3 * 10**9, "3.00 GB")],
)  # fmt: skip
def test_size_is_exact_below_ten_thousand_and_decimal_above(count, text):
    assert bytes_text(count) == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(1.0, "1.00x"), (1.04, "1.04x"), (1.0949, "1.09x"), (1.096, "1.1x"), (1.94, "1.9x"), (9.94, "9.9x"),
     (9.96, "10x"), (113.4, "113x"), (9999.4, "9999x"), (12_000, ">9999x"), (math.inf, ">9999x")],
)  # fmt: skip
def test_ratio_is_short_and_never_rounds_a_small_lead_away(ratio, text):
    assert ratio_text(ratio) == text


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (0.421, "0.42"), (12, "12"), (1_234, "1,234"), (1.5, "1.50")])
def test_number(value, text):
    assert number_text(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_number_has_a_short_text(value):
    for text in (duration_text(value), bytes_text(abs(value)), number_text(value), ratio_text(abs(value))):
        assert text.strip()
        assert len(text) < 20


@given(st.floats(min_value=0.5, max_value=1e12))
def test_time_text_is_within_its_last_digit(value):
    number, unit = duration_text(value).split()
    scale = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[unit]
    assert float(number) * scale == pytest.approx(value, rel=0.0051 if value >= 10 else 0.011)
